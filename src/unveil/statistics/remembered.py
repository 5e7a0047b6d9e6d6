"""Counts that are asked for once, for engines to whom every question is dear.

All sets that are not known go to the engine in one call. A set within one that is known, or asked
for in the same call, is not asked for: its counts are sums of the larger table's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.statistics.moments import ConditionalMoments
from unveil.statistics.protocol import Distinct, Statistics
from unveil.table.variable import Variable

__all__ = ["RememberedCounts"]

Numbers = npt.NDArray[np.float64]
Members = tuple[int, ...]
"""Positions in ascending order."""

MOST_CELLS = 1 << 24
"""So many numbers are remembered (128 MB); when there would be more, all are forgotten."""


class RememberedCounts:
    """The counts of an engine, remembered; whatever else is asked of it, it is asked."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics
        self.variables: tuple[Variable, ...] = statistics.variables
        self.total_weight = statistics.total_weight
        self._forget()

    def distinct(self, members: Sequence[int]) -> Distinct:
        """The assignments of the members that occur."""
        return self._statistics.distinct(members)

    def moments(self, members: Sequence[int], by: Sequence[int] = ()) -> ConditionalMoments:
        """The moments of continuous members per configuration of the discrete variables in `by`."""
        return self._statistics.moments(members, by)

    def counts(self, sets: Sequence[Sequence[int]]) -> list[Numbers]:
        """S[members] for every set: joint counts, one axis per member in its order (Eq. 2.7)."""
        keys = [tuple(sorted(members)) for members in sets]
        if self._n_cells > MOST_CELLS:
            self._forget()
        self._learn([key for key in dict.fromkeys(keys) if key not in self._tables])
        return [
            self._tables[key].transpose([key.index(m) for m in members])
            for key, members in zip(keys, sets, strict=True)
        ]

    def _forget(self) -> None:
        self._tables: dict[Members, Numbers] = {}
        self._within: dict[tuple[int, int], set[Members]] = {}
        """The sets that hold a member, by their size and that member."""
        self._largest = 0
        self._n_cells = 0

    def _learn(self, unknown: list[Members]) -> None:
        asked: list[Members] = []
        sums: list[tuple[Members, Members]] = []
        for key in sorted(unknown, key=len, reverse=True):
            larger = self._larger(key)
            if larger is None:
                asked.append(key)
            else:
                sums.append((key, larger))
            for m in key:
                self._within.setdefault((len(key), m), set()).add(key)
            self._largest = max(self._largest, len(key))
        if asked:
            for key, table in zip(asked, self._statistics.counts(asked), strict=True):
                self._keep(key, table)
        for key, larger in sums:
            gone = tuple(i for i, m in enumerate(larger) if m not in key)
            self._keep(key, self._tables[larger].sum(axis=gone))

    def _keep(self, key: Members, table: Numbers) -> None:
        self._tables[key] = table
        self._n_cells += table.size

    def _larger(self, key: Members) -> Members | None:
        """A set that holds this one, of the smallest size there is."""
        for size in range(len(key) + 1, self._largest + 1):
            holders = [self._within.get((size, m), set()) for m in key]
            common = set.intersection(*holders) if holders else set()
            if common:
                return min(common)
        return None
