"""The default search: greedy equivalence search and tabu climbing in turns, until neither helps.

Equivalence search escapes most of the plateaus that trap hill climbing; tabu climbing turns arcs
that equivalence search cannot. Each takes over the best graph of the other, and since all family
scores are remembered, the second and later turns cost little.
"""

from __future__ import annotations

from unveil.graph.dag import DAG
from unveil.progress import Listener, Step, Ticker
from unveil.score.families import FamilyScores
from unveil.search.constraints import Constraints
from unveil.search.equivalence_search import EquivalenceClimber
from unveil.search.graph_state import GraphState, dag_from
from unveil.search.hill_climbing import Climber, hill_climbing
from unveil.search.result import SearchResult

__all__ = ["combined_search"]

TABU = 20
"""Length of the tabu list in the climbing turns."""


def combined_search(
    scores: FamilyScores,
    start: DAG | None = None,
    constraints: Constraints | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """The best graph found by equivalence search and tabu climbing in turns.

    Equivalence search needs a score that treats equivalent graphs alike and knows no limit but
    `max_parents`; with other scores or constraints, this is tabu climbing with random restarts.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu
    >>> table = datasets.network("asia").sample(2000, seed=1)
    >>> print(combined_search(FamilyScores(table, BDeu(1))).search)
    combined search
    """
    limits = constraints or Constraints()
    if not (scores.score.equivalent and scores.structure_prior is None and limits.only_max_parents):
        return hill_climbing(
            scores, start, limits, tabu=TABU, restarts=5, seed=0 if seed is None else seed,
            progress=progress, time_limit=time_limit,
        )  # fmt: skip
    ticker = Ticker(progress, time_limit)
    state = GraphState(scores, limits.rules(scores.names), start)
    classes = EquivalenceClimber(scores, state.parents, limits.max_parents, ticker)
    trace: list[Step] = []
    while True:
        classes.climb()
        state.restore(classes.parents)
        climber = Climber(state, ticker, TABU, TABU // 2 + 1)
        climber.climb()
        trace += [*classes.trace, *climber.trace]
        if climber.best_score <= classes.score + 1e-9 or not ticker.keep_going():
            break
        classes = EquivalenceClimber(scores, climber.best_parents, limits.max_parents, ticker)
    return SearchResult(
        dag=dag_from(climber.best_parents, scores.names),
        score=climber.best_score,
        score_name=scores.score.name,
        search="combined search",
        trace=tuple(trace),
        stopped=ticker.reason or "converged",
        seed=seed,
        elapsed=ticker.elapsed,
        n_scored=scores.n_scored,
    )
