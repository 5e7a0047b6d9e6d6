"""Continuous discovery with few rows for the columns: parents found, false alarms, rows left out.

    python benchmarks/false_alarms_few.py --seeds 102 --out benchmarks/results/ideal.json

`few planted`: one to three hidden parents, each column below one of them, by weights that are weak
(0.36 to 0.84 of the noise) or strong (0.72 to 1.68). `right` is a claim of as many as there are,
each with at least half of its children. `few nulls`: nothing hidden; no arcs, or random networks
with 0.7 (sparse), 2 and 4 (dense) parents on average, normal noise or t with 3 degrees. `test` is
what a claim gains on 2,000 further rows over the best of three networks without hidden variables
(the baseline, no arcs, the best by MDL: whichever predicts these very rows best), in bits per row,
with its standard error. Times are CPU seconds. The rule was made on other tables.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, versions, write_json

from unveil import DAG, Table, Variable, learn
from unveil.discovery.continuous.procedure import find_hidden_parents
from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.line_structure import fitted_graph
from unveil.em.lines import Observed

TEST_ROWS = 2000
SIZES = [(12, 40), (12, 100), (20, 20), (30, 60), (60, 30), (60, 100), (100, 40)]
"""Rows and columns."""
STRENGTHS = {"weak": 0.6, "strong": 1.2}


def planted(generator: np.random.Generator, case: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Columns below hidden parents, and the parent of each."""
    rows, n, k = case["rows"] + TEST_ROWS, case["columns"], case["parents"]
    h, own = generator.normal(size=(rows, k)), generator.permutation(np.arange(n) % k)
    weights = STRENGTHS[case["strength"]] * generator.uniform(0.6, 1.4, n)
    weights *= generator.choice([-1, 1], n)
    return h[:, own] * weights + generator.normal(size=(rows, n)), own


def null(generator: np.random.Generator, case: dict[str, Any]) -> tuple[np.ndarray, None]:
    """Columns of a random network."""
    rows, n = case["rows"] + TEST_ROWS, case["columns"]
    x = np.zeros((rows, n))
    for i in range(n):
        k = min(i, int(generator.poisson(case["arcs"])))
        for p in generator.choice(i, size=k, replace=False) if k else ():
            weight = generator.uniform(0.3, 1.0) * generator.choice([-1, 1])
            x[:, i] += weight * x[:, p] / x[:, p].std()
        normal = case["noise"] == "normal"
        drawn = generator.normal(size=rows) if normal else generator.standard_t(3, size=rows)
        x[:, i] += drawn if normal else drawn / np.sqrt(3)
    return x[:, generator.permutation(n)], None


def judged(values: np.ndarray, own: np.ndarray | None, rows: int) -> dict[str, Any]:
    """What is claimed about the first rows, and how it predicts the others."""
    names = [f"x{i:03d}" for i in range(values.shape[1])]
    variables = [Variable(n) for n in names]
    table, test = (Table(variables, list(v.T)) for v in (values[:rows], values[rows:]))
    train = Observed.of(table)
    began = time.process_time()
    found = find_hidden_parents(train, NumberSettings())
    told: dict[str, Any] = {"seconds": time.process_time() - began}
    graph = found.graph
    children = [[names.index(c) for c in graph.dag.children(h)] for h in graph.hidden]
    saved = found.left_out
    told |= {"hidden": len(children), "children": [len(c) for c in children],
             "baseline arcs": found.baseline.dag.n_arcs,
             "left out": saved and [saved.bits, saved.standard_error]}  # fmt: skip
    if own is not None:
        told["right"] = right(children, own)
    if children:
        known = {v.name: v for v in variables}
        alone = fitted_graph(train, DAG(names))
        plain = [g.lines.network(known, g.dag) for g in (found.baseline, alone)]
        plain.append(learn(table, "mdl").network)
        others = [network.row_log_likelihoods(test) for network in plain]
        rival = max(others, key=np.sum)
        network = graph.lines.network(known, graph.dag, graph.hidden)
        gains = (network.row_log_likelihoods(test) - rival) / np.log(2)
        told["test"] = [float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(len(gains)))]
    return told


def right(children: list[list[int]], own: np.ndarray) -> bool:
    """Whether there are as many as there should be, each with half of the children of its own."""
    true = [{*np.flatnonzero(own == parent).tolist()} for parent in np.unique(own)]
    met = {i for i, t in enumerate(true) for c in children if 2 * len(t & {*c}) >= len(t)}
    return len(children) == len(true) == len(met)


def cases(args: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    for seed, (rows, n) in product(args.seeds, SIZES):
        case = {"rows": rows, "columns": n, "seed": seed}
        for parents, strength in product((1, 2, 3), STRENGTHS):
            yield "few planted", case | {"parents": parents, "strength": strength}
        for arcs, noise in product((0, 0.7, 2, 4), ("normal", "t3")):
            yield "few nulls", case | {"arcs": arcs, "noise": noise}


def drawn(part: str, case: dict[str, Any]) -> tuple[np.ndarray, np.ndarray | None]:
    generator = np.random.default_rng([9, *(ord(c) for c in json.dumps(case))])
    return planted(generator, case) if part == "few planted" else null(generator, case)


def summed(runs: list[dict[str, Any]]) -> dict[str, Any]:
    claims = [r for r in runs if r["hidden"]]
    told: dict[str, Any] = {
        "tables": len(runs), "with claims": len(claims),
        "claims that predict worse": sum(r["test"][0] < 0 for r in claims),
        "worse by two standard errors": sum(r["test"][0] < -2 * r["test"][1] for r in claims),
        "worst test of a claim": min((r["test"][0] for r in claims), default=0.0),
        "mean test of claims": float(np.mean([r["test"][0] for r in claims] or [0.0])),
        "seconds": sum(r["seconds"] for r in runs),
    }  # fmt: skip
    planted = [r for r in runs if "strength" in r]
    for strength, (rows, n) in product(STRENGTHS if planted else (), SIZES):
        own = [
            r for r in planted if (r["strength"], r["rows"], r["columns"]) == (strength, rows, n)
        ]
        told[f"{strength}, {rows} rows, {n} columns"] = {
            "tables": len(own), "with claims": sum(bool(r["hidden"]) for r in own),
            "right": sum(r["right"] for r in own),
        }  # fmt: skip
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", nargs="*", type=int, default=[102])
    parser.add_argument("--seconds", type=float, default=1e9, help="CPU seconds to stop after")
    args = parser.parse_args()
    runs: dict[str, list[dict[str, Any]]] = {"few planted": [], "few nulls": []}
    for part, case in cases(args):
        if time.process_time() > args.seconds:
            break
        values, own = drawn(part, case)
        runs[part].append(case | judged(values, own, case["rows"]))
        print(part, json.dumps(runs[part][-1]), flush=True)
    record = json.loads(args.out.read_text()) if args.out and args.out.exists() else {}
    for part, lines in runs.items():
        told = summed(lines)
        print(part, json.dumps(told))
        about = {"machine": machine(), "versions": versions(["unveil"])}
        record[part] = told | {"runs": lines} | about
    if args.out:
        write_json(args.out, record)


if __name__ == "__main__":
    main()
