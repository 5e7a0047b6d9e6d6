"""What the parts of `ideal.py` share: yeast genes, folds, means of records."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unveil import Table, Variable

CLASSES = {"AA": "01/01", "Met": "01/"}


def yeast(data: Path, prefix: str, complete: bool = True) -> np.ndarray:
    """Genes of a functional class by conditions; genes with gaps left out, or their cells NaN."""
    with gzip.open(data / "expression" / "yeast_gasch1.csv.gz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    own = [r for r in rows if any(c.startswith(prefix) for c in r[-1].split("@"))]
    cells = np.array([[float(c) if c else np.nan for c in r[1:-1]] for r in own])
    return cells[~np.isnan(cells).any(axis=1)] if complete else cells


def split(values: np.ndarray, folds: int, seed: int = 1) -> list[tuple[Table, Table]]:
    """Train and test tables of rows dealt to folds, in units of the training rows."""
    deal = np.random.default_rng(seed).permutation(len(values)) % folds
    names = [Variable(f"v{i:03d}") for i in range(values.shape[1])]
    out = []
    for fold in range(folds):
        train, test = values[deal != fold], values[deal == fold]
        mean, spread = np.nanmean(train, axis=0), np.nanstd(train, axis=0)
        pair = [Table(names, list(((part - mean) / spread).T)) for part in (train, test)]
        out.append((pair[0], pair[1]))
    return out


def mean_of(runs: Sequence[Any]) -> Any:
    """The mean of records of numbers, field by field."""
    if isinstance(runs[0], dict):
        return {key: mean_of([r[key] for r in runs]) for key in runs[0]}
    return float(np.mean(runs))
