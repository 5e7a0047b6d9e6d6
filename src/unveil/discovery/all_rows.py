"""All rows of a table that does not fit, as those who learn networks from them see them.

What is learned without hidden variables comes from counts, which are remembered from one search to
the next. A network with hidden variables climbs by structural EM from where it stands. `Everything`
holds the rows, `climbed` and `searched` give networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.discovery.patience import inside
from unveil.discovery.rivals import Rival
from unveil.discovery.settings import Settings
from unveil.em.end import end_of_em
from unveil.em.expected_counts import ExpectedCounts, can_be_shared
from unveil.em.grouped import GroupedTableEM, can_be_grouped
from unveil.em.loop import run_em
from unveil.em.squared import squared_steps
from unveil.em.steps import em_problem
from unveil.em.structural import Climb, StructuralEM, StructuralSettings
from unveil.engines.rows import PartedRows
from unveil.errors import ModelError
from unveil.graph.dag import DAG
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.model.table_cpd import TableCPD
from unveil.progress import Ticker
from unveil.score.families import FamilyScores
from unveil.score.local import LocalScores
from unveil.search.combined import combined_search
from unveil.search.learn import fit_local, in_order
from unveil.search.legal import made_legal
from unveil.statistics.remembered import RememberedCounts
from unveil.statistics.selected import SelectedStatistics

__all__ = [
    "BY_GROUPS",
    "Everything",
    "climbed",
    "climbed_by_em",
    "fitted",
    "in_form_of",
    "searched",
    "without",
]

Vector = npt.NDArray[np.float64]

BY_GROUPS, BY_PASSES = 2000, 50
"""Steps of EM at most: many where rows are grouped, few where each is a pass."""
NATS = 0.01
"""EM and climbs end where they gain less."""
FINER = 0.1
"""EM over groups ends where it gains less than this share of `NATS`."""
CHEAP = 10
"""So many more steps of EM are taken where a kernel takes them all."""
ROUNDS = 5
"""Rounds of structural EM at most."""


@dataclass(frozen=True)
class Everything:
    """All rows in parts, how to learn from them, and the seed."""

    rows: PartedRows
    settings: Settings
    seed: int

    @classmethod
    def of(cls, rows: PartedRows, settings: Settings, seed: int) -> Everything:
        """The same of rows whose counts are remembered from here on."""
        return cls(rows.remembering(), settings, seed)

    @cached_property
    def known(self) -> RememberedCounts:
        """Their counts."""
        return self.rows.known

    @cached_property
    def halves(self) -> tuple[PartedRows, PartedRows]:
        """Two halves of them, dealt by the seed; they remember their counts, too."""
        first, second = (self.rows.half(which, self.seed).remembering() for which in (0, 1))
        return first, second

    @cached_property
    def scores(self) -> FamilyScores:
        """The scores of families of columns, in the order of their names."""
        return FamilyScores(self._ordered, self.settings.criterion, self.settings.structure_prior)

    @property
    def _ordered(self) -> SelectedStatistics:
        names = self.rows.names
        return SelectedStatistics(self.known, [names.index(n) for n in sorted(names)])

    def local_scores(self, network: Network, local: str) -> LocalScores:
        """The same with local structure, of hidden variables too, as the network completes them."""
        engine = self._ordered
        if network.hidden:
            completed = ExpectedCounts(network, self.rows, self.known)
            engine = completed.select(sorted(completed.names))
        settings = self.settings
        return LocalScores(engine, settings.criterion, settings.structure_prior, None, local)

    def score(self, network: Network) -> float:
        """The score of a network on all rows (nats)."""
        return self.settings.score_of(network, self.rows)

    def tolerance(self) -> float:
        """`NATS` as a share of the log-likelihood, which is about as many nats as rows."""
        return NATS / max(self.rows.total_weight, 1.0)


def searched(everything: Everything, starts: Sequence[Network], ticker: Ticker) -> Network:
    """The best network over the columns, searched for from nothing and from every start.

    With gaps, the network that the first start climbs to.
    """
    settings, rows = everything.settings, everything.rows
    if not rows.is_complete:
        return climbed(everything, starts[0], ticker)
    limits, scores = settings.limits(), everything.scores
    best = combined_search(scores, None, limits, **inside(ticker))
    for start in starts:
        if not ticker.keep_going():
            break
        first = made_legal(start.dag, limits.rules(scores.names), scores.names)
        found = combined_search(scores, first, limits, **inside(ticker))
        best = max(best, found, key=lambda r: r.score)
    return fit(in_order(best.dag, rows.names), everything.known, settings.prior)


def climbed(
    everything: Everything, network: Network, ticker: Ticker, rounds: int = ROUNDS
) -> Network:
    """The network that structural EM over all rows reaches from this one."""
    best = _method(everything, network, rounds).climb(Climb(network), ticker).state.best
    assert best is not None
    return best.network


def fitted(
    network: Network,
    rows: PartedRows,
    prior: EquivalentSampleSize,
    ticker: Ticker,
    near: bool = False,
) -> Network:
    """The same graph with parameters from rows, by EM from those it has.

    With `near`, by plain EM, which stays near where it begins; squared steps may jump elsewhere.
    """
    problem = em_problem(network, rows, prior)
    most = BY_GROUPS if can_be_grouped(network, rows) else BY_PASSES
    start, weight = problem.pack(network), rows.total_weight
    if near:
        tolerance = NATS / max(weight, 1.0)
        return problem.unpack(end_of_em(problem, start, most, tolerance, ticker)[0])
    return problem.unpack(climbed_by_em(problem, start, most, weight, ticker)[0])


def climbed_by_em(
    problem: Any, start: Vector, most: int, weight: float, ticker: Ticker
) -> tuple[Vector, float]:
    """EM over rows of this weight from a start, in `most` steps: tables, and the objective there.

    Where rows are grouped, to a finer end: with very many rows EM may go on for thousands of steps
    of a hundredth of a nat each, and what these gain decides how many states there are. There,
    steps are cheap or, if there are many groups, squared.
    """
    tolerance = NATS / max(weight, 1.0)
    if not isinstance(problem, GroupedTableEM):
        return end_of_em(problem, start, most, tolerance, ticker)
    if problem.light_passes is not None:
        return end_of_em(problem, start, CHEAP * most, FINER * tolerance, ticker)
    step = squared_steps(problem.step, problem.layout.normalised)
    found = run_em(step, start, most, FINER * tolerance, ticker)
    return found.parameters, found.objective


def without(
    everything: Everything, network: Network, names: Sequence[str], ticker: Ticker
) -> Network:
    """The best network near this one that has none of `names`, hidden variables both."""
    others = [n for n in network.names if n not in names]
    dag = DAG(others, [arc for arc in network.dag.arcs if not set(names) & set(arc)])
    prior = everything.settings.prior
    if not set(others) - set(everything.rows.names) and everything.rows.is_complete:
        return searched(everything, [fit(dag, everything.known, prior)], ticker)
    if can_be_shared(network, everything.rows):
        first = fit(dag, ExpectedCounts(network, everything.rows, everything.known), prior)
    else:
        first = Network([TableCPD.uniform(network.variable(n)) for n in others])
    return climbed(everything, first, ticker)


def in_form_of(
    rival: Rival, everything: Everything, network: Network, ticker: Ticker
) -> Network | None:
    """What a network becomes if it is learned the rival's way from all rows, if it can be.

    Local structure is put inside of the families as they are.
    """
    settings = rival.settings(everything.settings)
    if rival.local is not None:
        if not everything.rows.is_complete:
            return None
        try:
            scores = everything.local_scores(network, rival.local)
        except ModelError:
            return None
        found = fit_local(network.dag, scores, settings.prior, network.hidden)
        return (
            found if not network.hidden else fitted(found, everything.rows, settings.prior, ticker)
        )
    if rival.score is None:
        return fitted(network, everything.rows, settings.prior, ticker)
    other = replace(everything, settings=settings)
    if network.hidden or not everything.rows.is_complete:
        return climbed(other, network, ticker, rounds=2)
    return searched(other, [network], ticker)


def _method(everything: Everything, network: Network, rounds: int) -> StructuralEM:
    settings, rows = everything.settings, everything.rows
    groups = can_be_grouped(network, rows)
    found = StructuralEM.of(
        network, rows, settings.criterion,
        settings.limits([n for n in network.names if n not in rows]),
        StructuralSettings(
            prior=settings.prior, max_rounds=rounds, negligible=1e-3,
            em_iterations=BY_GROUPS if groups else BY_PASSES, tolerance=everything.tolerance(),
            structure_prior=settings.structure_prior,
        ),
        everything.seed,
    )  # fmt: skip
    return replace(found, known=everything.known)
