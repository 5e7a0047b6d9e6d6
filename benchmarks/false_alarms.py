"""Continuous discovery where nothing is hidden, and where something is: claims, and what they cost.

    python benchmarks/false_alarms.py --data FOLDER --out benchmarks/results/ideal.json
    python benchmarks/false_alarms.py --data FOLDER --out FILE.json --part planted --seeds 1 2 3

`nulls`: random networks of 15 to 30 columns with nothing hidden, in mixed units, with noise that is
normal, heavy-tailed (t with 3 degrees, Laplace) or skewed (exponential), with lines or with curves
between columns; and samples of ecoli70 and magic-niab. A claim is a hidden variable; `test` is what
the network then gains on 5,000 further rows over the best one without, in nats per row. `left out`
are bits per row saved in folds, with their standard error, where the score gained more than luck.
`planted`: a hidden root above some of 20 columns that have arcs of their own, by the strength of
its weights. It is `found` if one hidden variable has at least half of its children, and no more
others than of these. `truth` is what the score gains by the graph that a search finds where the
root is shown, the root then hidden again, after structural EM; where that is no more than luck, a
score cannot find it (`findable`). Times are CPU seconds. Lines are written one by one; those there
already stay.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, versions, write_json
from continuous import gaussian_network

from unveil import Table, Variable
from unveil.discovery.continuous.procedure import find_hidden_parents
from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.line_structure import LineGraph, fitted_graph, line_structural_em, with_roots
from unveil.em.lines import Observed, expected_moments
from unveil.ideal import luck
from unveil.score import BIC, GaussianFamilies
from unveil.search import combined_search

TEST_ROWS = 5000
Draw = Callable[[np.random.Generator, int], np.ndarray]

NOISES: dict[str, Draw] = {
    "normal": lambda g, n: g.normal(size=n),
    "t3": lambda g, n: g.standard_t(3, size=n) / np.sqrt(3),
    "laplace": lambda g, n: g.laplace(size=n) / np.sqrt(2),
    "exponential": lambda g, n: g.exponential(size=n) - 1,
}
CURVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "lines": lambda s: s,
    "tanh": lambda s: 2 * np.tanh(s),
    "squares": lambda s: s + 0.3 * s**2,
}


def columns_of(
    generator: np.random.Generator, n: int, rows: int, noise: str, shape: str, above: Any = None
) -> np.ndarray:
    """Columns of a random network with two parents on average, shape (n, rows).

    `above` (n, rows) is added to what the parents bring.
    """
    out = np.zeros((n, rows))
    for i in range(n):
        k = min(i, int(generator.integers(0, 5)))
        parents = generator.choice(i, size=k, replace=False) if k else []
        s = np.zeros(rows)
        for p in parents:
            weight = generator.uniform(0.3, 1.0) * generator.choice([-1, 1])
            s += weight * out[p] / out[p].std()
        out[i] = CURVES[shape](s) + NOISES[noise](generator, rows)
        if above is not None:
            out[i] += above[i]
    return out


def observed_of(values: np.ndarray, names: list[str]) -> Observed:
    return Observed.of(Table([Variable(n) for n in names], list(values)))


def per_row(graph: LineGraph, test: Observed) -> float:
    return float(expected_moments(graph.lines, test)[0] / test.total)


def searched(values: np.ndarray, rows: int, root: np.ndarray | None = None) -> dict[str, Any]:
    """What is claimed about the first rows, and what it gains on the others.

    With the values of a hidden root, also what the score would gain by it.
    """
    names = [f"x{i:02d}" for i in range(len(values))]
    train, test = observed_of(values[:, :rows], names), observed_of(values[:, rows:], names)
    began = time.process_time()
    found = find_hidden_parents(train, NumberSettings())
    seconds = time.process_time() - began
    truth = {} if root is None else _truth(train, root[:rows], found.baseline.score)
    return truth | {
        "hidden": len(found.graph.hidden), "gain": found.gain, "needed": found.needed,
        "children": [[names.index(c) for c in found.graph.dag.children(h)]
                     for h in found.graph.hidden],
        "how": found.tried[0].how if found.graph.hidden else "",
        "left out": found.left_out and [found.left_out.bits, found.left_out.standard_error],
        "test": per_row(found.graph, test) - per_row(found.baseline, test), "seconds": seconds,
    }  # fmt: skip


def _truth(train: Observed, root: np.ndarray, baseline: float) -> dict[str, Any]:
    names = (*train.names, "H")
    whole = observed_of(np.vstack([train.values.T, root / root.std()]), list(names))
    assert whole.moments is not None
    families = GaussianFamilies.of_moments(names, whole.moments, BIC())
    rules = with_roots(None, ["H"], train.names)
    shown = fitted_graph(whole, combined_search(families, constraints=rules).dag)
    hidden = fitted_graph(train, shown.dag, ["H"], shown.lines)
    best = line_structural_em(train, hidden)
    gain = best.score - baseline
    own = len(best.dag.children("H")) if best.hidden else 0
    return {"truth": gain, "findable": bool(own >= 3 and gain > luck(len(train.names), own))}


def nulls(args: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Callable[[], Any]]]:
    """Tables with nothing hidden."""
    sizes = [(15, 200), (15, 2000), (20, 500), (30, 200), (30, 1000)]
    for seed, (n, rows), noise in product(args.seeds, sizes, NOISES):
        case = {"table": "random", "columns": n, "rows": rows, "noise": noise, "curves": "lines"}
        yield case | {"seed": seed}, lambda c=case, s=seed: _random(c, s)
    for seed, (n, rows), shape in product(args.seeds, [(15, 500), (20, 1000)], ("tanh", "squares")):
        case = {"table": "random", "columns": n, "rows": rows, "noise": "normal", "curves": shape}
        yield case | {"seed": seed}, lambda c=case, s=seed: _random(c, s)
    for seed, name, rows in product(args.seeds, ("ecoli70", "magic-niab"), (300, 1000)):
        case = {"table": name, "rows": rows, "seed": seed}
        yield case, lambda c=case: _known(args.data, c)


def _random(case: dict[str, Any], seed: int) -> dict[str, Any]:
    key = [5, seed, case["columns"], case["rows"], *map(ord, case["noise"] + case["curves"])]
    generator = np.random.default_rng(key)
    n, rows = case["columns"], case["rows"]
    values = columns_of(generator, n, rows + TEST_ROWS, case["noise"], case["curves"])
    values *= 10.0 ** generator.uniform(-3, 3, size=(n, 1))
    values += 10.0 ** generator.uniform(-2, 4, size=(n, 1))
    return searched(values, rows)


def _known(data: Path, case: dict[str, Any]) -> dict[str, Any]:
    network = gaussian_network(data / "networks" / f"{case['table']}.json")
    table = network.sample(case["rows"] + TEST_ROWS, seed=40 + case["seed"])
    return searched(np.array([table.column(n) for n in table.names]), case["rows"])


def planted(args: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Callable[[], Any]]]:
    """A hidden root above some of 20 columns."""
    for seed, children, strength, rows in product(
        args.seeds, (4, 8), (0.4, 0.7, 1.0, 1.5), (500, 2000)
    ):
        case = {"columns": 20, "true children": children, "strength": strength, "rows": rows}
        yield case | {"seed": seed}, lambda c=case, s=seed: _planted(c, s)


def _planted(case: dict[str, Any], seed: int) -> dict[str, Any]:
    n, children, rows = case["columns"], case["true children"], case["rows"]
    generator = np.random.default_rng([6, seed, children, rows, round(10 * case["strength"])])
    own = generator.choice(n, size=children, replace=False)
    h = generator.normal(size=rows + TEST_ROWS)
    above = np.zeros((n, len(h)))
    weights = generator.uniform(0.7, 1.3, children) * generator.choice([-1, 1], children)
    above[own] = case["strength"] * weights[:, None] * h
    values = columns_of(generator, n, len(h), "normal", "lines", above)
    told = searched(values, rows, h)
    true = {*own.tolist()}
    told["found"] = any(
        2 * len(true & {*c}) >= len(true) and len({*c} - true) <= len(true & {*c})
        for c in told["children"]
    )
    return told


def summed(runs: list[dict[str, Any]]) -> dict[str, Any]:
    claims = [r for r in runs if r["hidden"]]
    told: dict[str, Any] = {
        "tables": len(runs), "with claims": len(claims),
        "refused by rows left out": sum(not r["hidden"] and bool(r.get("left out")) for r in runs),
        "claims that predict worse": sum(r["test"] < 0 for r in claims),
        "worst test of a claim": min((r["test"] for r in claims), default=0.0),
    }  # fmt: skip
    for strength in sorted({r["strength"] for r in runs if "strength" in r}):
        own = [r for r in runs if r["strength"] == strength]
        told[f"strength {strength}"] = {
            "tables": len(own), "findable": sum(r["findable"] for r in own),
            "found of these": sum(r["found"] for r in own if r["findable"]),
            "found": sum(r["found"] for r in own),
            "claimed elsewhere": sum(bool(r["hidden"]) and not r["found"] for r in own),
        }  # fmt: skip
    return told


PARTS = {"nulls": nulls, "planted": planted}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("."), help="folder with networks/")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--part", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--most", type=int, default=1000, help="tables to run at most, in parts")
    parser.add_argument("--afresh", action="store_true", help="forget the lines there are")
    args = parser.parse_args()
    for part, cases in PARTS.items():
        if args.part not in (part, "all"):
            continue
        runs = [] if args.afresh else _lines(args.out, part)
        before = len(runs)
        for case, work in cases(args):
            if any(case.items() <= r.items() for r in runs) or len(runs) >= before + args.most:
                continue
            runs.append(case | work())
            print(part, runs[-1], flush=True)
            if args.out:
                record = json.loads(args.out.read_text()) if args.out.exists() else {}
                record[part] = summed(runs) | {
                    "runs": runs, "machine": machine(), "versions": versions(["unveil"]),
                }  # fmt: skip
                write_json(args.out, record)
        print(part, summed(runs), flush=True)


def _lines(out: Path | None, part: str) -> list[dict[str, Any]]:
    if out is None or not out.exists():
        return []
    return list(json.loads(out.read_text()).get(part, {}).get("runs", []))


if __name__ == "__main__":
    main()
