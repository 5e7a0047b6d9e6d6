"""How to discover: everything that can be set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from unveil.anneal.choice import annealing_named
from unveil.em.scores import hidden_scores
from unveil.em.structural import observed_score
from unveil.engines.rows import PartedRows
from unveil.errors import DataError, did_you_mean
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.score import SCORES, BDeu
from unveil.score.base import Score
from unveil.score.beside import families_beside
from unveil.score.families import FamilyScores
from unveil.score.structure import StructurePrior, log_prior_of
from unveil.search.constraints import Constraints
from unveil.table.core import Table

__all__ = ["Adapt", "Method", "Settings"]

Adapt = Literal["em", "blanket", "full"]
Method = Literal["auto", "signatures", "bottleneck"]
MANY = 80
"""So many columns are too many for signatures to show, if there are at most"""
FEW = 100
"""so many cases for every column."""

LEAST = {
    "max_hidden": 1, "n_states": 2, "max_candidates": 1, "max_adapted": 1, "max_polished": 1,
    "max_parents": 1, "soft": 0, "restarts": 0, "max_children": 2, "max_outside": 0,
}  # fmt: skip
"""The least value of each setting that counts something."""


@dataclass(frozen=True)
class Settings:
    """How to discover.

    - `equivalent_sample_size`: that of the BDeu and Cheeseman-Stutz scores, and of the parameters
    - `score`: `bdeu`, or another of `unveil.score.SCORES` (`bic`, `mdl`, `aic`, ...)
    - `adapt`: let the graph be as constructed (`em`), change what is around the variable
      (`blanket`), or learn all arcs anew and polish the best few (`full`)
    - `max_hidden`: at most so many hidden variables
    - `n_states`: a fixed number of states instead of agglomeration
    - `max_parents`: at most so many parents for any variable
    - `max_candidates`, `max_adapted`, `max_polished`: how many places are looked at, how many of
      the best candidates are adapted (as constructed, as constructed with two states, and twice as
      many learned anew), and how many of all are polished, in every round
    - `soft`: use the confidence of arcs over so many bootstrap samples as the signature (0: not)
    - `min_gain`: the least gain in nats for a hidden variable to be kept
    - `restarts`: how often the search for the network without hidden variables starts again, at
      most (large tables get fewer), and how many hidden variables are tried in random places of a
      table that is small
    - `anneal`: anneal the weights of the rows (`adversary` or `random`, see `unveil.anneal`) in
      structural EM, when the network of what was observed is learned from rows with gaps and when
      the best candidates are polished; slower
    - `blocks`: leave out blocks of neighbouring rows in cross-validation, for rows in order of time
    - `constraints`: required and forbidden arcs, tiers, columns without parents or children, for
      every network that is looked at; `Constraints.with_hidden` says what they mean for hidden ones
    - `structure_prior`: which graphs are likely beforehand: its log-probability counts as well
    - `start`: a graph or network over the columns that the search for the network without hidden
      variables also begins from; a network that has hidden variables is gone on from
    - `max_luck`: how often luck alone may gain as much as a hidden variable has to
    - `places`: sets of columns that a hidden variable is tried behind, before all others
    - `max_children`, `max_outside`: the most columns a hidden variable is first put behind where a
      signature is found, and the most parents from outside that it stands in for there
    - `method`: where candidates come from: `signatures` in the network (Ch. 4) or the `bottleneck`
      (Ch. 6), all columns at once; `auto` takes what `method_for` says
    """

    equivalent_sample_size: float = 1.0
    adapt: Adapt = "full"
    max_hidden: int = 3
    n_states: int | None = None
    max_candidates: int = 30
    max_adapted: int = 14
    max_polished: int = 8
    max_parents: int | None = None
    soft: int = 0
    min_gain: float = 1.0
    restarts: int = 20
    blocks: bool = False
    anneal: str | None = None
    score: str = "bdeu"
    constraints: Constraints = field(default_factory=Constraints)
    structure_prior: StructurePrior | None = None
    start: Network | DAG | None = None
    places: Sequence[Sequence[str]] = ()
    max_children: int = 12
    max_outside: int = 3
    max_luck: float = 0.05
    method: Method = "auto"

    def __post_init__(self) -> None:
        if self.adapt not in get_args(Adapt):
            raise DataError(
                f"adapt is one of {', '.join(get_args(Adapt))}, not {self.adapt!r}."
                + did_you_mean(self.adapt, get_args(Adapt))
            )
        if self.method not in get_args(Method):
            raise DataError(
                f"method is one of {', '.join(get_args(Method))}, not {self.method!r}."
                + did_you_mean(self.method, get_args(Method))
            )
        if self.score not in SCORES:
            raise DataError(
                f"there is no score {self.score!r}; choose one of {', '.join(SCORES)}."
                + did_you_mean(self.score, SCORES)
            )
        if not 0 < self.max_luck < 1:
            raise DataError(f"max_luck is a probability between 0 and 1, got {self.max_luck}")
        object.__setattr__(self, "places", tuple(tuple(place) for place in self.places))
        EquivalentSampleSize(self.equivalent_sample_size)  # refuses what is no size
        annealing_named(self.anneal)  # refuses what is none
        for name, least in LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise DataError(f"{name} must be at least {least}, got {value}")

    def method_for(self, table: Table) -> Method:
        """The method for a table: that of the settings, or (`auto`) by its size.

        The bottleneck where there are many variables and few rows (8.2): complete tables of at
        least `MANY` columns with at most `FEW` cases for each. Signatures elsewhere, and where
        places or a network to go on from were given.
        """
        if self.method != "auto":
            return self.method
        wide = table.n_columns >= MANY and table.total_weight <= FEW * table.n_columns
        plain = table.is_complete and all(v.is_discrete for v in table.variables)
        given = bool(self.places) or self.start is not None
        return "bottleneck" if wide and plain and not given else "signatures"

    @property
    def prior(self) -> EquivalentSampleSize:
        """The prior of the parameters."""
        return EquivalentSampleSize(self.equivalent_sample_size)

    @property
    def criterion(self) -> Score:
        """The score of families."""
        if self.score == "bdeu":
            return BDeu(self.equivalent_sample_size)
        made: Score = SCORES[self.score]()
        return made

    @property
    def other_score(self) -> Score | None:
        """The score if it is not BDeu, which agglomeration knows by its equivalent sample size."""
        return None if self.score == "bdeu" else self.criterion

    @property
    def first_graph(self) -> DAG | None:
        """The graph over the columns that the first search also begins from, if one was given."""
        start = self.start.dag if isinstance(self.start, Network) else self.start
        if start is None:
            return None
        kept = [n for n in start.nodes if n not in self._unseen]
        return DAG(kept, [(x, y) for x, y in start.arcs if x in kept and y in kept])

    def families(self, table: Table, shown: Table | None = None) -> FamilyScores:
        """The scores of families of complete rows, as a search sees them.

        `shown` are the same rows before hidden variables were filled in.
        """
        if shown is None:
            return FamilyScores(table, self.criterion, self.structure_prior)
        return families_beside(shown, table, self.criterion, self.structure_prior)

    def limits(self, hidden: Sequence[str] = ()) -> Constraints:
        """What graphs over the columns and these hidden variables may be."""
        known = self.constraints.with_hidden(hidden)
        most = [k for k in (known.max_parents, self.max_parents) if k is not None]
        return replace(known, max_parents=min(most, default=None))

    def score_of(self, network: Network, table: Table | PartedRows) -> float:
        """The score of a network on what the rows show, with log P(G), in nats."""
        before = log_prior_of(self.structure_prior, network.dag)
        if self.score == "bdeu":
            return hidden_scores(network, table, self.prior).cheeseman_stutz + before
        return observed_score(network, table, self.criterion)[0] + before

    def check(self, table: Table) -> None:
        """Refuse constraints, places and starts that are not about this table."""
        self.limits().rules(table.names)
        start = self.start.dag if isinstance(self.start, Network) else self.start
        columns = () if start is None else [n for n in start.nodes if n not in self._unseen]
        for name in [*(n for place in self.places for n in place), *columns]:
            if name not in table:
                raise DataError(
                    f"the settings name {name!r}, but the columns are "
                    f"{', '.join(table.names[:12])}." + did_you_mean(name, table.names)
                )
        lacking = [n for n in table.names if start is not None and n not in start.nodes]
        if lacking:
            raise DataError(
                f"the start has no variable {lacking[0]!r}, which is a column of the table; give a "
                "network of all columns, or leave that column out"
            )
        for place in self.places:
            if len(set(place)) < 2:
                raise DataError(f"a place is two columns or more, got {', '.join(place) or 'none'}")

    @property
    def _unseen(self) -> tuple[str, ...]:
        return self.start.hidden if isinstance(self.start, Network) else ()
