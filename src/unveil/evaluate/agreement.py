"""How the states of a hidden variable go together with a column that was kept out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.prepare import prepare
from unveil.table.variable import Label

__all__ = ["Agreement", "agreement"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Agreement(Record):
    """Hidden states beside the values of a column, over the rows that show it.

    - `counts`: cases of every state and value, shape (n_states, n_values); a row counts for the
      state that is most probable in it
    - `adjusted_rand`: 1 if states and values sort the rows alike, about 0 by chance (Hubert and
      Arabie 1985)
    - `guessed`: the share of cases whose value is the commonest one in their state;
      `guessed_without`: the share of the commonest value of all
    """

    told: ClassVar = ("words",)

    name: str
    column: str
    states: tuple[Label, ...]
    values: tuple[Label, ...]
    counts: Matrix = field(repr=False)
    adjusted_rand: float
    guessed: float
    guessed_without: float

    @property
    def words(self) -> str:
        """The agreement as a sentence."""
        return (
            f"{self.name} beside {self.column}: guessing {self.column} from {self.name} is right "
            f"in {self.guessed:.0%} of cases, without it in {self.guessed_without:.0%}; adjusted "
            f"Rand index {self.adjusted_rand:.2f} (0 by chance, 1 if they sort the rows alike)"
        )


def agreement(
    name: str, states: Sequence[Label], posterior: Matrix, table: Table, column: str
) -> Agreement:
    """The most probable states of the rows, cross-tabulated with a column of theirs.

    `posterior` has shape (n_rows, n_states). A continuous column is cut into three equal parts.

    >>> rows = Table.from_frame({"ill": ["no", "yes", "yes", None]})
    >>> found = agreement("H", [0, 1], np.array([[1, 0], [0, 1], [0.2, 0.8], [1, 0]]), rows, "ill")
    >>> found.counts.tolist(), found.guessed, found.adjusted_rand
    ([[1.0, 0.0], [0.0, 2.0]], 1.0, 1.0)
    """
    if posterior.shape != (table.n_rows, len(states)):
        raise DataError(
            f"the posterior needs a row for each of {table.n_rows:,} rows and a column for each of "
            f"{len(states)} states, got shape {posterior.shape}"
        )
    one = table.select([column])
    if not one.variable(column).is_discrete:
        one = prepare(one, discretize="equal_frequency", n_bins=3, keep=[column]).table
    seen = ~one.missing(column)
    n_values = one.variable(column).n_states
    place = posterior[seen].argmax(axis=1) * n_values + one.column(column)[seen].astype(np.int64)
    size = len(states) * n_values
    counts: Matrix = np.bincount(place, one.row_weights[seen], size).astype(np.float64)
    counts = counts.reshape(len(states), n_values)
    total = max(counts.sum(), 1e-300)
    guessed, without = counts.max(axis=1).sum() / total, counts.sum(axis=0).max() / total
    labels = one.variable(column).labels
    return Agreement(
        name,
        column,
        tuple(states),
        tuple(labels),
        counts,
        _adjusted_rand(counts),
        float(guessed),
        float(without),
    )


def _adjusted_rand(counts: Matrix) -> float:
    """(S - E) / (M - E): pairs of cases that are together in both, their expectation and maximum.

    S is the sum of C(n_ij, 2) over all cells, E the product of the same sums over rows and columns
    by that of all, M their mean.
    """
    total = _pairs(counts.sum())
    together, by_row = _pairs(counts).sum(), _pairs(counts.sum(axis=1)).sum()
    by_column = _pairs(counts.sum(axis=0)).sum()
    if total <= 0:
        return float("nan")
    expected, most = by_row * by_column / total, (by_row + by_column) / 2
    return 1.0 if np.isclose(most, expected) else float((together - expected) / (most - expected))


def _pairs(n: npt.ArrayLike) -> Matrix:
    """C(n, 2); none of less than one case."""
    n = np.asarray(n, dtype=np.float64)
    return np.maximum(n * (n - 1) / 2, 0.0)
