"""Hidden parents of numbers beside the latent methods of causal-learn: GIN and RLCD.

    python benchmarks/latent_peers.py --out benchmarks/results/ideal.json

Pure measurement models: independent hidden parents with so many children each, every child with one
parent, made from seeds; noise and hidden parents are Laplace (GIN asks for numbers that are not
Gaussian) or Gaussian. Every method runs in a process of its own and is ended after `--seconds`.
`agreement` is the share of children that are in the right group, 1 if all groups are as they were.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from queue import Empty
from typing import Any

import numpy as np
from common import machine, markdown_table, versions, write_json
from ideal_layers import overlap

Groups = list[list[int]]


def sample(
    k: int, children: int, rows: int, seed: int, gaussian: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Standardised rows, and who is whose child: (n, k) bool."""
    generator = np.random.default_rng([77, seed, k, children])
    draw = generator.normal if gaussian else generator.laplace
    n = k * children
    arcs = np.arange(n)[:, None] % k == np.arange(k)
    weights = generator.uniform(0.7, 1.5, n) * generator.choice([-1, 1], n)
    values = draw(size=(rows, k)) @ (arcs * weights[:, None]).T + 0.7 * draw(size=(rows, n))
    return (values - values.mean(axis=0)) / values.std(axis=0), arcs


def by_unveil(values: np.ndarray) -> Groups:
    """What `discover` finds, with all it does to be sure of it."""
    import unveil

    names = [f"x{i}" for i in range(values.shape[1])]
    table = unveil.Table([unveil.Variable(n) for n in names], list(values.T))
    dag = unveil.discover(table, seed=1, n_jobs=1).network
    return [[names.index(c) for c in dag.dag.children(h) if c in names] for h in dag.hidden]


def by_gin(values: np.ndarray) -> Groups:
    """The clusters of the generalised independent noise condition, with its default test."""
    from causallearn.search.HiddenCausal.GIN.GIN import GIN

    return [list(map(int, cluster)) for cluster in GIN(values)[1]]


def by_rlcd(values: np.ndarray) -> Groups:
    """The observed children of every latent variable that rank tests find."""
    from causallearn.search.HiddenCausal.RLCD.RLCD_alg import RLCD

    names = [f"x{i}" for i in range(values.shape[1])]
    graph = RLCD(values, node_names=names).G
    nodes = [node.get_name() for node in graph.get_nodes()]
    return [
        [names.index(nodes[j]) for j in range(len(nodes))
         if nodes[j] in names and graph.graph[j, i] == 1 and graph.graph[i, j] == -1]
        for i in range(len(nodes)) if nodes[i] not in names
    ]  # fmt: skip


METHODS: dict[str, Callable[[np.ndarray], Groups]] = {
    "unveil": by_unveil,
    "GIN": by_gin,
    "RLCD": by_rlcd,
}


def _work(method: str, values: np.ndarray, answers: Any) -> None:
    warnings.simplefilter("ignore")
    before = time.process_time()
    try:
        answers.put((METHODS[method](values), time.process_time() - before))
    except Exception as error:  # a peer's failure is its result
        answers.put((f"{type(error).__name__}: {error}"[:200], time.process_time() - before))


def run(method: str, values: np.ndarray, arcs: np.ndarray, seconds: float) -> dict[str, Any]:
    """What a method finds, or how it fails."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_work, args=(method, values, answers))
    process.start()
    try:
        found, cpu = answers.get(timeout=seconds)
    except Empty:
        return {"failed": f"not done after {seconds:g} s"}
    finally:
        process.kill()
        process.join()
    if isinstance(found, str):
        return {"failed": found, "cpu_s": cpu}
    groups = np.zeros((len(arcs), len(found)), bool)
    for i, members in enumerate(found):
        groups[members, i] = True
    return {"hidden": len(found), "agreement": overlap(arcs, groups), "cpu_s": cpu}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--hidden", nargs="*", type=int, default=[2, 3])
    parser.add_argument("--children", nargs="*", type=int, default=[4, 6])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seconds", type=float, default=120.0)
    args = parser.parse_args()
    lines = []
    for children, k, gaussian, seed in product(
        args.children, args.hidden, (False, True), args.seeds
    ):
        values, arcs = sample(k, children, args.rows, seed, gaussian)
        for method in args.methods:
            case = {"noise": "Gaussian" if gaussian else "Laplace", "true": k, "rows": args.rows,
                    "children": children, "seed": seed, "method": method}  # fmt: skip
            lines.append(case | run(method, values, arcs, args.seconds))
            print(lines[-1], flush=True)
    if args.out:
        record = json.loads(args.out.read_text()) if args.out.exists() else {}
        record["latent peers"] = {
            "lines": lines, "machine": machine(), "versions": versions(["unveil", "causal-learn"]),
        }  # fmt: skip
        write_json(args.out, record)
    head = ["noise", "hidden", "children", "seed", "method", "found", "agreement", "CPU s"]
    print(markdown_table(head, [_told(x) for x in lines]))


def _told(line: dict[str, Any]) -> list[str]:
    found = str(line.get("hidden", line.get("failed")))
    share = f"{line['agreement']:.2f}" if "agreement" in line else ""
    case = [str(line[x]) for x in ("noise", "true", "children", "seed", "method")]
    return [*case, found, share, f"{line.get('cpu_s', 0):.1f}"]


if __name__ == "__main__":
    main()
