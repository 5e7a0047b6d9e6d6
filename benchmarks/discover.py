"""The figures of thesis chapters 4 and 5: hidden variables found, and their numbers of states.

    python benchmarks/discover.py --data FOLDER --out FILE.json --pictures FOLDER --part all

Parts: `cardinality` and `states` (see `discover_states.py`), `figures` (Fig. 4.3 and 4.4, test and
training rows), `ways` (Fig. 4.5), `patients` (a stand-in for Fig. 4.8), `speed` (20 variables, 5000
rows) and `real` (stocks, news, soybean, COIL; needs `--data`). `--quick` has fewer sizes and short
time limits. Results of parts that were not run stay in the JSON file.

Two parts take hours, and can be done in pieces (see `decisions.py`): `nulls` (nothing hidden) and
`removed` (every central variable removed in turn). `--networks`, `--rows`, `--seeds 1-3` and
`--hidden` say which; `--data` is a folder of BIF files for networks that are not bundled; `--tag`
names the sources.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import clocked, machine, markdown_table, shown, versions, write_json
from decisions import nulls, removed
from discover_pictures import draw
from discover_states import cardinality, states

from unveil import Network, Table, Variable, datasets
from unveil.discovery import Discovery, Settings, Verdict, discover_networks
from unveil.em import cheeseman_stutz, fit_em, structural_em
from unveil.evaluate import log_loss
from unveil.hidden import (
    naive_graph,
)
from unveil.model.prior import EquivalentSampleSize
from unveil.score import BDeu

PRIOR = EquivalentSampleSize(1.0)
TEST_ROWS = 10_000
ALARM_HIDDEN = ("HR", "INTUBATION", "LVFAILURE", "VENTLUNG")
INSURANCE_HIDDEN = ("Accident", "Age", "MakeModel", "VehicleYear")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with stocks/, text/, uci/ and counts/")
    parser.add_argument("--out", type=Path, help="JSON file for the numbers")
    parser.add_argument("--pictures", type=Path, help="folder for the pictures")
    parser.add_argument("--part", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--networks", nargs="+", help="for `nulls` and `removed`")
    parser.add_argument("--rows", type=int, nargs="+", help="for `nulls` and `removed`")
    parser.add_argument("--hidden", nargs="+", help="for `removed`: only these variables")
    parser.add_argument("--seeds", type=span, default=[1], help="for both: 1, or 1-10")
    parser.add_argument("--tag", default="after", help="for both: what the sources are called")
    arguments = parser.parse_args()
    old = json.loads(arguments.out.read_text()) if arguments.out and arguments.out.exists() else {}
    record = {**old, "machine": machine(), "versions": versions(["unveil", "numpy", "numba"])}
    for part in QUICK_PARTS if arguments.part == "all" else [arguments.part]:
        record[part] = PARTS[part](arguments)
        if arguments.out:
            write_json(arguments.out, record)
    if arguments.pictures:
        draw(record, arguments.pictures)


def span(words: str) -> list[int]:
    """The numbers that `1` or `1-10` stands for."""
    first, _, last = words.partition("-")
    return list(range(int(first), int(last or first) + 1))


# Figures 4.3 and 4.4 -------------------------------------------------------------------------


def figures(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Test log-loss with a variable of ALARM or INSURANCE hidden: five lines."""
    sizes = [1000] if arguments.quick else [500, 1000, 5000]
    cases = [("alarm", h, n) for h in ALARM_HIDDEN for n in sizes]
    cases += [("insurance", h, 1000) for h in INSURANCE_HIDDEN]
    return figure_lines(cases, [arguments.seed])


def ways(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Fig. 4.5: the three ways of adapting, on test rows."""
    sizes = [500] if arguments.quick else [500, 1000, 5000]
    found = []
    for hidden in ALARM_HIDDEN:
        for n_rows in sizes:
            truth = datasets.network("alarm")
            table = truth.sample(n_rows, seed=arguments.seed).without(hidden)
            test = truth.sample(TEST_ROWS, seed=arguments.seed + 1000).without(hidden)
            line: dict[str, Any] = {"hidden": hidden, "rows": n_rows, "seed": arguments.seed}
            baseline = None
            for adapt in ("em", "blanket", "full"):
                settings = Settings(max_hidden=1, adapt=adapt)
                one = discover_networks(
                    table, settings, baseline=baseline, seed=arguments.seed, n_jobs=1
                )
                baseline = baseline or one.baseline
                line[adapt] = log_loss(one.network, test).bits
                line[f"{adapt}_gain"] = one.gain
            line["none"] = log_loss(baseline, test).bits
            print(line, flush=True)
            found.append(line)
    return found


def patients(n_rows: int, seed: int) -> tuple[Table, Table]:
    """A stand-in for the patients' table of Fig. 4.8: what the thesis tells of it, and no more.

    Two large groups (older, born abroad, HIV negative; younger, born in the country, HIV positive)
    and a third without a profile, eleven columns that depend on the group; HIV status also leads to
    some of them.
    """
    generator = np.random.default_rng(seed)
    n = n_rows + TEST_ROWS
    group = generator.choice(3, n, p=[0.4, 0.25, 0.35])

    def draw(*shares: Sequence[float]) -> Any:
        odds = np.array(shares)[group].cumsum(axis=1)
        return (generator.random(n)[:, None] > odds[:, :-1]).sum(axis=1)

    columns = {
        "age": draw([0.1, 0.3, 0.6], [0.5, 0.4, 0.1], [0.33, 0.34, 0.33]),
        "born": draw([0.9, 0.1], [0.05, 0.95], [0.5, 0.5]),
        "ethnicity": draw([0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.2, 0.2, 0.3, 0.3]),
        "hiv": draw([0.95, 0.05], [0.2, 0.8], [0.7, 0.3]),
        "gender": draw([0.55, 0.45], [0.8, 0.2], [0.65, 0.35]),
        "homeless": draw([0.97, 0.03], [0.65, 0.35], [0.85, 0.15]),
    }
    ill = columns["hiv"]
    for name, low, high in (("site", 0.15, 0.5), ("smear", 0.5, 0.4), ("xray", 0.6, 0.35),
                            ("outcome", 0.06, 0.25), ("resistant", 0.1, 0.2)):  # fmt: skip
        tilt = 0.1 * (group == 0)
        columns[name] = (generator.random(n) < np.where(ill == 1, high, low) + tilt).astype(int)
    variables = [Variable(c, range(int(v.max()) + 1)) for c, v in columns.items()]
    table = Table(variables, list(columns.values()))
    return table.take(np.arange(n_rows)), table.take(np.arange(n_rows, n))


def stand_in(arguments: argparse.Namespace) -> dict[str, Any]:
    """The stand-in for the patients: 2302 rows, as many as the thesis had."""
    train, test = patients(2302, arguments.seed)
    found = discover_networks(train, Settings(max_hidden=1), seed=arguments.seed, n_jobs=1)
    line = {
        "rows": train.n_rows, "columns": train.n_columns, "gain": found.gain,
        "none": log_loss(found.baseline, test).bits, "found": log_loss(found.network, test).bits,
        "naive": log_loss(naive(train, arguments.seed), test).bits,
        "hidden": {h: [found.network.variable(h).n_states, *found.network.dag.children(h)]
                   for h in found.hidden},
    }  # fmt: skip
    print(line)
    return line


def figure_lines(
    cases: Sequence[tuple[str, str, int]], seeds: Sequence[int]
) -> list[dict[str, Any]]:
    head = ["network", "hidden", "rows", "seed", "none", "naive", "original", "2 states", "found",
            "gain, nats", "states (true)", "children", "CPU s"]  # fmt: skip
    print("\nFig. 4.3 and 4.4: test log-loss, bits per row (lower is better)\n")
    print(markdown_table(head, []))
    found = []
    for seed in seeds:
        for case in cases:
            found.append(figure_line(*case, seed))
            print("| " + " | ".join(figure_words(found[-1])) + " |", flush=True)
    large = [x["bits"] for x in found if x["rows"] >= 1000]
    for line in ("none", "naive"):
        wins = sum(bits["agglomeration"] < bits[line] for bits in large)
        print(f"better than {line} at 1000 rows and more: {wins} of {len(large)}")
    return found


def figure_line(name: str, hidden: str, n_rows: int, seed: int) -> dict[str, Any]:
    truth = datasets.network(name)
    table = truth.sample(n_rows, seed=seed).without(hidden)
    test = truth.sample(TEST_ROWS, seed=seed + 1000).without(hidden)
    found, elapsed = clocked(
        lambda: discover_networks(table, Settings(max_hidden=1), seed=seed, n_jobs=1)
    )
    fixed = Settings(max_hidden=1, n_states=2)
    two = discover_networks(table, fixed, baseline=found.baseline, seed=seed, n_jobs=1)
    k = truth.variable(hidden).n_states
    original = best_of(
        fit_em(truth.dag, table, PRIOR, {hidden: k}, n_starts=5, seed=seed).starts, table
    )
    networks = {"none": found.baseline, "naive": naive(table, seed), "original": original,
                "two": two.network, "agglomeration": found.network}  # fmt: skip
    bits = {line: log_loss(network, test).bits for line, network in networks.items()}
    training = {line: log_loss(network, table).bits for line, network in networks.items()}
    return {
        "network": name, "hidden": hidden, "rows": n_rows, "seed": seed, "bits": bits,
        "training_bits": training,
        "gain": found.gain,
        "gain_two": two.gain,
        "gain_original": cheeseman_stutz(original, table, PRIOR) - found.baseline_score,
        "true_states": k, "seconds": elapsed, **whereabouts(found, truth, hidden),
    }  # fmt: skip


def whereabouts(found: Discovery, truth: Network, hidden: str) -> dict[str, Any]:
    """Where the hidden variable was put, and how much of its true place that is."""
    true = {"true_children": list(truth.dag.children(hidden)),
            "true_neighbours": list(truth.dag.neighbours(hidden))}  # fmt: skip
    if not found.hidden:
        return {"states": 1, "children": [], "parents": [], **true}
    h = found.hidden[0]
    dag = found.network.dag
    return {
        "states": found.network.variable(h).n_states, "children": list(dag.children(h)),
        "parents": list(dag.parents(h)), **true,
    }  # fmt: skip


def naive(table: Table, seed: int, starts: int = 3) -> Network:
    """The straw man: a two-state parent of everything, then structural EM, with restarts."""
    graph = naive_graph(table.names, "H1")
    runs = fit_em(
        graph, table, PRIOR, {"H1": 2}, n_starts=starts, start="cluster", seed=seed
    ).starts
    adapted = [
        structural_em(table, run.network, BDeu(1.0), max_rounds=10, seed=seed) for run in runs
    ]
    return max(adapted, key=lambda r: r.score).network


def best_of(starts: Sequence[Any], table: Table) -> Network:
    network: Network = max(
        (s.network for s in starts), key=lambda n: cheeseman_stutz(n, table, PRIOR)
    )
    return network


def figure_words(x: dict[str, Any]) -> list[str]:
    bits = x["bits"]
    true = set(x["true_children"])
    overlap = f"{len(true & set(x['children']))} of {len(true)}, {len(x['children'])} found"
    lines = [f"{bits[k]:.4f}" for k in ("none", "naive", "original", "two", "agglomeration")]
    return [x["network"], x["hidden"], str(x["rows"]), str(x["seed"]), *lines, f"{x['gain']:.1f}",
            f"{x['states']} ({x['true_states']})", overlap, f"{x['seconds']:.0f}"]  # fmt: skip


# Speed ---------------------------------------------------------------------------------------


def speed(arguments: argparse.Namespace) -> dict[str, Any]:
    """Twenty variables of ALARM, without three that others depend on; default settings."""
    alarm = datasets.network("alarm")
    hidden = ("LVEDVOLUME", "INTUBATION", "HR")
    names = [n for n in alarm.names if n not in hidden][:20]
    table = alarm.sample(5000, seed=arguments.seed).select(names)
    discover_networks(table.take(np.arange(200)), Settings(max_hidden=1), seed=1, n_jobs=1)
    result: dict[str, Any] = {"rows": 5000, "columns": 20}
    for n_jobs in (1, None):
        started, used = time.monotonic(), time.process_time()
        found = discover_networks(table, seed=arguments.seed, n_jobs=n_jobs)
        key = "one_process_s" if n_jobs == 1 else "all_cores_s"
        result[key] = time.monotonic() - started
        if n_jobs == 1:
            result["one_process_cpu_s"] = time.process_time() - used
    result["hidden"] = {
        h: [found.network.variable(h).n_states, *found.network.dag.neighbours(h)]
        for h in found.hidden
    }
    print(f"\n20 variables, 5000 rows, default settings: {result}\n")
    return result


# Real tables ---------------------------------------------------------------------------------


def real(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Stocks, soybean, COIL and news, two thirds of the rows (at most 5000) to learn from."""
    if arguments.data is None:
        print("real tables need --data; left out")
        return []
    limit = 30.0 if arguments.quick else 180.0
    found = []
    for name, read in REAL.items():
        table = read(arguments.data)
        order = np.random.default_rng(arguments.seed).permutation(table.n_rows)
        n_train = min(5000, (2 * table.n_rows) // 3)
        train, test = table.take(np.sort(order[:n_train])), table.take(np.sort(order[n_train:]))
        line = {"table": name, "rows": n_train, "columns": table.n_columns,
                **real_line(train, test, arguments.seed, limit)}  # fmt: skip
        print(line, flush=True)
        found.append(line)
    print("\nReal tables: test log-loss, bits per row\n")
    keys = [
        "table", "rows", "columns", "none", "found", "gain", "states", "children", "stopped",
        "seconds",
    ]  # fmt: skip
    head = [{"gain": "gain, nats"}.get(k, k) for k in keys]
    print(markdown_table(head, [[shown(x[k]) for k in keys] for x in found]))
    return found


def real_line(train: Table, test: Table, seed: int, limit: float) -> dict[str, Any]:
    started = time.monotonic()
    found = discover_networks(train, Settings(max_hidden=1), seed=seed, time_limit=limit)
    elapsed = time.monotonic() - started
    h = found.hidden[0] if found.hidden else None
    return {
        "none": log_loss(found.baseline, test).bits, "found": log_loss(found.network, test).bits,
        "method": Settings().method_for(train), "gain": found.gain,
        "states": found.network.variable(h).n_states if h else 1,
        "children": ", ".join(found.network.dag.children(h)) if h else "",
        "stopped": found.stopped, "seconds": elapsed, **explained(found, test),
    }  # fmt: skip


def explained(found: Discovery, test: Table) -> dict[str, Any]:
    """The best that was found, where it was not kept, and the rival that explains it."""
    last = found.rounds[-1] if found.rounds else None
    if last is None or last.kept is not None or last.confirmation is None:
        return {}
    proof, doubts = last.confirmation, (Verdict.EXPLAINED, Verdict.NOT_CONFIRMED)
    refused = next(c.network for c in last.candidates if c.verdict in doubts)  # type: ignore[union-attr]
    told = {"refused": log_loss(refused, test).bits, "chosen": [proof.n_chosen, proof.n_folds]}
    if proof.rival is None or proof.without is None or proof.beyond is None:
        return told
    return told | {
        "rival": proof.rival.name, "rival_saves": proof.without.bits, "beyond": proof.beyond.bits,
        "beyond_error": proof.beyond.standard_error,
    }  # fmt: skip


def stocks(data: Path, threshold: float = 0.005, most: int = 20) -> Table:
    """Daily moves: `same` within half a percent, for the stocks with the most days."""
    import gzip

    with gzip.open(data / "stocks" / "stocks_close_1990_2017.csv.gz", "rt") as file:
        head = file.readline().strip().split(",")[1:]
        cells = [line.rstrip("\n").split(",")[1:] for line in file]
    prices = np.array([[float(c) if c else np.nan for c in row] for row in cells])
    chosen = np.argsort(np.isnan(prices).sum(axis=0), kind="stable")[:most]
    moves = np.diff(np.log(prices[:, chosen]), axis=0)
    moves = moves[~np.isnan(moves).any(axis=1)]
    codes = np.where(moves > threshold, 2, np.where(moves < -threshold, 0, 1))
    variables = [Variable(head[i], ["down", "same", "up"]) for i in chosen]
    return Table(variables, list(codes.T))


def read_discrete(*path: str, but: str = "") -> Callable[[Path], Table]:
    """A reader of a table all of whose columns are categories, constant ones and `but` left out."""

    def read(data: Path) -> Table:
        table = Table.read(data.joinpath(*path), kinds="discrete")
        return table.select([v.name for v in table.variables if v.n_states > 1 and v.name != but])

    return read


REAL: dict[str, Callable[[Path], Table]] = {
    "stocks": stocks,
    "soybean": read_discrete("uci", "soybean_large_train.csv"),
    "coil": read_discrete("counts", "coil86_train.csv.gz"),
    "news": read_discrete("text", "news20_w100.csv.gz", but="newsgroup"),
}

PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "cardinality": cardinality, "states": states, "figures": figures,
    "speed": speed, "real": real, "ways": ways, "patients": stand_in,
    "nulls": nulls, "removed": removed,
}  # fmt: skip
QUICK_PARTS = [part for part in PARTS if part not in ("nulls", "removed")]


if __name__ == "__main__":
    main()
