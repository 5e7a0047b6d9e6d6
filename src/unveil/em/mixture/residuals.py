"""Pairs of columns that go together more, or less, than a mixture says: bivariate residuals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.em.mixture.fit import table_values
from unveil.errors import SizeError
from unveil.model.network import Network
from unveil.records import Record
from unveil.table.core import Table

__all__ = ["BivariateResidual", "bivariate_residuals", "different_rows", "one_hot"]

MOST_WORK = 5e10
"""Rows times squared states of all columns; more would take many seconds."""
BLOCK = 1 << 24
"""So many entries of the indicator matrix are worked on at a time."""

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BivariateResidual(Record):
    """Pearson's X2 of a pair of columns against the mixture, and its degrees of freedom.

    `value` is X2 per degree of freedom. Above about 4 (for one degree of freedom), the classes
    leave a dependence between the two columns unexplained.
    """

    told: ClassVar = ("value",)

    columns: tuple[str, str]
    x2: float
    degrees_of_freedom: int

    @property
    def value(self) -> float:
        """X2 / ((states of the first - 1) * (states of the second - 1))."""
        return self.x2 / self.degrees_of_freedom

    @property
    def words(self) -> str:
        """The residual as a phrase, such as 'IQ and sex: 12.3'."""
        return f"{' and '.join(self.columns)}: {self.value:.1f}"


def bivariate_residuals(network: Network, name: str, table: Table) -> list[BivariateResidual]:
    """The residual of every pair of columns, the largest first (Vermunt and Magidson 2016).

    Expected counts are N * sum over c of P(c) P(x | c) P(y | c), where N counts the rows that
    show both columns. Columns of a single state are left out.
    """
    rows = different_rows(network, name, table)
    columns = [v.name for v in rows.variables if v.n_states > 1]
    if len(columns) < 2:
        return []
    rows = rows.select(columns)
    if float(rows.n_rows) * _starts(rows)[-1] ** 2 > MOST_WORK:
        raise SizeError(
            f"the residuals of all pairs of {len(columns):,} columns in {rows.n_rows:,} different "
            "rows would take too long; select fewer columns"
        )
    counts = _pair_counts(rows)
    shares = table_values(network, name)
    first = _starts(rows)
    found = []
    for i, j in combinations(range(len(columns)), 2):
        observed = counts[first[i] : first[i + 1], first[j] : first[j + 1]]
        a, b = (table_values(network, columns[c]) for c in (i, j))
        expected = observed.sum() * np.einsum("c,cx,cy->xy", shares, a, b)
        degrees = (observed.shape[0] - 1) * (observed.shape[1] - 1)
        found.append(BivariateResidual((columns[i], columns[j]), _x2(observed, expected), degrees))
    return sorted(found, key=lambda residual: -residual.value)


def different_rows(network: Network, name: str, table: Table) -> Table:
    """The columns that the mixture with root `name` has, equal rows folded, none of weight zero."""
    columns = [column for column in network.dag.children(name) if column in table]
    known = table.select(columns).conform([network.variable(column) for column in columns])
    return known.take(known.row_weights > 0).folded()


def one_hot(rows: Table) -> Matrix:
    """A column of ones and zeros for each state of each column; gaps are zeros everywhere.

    Shape (n_rows, states of all columns).
    """
    first = _starts(rows)
    made = np.zeros((rows.n_rows, first[-1]))
    for start, column in zip(first, rows.names, strict=False):
        seen = np.flatnonzero(~rows.missing(column))
        made[seen, start + rows.column(column)[seen].astype(np.int64)] = 1.0
    return made


def _starts(rows: Table) -> list[int]:
    return [0, *np.cumsum([v.n_states for v in rows.variables]).tolist()]


def _pair_counts(rows: Table) -> Matrix:
    """The weighted count of every pair of states, for all pairs of columns in one matrix."""
    width = _starts(rows)[-1]
    counts = np.zeros((width, width))
    step = max(1, BLOCK // width)
    for begin in range(0, rows.n_rows, step):
        block = rows.take(np.arange(begin, min(begin + step, rows.n_rows)))
        ones = one_hot(block)
        counts += (ones * block.row_weights[:, None]).T @ ones
    return counts


def _x2(observed: Matrix, expected: Matrix) -> float:
    """Sum of (O - E)^2 / E; a cell that can not be and is not adds nothing."""
    possible = expected > 0
    if (observed[~possible] > 0).any():
        return float("inf")
    return float(((observed - expected)[possible] ** 2 / expected[possible]).sum())
