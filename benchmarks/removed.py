"""A hidden parent inside a larger graph: variables taken away in turn from known networks.

    python benchmarks/removed.py --data FOLDER --out benchmarks/results/ideal.json

FOLDER holds networks/ecoli70.json, magic-niab.json and arth150.json. Every variable with at least
three children is taken away from a sample, and `find_hidden_parents` looks for it. `truth` is the
true graph with the variable hidden (as a root), from the true parameters, after structural EM has
dropped what so few rows cannot show: where its score does not beat the best graph without a hidden
variable by more than luck, a score cannot find it (`findable`).
A variable is `found` if one hidden variable has at least half of its true children among its own
children. Test likelihoods are of 5,000 further rows, in nats per row; `left out` are bits
per row saved in folds, with their standard error, where the score gained more than luck (lines
without it are from before folds were asked). Times are CPU seconds. Every
variable is written when it is done; those written already are not run again without `--afresh`.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, versions, write_json
from continuous import gaussian_network

from unveil import DAG, Network, Table, Variable
from unveil.discovery.continuous.procedure import find_hidden_parents
from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.line_structure import LineGraph, fitted_graph, line_structural_em
from unveil.em.lines import Lines, Observed, expected_moments
from unveil.ideal import luck

NETWORKS = ("ecoli70", "magic-niab", "arth150")


def standard(network: Network, rows: int, seed: int) -> tuple[Table, Table]:
    """Rows to learn from and to test on, in units of the first."""
    both = [network.sample(n, seed=s) for n, s in ((rows, seed), (5000, seed + 1000))]
    mean = {n: both[0].column(n).mean() for n in network.names}
    spread = {n: both[0].column(n).std() for n in network.names}
    made = [
        Table(
            [Variable(n) for n in t.names], [(t.column(n) - mean[n]) / spread[n] for n in t.names]
        )
        for t in both
    ]
    return made[0], made[1]


def per_row(graph: LineGraph, test: Observed) -> float:
    return expected_moments(graph.lines, test)[0] / test.total


def one(network: Network, name: str, rows: int, seed: int) -> dict[str, Any]:
    """What becomes of one variable that is taken away."""
    train, test = standard(network, rows, seed)
    names = [n for n in train.names if n != name]
    observed, held_out = Observed.of(train.select(names)), Observed.of(test.select(names))
    dag = network.dag
    whole = fitted_graph(Observed.of(train), dag)
    order = (*names, name)
    places = [whole.lines.names.index(n) for n in order]
    start = Lines(
        order, whole.lines.coefficients[np.ix_(places, places)], whole.lines.intercept[places],
        whole.lines.variances[places],
    )  # fmt: skip
    root = DAG(dag.nodes, [arc for arc in dag.arcs if arc[1] != name])
    truth = line_structural_em(observed, fitted_graph(observed, root, [name], start))
    began = time.process_time()
    found = find_hidden_parents(observed, NumberSettings())
    seconds = time.process_time() - began
    children = {*dag.children(name)}
    own = [{*found.graph.dag.children(h)} for h in found.graph.hidden]
    share = max((len(c & children) / len(children) for c in own), default=0.0)
    best = found.baseline
    return {
        "network": network_name(network), "removed": name, "rows": rows, "seed": seed,
        "children": len(children), "truth": truth.score - best.score,
        "findable": bool(
            truth.hidden and truth.score - best.score
            > luck(len(names), len(truth.dag.children(name)))
        ),
        "gain": found.graph.score - best.score, "hidden": len(own), "share": share,
        "found": bool(share >= 0.5),
        "test truth": per_row(truth, held_out) - per_row(best, held_out),
        "test": per_row(found.graph, held_out) - per_row(best, held_out),
        "how": found.tried[0].how if own else "",
        "left out": found.left_out and [found.left_out.bits, found.left_out.standard_error],
        "seconds": seconds,
    }  # fmt: skip


def network_name(network: Network) -> str:
    return {46: "ecoli70", 44: "magic-niab", 107: "arth150"}[len(network.names)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("."))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--rows", nargs="*", type=int, default=[500, 2000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--afresh", action="store_true", help="forget the lines there are")
    parser.add_argument("--again", action="store_true", help="run what --only names once more")
    args = parser.parse_args()
    for name in args.networks:
        network = gaussian_network(args.data / "networks" / f"{name}.json")
        runs = [] if args.afresh else written(args.out, name)
        done = {(r["removed"], r["rows"], r["seed"]) for r in runs}
        for rows, variable in product(args.rows, network.names):
            if len(network.dag.children(variable)) < 3:
                continue
            if args.only and variable not in args.only:
                continue
            if (variable, rows, args.seed) in done and not (args.only and args.again):
                continue
            known = {"removed": variable, "rows": rows, "seed": args.seed}
            runs = [r for r in runs if not known.items() <= r.items()]
            runs.append(one(network, variable, rows, args.seed))
            r = runs[-1]
            print(
                f"{name} {rows} {variable}: {r['children']} children, truth {r['truth']:+.1f}, "
                f"gain {r['gain']:+.1f} with {r['hidden']} hidden, share {r['share']:.2f}, "
                f"test {r['test']:+.4f} (truth {r['test truth']:+.4f}), {r['how']}, "
                f"{r['seconds']:.1f} s", flush=True,
            )  # fmt: skip
            if args.out:
                record = json.loads(args.out.read_text()) if args.out.exists() else {}
                own = summed(runs) | {"machine": machine(), "versions": versions(["unveil"])}
                record["removed"] = record.get("removed", {}) | {name: own}
                write_json(args.out, record)
        print(name, {k: v for k, v in summed(runs).items() if k != "runs"}, flush=True)


def written(out: Path | None, name: str) -> list[dict[str, Any]]:
    """The lines of a network that are there already, those with all figures."""
    if out is None or not out.exists():
        return []
    runs = json.loads(out.read_text()).get("removed", {}).get(name, {}).get("runs", [])
    return [r for r in runs if "findable" in r]


def summed(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """How many could be found, were found, and were claimed where nothing was taken away."""
    can = [r for r in runs if r["findable"]]
    return {
        "runs": runs, "variables": len(runs), "findable": len(can),
        "found of these": sum(r["found"] for r in can), "found": sum(r["found"] for r in runs),
        "claimed elsewhere": sum(r["hidden"] > 0 and not r["found"] for r in runs),
        "mean test gain": float(np.mean([r["test"] for r in runs])),
        "mean test gain of truth": float(np.mean([r["test truth"] for r in runs])),
    }  # fmt: skip


if __name__ == "__main__":
    main()
