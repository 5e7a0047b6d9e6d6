"""Structural EM (Friedman 1997, 1998; thesis 2.4.2): structure and parameters from gaps.

Complete the rows under the current network, search for a better graph on the completed rows,
re-estimate, repeat. For penalised likelihoods the true score gains at least what the completed
data promise (`004`, slide 11), so the climb never goes down.

One step is one round: parameters by EM, the score on what was observed, then (unless that stopped
improving) completion and search, which give the network the next round begins with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unveil.anneal.choice import Annealing, annealing_named
from unveil.anneal.loop import Annealed
from unveil.em.annealed_structure import ANNEALINGS, annealed_structure
from unveil.em.completion import complete_rows
from unveil.em.end import end_of_em
from unveil.em.expected_counts import ExpectedCounts, can_be_shared
from unveil.em.parametric import variables_of
from unveil.em.parted import parted_start, unseen_in
from unveil.em.scores import expected_families
from unveil.em.starts import network_to_start
from unveil.em.steps import em_problem
from unveil.engines.door import Memory, rows_of
from unveil.engines.rows import PartedRows
from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.infer.explain import most_probable
from unveil.model.beside import fit_beside
from unveil.model.compact import same_structure
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.progress import Progress, Run, Step, StopReason, Ticker, run
from unveil.records import Record, changed
from unveil.score.base import Sample, Score
from unveil.score.bdeu import BDeu
from unveil.score.beside import families_beside
from unveil.score.families import FamilyScores
from unveil.score.local import LocalScores, local_kinds
from unveil.score.protocol import Families
from unveil.score.structure import StructurePrior, log_prior_of
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints
from unveil.search.graph_state import GraphState
from unveil.search.hill_climbing import hill_climbing, shake
from unveil.search.learn import fit_local, in_order
from unveil.seeds import seed_or_fresh
from unveil.statistics.remembered import RememberedCounts
from unveil.table.core import Table
from unveil.table.door import Data, Weights
from unveil.table.variable import Variable

__all__ = [
    "Climb",
    "StructuralEM",
    "StructuralResult",
    "StructuralSettings",
    "observed_score",
    "structural_em",
]

PHASE = "structural EM"


@dataclass(frozen=True)
class StructuralSettings:
    """How structural EM goes about it.

    `prior` is that of the parameters, by default the one the score implies. Graphs are judged by
    the score with its own prior whatever the `prior`, in the search and on what was observed alike:
    otherwise the two would climb different hills, and complete rows would be judged otherwise than
    `learn` judges them. A round runs at most `em_iterations` of EM, to the `tolerance`, and then
    completes the rows: exactly where they have at most `cap` completions, else by `draws`;
    completions less probable than `negligible` are left out. `hard` completes each row by its most
    probable explanation only. A climb has at most `max_rounds`; with `restarts`, the best graph is
    then changed by ten random legal moves and the climb repeated, that many times. With `moves`,
    the rows are completed anew after so many moves of the search (`004`, slide 10), not only when
    no move helps any more. `local` says what families may be made of, as in `unveil.learn`;
    `structure_prior` which graphs are likely beforehand: its log-probability is part of the score.
    """

    prior: DirichletPrior | None = None
    hard: bool = False
    max_rounds: int = 20
    restarts: int = 0
    em_iterations: int = 50
    tolerance: float = 1e-6
    cap: int = 32
    draws: int = 8
    negligible: float = 0.0
    local: str = "table"
    moves: int | None = None
    structure_prior: StructurePrior | None = None


@dataclass(frozen=True)
class StructuralResult(Record):
    """The best network structural EM found, its score on what was observed, and its course.

    `score` is as `Score.judge` says: Cheeseman-Stutz for Bayesian scores, the penalised likelihood
    for the others, in nats; `trace` holds one step per round.
    `annealed` is the course of the weights, if they were annealed.
    """

    network: Network
    score: float
    log_likelihood: float
    trace: tuple[Step, ...]
    stopped: StopReason
    seed: int
    annealed: Annealed[Network] | None = None

    @property
    def dag(self) -> DAG:
        """The graph."""
        return self.network.dag


def structural_em(
    data: Data,
    start: Network | DAG | None = None,
    score: Score | None = None,
    hidden: Mapping[str, int | Variable] | None = None,
    constraints: Constraints | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    settings: StructuralSettings | None = None,
    *,
    weights: Weights = None,
    anneal: Annealing | str | None = None,
    memory: Memory = None,
    engine: str | None = None,
    **changes: Any,
) -> StructuralResult:
    """A network learned from rows with missing cells, and hidden variables if `start` has any.

    `data` is a table, a frame, an array or a path, or rows that are read in pieces
    (`unveil.open_rows` tells of these, and of `memory` and `engine`); `weights` say how often each
    row counts. Without a start, the first graph has no arcs. Hidden variables keep at least one
    child. It ends when the search changes nothing or the score on what was observed stops
    improving. `settings` (or any of its fields by name in `changes`, such as `cap=64`) say how: see
    `StructuralSettings`.

    `score` is BDeu with equivalent sample size 1 unless given; `hidden` says how many states the
    variables of `start` without a column have; `constraints` limit the graph. With `anneal`
    ("adversary", "random" or an `unveil.anneal.Annealing`) it goes on from where it ends while the
    weights of the rows are annealed, and gives the best of all. `seed` repeats a run,
    `progress` listens, `time_limit` (seconds) ends it with the best so far, `n_jobs` is how many
    threads count.

    >>> from unveil import datasets
    >>> rows = datasets.network("asia").sample(1000, seed=1).knock_out(0.1, seed=2)
    >>> found = structural_em(rows, seed=1, max_rounds=10)
    >>> found.stopped
    'converged'
    """
    table = rows_of(data, weights, memory, engine)
    annealing = annealing_named(anneal, ANNEALINGS)
    if isinstance(table, PartedRows) and annealing is not None:
        table = table.as_table()
    chosen = changed(settings or StructuralSettings(), changes, "structural EM")
    seed = seed_or_fresh(seed)
    generator = np.random.default_rng(seed)
    ticker = Ticker.of(progress, time_limit)
    first = _first(table, start, hidden or {}, generator)
    method = StructuralEM.of(first, table, score or BDeu(1.0), constraints, chosen, seed, n_jobs)
    climb = method.climb(Climb(first), ticker)
    trace = climb.trace
    for _ in range(chosen.restarts):
        if not ticker.keep_going():
            break
        best = climb.state.best
        assert best is not None
        climb = method.climb(Climb(method.shaken(best.network, generator), best), ticker)
        trace += climb.trace
    best, stopped = climb.state.best, climb.stopped
    assert best is not None
    found: Annealed[Network] | None = None
    if annealing is not None and isinstance(table, Table) and ticker.keep_going():
        found = annealed_structure(method, best.network, annealing, seed, ticker)
        # At the end structural EM goes on from there, with the rows as they are.
        last_climb = method.climb(Climb(found.hypothesis, method.scored(found.hypothesis)), ticker)
        assert last_climb.state.best is not None
        best = last_climb.state.best
        last = Step(PHASE, len(trace) + 1, best.score, found.gain, 0.0, ticker.elapsed, "annealed")
        trace, stopped = (*trace, last), found.stopped
    return StructuralResult(
        best.network, best.score, best.log_likelihood, trace, stopped, seed, found
    )


@dataclass(frozen=True)
class Scored:
    """A network with its score and its log-likelihood on what was observed."""

    network: Network
    score: float
    log_likelihood: float


@dataclass(frozen=True)
class Climb:
    """Where a climb stands: the network the next round begins with, and the best of all so far.

    `reached` is the best score of this climb; `next` is `None` once nothing is left to improve.
    """

    next: Network | None
    best: Scored | None = None
    reached: float | None = None
    n_rounds: int = 0


@dataclass(frozen=True)
class StructuralEM:
    """What stays the same in all rounds."""

    table: Any  # a table, or rows in parts
    score: Score
    prior: DirichletPrior
    limits: Constraints
    settings: StructuralSettings
    seed: int
    n_jobs: int | None = None
    known: RememberedCounts | None = None
    """Counts of the columns of rows in parts, which stay the same from round to round."""

    @classmethod
    def of(
        cls,
        first: Network,
        table: Table | PartedRows,
        score: Score,
        constraints: Constraints | None,
        settings: StructuralSettings,
        seed: int,
        n_jobs: int | None = None,
    ) -> StructuralEM:
        """Hidden variables that have children keep at least one."""
        limits = constraints or Constraints()
        kept = [n for n in unseen_in(first, table) if first.dag.children(n)]
        limits = replace(limits, no_leaf=dict.fromkeys([*limits.no_leaf, *kept]))
        prior = settings.prior or score.prior
        known = None
        if isinstance(table, PartedRows):
            known = RememberedCounts(table.select([n for n in table.names if n in first.names]))
        return cls(table, score, prior, limits, settings, seed, n_jobs, known)

    def climb(self, start: Climb, ticker: Ticker) -> Run[Climb]:
        """Rounds until nothing improves."""
        most = self.settings.max_rounds
        return run(lambda state: self.step(state, ticker), start, _settled, ticker, most)

    def step(self, climb: Climb, ticker: Ticker) -> tuple[Climb, Step]:
        """One round; stopped in the middle, it scores what it has and goes no further."""
        assert climb.next is not None
        part = ticker.part(PHASE)
        network = self.parameters(climb.next, part)
        found = self.scored(network)
        change = float("inf") if climb.reached is None else found.score - climb.reached
        reached = found.score if climb.reached is None else max(climb.reached, found.score)
        better = climb.best is None or found.score > climb.best.score
        n_rounds = climb.n_rounds + 1
        last = n_rounds >= self.settings.max_rounds or not ticker.keep_going()
        after: Network | None = network
        if change <= self.settings.tolerance * abs(found.score):
            after = None
        elif not last:
            after = self.improved(network, part)
        best = found if better else climb.best
        info = Step(PHASE, n_rounds, found.score, change, detail=f"{network.dag.n_arcs} arcs")
        return Climb(after, best, reached, n_rounds), info

    def scored(self, network: Network) -> Scored:
        """The network with its score on what was observed, log P(G) included."""
        score, likelihood = observed_score(network, self.table, self.score)
        before = log_prior_of(self.settings.structure_prior, network.dag)
        return Scored(network, score + before, likelihood)

    def parameters(self, network: Network, ticker: Ticker) -> Network:
        """The same graph with parameters by EM."""
        em = em_problem(network, self.table, self.prior)
        most, tolerance = self.settings.em_iterations, self.settings.tolerance
        return em.unpack(end_of_em(em, em.pack(network), most, tolerance, ticker)[0])

    def improved(self, network: Network, ticker: Ticker, anew: bool = False) -> Network | None:
        """The network over the best graph for the completed rows; `None` if it is the same.

        The search goes on from the network's graph; `anew` it begins with hardly an arc.
        """
        completed = self.completed(network)
        scores = self._scores(completed)
        start = network.dag
        if anew and self.limits.changeable is None:
            start = barest(start, scores, [*self.limits.no_leaf])
        if self.settings.moves is not None:
            found = hill_climbing(
                scores, start, self.limits, max_moves=self.settings.moves,
                progress=ticker.tell, time_limit=ticker.time_left(),
            )  # fmt: skip
        elif start.n_arcs == 0 and not anew:
            found = combined_search(
                scores, None, self.limits, progress=ticker.tell, time_limit=ticker.time_left()
            )
        else:
            found = hill_climbing(
                scores, start, self.limits, tabu=20, progress=ticker.tell,
                time_limit=ticker.time_left(),
            )  # fmt: skip
        dag = in_order(found.dag, network.names)
        if isinstance(scores, LocalScores):
            better = fit_local(dag, scores, self.prior, [*self.limits.no_leaf])
            return None if same_structure(better, network) else better
        if found.dag == network.dag:
            return None
        return self._fitted(dag, completed)

    def completed(self, network: Network) -> Any:
        """The rows completed under a network, as weighted complete rows, in parts or not."""
        if self.settings.hard and isinstance(self.table, PartedRows):
            raise DataError("hard completion needs the rows in memory; leave hard out")
        if self.settings.hard:
            inside = [n for n in network.names if n in self.table]
            return most_probable(network, self.table.select(inside)).table
        if isinstance(self.table, PartedRows) and can_be_shared(network, self.table):
            return ExpectedCounts(network, self.table, self.known)
        # The same draws in every round: what changes is the network, not the luck.
        cap, draws = self.settings.cap, self.settings.draws
        return complete_rows(network, self.table, cap, draws, self.seed, self.settings.negligible)

    def shaken(self, network: Network, generator: np.random.Generator) -> Network:
        """The network over its graph after ten random legal moves."""
        completed = self.completed(network)
        scores = self._scores(completed)
        state = GraphState(scores, self.limits.rules(scores.names, network.dag), network.dag)
        shake(state, 10, generator)
        dag = in_order(state.dag(), network.names)
        if isinstance(scores, LocalScores):
            return fit_local(dag, scores, self.prior, [*self.limits.no_leaf])
        return self._fitted(dag, completed)

    def _fitted(self, dag: DAG, completed: Any) -> Network:
        if isinstance(self.table, Table) and isinstance(completed, Table):
            return fit_beside(self.table, completed, dag, self.prior)
        return fit(dag, completed, self.prior)

    def _scores(self, completed: Any) -> FamilyScores:
        ordered = completed.select(sorted(completed.names))
        before = self.settings.structure_prior
        if local_kinds(self.settings.local):
            return LocalScores(ordered, self.score, before, self.n_jobs, self.settings.local)
        if isinstance(self.table, Table) and isinstance(ordered, Table):
            return families_beside(self.table, ordered, self.score, before, self.n_jobs)
        return FamilyScores(ordered, self.score, before, n_jobs=self.n_jobs)


def barest(dag: DAG, scores: Families, no_leaf: Sequence[str]) -> DAG:
    """The graph without its arcs, but for those to the dearest children of the `no_leaf`.

    Dearest is the child that gains most by the one parent.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> scores = FamilyScores(asia.sample(500, seed=1), BDeu(1))
    >>> barest(asia.dag, scores, ["smoke"]).arcs
    (('smoke', 'bronc'),)
    """
    place = {name: i for i, name in enumerate(scores.names)}

    def gain(parent: str, child: str) -> float:
        return float(scores.toggles(place[child], ())[place[parent]])

    arcs = [
        max(((name, child) for child in dag.children(name)), key=lambda arc: gain(*arc))
        for name in no_leaf
        if dag.children(name)
    ]
    return DAG(dag.nodes, arcs)


def _settled(climb: Climb, info: Step) -> StopReason | None:
    return "converged" if climb.next is None else None


def observed_score(
    network: Network, table: Table | PartedRows, score: Score
) -> tuple[float, float]:
    """The score of a network on what the rows show, and its log-likelihood there."""
    expected = expected_families(network, table)
    value = score.judge(expected, Sample(table.total_weight, len(network.names)))
    return value, expected.log_likelihood


def _first(
    table: Table | PartedRows,
    start: Network | DAG | None,
    hidden: Mapping[str, int | Variable],
    generator: np.random.Generator,
) -> Network:
    if isinstance(start, Network):
        return start
    if start is None:
        if hidden:
            raise DataError("hidden variables need a place: give a start graph that has them")
        start = DAG(table.names)
    variables = variables_of(start, table, hidden)
    kind = "cluster" if hidden else "random"
    if isinstance(table, PartedRows):
        return parted_start(kind, start, variables, table, None, generator)
    return network_to_start(kind, start, variables, table, None, generator)
