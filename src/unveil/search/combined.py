"""The default search: several searches in turns, until none of them helps.

Equivalence search escapes most of the plateaus that trap hill climbing; tabu climbing turns arcs
that equivalence search cannot; moving variables in an order changes many families at once. Each
takes over the best graph of the other, and since all family scores are remembered, the second and
later turns cost little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unveil.graph.dag import DAG
from unveil.progress import Progress, Step, Ticker
from unveil.score.gaussian_families import GaussianFamilies
from unveil.score.protocol import Families
from unveil.search.constraints import Constraints
from unveil.search.equivalence_search import EquivalenceClimber
from unveil.search.graph_state import GraphState, dag_from
from unveil.search.hill_climbing import Climber, hill_climbing, shake
from unveil.search.legal import made_legal
from unveil.search.order_search import OrderClimber, order_search, topological
from unveil.search.result import SearchResult
from unveil.seeds import generator_of, seed_or_fresh

__all__ = ["combined_search"]

PHASE = "combined search"
TABU = 20
"""Length of the tabu list in the climbing turns."""

FEW = 120
"""Up to so many variables, order search has its turns from two starts, tabu climbing's and
equivalence search's: the better of the two is better by a little, and takes twice as long. Who asks
for order search gets both."""
RESTARTS = 5
"""Random restarts where equivalence search cannot be asked."""
SHAKEN = 10
"""Random moves that a restart begins with."""

Matrix = npt.NDArray[np.uint8]


def combined_search(
    scores: Families,
    start: DAG | None = None,
    constraints: Constraints | None = None,
    restarts: int | None = None,
    orders: bool | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """The best graph found by equivalence search, tabu climbing and order search in turns.

    `orders` says whether order search has its turns: it finds better graphs, and asks for many more
    families. By default it has them over Gaussian families, whose scores cost next to nothing.

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
    ticker = Ticker.of(progress, time_limit)
    moves = isinstance(scores, GaussianFamilies) if orders is None else orders
    if not (plain and limits.only_max_parents):
        again = RESTARTS if restarts is None else restarts
        return _limited_search(scores, start, limits, again, moves, seed, ticker)
    if restarts and seed is None:
        seed = seed_or_fresh(None)
    turns = _Turns(scores, start, limits, ticker)
    if moves:
        turns.take(turns.climb, turns.order, turns.classes_and_climb)
    if orders is not None or not moves or scores.n_variables <= FEW:
        turns.take(turns.classes_and_climb, *([turns.order] if moves else []))
    turns.restart(restarts or 0, generator_of(seed))
    dag = dag_from(turns.best_parents, scores.names)
    return SearchResult.made(scores, ticker, PHASE, dag, turns.best, turns.trace, seed)


class _Turns:
    """Searches that take over each other's graphs; the best graph of all is remembered."""

    def __init__(
        self, scores: Families, start: DAG | None, limits: Constraints, ticker: Ticker
    ) -> None:
        self.scores, self.ticker = scores, ticker
        self.most = limits.max_parents
        self.rules = limits.rules(scores.names)
        self.state = GraphState(scores, self.rules, start)
        self.first = self.best_parents = self.state.parents.copy()
        self.best, self.tie = self.state.score, self.state.tie
        self.trace: list[Step] = []
        self._orders: OrderClimber | None = None

    def take(self, *searches: Callable[[Matrix], tuple[float, Matrix]]) -> None:
        """From the first graph, one search after the other, round and round until none helps."""
        parents, best, idle = self.first, -np.inf, 0
        while idle < len(searches):
            for search in searches:
                found, graph = search(parents)
                better = found > best + self.tie
                idle = 0 if better else idle + 1
                if better:
                    best, parents = found, graph
                if idle == len(searches) or not self.ticker.keep_going():
                    break
            if not self.ticker.keep_going():
                break
        if best > self.best + self.tie:
            self.best, self.best_parents = best, parents

    def restart(self, times: int, generator: np.random.Generator) -> None:
        """Turns from the best graph, shaken; until so many in a row brought nothing better."""
        failures = 0
        while failures < times and self.ticker.keep_going():
            before = self.best
            self.state.restore(self.best_parents)
            shake(self.state, SHAKEN, generator)
            self.first = self.state.parents.copy()
            self.take(self.classes_and_climb)
            failures = 0 if self.best > before else failures + 1

    def climb(self, parents: Matrix) -> tuple[float, Matrix]:
        """Tabu climbing: by arcs, through graphs that score less, too."""
        self.state.restore(parents)
        climber = Climber(self.state, self.ticker, TABU, TABU // 2 + 1)
        climber.climb()
        self.trace += climber.trace
        return climber.best_score, climber.best_parents

    def classes_and_climb(self, parents: Matrix) -> tuple[float, Matrix]:
        """Equivalence search and tabu climbing in turns."""
        while True:
            classes = EquivalenceClimber(self.scores, parents, self.most, self.ticker)
            # No single insert or delete in the class of graphs gains any more (Chickering 2002) ...
            classes.climb()
            self.trace += classes.trace
            # ... so one of its members is climbed from.
            found, climbed = self.climb(classes.parents)
            # S(classes) <= S(climbed) <= S(next classes): scores never fall, so turns end.
            if found <= classes.score + self.tie or not self.ticker.keep_going():
                return found, climbed
            parents = climbed

    def order(self, parents: Matrix) -> tuple[float, Matrix]:
        """Variables moved in the order of a graph; what is known of other orders is used again."""
        if self._orders is None:
            self._orders = OrderClimber(self.scores, self.rules, self.ticker)
        climber = self._orders
        before = len(climber.trace)
        climber.climb(topological(parents))
        self.trace += climber.trace[before:]
        return climber.score, climber.parents(climber.order)


def _limited_search(
    scores: Families,
    start: DAG | None,
    limits: Constraints,
    restarts: int,
    orders: bool,
    seed: int | None,
    ticker: Ticker,
) -> SearchResult:
    """The best of tabu climbing from the start, from an order search's graph, from one made legal.

    The last is that of the search without limits.
    """

    def climb(first: DAG | None) -> SearchResult:
        return hill_climbing(
            scores, first, limits, tabu=TABU, restarts=restarts, seed=seed or 0, progress=ticker
        )

    best = climb(start)
    plain = scores.equivalent and scores.structure_prior is None
    if orders and not limits.no_leaf and limits.changeable is None and ticker.keep_going():
        moved = order_search(scores, best.dag, limits, progress=ticker)
        best = max(best, climb(moved.dag), key=lambda result: result.score)
    if plain and limits.changeable is None and ticker.keep_going():
        unlimited = Constraints(max_parents=limits.max_parents)
        ideal = combined_search(scores, None, unlimited, orders=orders, seed=seed, progress=ticker)
        other = climb(made_legal(ideal.dag, limits.rules(scores.names), scores.names))
        best = max(best, other, key=lambda result: result.score)
    return replace(best, search=PHASE, elapsed=ticker.elapsed)
