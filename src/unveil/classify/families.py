"""The families of a classifier: counts, smoothed tables, and every row left out in one pass.

A table P(x | c, u1, ..., uk) is a posterior mean whose prior is centred on the table with one
parent less, P(x | c, u1, ..., u(k-1)), and so on down to P(x) and equal shares. `strength` is the
weight of each of these priors, in rows. (Friedman, Geiger and Goldszmidt 1997, section 4.2, smooth
towards P(x) directly.) Sections "Learning the parameters" and "Predictive distribution" of the
course have the plain form: counts plus prior counts, normalised.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.classify.columns import Columns
from unveil.classify.structure import Structure
from unveil.kernels.left_out import (
    add_class_family,
    add_gaussian_family,
    add_table_family,
    row_log_shares,
)

__all__ = [
    "STRENGTHS",
    "best_strength",
    "class_scores",
    "class_table",
    "family_scores",
    "family_table",
    "gaussian_moments",
    "left_out_scores",
    "log_share",
    "shares",
]

Matrix = npt.NDArray[np.float64]

STRENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
"""Weights of the prior that are tried."""

FLOOR = 1e-6
"""The least variance of a number in a class, as a share of its variance in all rows."""


def left_out_scores(columns: Columns, structure: Structure, strength: float) -> Matrix:
    """log P(row, class) up to what all classes share, each row from the counts of all others.

    Shape (n_rows, n_classes). One pass over the rows: a row's own weight is taken back from every
    count it is in, and the structure stays as it is.
    """
    scores = class_scores(columns, structure.class_parents, strength)
    for name, parents in structure.parents.items():
        scores += family_scores(columns, name, parents, strength)
    return scores


def class_scores(columns: Columns, parents: Sequence[str], strength: float) -> Matrix:
    """log P(class | its parents) of every row left out, shape (n_rows, n_classes)."""
    scores = np.zeros((columns.n_rows, columns.n_classes))
    configurations, sizes = _levels(columns, parents)
    parts = [
        _tally(columns, u * columns.n_classes + columns.classes, size * columns.n_classes)
        for u, size in zip(configurations, sizes, strict=True)
    ]
    add_class_family(
        scores, columns.classes, configurations, columns.taken, np.concatenate(parts),
        _starts(parts), float(strength),
    )  # fmt: skip
    return scores


def family_scores(columns: Columns, name: str, parents: Sequence[str], strength: float) -> Matrix:
    """log P(cell | class, parents) of every row left out, shape (n_rows, n_classes)."""
    scores = np.zeros((columns.n_rows, columns.n_classes))
    if columns.is_number(name):
        moments = gaussian_moments(columns, name)
        add_gaussian_family(
            scores, columns.classes, columns.values(name), columns.taken, moments, float(strength),
            _floor(moments),
        )  # fmt: skip
        return scores
    base, configurations, parts = _counts(columns, name, parents)
    add_table_family(
        scores, columns.classes, columns.codes(name), configurations, columns.taken, base,
        np.concatenate(parts), _starts(parts), float(strength),
    )  # fmt: skip
    return scores


def family_table(columns: Columns, name: str, parents: Sequence[str], strength: float) -> Matrix:
    """P(x | class, parents) as an array of shape (n_classes, states of parents ..., states)."""
    base, _, parts = _counts(columns, name, parents)
    r, k = base.size, columns.n_classes
    table = (base + strength / r) / (base.sum() + strength)
    if not parts:
        return table
    sizes = [1, *(columns.size(p) for p in parents)]
    table = np.broadcast_to(table, (1, k, r))
    for counts, size in zip(parts, sizes, strict=True):
        counts = counts.reshape(-1, k, r)
        table = np.repeat(table, size, axis=0)  # one more parent, its states varying fastest
        table = (counts + strength * table) / (counts.sum(axis=2, keepdims=True) + strength)
    shape = (*(columns.size(p) for p in parents), k, r)
    return np.moveaxis(table.reshape(shape), -2, 0)


def class_table(columns: Columns, parents: Sequence[str], strength: float) -> Matrix:
    """P(class | its parents), shape (states of parents ..., n_classes)."""
    k = columns.n_classes
    table = np.full((1, k), 1.0 / k)
    configurations, sizes = _levels(columns, parents)
    for u, size in zip(configurations, sizes, strict=True):
        counts = _tally(columns, u * k + columns.classes, size * k).reshape(size, k)
        table = np.repeat(table, size // len(table), axis=0)
        table = (counts + strength * table) / (counts.sum(axis=1, keepdims=True) + strength)
    return table.reshape(*(columns.size(p) for p in parents), k)


def gaussian_moments(columns: Columns, name: str) -> Matrix:
    """Weight, mean and scatter of a number in every class and, last, in all rows."""
    values = columns.values(name)
    there = ~np.isnan(values)
    x, y, w = values[there], columns.classes[there], columns.weights[there]
    k = columns.n_classes
    weight = np.bincount(y, w, k)
    mean = np.bincount(y, w * x, k) / np.where(weight > 0, weight, 1.0)
    scatter = np.bincount(y, w * (x - mean[y]) ** 2, k)
    total = weight.sum()
    centre = float((w * x).sum() / total) if total > 0 else 0.0
    whole = [total, centre, float((w * (x - centre) ** 2).sum())]
    return np.vstack([np.column_stack([weight, mean, scatter]), whole])


def gaussian_lines(columns: Columns, name: str, strength: float) -> tuple[Matrix, Matrix]:
    """The mean and the variance of a number in every class, with imagined rows."""
    moments = gaussian_moments(columns, name)
    (weight, mean, scatter), (total, centre, whole) = moments[:-1].T, moments[-1]
    variance = whole / total if total > 0 else 1.0
    both = weight + strength
    means = (weight * mean + strength * centre) / both
    apart = weight * strength / both * (mean - centre) ** 2
    spread = scatter + strength * variance + apart
    return means, np.maximum(spread / both, _floor(moments))


def best_strength(columns: Columns, structure: Structure) -> float:
    """The weight of the prior whose left-out rows have the highest conditional likelihood."""
    found = {s: log_share(columns, left_out_scores(columns, structure, s)) for s in STRENGTHS}
    return max(STRENGTHS, key=lambda s: found[s])


def log_share(columns: Columns, scores: Matrix) -> float:
    """The sum over rows of log P(own class | row), in nats."""
    nothing = np.zeros_like(scores)
    out = np.empty(columns.n_rows)
    row_log_shares(scores, nothing, nothing, columns.classes, out)
    return float(out @ columns.weights)


def shares(scores: Matrix) -> Matrix:
    """Scores as probabilities of the classes, shape (n_rows, n_classes)."""
    up = np.exp(scores - scores.max(axis=1, keepdims=True))
    result: Matrix = up / up.sum(axis=1, keepdims=True)
    return result


def _counts(
    columns: Columns, name: str, parents: Sequence[str]
) -> tuple[Matrix, npt.NDArray[np.int64], list[Matrix]]:
    """Counts of the cells alone; configurations and counts with ever more parents."""
    cells, r, k = columns.codes(name), columns.size(name), columns.n_classes
    base = _tally(columns, cells, r)
    configurations, sizes = _levels(columns, parents)
    parts = [
        _tally(columns, (u * k + columns.classes) * r + cells, size * k * r)
        for u, size in zip(configurations, sizes, strict=True)
    ]
    return base, configurations, parts


def _levels(columns: Columns, parents: Sequence[str]) -> tuple[npt.NDArray[np.int64], list[int]]:
    """The configuration of the first 0, 1, ... parents in every row, and how many there are."""
    found, sizes = [np.zeros(columns.n_rows, np.int64)], [1]
    for parent in parents:
        size = columns.size(parent)
        found.append(found[-1] * size + columns.codes(parent))
        sizes.append(sizes[-1] * size)
    return np.array(found), sizes


def _tally(columns: Columns, places: npt.NDArray[np.int64], size: int) -> Matrix:
    """The weight of the rows at each place."""
    return np.bincount(places, columns.weights, size).astype(np.float64)


def _starts(parts: Sequence[Matrix]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *(part.size for part in parts[:-1])]).astype(np.int64)


def _floor(moments: Matrix) -> float:
    total, _, scatter = moments[-1]
    return float(FLOOR * scatter / total) + 1e-300 if total > 0 and scatter > 0 else FLOOR
