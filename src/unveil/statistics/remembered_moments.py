"""Moments that are asked for once: of all continuous columns, since a family's are part of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.statistics.moments import ConditionalMoments
from unveil.statistics.protocol import Distinct, Statistics
from unveil.table.variable import Variable

__all__ = ["RememberedMoments"]

MOST_NUMBERS = 1 << 25
"""So many numbers are remembered (256 MB); when there would be more, all but those of no
configurations are forgotten."""


class RememberedMoments:
    """The same engine, whose rows are read once for all moments given the same discrete variables.

    >>> from unveil.statistics import MemoryStatistics
    >>> from unveil.table import Table
    >>> engine = MemoryStatistics(Table.from_frame({"a": [0.5, 1.5], "b": [2.5, 6.5]}))
    >>> RememberedMoments(engine).moments([1]).at(()).mean
    array([4.5])
    """

    def __init__(self, statistics: Statistics) -> None:
        self.statistics = statistics
        self.variables: tuple[Variable, ...] = statistics.variables
        self.total_weight = statistics.total_weight
        self.continuous = [i for i, v in enumerate(self.variables) if not v.is_discrete]
        """The positions of the continuous columns."""
        self._place = {m: i for i, m in enumerate(self.continuous)}
        self._known: dict[tuple[int, ...], ConditionalMoments] = {}

    def counts(self, sets: Sequence[Sequence[int]]) -> list[npt.NDArray[np.float64]]:
        """S[members] for every set: joint counts, one axis per member in its order."""
        return self.statistics.counts(sets)

    def distinct(self, members: Sequence[int]) -> Distinct:
        """The assignments of the members that occur."""
        return self.statistics.distinct(members)

    def moments(self, members: Sequence[int], by: Sequence[int] = ()) -> ConditionalMoments:
        """The moments of continuous members per configuration of the discrete variables in `by`."""
        if any(m not in self._place for m in members):
            return self.statistics.moments(members, by)  # which says what is wrong with them
        return self.all_moments(tuple(by)).of_columns([self._place[m] for m in members])

    def all_moments(self, by: tuple[int, ...] = ()) -> ConditionalMoments:
        """The moments of all continuous columns, in order, per configuration of `by`."""
        known = self._known.get(by)
        if known is None:
            known = self.statistics.moments(self.continuous, by)
            if sum(m.scatters.size for m in self._known.values()) > MOST_NUMBERS:
                self._known = {key: m for key, m in self._known.items() if not key}
            self._known[by] = known
        return known


if TYPE_CHECKING:
    _: type[Statistics] = RememberedMoments
