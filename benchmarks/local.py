"""Plain tables beside local structure: how well rows that were not seen are predicted.

    python benchmarks/local.py --networks FOLDER --out benchmarks/results/local.json

Networks from a folder of BIF files (alarm, insurance, hepar2, water, hailfinder), and random ones
of 20 variables whose distributions are trees of contexts, noisy-or, or plain tables. Each is
learned from 500, 1000 and 5000 rows with plain tables, trees, default tables, and the best of all
kinds, under BDeu (equivalent sample size 1) and BIC; the log-loss is that of 10,000 other rows, in
bits per row. Beside the difference to plain tables stands its standard error over rows. What was
measured is kept in the file after every network: `--only NAME` adds one.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, markdown_table, network_file, versions, write_json

import unveil
from unveil import Network, TableCPD, Variable
from unveil.model import NoisyOrCPD, Split, TreeCPD

NAMED = ("alarm", "insurance", "hepar2", "water", "hailfinder")
RANDOM = ("random trees", "random noisy-or", "random tables")
SIZES = (500, 1000, 5000)
KINDS = ("table", "tree", "default", "auto")


def random_network(kind: str, seed: int, n: int = 20, max_parents: int = 4) -> Network:
    """A network of 20 variables with up to four parents each, and distributions of one kind."""
    generator = np.random.default_rng(seed)
    states = 2 if kind == "random noisy-or" else 3
    variables = [Variable(f"x{i:02}", list(range(states))) for i in range(n)]
    cpds: list[Any] = []
    for i, variable in enumerate(variables):
        size = min(i, int(generator.integers(0, max_parents + 1)))
        parents = [variables[j] for j in generator.choice(i, size, replace=False)] if size else []
        cpds.append(MADE[kind](variable, parents, generator))
    return Network(cpds)


def random_table(
    variable: Variable, parents: Sequence[Variable], generator: np.random.Generator
) -> TableCPD:
    shape = [p.n_states for p in parents]
    return TableCPD(variable, parents, generator.dirichlet(np.full(variable.n_states, 0.5), shape))


def random_tree(
    variable: Variable, parents: Sequence[Variable], generator: np.random.Generator
) -> Any:
    """Every parent is asked for once: first one, then each other below a single branch."""
    if not parents:
        return random_table(variable, parents, generator)
    tree: Any = None
    n_leaves = 0
    for place, parent in enumerate(parents):
        inside = int(generator.integers(parent.n_states))
        branches = []
        for s in range(parent.n_states):
            if s == inside and tree is not None:
                branches.append(((s,), tree))
            else:
                branches.append(((s,), n_leaves))
                n_leaves += 1
        tree = Split(place, tuple(branches))
    rows = generator.dirichlet(np.full(variable.n_states, 0.5), n_leaves)
    return TreeCPD(variable, parents, tree, rows)


def random_noisy_or(
    variable: Variable, parents: Sequence[Variable], generator: np.random.Generator
) -> Any:
    if not parents:
        return TableCPD(variable, [], generator.dirichlet([2.0, 2.0]))
    links = [[0.0, float(generator.uniform(0.3, 0.9))] for _ in parents]
    return NoisyOrCPD(variable, parents, 1, [0] * len(parents), links, 0.05)


MADE = {
    "random trees": random_tree, "random noisy-or": random_noisy_or, "random tables": random_table,
}  # fmt: skip


def measured(name: str, truth: Network, seeds: int) -> list[dict[str, Any]]:
    test = truth.sample(10_000, seed=99)
    own = -truth.row_log_likelihoods(test) / np.log(2)
    done = []
    for n_rows in SIZES:
        for seed in range(1, seeds + 1):
            rows = truth.sample(n_rows, seed=seed)
            for score in ("bdeu", "bic"):
                plain = None
                for local in KINDS:
                    start = time.process_time()
                    learned = unveil.learn(rows, score, local=local)
                    seconds = time.process_time() - start
                    bits = -learned.network.row_log_likelihoods(test) / np.log(2)
                    plain = bits if plain is None else plain
                    gain = plain - bits
                    kinds = [cpd.kind for cpd in learned.network.cpds.values()]
                    done.append({
                        "network": name, "rows": n_rows, "seed": seed, "score": score,
                        "local": local, "bits": float(bits.mean()), "true bits": float(own.mean()),
                        "saved": float(gain.mean()),
                        "error": float(gain.std() / np.sqrt(gain.size)),
                        "value": learned.score, "arcs": learned.dag.n_arcs,
                        "parameters": learned.network.n_parameters,
                        "kinds": {k: kinds.count(k) for k in sorted(set(kinds))},
                        "seconds": seconds,
                    })  # fmt: skip
    return done


def table(results: list[dict[str, Any]]) -> str:
    """Bits per row saved by each kind, mean over seeds."""
    lines = []
    for name in dict.fromkeys(r["network"] for r in results):
        for n_rows in SIZES:
            for score in ("bdeu", "bic"):
                cells = []
                for local in KINDS:
                    own = [r for r in results if (r["network"], r["rows"], r["score"], r["local"])
                           == (name, n_rows, score, local)]  # fmt: skip
                    what = "bits" if local == "table" else "saved"
                    cells.append(f"{np.mean([r[what] for r in own]):.3f}" if own else "")
                lines.append([name, str(n_rows), score, *cells])
    head = ["network", "rows", "score", "plain tables", "trees save", "default tables save",
            "the best of all saves"]  # fmt: skip
    return markdown_table(head, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[*RANDOM, *NAMED])
    chosen = parser.parse_args()
    unveil.learn(unveil.datasets.network("asia").sample(100, seed=1), local="auto")
    results: list[dict[str, Any]] = []
    if chosen.out and chosen.out.exists():
        results = json.loads(chosen.out.read_text())["results"]
    for name in chosen.only:
        path = network_file(chosen.networks, name) if chosen.networks else None
        if name not in MADE and path is None:
            continue
        truth = random_network(name, 7) if name in MADE else unveil.load(path)
        results = [r for r in results if r["network"] != name]
        results += measured(name, truth, chosen.seeds)
        if chosen.out:
            write_json(chosen.out, {"versions": versions(["unveil", "numpy", "numba"]),
                                    "machine": machine(), "results": results})  # fmt: skip
    print(table(results))


if __name__ == "__main__":
    main()
