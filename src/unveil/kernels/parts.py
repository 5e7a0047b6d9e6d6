"""Counting many sets of columns in one walk over the rows, and folding equal rows.

Rows are taken in blocks that stay in the processor's cache while all sets are counted in them, so a
further set costs its arithmetic and no memory traffic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = ["count_sets", "group_rows"]

Array = npt.NDArray[Any]

BLOCK = 4096
"""Rows in a block."""
LANES, SMALL = 4, 256
"""Tables of at most so many cells are counted in lanes: one cell is not waited for row by row."""


@compiled
def count_sets(
    codes: Array,
    weights: Array,
    members: Array,
    strides: Array,
    first_member: Array,
    first_cell: Array,
    out: Array,
) -> None:
    """Add the weight of every row to its cell in the table of every set, in place.

    `codes` has shape (n_columns, n_rows); `weights` one number per row, or none where all are one.
    Set s has the columns `members[first_member[s]:first_member[s + 1]]`, its row's cell is the sum
    of their codes times `strides`, and its table begins at `out[first_cell[s]]`.
    """
    n_rows = codes.shape[1]
    n_sets = first_member.size - 1
    position = np.empty(BLOCK, np.uint32)
    lanes = np.zeros(LANES * SMALL)
    tallies = np.zeros(LANES * SMALL, np.int32)
    for start in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - start)
        for s in range(n_sets):
            first = first_cell[s]
            n_cells = first_cell[s + 1] - first
            in_lanes = n_cells <= SMALL
            # Cells of the same table in several lanes lie side by side.
            factor = LANES if in_lanes else 1
            for i in range(size):
                position[i] = (i % LANES) if in_lanes else 0
            for m in range(first_member[s], first_member[s + 1]):
                column, stride = codes[members[m]], np.uint32(strides[m] * factor)
                for i in range(size):
                    position[i] += np.uint32(column[start + i]) * stride
            if not in_lanes:
                own = out[first : first + n_cells]
                if weights.size:
                    for i in range(size):
                        own[position[i]] += weights[start + i]
                else:
                    for i in range(size):
                        own[position[i]] += 1.0
            elif weights.size:
                lanes[: n_cells * LANES] = 0.0
                for i in range(size):
                    lanes[position[i]] += weights[start + i]
                for cell in range(n_cells):
                    out[first + cell] += lanes[cell * LANES : (cell + 1) * LANES].sum()
            else:
                tallies[: n_cells * LANES] = 0
                for i in range(size):
                    tallies[position[i]] += 1
                for cell in range(n_cells):
                    out[first + cell] += tallies[cell * LANES : (cell + 1) * LANES].sum()


@compiled
def group_rows(cells: Array, group: Array) -> Array:
    """The first row of every group of equal rows; `group` gets the group of each row.

    `cells` has shape (n_rows, n_columns). Groups are numbered by first appearance.
    """
    n_rows, n_columns = cells.shape
    size = 16
    while size < 2 * n_rows:
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, np.int64)
    first = np.empty(n_rows, np.int64)
    n_groups = 0
    for r in range(n_rows):
        key = np.uint64(0x9E3779B97F4A7C15)
        for c in range(n_columns):
            key = (key ^ np.uint64(cells[r, c])) * np.uint64(0x100000001B3)
            key ^= key >> np.uint64(29)
        key = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        place = (key ^ (key >> np.uint64(29))) & mask
        while True:
            g = slots[place]
            if g < 0:
                slots[place] = n_groups
                first[n_groups] = r
                group[r] = n_groups
                n_groups += 1
                break
            head = first[g]
            same = True
            for c in range(n_columns):
                if cells[head, c] != cells[r, c]:
                    same = False
                    break
            if same:
                group[r] = g
                break
            place = (place + np.uint64(1)) & mask
    return first[:n_groups].copy()
