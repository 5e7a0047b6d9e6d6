"""Information-bottleneck EM against EM from random starts (thesis Table 6.1, Figs. 6.9 to 6.11).

    python benchmarks/ib_em.py --data FOLDER --part runs --case nltcs-10 --starts 50
    python benchmarks/ib_em.py --data FOLDER --part ways --case nltcs-10
    python benchmarks/ib_em.py --data FOLDER --part held --starts 20
    python benchmarks/ib_em.py --data FOLDER --part cardinality --case stocks
    python benchmarks/ib_em.py --data FOLDER --part hierarchy
    python benchmarks/ib_em.py --data FOLDER --part full --starts 25
    python benchmarks/ib_em.py --data FOLDER --part learned
    python benchmarks/ib_em.py --data FOLDER --part real
    python benchmarks/ib_em.py --tables            # the record as tables

FOLDER has `stocks`, `digits` and `debd`. Every case writes its own entry of
`results/bottleneck.json`. `runs`: one run of IB-EM, and the same with eigenvectors looked for from
other vectors (`--seeds` in all), against EM from random parameters to the same tolerance (1e-8 of
the objective), both with an equivalent sample size of 1. Then all are taken to the end (1e-12, not
timed): at 1e-8 runs on their way to one maximum still differ by more than a tie on test
rows. Likelihoods are in nats per row; ends within 0.001 are equal. The cost is CPU seconds of the
IB-EM run by those of one random run in the mean, on one thread, compiled code warm. `held`: the
same with a fifth of the rows held out to say at which gamma to stop. `ways`: the same run with
other directions, with noise, with fixed steps, without exchanges. `cardinality`: the number of
states learned, against every fixed number. `hierarchy`: hidden parents found from the rows,
against a single one with as many states. `full` (Fig. 6.14): on as many rows as the thesis has
(1,213), one hidden parent, random hierarchies of five hidden variables below a sixth with
replace-parent moves (`--starts` of them, two and three states each), and enrichment without and
with these moves, with fixed numbers of states; `learned` with numbers that are learned (Table
6.2). `real`: `discover` with `method="bottleneck"` on the tables of `discover.py --part real`, the
same rows to learn from and to predict, at most 180 s.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, markdown_table, versions, write_json
from discover import REAL, stocks

from unveil import DAG, EquivalentSampleSize, Network, Table, Variable, fit_em, ib_em
from unveil.bottleneck import Continuation, learn_hierarchy, settling
from unveil.discovery import Candidate, Settings, discover_networks
from unveil.evaluate import log_loss

RESULTS = Path(__file__).parent / "results" / "bottleneck.json"
PRIOR = EquivalentSampleSize(1.0)
TIE = 0.001
TOLERANCE, MOST = 1e-8, 2000
FINE, MOST_FINE = 1e-12, 10_000
cpu = time.process_time


def naive_bayes(table: Table) -> DAG:
    return DAG(["class", *table.names], [("class", name) for name in table.names])


def debd(name: str) -> Callable[[Path], tuple[Table, Table]]:
    def read(data: Path) -> tuple[Table, Table]:
        train, test = (Table.read(data / "debd" / f"{name}.{x}.csv.gz") for x in ("train", "test"))
        return train, test.conform(train.variables)

    return read


def stock_rows(data: Path) -> tuple[Table, Table]:
    """The days in random order: four fifths to learn from, the rest to test."""
    table = stocks(data)
    order = np.random.default_rng(0).permutation(table.n_rows)
    n = table.n_rows * 4 // 5
    return table.take(order[:n]), table.take(order[n:])


def digit_rows(data: Path) -> tuple[Table, Table]:
    """16 x 16 grey levels in ten equal bins, as the thesis has them."""
    variables = [Variable(f"p{i}", range(10)) for i in range(256)]
    found = []
    for part in ("train", "test"):
        with gzip.open(data / "digits" / f"usps_{part}.csv.gz", "rt") as file:
            grey = np.loadtxt(file, delimiter=",", skiprows=1)[:, 1:]
        bins = np.clip(((grey + 1) / 2 * 10).astype(int), 0, 9)
        found.append(Table(variables, list(bins.T)))
    return found[0], found[1]


READERS: dict[str, Callable[[Path], tuple[Table, Table]]] = {
    "stocks": stock_rows, "digits": digit_rows, "jester": debd("jester"), "nltcs": debd("nltcs"),
}  # fmt: skip
DEFAULT = {
    "held": ("jester-10", "digits-5"),
    "cardinality": ("stocks", "nltcs"),
    "hierarchy": ("stocks-2", "stocks-3"),
    "full": ("stocks",),
    "learned": ("stocks",),
    "real": ("stocks", "soybean", "coil", "news"),
}
CASES = ("stocks-3", "stocks-4", "stocks-5", "nltcs-10", "jester-10", "digits-5", "digits-10")


def per_row(network: Network, table: Table) -> float:
    return float(network.log_likelihood(table) / table.total_weight)


def with_other_vectors(seed: int) -> None:
    """Let eigenvectors be looked for from other vectors.

    Without noise IB-EM hardly uses its seed, and the order of columns does not matter. These
    vectors are what is left that is drawn: runs with others show how much the end depends on it.
    """
    settling.VECTORS = seed


def to_the_end(network: Network, train: Table) -> Network:
    """The maximum that EM leads to from there: what stopped on its way is no end to compare."""
    found = fit_em(
        network, train, PRIOR, start="given", tolerance=FINE, max_iterations=MOST_FINE,
        accelerate=True,
    )  # fmt: skip
    end: Network = found.network
    return end


def one_run(train: Table, k: int | None, seed: int, settings: Continuation) -> tuple[Any, float]:
    with_other_vectors(seed)
    began = cpu()
    found = ib_em(
        naive_bayes(train), train, PRIOR, {"class": k}, seed=seed, continuation=settings,
        tolerance=TOLERANCE, max_iterations=MOST,
    )  # fmt: skip
    return found, cpu() - began


def random_runs(train: Table, test: Table, k: int, n: int) -> dict[str, list[float]]:
    out: dict[str, list[float]] = {"train": [], "test": [], "seconds": [], "iterations": []}
    for seed in range(n):
        began = cpu()
        found = fit_em(
            naive_bayes(train), train, PRIOR, {"class": k}, start="random", seed=seed,
            tolerance=TOLERANCE, max_iterations=MOST,
        )  # fmt: skip
        out["seconds"].append(cpu() - began)
        out["iterations"].append(len(found.trace))
        end = to_the_end(found.network, train)
        out["train"].append(per_row(end, train))
        out["test"].append(per_row(end, test))
    return out


def against(value: float, others: list[float]) -> dict[str, int]:
    return {
        "better": sum(x > value + TIE for x in others),
        "equal": sum(abs(x - value) <= TIE for x in others),
        "worse": sum(x < value - TIE for x in others),
    }


def runs(data: Path, case: str, starts: int, seeds: int) -> dict[str, Any]:
    """One line of Table 6.1."""
    name, k = case.rsplit("-", 1)
    train, test = READERS[name](data)
    one_run(train.take(np.arange(min(300, train.n_rows))), 2, 0, Continuation())  # compiles
    random = random_runs(train, test, int(k), starts)
    ends = []
    for seed in range(seeds):
        found, seconds = one_run(train, int(k), seed, Continuation())
        end = to_the_end(found.network, train)
        ends.append((per_row(end, train), per_row(end, test), seconds))
    own, own_test, _ = ends[0]
    cost = float(np.mean([e[2] for e in ends]) / np.mean(random["seconds"]))
    ordered = sorted(random["train"])
    return {
        "rows": train.n_rows, "columns": train.n_columns, "starts": starts, "train": own,
        "test": own_test, "train_against": against(own, random["train"]),
        "test_against": against(own_test, random["test"]), "random_best": ordered[-1],
        "random_80": float(np.quantile(ordered, 0.8)), "random_median": float(np.median(ordered)),
        "random_test_best": max(random["test"]), "cost": cost,
        "seconds": ends[0][2], "random_seconds": float(np.mean(random["seconds"])),
        "random_iterations": float(np.mean(random["iterations"])), "seeds": seeds,
        "same_end": sum(abs(e[0] - own) <= TIE for e in ends),
        "ends": [e[0] for e in ends], "ends_test": [e[1] for e in ends],
    }  # fmt: skip


def held(data: Path, case: str, starts: int, seeds: int) -> dict[str, Any]:
    """Where held-out rows end the course, and whether test rows are predicted better there."""
    name, k = case.rsplit("-", 1)
    train, test = READERS[name](data)
    random = random_runs(train, test, int(k), starts)
    lines: dict[str, Any] = {}
    for part in (None, 0.2):
        found = ib_em(
            naive_bayes(train), train, PRIOR, {"class": int(k)}, seed=0, held_out=part,
            tolerance=TOLERANCE, max_iterations=MOST,
        )  # fmt: skip
        end = to_the_end(found.network, train) if found.gamma == 1 else found.network
        own, own_test = per_row(end, train), per_row(end, test)
        lines[str(part)] = {
            "gamma": found.gamma, "train": own, "test": own_test,
            "train_against": against(own, random["train"]),
            "test_against": against(own_test, random["test"]), "seconds": found.seconds,
            "course": [[p.gamma, p.held_out] for p in found.course if p.held_out is not None],
        }  # fmt: skip
    return {"starts": starts, "lines": lines, "random_test": random["test"]}


WAYS = {
    "default": Continuation(),
    "whole derivative": Continuation(direction="whole"),
    "its diagonal": Continuation(direction="diagonal"),
    "no exchanges": Continuation(exchanges=0),
    "noise, information, diagonal": Continuation(splits="noise", direction="diagonal", exchanges=0),
    "noise, fixed steps": Continuation(splits="noise", steps="fixed", exchanges=0),
}


def ways(data: Path, case: str, starts: int, seeds: int) -> dict[str, Any]:
    name, k = case.rsplit("-", 1)
    train, test = READERS[name](data)
    random = random_runs(train, test, int(k), starts)
    lines: dict[str, Any] = {}
    for word, settings in WAYS.items():
        ends = [one_run(train, int(k), seed, settings) for seed in range(seeds)]
        values = [per_row(to_the_end(found.network, train), train) for found, _ in ends]
        lines[word] = {
            "train": values, "against": [against(v, random["train"]) for v in values],
            "cost": float(np.mean([s for _, s in ends]) / np.mean(random["seconds"])),
            "steps": [len(found.course) for found, _ in ends],
        }  # fmt: skip
    return {"starts": starts, "ways": lines}


def cardinality(data: Path, case: str, starts: int, seeds: int) -> dict[str, Any]:
    train, test = READERS[case](data)
    bits = 1 / np.log(2)
    found, seconds = one_run(train, None, 0, Continuation())
    fixed = []
    for k in (2, 3, 4, 5, 6, 8, 10, 12, 16, 20):
        own, took = one_run(train, k, 0, Continuation())
        values = [-per_row(own.network, rows) * bits for rows in (train, test)]
        fixed.append(
            {"states": k, "train_bits": values[0], "test_bits": values[1], "seconds": took}
        )
    best = min(fixed, key=lambda line: line["test_bits"])
    own_bits = -per_row(found.network, test) * bits
    return {
        "states": found.n_states["class"], "test_bits": own_bits, "seconds": seconds,
        "best_fixed": best["states"], "best_fixed_bits": best["test_bits"],
        "behind_bits": own_bits - best["test_bits"], "fixed": fixed,
        "effective": [[p.gamma, p.effective[0]] for p in found.course],
    }  # fmt: skip


def hierarchy(data: Path, case: str, starts: int, seeds: int) -> dict[str, Any]:
    """Hidden parents found from the rows, against one parent with as many states."""
    name, k = case.rsplit("-", 1)
    train, test = READERS[name](data)
    bits = -1 / np.log(2)
    naive, _ = one_run(train, int(k), 0, Continuation())
    began = cpu()
    found = learn_hierarchy(train, int(k), PRIOR, seed=0)
    own = found.network
    groups = {h: [c for c in own.dag.children(h) if c in train] for h in found.hidden}
    return {
        "hidden": len(found.hidden), "groups": groups, "parameters": own.n_parameters,
        "test_bits": per_row(own, test) * bits, "train_bits": per_row(own, train) * bits,
        "naive_test_bits": per_row(naive.network, test) * bits,
        "naive_parameters": naive.network.n_parameters, "seconds": cpu() - began,
    }  # fmt: skip


def random_hierarchy(names: Sequence[str], n_groups: int, seed: int) -> DAG:
    """Columns below random ones of so many hidden variables, at least two each, and a root."""
    random = np.random.default_rng(seed)
    group = np.arange(len(names)) % n_groups
    loose = group >= 0
    loose[: 2 * n_groups] = False  # two columns each, the others anywhere
    group[loose] = random.integers(n_groups, size=int(loose.sum()))
    order = random.permutation(len(names))
    arcs = [("root", f"G{g}") for g in range(n_groups)]
    arcs += [(f"G{group[i]}", names[j]) for i, j in enumerate(order)]
    return DAG(["root", *(f"G{g}" for g in range(n_groups)), *names], arcs)


THESIS_ROWS = 1213


def full(data: Path, case: str, starts: int, seeds: int) -> dict[str, Any]:
    """Fig. 6.14: structure, and new hidden variables."""
    train, test = READERS[case](data)
    train = train.take(np.arange(min(THESIS_ROWS, train.n_rows)))
    bits = -1 / np.log(2)
    lines: dict[str, Any] = {}

    def add(word: str, network: Network, seconds: float) -> None:
        lines[word] = {
            "test_bits": per_row(network, test) * bits,
            "train_bits": per_row(network, train) * bits,
            "parameters": network.n_parameters, "seconds": seconds,
            "states": [network.variable(h).n_states for h in network.hidden],
            "groups": [[c for c in network.dag.children(h) if c in train] for h in network.hidden],
        }  # fmt: skip
        print(word, lines[word], flush=True)

    for k in (2, 3, None):
        found, seconds = one_run(train, k, 0, Continuation())
        add(f"one parent, {k or 'learned'}", found.network, seconds)
    for k in (2, 3):
        found = learn_hierarchy(train, k, PRIOR, seed=0, replace_parents=False)
        add(f"enrichment, {k}", found.network, found.seconds)
    for k in (2, 3, 4, 5, 6, 8):
        found = learn_hierarchy(train, k, PRIOR, seed=0)
        add(f"enrichment and search, {k}", found.network, found.seconds)
    random: dict[str, list[Any]] = {}
    for k in (2, 3):
        for seed in range(starts):
            dag = random_hierarchy(train.names, 5, seed)
            found = learn_hierarchy(train, k, PRIOR, start=dag, enrich=False, seed=0)
            random.setdefault(str(k), []).append({
                "test_bits": per_row(found.network, test) * bits, "hidden": len(found.hidden),
                "parameters": found.network.n_parameters, "seconds": found.seconds,
            })  # fmt: skip
        print("random", k, min(x["test_bits"] for x in random[str(k)]), flush=True)
    return {"rows": train.n_rows, "lines": lines, "random": random}


def learned(data: Path, case: str, starts: int, seeds: int) -> dict[str, Any]:
    """The last line of Table 6.2: hidden variables and their numbers of states, all learned."""
    train, test = READERS[case](data)
    train = train.take(np.arange(min(THESIS_ROWS, train.n_rows)))
    found = learn_hierarchy(train, None, PRIOR, seed=0)
    own, bits = found.network, -1 / np.log(2)
    return {
        "rows": train.n_rows, "test_bits": per_row(own, test) * bits,
        "train_bits": per_row(own, train) * bits, "parameters": own.n_parameters,
        "states": [own.variable(h).n_states for h in own.hidden], "seconds": found.seconds,
        "groups": [[c for c in own.dag.children(h) if c in train] for h in own.hidden],
    }  # fmt: skip


def real(data: Path, case: str, starts: int, seeds: int) -> dict[str, Any]:
    """A real table by the bottleneck, in 180 s; the rows are those of `discover.py --part real`."""
    table = REAL[case](data)
    order = np.random.default_rng(1).permutation(table.n_rows)
    n = min(5000, (2 * table.n_rows) // 3)
    train, test = table.take(np.sort(order[:n])), table.take(np.sort(order[n:]))
    began, wall, busy = cpu(), time.monotonic(), os.getloadavg()[0]
    settings = Settings(max_hidden=1, method="bottleneck")
    found = discover_networks(train, settings, seed=1, time_limit=180.0, n_jobs=1)
    own = found.network
    tried = [c for r in found.rounds for c in r.candidates if isinstance(c, Candidate)]
    return {
        "rows": n, "columns": table.n_columns, "none": log_loss(found.baseline, test).bits,
        "found": log_loss(own, test).bits, "gain": found.gain, "parameters": own.n_parameters,
        "states": [own.variable(h).n_states for h in own.hidden],
        "children": [len(own.dag.children(h)) for h in own.hidden],
        "tried": [[c.n_states, len(c.others), c.gain, c.predicted] for c in tried],
        "stopped": found.stopped, "cpu": cpu() - began, "seconds": time.monotonic() - wall,
        "load": busy,
    }  # fmt: skip


PARTS = {
    "runs": runs,
    "held": held,
    "ways": ways,
    "cardinality": cardinality,
    "hierarchy": hierarchy,
    "full": full,
    "learned": learned,
    "real": real,
}


def tables(record: dict[str, Any]) -> None:
    rows = []
    for case, r in record.get("runs", {}).items():
        a, b = r["train_against"], r["test_against"]
        rows.append([
            case, f"{r['train']:.4f}", f"{r['random_best']:.4f}",
            f"{a['better']}/{a['equal']}/{a['worse']}", f"{b['better']}/{b['equal']}/{b['worse']}",
            f"{r['cost']:.1f}", f"{r['same_end']} of {r['seeds']}",
        ])  # fmt: skip
    head = ["case", "IB-EM", "best random", "train better/equal/worse", "test", "cost", "same end"]
    print(markdown_table(head, rows))
    for case, r in record.get("ways", {}).items():
        lines = [
            [word, f"{np.mean(x['train']):.4f}", str([a["better"] for a in x["against"]]),
             f"{x['cost']:.1f}"] for word, x in r["ways"].items()
        ]  # fmt: skip
        print(f"\n{case}, {r['starts']} random starts")
        print(markdown_table(["way", "train (mean)", "random runs better, by seed", "cost"], lines))
    lines = [
        [case, str(r["states"]), f"{r['test_bits']:.3f}", f"{r['best_fixed']}",
         f"{r['best_fixed_bits']:.3f}", f"{r['seconds']:.1f}"]
        for case, r in record.get("cardinality", {}).items()
    ]  # fmt: skip
    for case, r in record.get("hierarchy", {}).items():
        print(
            f"\n{case}: {r['test_bits']:.3f} bits, naive {r['naive_test_bits']:.3f}; {r['groups']}"
        )
    head = ["case", "states learned", "test bits", "best fixed", "its test bits", "CPU s"]
    print("\n" + markdown_table(head, lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with stocks/, digits/ and debd/")
    parser.add_argument("--part", choices=PARTS, default="runs")
    parser.add_argument("--case", action="append", help="repeatable; all if not given")
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tables", action="store_true", help="only show the record")
    given = parser.parse_args()
    record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if given.tables:
        tables(record)
        return
    if given.data is None:
        parser.error("--data is needed")
    default = DEFAULT.get(given.part, CASES)
    for case in given.case or default:
        line = PARTS[given.part](given.data, case, given.starts, given.seeds)
        line |= {"machine": machine(), "versions": versions(["numpy", "numba", "scipy"])}
        record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        record.setdefault(given.part, {})[case] = line
        write_json(RESULTS, record)
        print(case, json.dumps({k: v for k, v in line.items() if k != "fixed"})[:600], flush=True)


if __name__ == "__main__":
    main()
