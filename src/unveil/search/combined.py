"""The default search: greedy equivalence search and tabu climbing in turns, until neither helps.

Equivalence search escapes most of the plateaus that trap hill climbing; tabu climbing turns arcs
that equivalence search cannot. Each takes over the best graph of the other, and since all family
scores are remembered, the second and later turns cost little.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unveil.graph.dag import DAG
from unveil.progress import Progress, Step, Ticker
from unveil.score.protocol import Families
from unveil.search.constraints import Constraints
from unveil.search.equivalence_search import EquivalenceClimber
from unveil.search.graph_state import GraphState, dag_from
from unveil.search.hill_climbing import Climber, hill_climbing, shake
from unveil.search.legal import made_legal
from unveil.search.result import SearchResult

__all__ = ["combined_search"]

PHASE = "combined search"
TABU = 20
"""Length of the tabu list in the climbing turns."""
RESTARTS = 5
"""Random restarts where equivalence search cannot be asked."""


def combined_search(
    scores: Families,
    start: DAG | None = None,
    constraints: Constraints | None = None,
    restarts: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """The best graph found by equivalence search and tabu climbing in turns.

    Equivalence search needs a score that treats equivalent graphs alike and knows no limit but
    `max_parents`. With other constraints, its graph is made legal and climbed from; with other
    scores, this is tabu climbing with random restarts (five unless `restarts` says otherwise).
    Where turns are taken, `restarts` (none unless given) shake the best graph by ten random moves
    and take turns again, until so many in a row brought nothing better.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu, FamilyScores
    >>> table = datasets.network("asia").sample(2000, seed=1)
    >>> print(combined_search(FamilyScores(table, BDeu(1))).search)
    combined search
    """
    limits = constraints or Constraints()
    plain = scores.equivalent and scores.structure_prior is None
    if not (plain and limits.only_max_parents):
        again = RESTARTS if restarts is None else restarts
        return _limited_search(scores, start, limits, again, seed, Ticker.of(progress, time_limit))
    ticker = Ticker.of(progress, time_limit)
    if restarts and seed is None:
        seed = int(np.random.default_rng().integers(2**31))
    state = GraphState(scores, limits.rules(scores.names), start)
    trace: list[Step] = []
    best, parents = _turns(scores, state, limits, ticker, trace)
    failures, generator = 0, np.random.default_rng(seed)
    while failures < (restarts or 0) and ticker.keep_going():
        state.restore(parents)
        shake(state, 10, generator)
        score, found = _turns(scores, state, limits, ticker, trace)
        failures = 0 if score > best + state.tie else failures + 1
        if score > best:
            best, parents = score, found
    dag = dag_from(parents, scores.names)
    return SearchResult.made(scores, ticker, PHASE, dag, best, trace, seed)


def _turns(
    scores: Families, state: GraphState, limits: Constraints, ticker: Ticker, trace: list[Step]
) -> tuple[float, npt.NDArray[np.uint8]]:
    """Both searches in turns, from where the state is; the best score and its graph."""
    classes = EquivalenceClimber(scores, state.parents, limits.max_parents, ticker)
    while True:
        # No single insert or delete in the class of graphs gains any more (Chickering 2002) ...
        classes.climb()
        # ... so one of its members is climbed from, by arcs, through graphs that score less too.
        state.restore(classes.parents)
        climber = Climber(state, ticker, TABU, TABU // 2 + 1)
        climber.climb()
        trace += [*classes.trace, *climber.trace]
        # S(classes) <= S(climber) <= S(next classes): scores never fall, so turns come to an end.
        if climber.best_score <= classes.score + state.tie or not ticker.keep_going():
            return climber.best_score, climber.best_parents
        classes = EquivalenceClimber(scores, climber.best_parents, limits.max_parents, ticker)


def _limited_search(
    scores: Families,
    start: DAG | None,
    limits: Constraints,
    restarts: int,
    seed: int | None,
    ticker: Ticker,
) -> SearchResult:
    """The better of tabu climbing from the start, and from the free search's graph made legal."""

    def climb(first: DAG | None) -> SearchResult:
        return hill_climbing(
            scores, first, limits, tabu=TABU, restarts=restarts, seed=seed or 0, progress=ticker
        )

    best = climb(start)
    plain = scores.equivalent and scores.structure_prior is None
    if plain and limits.changeable is None and ticker.keep_going():
        unlimited = Constraints(max_parents=limits.max_parents)
        ideal = combined_search(scores, None, unlimited, seed=seed, progress=ticker)
        other = climb(made_legal(ideal.dag, limits.rules(scores.names), scores.names))
        best = max(best, other, key=lambda result: result.score)
    return replace(best, search=PHASE, elapsed=ticker.elapsed)
