"""Walking over the rows of one family: mixed-radix positions, tallies, look-ups, draws.

A family is a child with its parents. The values of a family in one row, read as the digits of a
mixed-radix number (parents first, child last), are the position of a cell in its table.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = [
    "add_looked_up",
    "draw_states",
    "push_digit",
    "tally",
]

Array = npt.NDArray[Any]


@compiled
def push_digit(position: Array, column: Array, n_states: int) -> None:
    """Append a digit in place: `position = position * n_states + column`."""
    for i in range(position.size):
        position[i] = position[i] * n_states + column[i]


@compiled
def tally(position: Array, weights: Array, counts: Array) -> None:
    """Add the weight of every row to the cell at its position, in place."""
    for i in range(position.size):
        counts[position[i]] += weights[i]


@compiled
def add_looked_up(total: Array, values: Array, position: Array) -> None:
    """Add the value at each row's position to its total, in place."""
    for i in range(position.size):
        total[i] += values[position[i]]


@compiled
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
