"""Greedy hill climbing over graphs with a tabu list and random restarts (Algorithms 1 and 2)."""

from __future__ import annotations

from collections import deque

import numpy as np

from unveil.graph.dag import DAG
from unveil.kernels.moves import ADD, DELETE, REVERSE
from unveil.progress import Progress, Step, StopReason, Ticker, run
from unveil.score.protocol import Families
from unveil.search.constraints import Constraints
from unveil.search.graph_state import NO_TABU, GraphState, Move, dag_from
from unveil.search.replacing import Replacement, Replacements
from unveil.search.result import SearchResult
from unveil.seeds import generator_of, seed_or_fresh

__all__ = ["Climber", "hill_climbing", "random_move", "shake"]

PHASE = "hill climbing"
CLEAR_GAIN = 1000
"""A gain of so many ties surely leads to a better graph, whatever the rounding."""


def hill_climbing(
    scores: Families,
    start: DAG | None = None,
    constraints: Constraints | None = None,
    tabu: int = 0,
    patience: int | None = None,
    restarts: int = 0,
    random_moves: int = 10,
    max_moves: int | None = None,
    replace: bool = False,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """The graph found by taking the best add, delete or reverse until none helps.

    With `tabu` > 0, the last so many graphs are not visited again, and at a local maximum the
    search goes on with the best other move until `patience` moves (by default half the tabu list
    and one, as in Algorithm 2) brought nothing better. With `restarts`, the best graph is then
    changed by `random_moves` random legal moves and climbed again, until that many restarts in a
    row brought nothing better. With `max_moves`, each climb ends after so many moves. With
    `replace`, a parent may also give its place to another in one move (7.2), at the cost of scoring
    all of these.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu, FamilyScores
    >>> table = datasets.network("asia").sample(2000, seed=1)
    >>> hill_climbing(FamilyScores(table, BDeu(1)), tabu=10).stopped
    'converged'
    """
    rules = (constraints or Constraints()).rules(scores.names, start)
    ticker = Ticker.of(progress, time_limit)
    state = GraphState(scores, rules, start)
    if restarts and seed is None:
        seed = seed_or_fresh(None)
    idle = tabu // 2 + 1 if patience is None else patience
    climber = Climber(state, ticker, tabu, idle, max_moves, replace)
    climber.climb()
    failures = 0
    generator = generator_of(seed)
    while failures < restarts and ticker.keep_going():
        before = climber.best_score
        state.restore(climber.best_parents)
        shake(state, random_moves, generator)
        climber.climb()
        failures = 0 if climber.best_score > before + state.tie else failures + 1
    dag = dag_from(climber.best_parents, scores.names)
    name = "tabu search" if tabu else PHASE
    return SearchResult.made(scores, ticker, name, dag, climber.best_score, climber.trace, seed)


class Climber:
    """Climbs from wherever the state is, and remembers the best graph ever seen."""

    def __init__(
        self,
        state: GraphState,
        ticker: Ticker,
        tabu: int,
        patience: int,
        max_moves: int | None = None,
        replace: bool = False,
    ) -> None:
        self.state, self.ticker = state, ticker
        self.tabu, self.patience, self.max_moves = tabu, patience, max_moves
        self.best_score, self.best_parents = state.score, state.parents.copy()
        self.trace: list[Step] = []
        self.n_moves = 0
        self._to_copy = False
        self._replacements = Replacements(state) if replace else None

    def climb(self) -> None:
        """Move until no move helps (or, with a tabu list, until patience runs out)."""
        self._visited: deque[int] = deque([self.state.key], maxlen=max(self.tabu, 1))
        self._local_best, self._idle, self._settled = self.state.score, 0, False
        self._remember()
        run(
            lambda _: (None, self.step()), None, lambda *_: self._stopped(), self.ticker,
            self.max_moves,
        )  # fmt: skip
        self._copy_best()

    def step(self) -> Step:
        """Take the best move, if it helps or patience is left; what a person wants to see of it."""
        found = None
        if self.ticker.keep_going() and self.state.find_gains(self.ticker.keep_going):
            found = self._best()
        if found is None or (found[1] <= self.state.tie and not self._patient):
            self._settled = True
            return Step(PHASE, self.n_moves, self.best_score, 0.0)
        move, gain = found
        if gain < CLEAR_GAIN * self.state.tie:
            self._copy_best()
        words = self._words(move)
        if isinstance(move, Replacement):
            self.state.replace(*move, gain)
        else:
            self.state.apply(move)
        self._visited.append(self.state.key)
        self.n_moves += 1
        self._idle += 1
        if self.state.score > self._local_best + self.state.tie:
            self._local_best, self._idle = self.state.score, 0
            self._remember()
        return Step(PHASE, self.n_moves, self.best_score, gain, detail=words)

    def _best(self) -> tuple[Move | Replacement, float] | None:
        """The move with the largest gain; replacements only where they gain more than others."""
        tabu = np.array(self._visited, np.int64) if self.tabu else NO_TABU
        found: tuple[Move | Replacement, float] | None = self.state.best(tabu)
        if self._replacements is None:
            return found
        least = -np.inf if found is None else found[1]
        return self._replacements.best(tabu, least) or found

    @property
    def _patient(self) -> bool:
        """Whether a move may be taken that does not help."""
        return bool(self.tabu) and self._idle < self.patience

    def _stopped(self) -> StopReason | None:
        return "converged" if self._settled else None

    def _copy_best(self) -> None:
        """Copy the best graph before it is left; on the way up every graph is the best so far."""
        if self._to_copy:
            self.best_parents, self._to_copy = self.state.parents.copy(), False

    def _remember(self) -> None:
        if self.state.score > self.best_score + self.state.tie or not self.trace:
            change = self.state.score - self.best_score
            self.best_score, self._to_copy = self.state.score, True
            self.trace.append(
                Step(PHASE, self.n_moves, self.best_score, change, elapsed=self.ticker.elapsed)
            )

    def _words(self, move: Move | Replacement) -> str:
        names = self.state.scores.names
        if isinstance(move, Replacement):
            old, new, child = (names[v] for v in move)
            return f"replace {old} -> {child} by {new} -> {child}"
        kind, x, y = move
        return (
            f"{ {ADD: 'add', DELETE: 'delete', REVERSE: 'reverse'}[kind] } {names[x]} -> {names[y]}"
        )


def shake(state: GraphState, n_moves: int, generator: np.random.Generator) -> None:
    """Apply random legal moves."""
    n = len(state.parents)
    for _ in range(n_moves):
        for _ in range(100):
            x, y = generator.integers(n, size=2).tolist()
            move = random_move(state, x, y, generator)
            if move is not None:
                state.apply(move)
                break


def random_move(state: GraphState, x: int, y: int, generator: np.random.Generator) -> Move | None:
    """A random legal move on the pair x, y, or `None`."""
    if not state.parents[y, x]:
        return (ADD, x, y) if state.legal((ADD, x, y)) else None
    if not state.legal((DELETE, x, y)):
        return None
    turn = state.legal((REVERSE, x, y)) and generator.random() < 0.5
    return (REVERSE, x, y) if turn else (DELETE, x, y)
