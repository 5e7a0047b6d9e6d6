"""The default search: greedy equivalence search and tabu climbing in turns, until neither helps.

Equivalence search escapes most of the plateaus that trap hill climbing; tabu climbing turns arcs
that equivalence search cannot. Each takes over the best graph of the other, and since all family
scores are remembered, the second and later turns cost little.
"""

from __future__ import annotations

from dataclasses import replace

from unveil.graph.dag import DAG
from unveil.progress import Progress, Step, Ticker
from unveil.score.protocol import Families
from unveil.search.constraints import Constraints
from unveil.search.equivalence_search import EquivalenceClimber
from unveil.search.graph_state import GraphState, dag_from
from unveil.search.hill_climbing import Climber, hill_climbing
from unveil.search.legal import made_legal
from unveil.search.result import SearchResult

__all__ = ["combined_search"]

PHASE = "combined search"
TABU = 20
"""Length of the tabu list in the climbing turns."""


def combined_search(
    scores: Families,
    start: DAG | None = None,
    constraints: Constraints | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """The best graph found by equivalence search and tabu climbing in turns.

    Equivalence search needs a score that treats equivalent graphs alike and knows no limit but
    `max_parents`. With other constraints, its graph is made legal and climbed from; with other
    scores, this is tabu climbing with random restarts.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu, FamilyScores
    >>> table = datasets.network("asia").sample(2000, seed=1)
    >>> print(combined_search(FamilyScores(table, BDeu(1))).search)
    combined search
    """
    limits = constraints or Constraints()
    plain = scores.equivalent and scores.structure_prior is None
    if not (plain and limits.only_max_parents):
        return _limited_search(scores, start, limits, seed, Ticker.of(progress, time_limit))
    ticker = Ticker.of(progress, time_limit)
    state = GraphState(scores, limits.rules(scores.names), start)
    classes = EquivalenceClimber(scores, state.parents, limits.max_parents, ticker)
    trace: list[Step] = []
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
            break
        classes = EquivalenceClimber(scores, climber.best_parents, limits.max_parents, ticker)
    dag = dag_from(climber.best_parents, scores.names)
    return SearchResult.made(scores, ticker, PHASE, dag, climber.best_score, trace, seed)


def _limited_search(
    scores: Families,
    start: DAG | None,
    limits: Constraints,
    seed: int | None,
    ticker: Ticker,
) -> SearchResult:
    """The better of tabu climbing from the start, and from the free search's graph made legal."""

    def climb(first: DAG | None) -> SearchResult:
        return hill_climbing(
            scores, first, limits, tabu=TABU, restarts=5, seed=seed or 0, progress=ticker
        )

    best = climb(start)
    plain = scores.equivalent and scores.structure_prior is None
    if plain and limits.changeable is None and ticker.keep_going():
        unlimited = Constraints(max_parents=limits.max_parents)
        ideal = combined_search(scores, None, unlimited, seed, ticker)
        other = climb(made_legal(ideal.dag, limits.rules(scores.names), scores.names))
        best = max(best, other, key=lambda result: result.score)
    return replace(best, search=PHASE, elapsed=ticker.elapsed)
