"""Hidden variables that are tried: where, with what network, and what became of them.

A `Place` is where one is first put. A `Candidate` has a network. A `Refused` has none: it was given
up on the way, or only its numbers are remembered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Literal

from unveil.bottleneck.course import Point
from unveil.hidden.agglomeration import Agglomeration
from unveil.model.network import Network
from unveil.records import Record

__all__ = ["Candidate", "Place", "Refused", "Tried", "Verdict"]


class Verdict(StrEnum):
    """What became of a hidden variable that was tried; the value says it in words."""

    FITTED = "fitted by EM"
    FITTED_ANEW = "fitted by EM, all arcs learned anew"
    PAYS = "pays for its parameters"
    KEPT = "kept"

    NOT_CHECKED = "pays for its parameters, but others promised more"
    OUTDONE = "pays for its parameters, but another gains more or predicts better"
    MAY_BE_LUCK = "pays for its parameters, but gains or predicts too little for so many tries"
    NOT_CONFIRMED = (
        "pays for its parameters, but chosen anew without the rows left out it fails them"
    )
    EXPLAINED = "pays for its parameters, but something else explains it as well"
    DOES_NOT_PAY = "does not pay for its parameters"
    PREDICTS_NO_BETTER = "does not predict left-out rows better"
    REDUNDANT = "redundant"
    MAKES_REDUNDANT = "makes another redundant"

    SINGLE_STATE = "agglomeration leaves a single state: nothing hidden here"
    ROWS_TOO_ALIKE = "the rows around it are too much alike"
    TOO_MANY_PARENTS = "has more parents than are allowed, as constructed"
    TOO_LARGE = "too large for exact inference"


@dataclass(frozen=True)
class Place:
    """Where a hidden variable is first put: its name, and the variables it is put behind.

    `start` says how its states come about there: merged from the assignments of its blanket
    (`agglomerated`), from rows clustered (`cluster`), at random, by information-bottleneck EM
    (`bottleneck`), or together with those of others below it (`hierarchy`).
    """

    name: str
    nodes: tuple[str, ...]
    start: Literal["agglomerated", "cluster", "random", "bottleneck", "hierarchy"] = "agglomerated"

    @property
    def is_followed(self) -> bool:
        """Whether its states come of a continuation in gamma."""
        return self.start in ("bottleneck", "hierarchy")


@dataclass(frozen=True, kw_only=True)
class Tried(Record):
    """What is told of every hidden variable that was tried.

    `gain` is the Cheeseman-Stutz score less that of the network without it, in nats, if
    `filled_in` on rows with their gaps filled in. `detail` says more about the verdict. `refined`
    has the scores by number of states (`Cardinality.refined`). `predicted` is the cross-validated
    gain in log-likelihood of the same rows (nats), for candidates that could be kept, and `error`
    its standard error.
    """

    told: ClassVar = ("children", "n_states", "words")

    place: Place
    verdict: Verdict
    detail: str = ""
    gain: float = 0.0
    predicted: float = float("nan")
    error: float = float("nan")
    filled_in: bool = False
    refined: Mapping[int, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the hidden variable."""
        return self.place.name

    @property
    def words(self) -> str:
        """The verdict as a phrase."""
        detail = f": {self.detail}" if self.detail else ""
        gaps = " (scored with gaps filled in)" if self.filled_in else ""
        return f"{self.verdict}{detail}{gaps}"


@dataclass(frozen=True, kw_only=True)
class Candidate(Tried):
    """A hidden variable with a network around it.

    `agglomeration` is the tree of merges that its states came from; `anew` says that all arcs were
    learned anew from its states. `course` is that of information-bottleneck EM, where it began so,
    and `others` are further hidden variables that came with it.
    """

    network: Network = field(repr=False)
    verdict: Verdict = Verdict.FITTED
    agglomeration: Agglomeration | None = field(default=None, repr=False)
    anew: bool = False
    course: tuple[Point, ...] = field(default=(), repr=False)
    others: tuple[str, ...] = ()

    @property
    def children(self) -> tuple[str, ...]:
        """The variables it is a parent of."""
        return self.network.dag.children(self.name)

    @property
    def neighbours(self) -> frozenset[str]:
        """The variables it is linked to."""
        return frozenset(self.network.dag.neighbours(self.name))

    @property
    def n_states(self) -> int:
        """The number of its states."""
        return self.network.variable(self.name).n_states

    @property
    def is_latent_class(self) -> bool:
        """Whether this is the plain latent class model: a parent of all, and no other arc."""
        others = {v.name for v in self.network.variables if v.n_states > 1} - {self.name}
        return others <= set(self.children) and self.network.dag.n_arcs == len(self.children)

    def refused(self, verdict: Verdict, detail: str = "") -> Refused:
        """What is told of it once it is given up."""
        return Refused(
            place=self.place, verdict=verdict, detail=detail, gain=self.gain,
            predicted=self.predicted, error=self.error, filled_in=self.filled_in,
            refined=self.refined, children=self.children, n_states=self.n_states,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Refused(Tried):
    """A hidden variable without a network: given up, or from an earlier run and not kept."""

    children: tuple[str, ...]
    n_states: int = 1
