"""`MemoryStatistics`: compiled counting over the coded columns of a table in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, SizeError
from unveil.kernels.bits import state_bitmaps
from unveil.kernels.scoring import Rows, base_positions
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["MAX_STATES", "MemoryStatistics"]

MAX_STATES = 65_535
MAX_CELLS = 100_000_000


class MemoryStatistics:
    """Counts over the rows of a complete, discrete table; weights may be fractional.

    >>> table = Table.from_frame({"x": ["a", "a", "b"], "y": [0, 1, 1]})
    >>> MemoryStatistics(table).counts([0, 1])
    array([[1., 1.],
           [0., 1.]])
    """

    def __init__(self, table: Table) -> None:
        _check(table)
        self.variables: tuple[Variable, ...] = table.variables
        self.total_weight: float = table.total_weight
        self._codes = table.codes()
        ones = table.weights is None or bool((table.weights == 1.0).all())
        self._weights = np.zeros(0) if ones else np.ascontiguousarray(table.row_weights)

    @cached_property
    def rows(self) -> Rows:
        """What the compiled kernels see: codes, weights, and bitmaps where weights are ones."""
        cards = np.array([v.n_states for v in self.variables], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(cards)[:-1]]).astype(np.int64)
        words = -(-self._codes.shape[1] // 64) if self._weights.size == 0 else 0
        bits = np.zeros((int(cards.sum()), words), np.uint64)
        if words:
            state_bitmaps(self._codes, first, bits)
        return Rows(self._codes, self._weights, cards, bits, first)

    def counts(self, members: Sequence[int]) -> npt.NDArray[np.float64]:
        """S[members]: joint counts, one axis per variable, given by position (Eq. 2.7)."""
        from unveil.kernels.families import tally

        shape = [self.variables[m].n_states for m in members]
        if math.prod(shape) > MAX_CELLS:
            names = ", ".join(self.variables[m].name for m in members)
            raise SizeError(f"the joint counts of {names} would have {math.prod(shape):,} cells")
        position = np.empty(self._codes.shape[1], np.int64)
        base_positions(self._codes, self.rows.cards, np.asarray(members, np.int64), position)
        counts = np.zeros(math.prod(shape))
        weights = self._weights if self._weights.size else np.ones(position.size)
        tally(position, weights, counts)
        return counts.reshape(shape)


def _check(table: Table) -> None:
    if table.n_rows == 0:
        raise DataError("the table has no rows to learn from")
    for name in table.names:
        variable = table.variable(name)
        if not variable.is_discrete:
            raise DataError(
                f"column {name!r} is continuous; counting needs discrete columns. Discretise it "
                "first (unveil.Discretizer; on the command line --discretize) or leave it out."
            )
        if variable.n_states > MAX_STATES:
            raise DataError(
                f"column {name!r} has {variable.n_states:,} states; at most {MAX_STATES:,} can be "
                "counted. It looks like an identifier: leave it out."
            )
        missing = table.missing(name)
        if missing.any():
            raise DataError(
                f"column {name!r} has {int(missing.sum()):,} missing cells (the first in row "
                f"{int(missing.argmax()) + 1}); counting needs complete rows. Fill them in, leave "
                "those rows out, or leave the column out."
            )
    if table.total_weight <= 0:
        raise DataError("the weights of all rows are zero; there is nothing to learn from")
