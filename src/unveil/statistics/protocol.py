"""What every engine that counts offers to scores and searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from unveil.table.variable import Variable

__all__ = ["Statistics"]


class Statistics(Protocol):
    """Sufficient statistics of discrete, complete, weighted rows, wherever the rows live.

    An engine that only knows how to count (a database, a cluster) is enough for every score and
    search; `MemoryStatistics` also offers compiled short cuts.
    """

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that can be counted."""

    @property
    def total_weight(self) -> float:
        """The sum of the row weights."""

    def counts(self, members: Sequence[int]) -> npt.NDArray[np.float64]:
        """S[members]: joint counts, one axis per variable, given by position (Eq. 2.7)."""
