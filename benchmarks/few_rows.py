"""Scores of linear Gaussian networks where rows are few: which one predicts rows left out?

    python benchmarks/few_rows.py --data FOLDER --out benchmarks/results/continuous.json

Samples of the networks ecoli70, magic-niab and arth150, yeast expression and sachs: a
network is learned by the default search from so many rows with every score, parameters by least
squares, and judged by rows left out (nats per row and column; higher is better).
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, versions, write_json
from continuous import gaussian_network
from ideal_common import CLASSES, yeast

import unveil
from unveil import Table, Variable

SCORES = ("bic", "mdl", "bge")
ROWS = (20, 50, 100, 200, 500)
OBSERVED = "1"
"""The condition of sachs under which nothing was changed: 853 cells."""


def samples(data: Path) -> dict[str, np.ndarray]:
    """Rows of every set, in a random order."""
    found = {}
    for name in ("ecoli70", "magic-niab", "arth150"):
        network = gaussian_network(data / "networks" / f"{name}.json")
        table = network.sample(1500, seed=1)
        found[name] = np.column_stack([table.column(n) for n in table.names])
    found["yeast, AA genes"] = yeast(data, CLASSES["AA"]).T
    found["yeast, Met genes"] = yeast(data, CLASSES["Met"]).T
    sachs = Table.read(data / "expression" / "sachs_continuous.csv.gz")
    seen = np.array([str(label) for label in sachs.labels("condition")]) == OBSERVED
    cells = sachs.take(seen).without("condition")
    found["sachs"] = np.log1p(np.column_stack([cells.column(n) for n in cells.names]))
    generator = np.random.default_rng(1)
    return {name: values[generator.permutation(len(values))] for name, values in found.items()}


def judged(values: np.ndarray, n_rows: int, score: str) -> tuple[float, int]:
    """Log-likelihood of rows left out, and the arcs of the graph."""
    train, test = values[:n_rows], values[n_rows:]
    mean, spread = train.mean(axis=0), train.std(axis=0)
    names = [Variable(f"v{i:03d}") for i in range(values.shape[1])]
    tables = [Table(names, list(((part - mean) / spread).T)) for part in (train, test)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learned = unveil.learn(tables[0], score)
    own = tables[1].select(learned.network.names)
    return learned.network.log_likelihood(own) / own.n_rows / own.n_columns, learned.dag.n_arcs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("."))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rows", nargs="*", type=int, default=list(ROWS))
    args = parser.parse_args()
    found: dict[str, Any] = {}
    for name, values in samples(args.data).items():
        for n_rows in args.rows:
            if n_rows > 0.8 * len(values):
                continue
            key = f"{name}, {values.shape[1]} columns, {n_rows} rows"
            found[key] = {}
            for score in SCORES:
                test, arcs = judged(values, n_rows, score)
                found[key][score] = {"test": test, "arcs": arcs}
            told = {s: (round(r["test"], 3), r["arcs"]) for s, r in found[key].items()}
            print(key, told, flush=True)
        if args.out:
            record = json.loads(args.out.read_text()) if args.out.exists() else {}
            record["few rows"] = found | {"machine": machine(), "versions": versions(["unveil"])}
            write_json(args.out, record)


if __name__ == "__main__":
    main()
