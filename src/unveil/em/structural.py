"""Structural EM (Friedman 1997, 1998; thesis 2.4.2): structure and parameters from gaps.

Complete the rows under the current network, search for a better graph on the completed rows,
re-estimate, repeat. For penalised likelihoods the true score gains at least what the completed
data promise (`004`, slide 11), so the climb never goes down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unveil.em.completion import complete_rows
from unveil.em.expectation import Expectation
from unveil.model.flat import FlatTables
from unveil.em.loop import run_em
from unveil.em.parametric import em_step, variables_of
from unveil.em.scores import expected_families
from unveil.em.starts import network_to_start
from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.infer.explain import most_probable
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.progress import Listener, Step, StopReason, Ticker
from unveil.records import Record
from unveil.score.base import Sample, Score
from unveil.score.bdeu import BDeu
from unveil.score.families import FamilyScores
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints
from unveil.search.graph_state import GraphState
from unveil.search.hill_climbing import hill_climbing, shake
from unveil.search.learn import in_order
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["StructuralResult", "observed_score", "structural_em"]


@dataclass(frozen=True)
class StructuralResult(Record):
    """The best network structural EM found, its score on what was observed, and its course.

    `score` is as `Score.judge` says: Cheeseman-Stutz for Bayesian scores, the penalised likelihood
    for the others, in nats; `trace` holds one step per round.
    """

    network: Network
    score: float
    log_likelihood: float
    trace: tuple[Step, ...]
    stopped: StopReason
    seed: int

    @property
    def dag(self) -> DAG:
        """The graph."""
        return self.network.dag


def structural_em(
    table: Table,
    start: Network | DAG | None = None,
    score: Score | None = None,
    hidden: Mapping[str, int | Variable] | None = None,
    prior: DirichletPrior | None = None,
    constraints: Constraints | None = None,
    hard: bool = False,
    max_rounds: int = 20,
    restarts: int = 0,
    em_iterations: int = 50,
    tolerance: float = 1e-6,
    cap: int = 32,
    draws: int = 8,
    negligible: float = 0.0,
    seed: int | None = None,
    progress: Listener | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> StructuralResult:
    """A network learned from rows with missing cells, and hidden variables if `start` has any.

    Without a start, the first graph has no arcs. Hidden variables keep at least one child. Each
    round runs EM on the parameters (`em_iterations` at most), completes the rows (exactly where
    they have at most `cap` completions, else by `draws`; those less probable than `negligible` are
    left out), and searches; it ends when the search
    changes nothing or the score on what was observed stops improving. With `restarts`, the best
    graph is then changed by ten random legal moves and the climb repeated, that many times.
    `hard` completes each row by its most probable explanation only.

    >>> from unveil import datasets
    >>> rows = datasets.network("asia").sample(1000, seed=1).knock_out(0.1, seed=2)
    >>> found = structural_em(rows, seed=1)
    >>> found.stopped
    'converged'
    """
    chosen: Score = score or BDeu(1.0)
    prior = prior or chosen.prior
    if seed is None:
        seed = int(np.random.default_rng().integers(2**31))
    generator = np.random.default_rng(seed)
    ticker = Ticker(progress, time_limit)
    network = _first(table, start, hidden or {}, generator)
    unseen = [n for n in network.names if n not in table or table.missing(n).all()]
    limits = constraints or Constraints()
    kept = [n for n in unseen if network.dag.children(n)]
    limits = replace(limits, no_leaf=dict.fromkeys([*limits.no_leaf, *kept]))
    best: tuple[float, float, Network] | None = None
    trace: list[Step] = []

    def climb(network: Network) -> StopReason:
        """Go round until nothing improves, remembering the best network of all."""
        nonlocal best
        local: float | None = None
        for round_ in range(1, max_rounds + 1):
            network = _parameters(network, table, prior, em_iterations, tolerance, ticker)
            value, likelihood = observed_score(network, table, chosen)
            change = value - local if local is not None else float("inf")
            local = value if local is None else max(local, value)
            detail = f"{network.dag.n_arcs} arcs"
            trace.append(
                Step("structural EM", round_, value, change, elapsed=ticker.elapsed, detail=detail)
            )
            go_on = ticker.offer("structural EM", round_, value, change, detail=detail)
            if best is None or value > best[0]:
                best = (value, likelihood, network)
            if not go_on:
                return ticker.reason or "asked to stop"
            if change <= tolerance * abs(value):
                return "converged"
            completed = _completed(network, table, hard, cap, draws, negligible, seed)
            dag = _search(completed, network.dag, chosen, limits, ticker, n_jobs)
            if dag == network.dag:
                return "converged"
            network = fit(in_order(dag, network.names), completed, prior)
        return "iteration cap"

    stopped = climb(network)
    for _ in range(restarts):
        if best is None or not ticker.keep_going():
            break
        completed = _completed(best[2], table, hard, cap, draws, negligible, seed)
        dag = _shaken(completed, best[2].dag, chosen, limits, generator)
        stopped = climb(fit(in_order(dag, best[2].names), completed, prior))
    assert best is not None
    value, likelihood, network = best
    return StructuralResult(network, value, likelihood, tuple(trace), stopped, seed)


def observed_score(network: Network, table: Table, score: Score) -> tuple[float, float]:
    """The score of a network on what the rows show, and its log-likelihood there."""
    expected = expected_families(network, table)
    value = score.judge(expected, Sample(table.total_weight, len(network.names)))
    return value, expected.log_likelihood


def _first(
    table: Table,
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
    return network_to_start(kind, start, variables, table, None, generator)


def _parameters(
    network: Network,
    table: Table,
    prior: DirichletPrior,
    most: int,
    tolerance: float,
    ticker: Ticker,
) -> Network:
    flat = FlatTables(network)
    step = em_step(Expectation(flat, table), flat, prior)
    quiet = Ticker(None)
    run = run_em(step, flat.pack(network), most, tolerance, quiet)
    return flat.unpack(run.parameters)


def _completed(
    network: Network,
    table: Table,
    hard: bool,
    cap: int,
    draws: int,
    negligible: float,
    seed: int,
) -> Table:
    if hard:
        inside = [n for n in network.names if n in table]
        return most_probable(network, table.select(inside)).table
    # The same draws in every round: what changes is the network, not the luck.
    return complete_rows(network, table, cap, draws, seed, negligible)


def _search(
    completed: Table, start: DAG, score: Score, limits: Constraints, ticker: Ticker, n_jobs: Any
) -> DAG:
    ordered = completed.select(sorted(completed.names))
    scores = FamilyScores(ordered, score, n_jobs=n_jobs)
    if limits.only_max_parents and start.n_arcs == 0:
        return combined_search(scores, None, limits, time_limit=ticker.time_left()).dag
    return hill_climbing(scores, start, limits, tabu=20, time_limit=ticker.time_left()).dag


def _shaken(
    completed: Table, start: DAG, score: Score, limits: Constraints, generator: np.random.Generator
) -> DAG:
    """The graph after ten random legal moves."""
    scores = FamilyScores(completed.select(sorted(completed.names)), score)
    state = GraphState(scores, limits.rules(scores.names, start), start)
    shake(state, 10, generator)
    return state.dag()
