"""Families of rows with further columns: those of the table's own columns are scored only once.

A search for hidden variables fills them in again and again, and learns arcs over the completed rows
each time. Completing adds columns and takes rows apart, but what the table itself shows is counted
as before; so families that hold none of the new columns have the scores they had. They are taken
from scores that stay with the table, where rows are fewer and weights are mostly ones.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.score.base import CountScore, Score
from unveil.score.families import Family, FamilyScores
from unveil.score.structure import StructurePrior
from unveil.table.core import Table

__all__ = ["FamiliesBeside", "families_beside"]

Numbers = npt.NDArray[np.float64]

ROOM = 64 << 20
"""So many bytes of scores stay with a table."""


def families_beside(
    table: Table,
    completed: Table,
    score: Score,
    structure_prior: StructurePrior | None = None,
    n_jobs: int | None = None,
) -> FamilyScores:
    """The scores of families of `completed`: the rows of `table` with further columns filled in.

    Scores whose penalty depends on how many variables there are see all columns every time, and so
    do tables with gaps, which say less than their completed rows.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu
    >>> whole = datasets.network("asia").sample(100, seed=1)
    >>> scores = families_beside(whole.without("lung"), whole, BDeu(1))
    >>> isinstance(scores, FamiliesBeside)
    True
    """
    shown = [n for n in completed.names if n in table]
    same = all(table.variable(n) == completed.variable(n) for n in shown)
    plain = score.term is not None and type(score).penalty is CountScore.penalty
    plain = plain and _can_be_a_key(score)
    if not (plain and same and shown and structure_prior is None and table.is_complete):
        return FamilyScores(completed, score, structure_prior, n_jobs)
    kept: dict[tuple[Score, tuple[str, ...]], FamilyScores]
    kept = table._cache.setdefault("family scores", {})
    key = (score, tuple(shown))
    if key not in kept:
        kept[key] = FamilyScores(table.select(shown), score, None, n_jobs, cache_bytes=ROOM)
    return FamiliesBeside(completed, score, kept[key], n_jobs)


def _can_be_a_key(score: Score) -> bool:
    try:
        hash(score)
    except TypeError:  # a prior network has tables, which have no hash
        return False
    return True


class FamiliesBeside(FamilyScores):
    """`FamilyScores` that asks `shown` about families of the columns it knows."""

    def __init__(
        self, data: Table, score: Score, shown: FamilyScores, n_jobs: int | None = None
    ) -> None:
        super().__init__(data, score, None, n_jobs)
        self.shown = shown
        place = {name: i for i, name in enumerate(shown.names)}
        self._place = [place.get(name, -1) for name in self.names]
        self._inside = np.array([i for i, p in enumerate(self._place) if p >= 0])
        self._outside = [i for i, p in enumerate(self._place) if p < 0]
        self._there = np.array([self._place[i] for i in self._inside])

    def _as_shown(self, child: int, parents: tuple[int, ...]) -> Family | None:
        """The same family among the columns shown, if it is one."""
        places = [self._place[p] for p in parents]
        if self._place[child] < 0 or -1 in places:
            return None
        return self._place[child], tuple(sorted(places))

    def _compute(self, families: list[Family]) -> Numbers:
        out = np.empty(len(families))
        there = [self._as_shown(*family) for family in families]
        inside = [i for i, family in enumerate(there) if family is not None]
        outside = [i for i, family in enumerate(there) if family is None]
        if inside:
            out[inside] = self.shown.many([there[i] for i in inside])  # type: ignore[misc]
        if outside:
            out[outside] = super()._compute([families[i] for i in outside])
        return out

    def _compute_toggles(self, child: int, parents: tuple[int, ...]) -> Numbers:
        family = self._as_shown(child, parents)
        if family is None:
            return super()._compute_toggles(child, parents)
        row = np.full(self.n_variables, -np.inf)
        row[self._inside] = self.shown.toggles(*family)[self._there]
        added = self._toggled(child, parents)
        more = [v for v in self._outside if v in added]
        if more:
            own, *others = self.many([(child, parents), *(added[v] for v in more)])
            row[more] = np.array(others) - own
        return row
