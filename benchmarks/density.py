"""Models with hidden variables as densities: mean test log-likelihood on public binary tables.

    python benchmarks/density.py --data FOLDER [--sets nltcs,dna] [--out FILE]

FOLDER has the files NAME.train.csv.gz, NAME.valid.csv.gz and NAME.test.csv.gz of the density
estimation benchmark (a column for every variable, zeros and ones). For every set a few models are
fitted to the training rows; rows of validation stop EM, choose among the models and weigh them in
the last one, a mixture of all of them (`weighted_networks`). Test rows are looked at once, for the
record. Every line is written as soon as it is there, and sets can be measured one by one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, markdown_table, versions, write_json

import unveil
from unveil import Network, Table, Variable, trees
from unveil.trees import NetworkMixture

PACKAGES = ("unveil", "numpy", "scipy", "numba")
GOALS = {
    "nltcs": (-6.00, -5.99), "baudio": (-39.62, -39.02), "jester": (-52.38, -51.93),
    "dna": (-79.05, -79.05), "pumsb_star": (-21.73, -21.7), "bbc": (-249.05, -240.0),
    "mushrooms": (-14.15, None),
}  # fmt: skip
"""What is to be reached at least, and the far goals, in nats."""
Model = Network | NetworkMixture
Fit = Callable[[Table, Table], Model]


def plain(size: float) -> Fit:
    """A network over the columns, no hidden variables."""
    return lambda train, _: unveil.learn(train, equivalent_sample_size=size, seed=1).network


def classes(k: int, size: float) -> Fit:
    """Latent classes, smoothed."""
    return lambda train, valid: (
        trees.naive_bayes(
            train, k, equivalent_sample_size=size, validation=valid, seed=1, max_iterations=100
        ).network
    )


def hidden_tree(n_states: int, size: float, seed: int, epochs: int = 40, steps: int = 5) -> Fit:
    """A hidden Chow-Liu tree."""
    return lambda train, valid: trees.hidden_chow_liu(
        train, n_states, equivalent_sample_size=size, validation=valid, seed=seed, epochs=epochs,
        max_iterations=steps,
    ).network  # fmt: skip


def networks(k: int, size: float) -> Fit:
    """A mixture of networks, each with its own structure."""
    return lambda train, valid: trees.mixture_of_networks(
        train, k, equivalent_sample_size=size, validation=valid, seed=1
    ).mixture  # fmt: skip


PLANS: dict[str, dict[str, Fit]] = {
    "nltcs": {
        "learn, size 10": plain(10),
        "20 latent classes": classes(20, 1),
        "hidden tree, 16 states": hidden_tree(16, 10, 1, 0, 150),
        "hidden tree, 32 states": hidden_tree(32, 10, 2, 0, 150),
        "hidden tree, 32 states, again": hidden_tree(32, 30, 3, 0, 150),
        "8 networks": networks(8, 10),
        "20 networks": networks(20, 10),
    },
    "dna": {
        "learn, size 1": plain(1),
        "hidden tree, 8 states": hidden_tree(8, 10, 1, 100),
        "hidden tree, 8 states, again": hidden_tree(8, 3, 2, 100),
        "hidden tree, 16 states": hidden_tree(16, 10, 3, 100),
        "2 networks": networks(2, 1),
        "3 networks": networks(3, 1),
    },
    "mushrooms": {
        "learn, size 1": plain(1),
        "learn, size 10": plain(10),
        "50 latent classes": classes(50, 1),
        "hidden tree, 16 states": hidden_tree(16, 3, 1, 100),
        "4 networks": networks(4, 10),
    },
    "jester": {
        "learn, size 10": plain(10),
        "hidden tree, 16 states": hidden_tree(16, 10, 1),
        "hidden tree, 16 states, again": hidden_tree(16, 10, 2),
        "hidden tree, 16 states, once more": hidden_tree(16, 10, 3),
        "6 networks": networks(6, 10),
    },
    "pumsb_star": {
        "learn, size 10": plain(10),
        "4 networks": networks(4, 10),
        "8 networks": networks(8, 10),
    },
    "baudio": {
        "learn, size 10": plain(10),
        "hidden tree, 32 states": hidden_tree(32, 10, 1, 50),
        "hidden tree, 32 states, again": hidden_tree(32, 10, 2, 50),
        "6 networks": networks(6, 10),
        "20 networks": networks(20, 10),
    },
    "bbc": {
        "10 latent classes": classes(10, 1),
        "20 latent classes": classes(20, 1),
        "hidden tree, 4 states": hidden_tree(4, 1, 1),
        "4 networks": networks(4, 1),
    },
}
"""The models that are fitted to each set."""


def read(folder: Path, name: str, part: str) -> Table:
    """A part of a set; every column has the states 0 and 1, whether it shows both or not."""
    with gzip.open(folder / f"{name}.{part}.csv.gz", "rt") as file:
        head = file.readline().strip().split(",")
        rows = np.loadtxt(file, delimiter=",", dtype=np.uint8, ndmin=2)
    return Table([Variable(n, [0, 1]) for n in head], list(rows.T))


def rows_of(model: Model, table: Table) -> Any:
    """log P of every row."""
    return model.row_log_likelihoods(table)


def measured(name: str, options: argparse.Namespace, record: dict[str, Any]) -> None:
    """All models of a set, and the mixture of them; written line by line."""
    train, valid, test = (read(options.data, name, part) for part in ("train", "valid", "test"))
    lines = record["sets"].setdefault(name, {})
    found: list[Model] = []
    logs: list[tuple[Any, Any]] = []
    for word, fit in PLANS[name].items():
        if options.only and options.only not in word:
            continue
        started = time.process_time()
        model = fit(train, valid)
        seconds = time.process_time() - started
        found.append(model)
        logs.append((rows_of(model, valid), rows_of(model, test)))
        lines[word] = _line(logs[-1], model.n_parameters, seconds)
        _tell(options, record, name, word)
    if len(found) > 1:
        started = time.process_time()
        shares, _ = trees.em_shares(np.column_stack([v for v, _ in logs]), valid.row_weights)
        mixed = [
            np.logaddexp.reduce(np.column_stack(own) + np.log(np.maximum(shares, 1e-300)), axis=1)
            for own in zip(*logs, strict=True)
        ]
        seconds = time.process_time() - started + sum(lines[w]["cpu_seconds"] for w in lines)
        n_parameters = sum(m.n_parameters for m in found) + len(found) - 1
        word = "mixture of all"
        lines[word] = {**_line((mixed[0], mixed[1]), n_parameters, seconds),
                       "shares": [round(float(s), 4) for s in shares]}  # fmt: skip
        _tell(options, record, name, word)


def _line(logs: tuple[Any, Any], n_parameters: int, seconds: float) -> dict[str, Any]:
    return {
        "validation": float(np.mean(logs[0])), "test": float(np.mean(logs[1])),
        "parameters": n_parameters, "cpu_seconds": round(seconds, 1),
    }  # fmt: skip


def _tell(options: argparse.Namespace, record: dict[str, Any], name: str, word: str) -> None:
    print(f"{name}, {word}: {json.dumps(record['sets'][name][word])}", file=sys.stderr, flush=True)
    if options.out:
        write_json(options.out, record)


def table_of(record: dict[str, Any]) -> str:
    """For every set the model that validation chose, beside the goals."""
    rows = []
    for name, lines in record["sets"].items():
        if not lines:
            continue
        word = max(lines, key=lambda w: lines[w]["validation"])
        one, best = lines[word], GOALS[name]
        rows.append([
            name, word, f"{one['validation']:.4f}", f"{one['test']:.4f}", f"{best[0]}",
            "" if best[1] is None else f"{best[1]}", f"{one['parameters']:,}",
            f"{one['cpu_seconds']:.0f}",
        ])  # fmt: skip
    head = ["set", "model chosen", "validation", "test", "to reach", "far goal", "parameters",
            "CPU s"]  # fmt: skip
    return markdown_table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with the sets")
    parser.add_argument("--sets", default=",".join(PLANS), help="which sets, of all")
    parser.add_argument("--only", help="only the models whose words hold this")
    parser.add_argument("--out", type=Path, help="where to keep the record; sets there stay")
    options = parser.parse_args()
    record: dict[str, Any] = {"machine": machine(), "versions": versions(PACKAGES), "sets": {}}
    if options.out and options.out.exists():
        record["sets"] = json.loads(options.out.read_text())["sets"]
    for name in options.sets.split(","):
        measured(name, options, record)
    print(table_of(record))


if __name__ == "__main__":
    main()
