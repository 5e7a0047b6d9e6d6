"""Soft signatures: columns that what was found leaves unexplained (thesis 6.10, 8.2).

A hidden parent T' of columns C below T cannot gain more than sum over i of H(X_i | T) - H(C | T) a
case (Proposition 6.10.1): what the columns tell of one another given T. This needs no arc, where
semi-cliques need several; so it says something where rows are few for many columns. T stands for
all hidden variables found so far, with the states that the rows most probably have.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Place
from unveil.statistics.counting import joint_counts
from unveil.table.core import Table
from unveil.trees.information import indicators, mutual_information

__all__ = ["soft_places"]

Matrix = npt.NDArray[np.float64]

SEED = 3
"""A new hidden variable begins with so many children."""


def soft_places(bench: Bench, name: str, most: int) -> tuple[Place, ...]:
    """Three columns each, those first that tell most of one another given what was found."""
    columns = bench.table.names
    pairs = np.zeros((len(columns), len(columns)))
    parts = list(_states_apart(bench))
    for rows in parts:
        shown, first = indicators(rows.select(columns))
        pairs += mutual_information(shown, first, rows.row_weights) * rows.total_weight
    seeds = {_seed(pairs, i) for i in range(len(columns))}
    bounds = {seed: _bound(parts, [columns[i] for i in seed]) for seed in seeds}
    best = sorted(seeds, key=lambda seed: (-bounds[seed], seed))[:most]
    return tuple(Place(name, tuple(columns[i] for i in seed)) for seed in best)


def _states_apart(bench: Bench) -> Iterator[Table]:
    """The rows of every configuration of the hidden variables, gaps and hidden states filled in."""
    hidden = [bench.completed.column(h) for h in bench.network.hidden]
    if not hidden:
        yield bench.completed
        return
    _, which = np.unique(np.stack(hidden), axis=1, return_inverse=True)
    for state in range(int(which.max()) + 1):
        yield bench.completed.take(np.flatnonzero(which.ravel() == state))


def _seed(pairs: Matrix, i: int) -> tuple[int, ...]:
    """A column with the two that it tells most of, and that tell most of each other."""
    first = int(np.argmax(np.where(np.arange(len(pairs)) == i, -np.inf, pairs[i])))
    rest = pairs[i] + pairs[first]
    rest[[i, first]] = -np.inf
    return tuple(sorted((i, first, int(np.argmax(rest)))))


def _bound(parts: list[Table], names: list[str]) -> float:
    """The most that a hidden parent of these columns can gain, in nats for all cases."""
    total = 0.0
    for rows in parts:
        columns = [rows.column(n) for n in names]
        sizes = [rows.variable(n).n_states for n in names]
        each = [
            _entropy(joint_counts([c], [k], rows.row_weights))
            for c, k in zip(columns, sizes, strict=True)
        ]
        total += sum(each) - _entropy(joint_counts(columns, sizes, rows.row_weights))
    return total


def _entropy(counts: Matrix) -> float:
    """The entropy of the cases, times their number, in nats."""
    n = counts[counts > 0]
    return float(n.sum() * np.log(n.sum()) - (n * np.log(n)).sum()) if n.size else 0.0
