"""`Families`: all that a search sees of data and score.

Whoever can score families can be searched over: counts of discrete columns (`FamilyScores`),
moments of continuous ones, a shortlist of candidates. Variables are positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.score.structure import StructurePrior
from unveil.statistics.protocol import Family

__all__ = ["Families", "Family", "Replacing", "families_of"]


class Families(Protocol):
    """Scores of families, higher is better; a graph's score is the sum over its families."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""

    @property
    def n_variables(self) -> int:
        """How many variables there are."""

    @property
    def score_name(self) -> str:
        """What the score is called."""

    @property
    def equivalent(self) -> bool:
        """Whether the score promises equivalent graphs equal values, the structure prior aside."""

    @property
    def structure_prior(self) -> StructurePrior | None:
        """The prior over structures that the scores contain, if any."""

    @property
    def n_scored(self) -> int:
        """How many families were computed rather than remembered."""

    def many(self, families: Sequence[Family]) -> npt.NDArray[np.float64]:
        """The scores of several families, shape (n_families,)."""

    def toggles(self, child: int, parents: Iterable[int]) -> npt.NDArray[np.float64]:
        """What the family gains when each variable is added to, or dropped from, its parents.

        Shape (n_variables,); `-inf` for the child itself and for variables that may not be added.
        """

    def all_toggles(self, families: Sequence[Family]) -> Iterator[npt.NDArray[np.float64]]:
        """The toggles of each family, in order; what they need may be asked for at once."""

    def total(self, dag: DAG) -> float:
        """The score of a graph (Eq. 2.14)."""


@runtime_checkable
class Replacing(Protocol):
    """Families that choose which replacements of a parent a search may see."""

    def replacements(self, child: int, parents: Iterable[int]) -> npt.NDArray[np.float64]:
        """What the family gains when each variable takes the place of each parent.

        Shape (n_parents, n_variables), parents ascending; `-inf` where that is not to be had.
        """


def families_of(dag: DAG, names: Sequence[str]) -> list[Family]:
    """The families of a graph as positions in `names`; an error if those are others."""
    place = {name: i for i, name in enumerate(names)}
    strangers = [name for name in dag.nodes if name not in place]
    if strangers or len(dag.nodes) != len(place):
        absent = [name for name in names if name not in dag.nodes]
        raise DataError(
            "the graph and the table must have the same variables; only in the graph: "
            f"{strangers or 'none'}, only in the table: {absent or 'none'}"
        )
    return [(place[n], tuple(sorted(place[p] for p in dag.parents(n)))) for n in dag.nodes]
