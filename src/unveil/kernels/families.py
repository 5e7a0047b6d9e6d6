"""Walking over the rows of one family: mixed-radix positions, tallies, look-ups, draws.

A family is a child with its parents. The values of a family in one row, read as the digits of a
mixed-radix number (parents first, child last), are the position of a cell in its table.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

__all__ = [
    "add_looked_up",
    "add_looked_up_plain",
    "draw_states",
    "draw_states_plain",
    "push_digit",
    "push_digit_plain",
    "tally",
    "tally_plain",
]

Array = npt.NDArray[Any]


@numba.njit(cache=True, nogil=True)
def push_digit(position: Array, column: Array, n_states: int) -> None:
    """Append a digit in place: `position = position * n_states + column`."""
    for i in range(position.size):
        position[i] = position[i] * n_states + column[i]


def push_digit_plain(position: Array, column: Array, n_states: int) -> None:
    """The twin of `push_digit`."""
    position *= n_states
    position += column.astype(position.dtype)


@numba.njit(cache=True, nogil=True)
def tally(position: Array, weights: Array, counts: Array) -> None:
    """Add the weight of every row to the cell at its position, in place."""
    for i in range(position.size):
        counts[position[i]] += weights[i]


def tally_plain(position: Array, weights: Array, counts: Array) -> None:
    """The twin of `tally`."""
    counts += np.bincount(position, weights, counts.size)


@numba.njit(cache=True, nogil=True)
def add_looked_up(total: Array, values: Array, position: Array) -> None:
    """Add the value at each row's position to its total, in place."""
    for i in range(position.size):
        total[i] += values[position[i]]


def add_looked_up_plain(total: Array, values: Array, position: Array) -> None:
    """The twin of `add_looked_up`."""
    total += values[position]


@numba.njit(cache=True, nogil=True)
def draw_states(cumulative: Array, row: Array, uniform: Array, out: Array) -> None:
    """Draw a state for every row by inverting the cumulative distribution of its parent row.

    `cumulative` has shape (n_parent_rows, n_states); a state is drawn when it is the first whose
    cumulative probability exceeds `uniform`.
    """
    last = cumulative.shape[1] - 1
    for i in range(row.size):
        state = 0
        while state < last and uniform[i] >= cumulative[row[i], state]:
            state += 1
        out[i] = state


def draw_states_plain(cumulative: Array, row: Array, uniform: Array, out: Array) -> None:
    """The twin of `draw_states`."""
    out[:] = (uniform[:, None] >= cumulative[row, :-1]).sum(axis=1)
