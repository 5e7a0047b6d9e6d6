"""Counting coded columns: the one place where rows become positions, and positions counts.

The codes of some columns in one row, read as the digits of a mixed-radix number (the first column
slowest), are the position of a cell in their joint table. Everybody who counts rows does it here;
the loops are `unveil.kernels.families`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unveil.errors import SizeError

if TYPE_CHECKING:
    from unveil.table.core import Column, Table
    from unveil.table.variable import Variable

__all__ = [
    "MAX_CELLS",
    "check_cells",
    "counts_at",
    "distinct_positions",
    "family_counts",
    "grouped_rows",
    "joint_counts",
    "positions",
]

Indices = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]

MAX_CELLS = 200_000_000
"""The largest joint table that is laid out (1.6 GB of numbers)."""
MOST_KEYS = 1 << 62
"""Positions beyond this would not fit; those that occur are numbered anew before that."""


def positions(columns: Sequence[Column], cards: Sequence[int], n_rows: int) -> Indices:
    """The cell of every row in the joint table of the columns, shape (n_rows,).

    >>> positions([np.array([0, 1, 1]), np.array([2, 0, 1])], [2, 3], 3)
    array([2, 3, 4])
    """
    from unveil.kernels.families import push_digit

    position = np.zeros(n_rows, np.int64)
    for column, card in zip(columns, cards, strict=True):
        push_digit(position, column, card)
    return position


def counts_at(position: Indices, weights: Matrix, n_cells: int) -> Matrix:
    """The weight of the rows at each of `n_cells` positions."""
    from unveil.kernels.families import tally

    counts = np.zeros(n_cells)
    tally(position, weights, counts)
    return counts


def joint_counts(columns: Sequence[Column], cards: Sequence[int], weights: Matrix) -> Matrix:
    """S[columns]: the weight of rows in every cell, one axis per column (Eq. 2.7)."""
    position = positions(columns, cards, weights.size)
    return counts_at(position, weights, math.prod(cards)).reshape(tuple(cards))


def family_counts(table: Table, variable: Variable, parents: Sequence[Variable]) -> Matrix:
    """S[x, u]: the weight of rows in every cell of the family's table, parents first (Eq. 2.7)."""
    members = (*parents, variable)
    check_cells(members)
    columns = [table.column(v.name) for v in members]
    return joint_counts(columns, [v.n_states for v in members], table.row_weights)


def check_cells(members: Sequence[Variable]) -> None:
    """An error if the joint table of the members would be absurd."""
    cells = math.prod(v.n_states for v in members)
    if cells > MAX_CELLS:
        names = ", ".join(v.name for v in members)
        raise SizeError(
            f"the joint counts of {names} would have {cells:,} cells; at most {MAX_CELLS:,} are "
            "allowed. Use fewer variables or merge states."
        )


# Tables too large to be laid out: only what occurs -----------------------------------------------


def compact_positions(columns: Sequence[Column], cards: Sequence[int], n_rows: int) -> Indices:
    """Positions that order and tell apart rows as `positions` does, whatever the number of cells.

    Where the next digit would not fit, the positions that occur are numbered from 0.
    """
    from unveil.kernels.families import push_digit

    position = np.zeros(n_rows, np.int64)
    n_keys = 1
    for column, card in zip(columns, cards, strict=True):
        if n_keys * card > MOST_KEYS:
            occurring, position = _numbered(position)
            n_keys = occurring.size
        push_digit(position, column, card)
        n_keys *= card
    return position


def distinct_positions(
    columns: Sequence[Column], cards: Sequence[int], n_rows: int
) -> tuple[Indices, Indices]:
    """The first row with each distinct assignment, in cell order, and which one each row has."""
    key = compact_positions(columns, cards, n_rows)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), which.reshape(-1).astype(np.int64)


def grouped_rows(
    columns: Sequence[Column], cards: Sequence[int], n_rows: int
) -> tuple[Indices, Indices]:
    """The rows sorted by their assignment, and where each one that occurs begins (and the end)."""
    key = compact_positions(columns, cards, n_rows)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    return order, np.append(starts, len(order))


def _numbered(position: Indices) -> tuple[Any, Indices]:
    occurring, number = np.unique(position, return_inverse=True)
    return occurring, number.reshape(-1).astype(np.int64)
