"""Simulated annealing over graphs, a straw man for other searches."""

from __future__ import annotations

import math

import numpy as np

from unveil.errors import ModelError
from unveil.graph.dag import DAG
from unveil.kernels.moves import REVERSE
from unveil.progress import Progress, Step, StopReason, Ticker, run
from unveil.score.protocol import Families
from unveil.search.constraints import Constraints
from unveil.search.graph_state import GraphState, Move, dag_from
from unveil.search.hill_climbing import random_move
from unveil.search.result import SearchResult
from unveil.seeds import seed_or_fresh

__all__ = ["simulated_annealing"]

PHASE = "simulated annealing"


def simulated_annealing(
    scores: Families,
    start: DAG | None = None,
    constraints: Constraints | None = None,
    temperature: float = 100.0,
    proposals: int = 400,
    changes: int = 200,
    cooling: float = 0.95,
    reductions: int = 120,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """The best graph seen on a random walk that grows greedier as the temperature falls.

    The schedule of Heckerman, Geiger and Chickering (1995): a random legal add, delete or reverse
    that gains d nats is taken with probability min(1, exp(d / T)). After `proposals` (alpha) tries
    or `changes` (beta) accepted ones, the `temperature` T is multiplied by `cooling` (gamma), at
    most `reductions` (delta) times; a temperature at which nothing is accepted ends the walk.

    Slower and usually worse than hill climbing with a tabu list: choose it to compare with, or
    where the score has many plateaus. The graph it ends on need not be a local maximum; climb from
    it with `hill_climbing(scores, start=result.dag)`.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu, FamilyScores
    >>> table = datasets.network("asia").sample(500, seed=1)
    >>> simulated_annealing(FamilyScores(table, BDeu(1)), reductions=40, seed=0).stopped
    'iteration cap'
    """
    if not (temperature > 0 and math.isfinite(temperature) and 0 < cooling < 1):
        raise ModelError(
            "annealing needs a positive temperature and a cooling factor between 0 and 1, got "
            f"{temperature} and {cooling}"
        )
    rules = (constraints or Constraints()).rules(scores.names, start)
    ticker = Ticker.of(progress, time_limit)
    seed = seed_or_fresh(seed)
    walker = _Walker(GraphState(scores, rules, start), np.random.default_rng(seed), ticker)

    def walk(now: float) -> tuple[float, Step]:
        """All proposals at one temperature; the next one is lower."""
        walker.walk(now, proposals, changes)
        walker.n_walks += 1
        step = Step(PHASE, walker.n_walks - 1, walker.best_score, temperature=now)
        return now * cooling, step

    def frozen(now: float, step: Step) -> StopReason | None:
        return None if walker.n_accepted else "converged"

    walked = run(walk, temperature, frozen, ticker, max_steps=reductions + 1)
    dag = dag_from(walker.best_parents, scores.names)
    return SearchResult.made(
        scores, ticker, PHASE, dag, walker.best_score, walker.trace, seed, walked.stopped
    )


class _Walker:
    """Walks from graph to graph by the Metropolis rule and remembers the best."""

    def __init__(self, state: GraphState, generator: np.random.Generator, ticker: Ticker) -> None:
        self.state, self.generator, self.ticker = state, generator, ticker
        self.n_moves = self.n_accepted = self.n_walks = 0
        self.best_score = -math.inf
        self.trace: list[Step] = []
        self._remember(math.nan)

    def walk(self, temperature: float, proposals: int, changes: int) -> None:
        """Walk at one temperature; `n_accepted` then says how many changes were taken."""
        self.n_accepted = 0
        self.state.find_gains(self.ticker.keep_going)
        for _ in range(proposals):
            if self.n_accepted >= changes or not self.ticker.keep_going():
                break
            move = self._propose()
            if move is not None and self._accepts(self._gain(move), temperature):
                self.state.apply(move)
                self.n_accepted += 1
                self.n_moves += 1
                self._remember(temperature)

    def _propose(self) -> Move | None:
        """A random legal move; `None` if a hundred pairs offered none."""
        for _ in range(100):
            x, y = self.generator.integers(len(self.state.parents), size=2).tolist()
            move = random_move(self.state, x, y, self.generator)
            if move is not None:
                return move
        return None

    def _gain(self, move: Move) -> float:
        kind, x, y = move
        toggles = self.state.toggles
        return float(toggles[y, x] + (toggles[x, y] if kind == REVERSE else 0.0))

    def _accepts(self, gain: float, temperature: float) -> bool:
        return gain >= 0 or self.generator.random() < math.exp(gain / temperature)

    def _remember(self, temperature: float) -> None:
        state = self.state
        if state.score > self.best_score + state.tie:
            change = state.score - self.best_score
            self.best_score, self.best_parents = state.score, state.parents.copy()
            self.trace.append(
                Step(PHASE, self.n_moves, state.score, change, temperature, self.ticker.elapsed)
            )
