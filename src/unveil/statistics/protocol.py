"""What every engine that counts offers to models, scores and searches.

An engine knows the variables and gives sufficient statistics of weighted rows, wherever the rows
live: in memory, in a database, on a cluster. `Statistics` is enough for fitting, for every score
and every search; `Reweightable` and `ScoreTerms` are what an engine may offer besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from unveil.statistics.moments import ConditionalMoments
from unveil.table.variable import Variable

if TYPE_CHECKING:
    from unveil.kernels.scoring import DataTerm

__all__ = ["Distinct", "Family", "Need", "Reweightable", "ScoreTerms", "Statistics"]

Family = tuple[int, tuple[int, ...]]
"""A child and its parents, as positions; parents in ascending order."""


class Need(Enum):
    """Which statistics of its family a kind of distribution is estimated from."""

    COUNTS = "joint counts of (parents ..., child)"
    MOMENTS = "moments of (parents ..., child), all continuous"
    CONDITIONAL_MOMENTS = (
        "moments of (continuous parents ..., child) per configuration of the discrete parents"
    )
    ROWS = "the rows of (parents ..., child): curves have no smaller statistics"


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct assignments of some discrete variables.

    `codes` has shape (n_distinct, n_members), in the order of the cells of the joint table;
    `weights` how much each weighs; `which` says which one every row has, or is `None` where an
    engine has no rows in order.
    """

    codes: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    which: npt.NDArray[np.int64] | None = None


class Statistics(Protocol):
    """Sufficient statistics of weighted rows. Variables are named by their positions."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, discrete ones to count and continuous ones to take moments of."""

    @property
    def total_weight(self) -> float:
        """The sum of the row weights."""

    def counts(self, sets: Sequence[Sequence[int]]) -> list[npt.NDArray[np.float64]]:
        """S[members] for every set: joint counts, one axis per member in its order (Eq. 2.7)."""

    def distinct(self, members: Sequence[int]) -> Distinct:
        """The assignments of the members that occur."""

    def moments(self, members: Sequence[int], by: Sequence[int] = ()) -> ConditionalMoments:
        """The moments of continuous members per configuration of the discrete variables in `by`.

        Without `by` there is one configuration: `moments(members).at(())`.
        """


@runtime_checkable
class Reweightable(Protocol):
    """An engine whose rows can be given other weights."""

    def with_weights(self, weights: npt.ArrayLike) -> Self:
        """The same rows with other weights, in the order of the rows."""


@runtime_checkable
class ScoreTerms(Protocol):
    """An engine that computes data terms of scores directly: the fast path of `FamilyScores`."""

    def family_terms(self, families: Sequence[Family], term: DataTerm) -> npt.NDArray[np.float64]:
        """The data terms of many families."""

    def toggle_terms(
        self, child: int, parents: Sequence[int], largest: int, term: DataTerm
    ) -> npt.NDArray[np.float64]:
        """The data terms of one family with each variable added to, or dropped from, its parents.

        The child's own entry is the family as it is; families with more than `largest` cells get
        minus infinity.
        """
