"""Structural EM beside the simple algorithm that runs EM for every neighbour of a graph.

    python benchmarks/structural_em.py --out benchmarks/results/structural_em.json

The lecture's simple algorithm (slide 4) considers every graph one arc away, fits each by EM and
takes the best; structural EM completes the rows once and searches on these. Slide 10 has it
complete them anew every k search steps. All start at the graph without arcs, on the same rows with
cells missing at random, under MDL as on the slide; the score is that of what was observed. Small
cases only: the simple algorithm runs EM some n^2 times for one arc.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from common import machine, markdown_table, network_file, versions, write_json

import unveil
from unveil.em import fit_em, structural_em
from unveil.em.structural import observed_score
from unveil.score import MDL

EM = {"max_iterations": 50, "tolerance": 1e-6}


def simple_algorithm(table: unveil.Table, score: Any, seed: int) -> tuple[float, int, int]:
    """The score the simple algorithm ends with, how many arcs, and how often it ran EM."""
    n_runs = 0

    def judged(dag: unveil.DAG) -> float:
        nonlocal n_runs
        n_runs += 1
        network = fit_em(dag, table, score.prior, seed=seed, **EM).network
        return observed_score(network, table, score)[0]

    dag = unveil.DAG(table.names)
    best = judged(dag)
    while True:
        scored = [(judged(other), other) for other in neighbours(dag)]
        top, other = max(scored, key=lambda pair: pair[0])
        if top <= best + 1e-6 * abs(best):
            return best, dag.n_arcs, n_runs
        best, dag = top, other


def neighbours(dag: unveil.DAG) -> list[unveil.DAG]:
    """Every graph with one arc more or one less."""
    found = [dag.without_arc(*arc) for arc in dag.arcs]
    for x in dag.nodes:
        for y in dag.nodes:
            free = x != y and not dag.has_arc(x, y) and not dag.has_arc(y, x)
            if free and x not in dag.descendants(y):
                found.append(dag.with_arc(x, y))
    return found


def compared(name: str, truth: unveil.Network, n_rows: int, seed: int) -> list[dict[str, Any]]:
    rows = truth.sample(n_rows, seed=seed).knock_out(0.1, seed=seed)
    score = MDL()
    head = {"network": name, "rows": n_rows, "seed": seed}
    start = time.process_time()
    value, n_arcs, n_runs = simple_algorithm(rows, score, seed)
    done = [{**head, "method": "EM for every neighbour", "score": value, "arcs": n_arcs,
             "EM runs": n_runs, "seconds": time.process_time() - start}]  # fmt: skip
    for moves in (1, 3, 10, None):
        start = time.process_time()
        found = structural_em(rows, score=score, seed=seed, moves=moves, max_rounds=100,
                              em_iterations=EM["max_iterations"])  # fmt: skip
        words = "search to its end" if moves is None else f"E-step every {moves} moves"
        done.append(
            {**head, "method": f"structural EM, {words}", "score": found.score,
             "arcs": found.dag.n_arcs, "EM runs": len(found.trace),
             "seconds": time.process_time() - start}
        )  # fmt: skip
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=Path, help="a folder with more networks (sachs, ...)")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    chosen = parser.parse_args()
    networks = {"asia": unveil.datasets.network("asia")}
    for name in ("survey", "sachs"):
        path = network_file(chosen.networks, name) if chosen.networks else None
        if path:
            networks[name] = unveil.load(path)
    structural_em(networks["asia"].sample(50, seed=1).knock_out(0.1, seed=1), score=MDL(), seed=1)
    results = [
        row
        for name, truth in networks.items()
        for seed in range(1, chosen.seeds + 1)
        for row in compared(name, truth, 500, seed)
    ]
    head = ["network", "seed", "method", "score", "arcs", "EM runs", "CPU seconds"]
    print(markdown_table(head, [
        [r["network"], str(r["seed"]), r["method"], f"{r['score']:.2f}", str(r["arcs"]),
         str(r["EM runs"]), f"{r['seconds']:.2f}"] for r in results
    ]))  # fmt: skip
    if chosen.out:
        write_json(chosen.out, {"versions": versions(["unveil", "numpy", "numba"]),
                                "machine": machine(), "results": results})  # fmt: skip


if __name__ == "__main__":
    main()
