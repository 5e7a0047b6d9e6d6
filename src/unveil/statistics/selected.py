"""Some variables of an engine, in another order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.statistics.moments import ConditionalMoments
from unveil.statistics.protocol import Distinct, Statistics
from unveil.table.variable import Variable

__all__ = ["SelectedStatistics"]


class SelectedStatistics:
    """An engine that shows the variables at `places` of another one."""

    def __init__(self, statistics: Statistics, places: Sequence[int]) -> None:
        self._statistics, self._places = statistics, tuple(places)
        self.variables: tuple[Variable, ...] = tuple(statistics.variables[p] for p in places)
        self.total_weight = statistics.total_weight

    def counts(self, sets: Sequence[Sequence[int]]) -> list[npt.NDArray[np.float64]]:
        """S[members] for every set: joint counts, one axis per member in its order."""
        return self._statistics.counts([self._there(members) for members in sets])

    def distinct(self, members: Sequence[int]) -> Distinct:
        """The assignments of the members that occur."""
        return self._statistics.distinct(self._there(members))

    def moments(self, members: Sequence[int], by: Sequence[int] = ()) -> ConditionalMoments:
        """The moments of continuous members per configuration of the discrete variables in `by`."""
        return self._statistics.moments(self._there(members), self._there(by))

    def _there(self, members: Sequence[int]) -> list[int]:
        return [self._places[m] for m in members]
