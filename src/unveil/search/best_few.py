"""The best few structures, not only the best: a walk around it that always goes on from the best.

Tian, He and Ram (2010) keep the k best networks of every set of variables, which is exact and ends
at some twenty variables. Here the structures found so far are kept in order, and the best one that
has not been looked around yet is next: all arcs that can be added, deleted or turned are. It ends
when each of the k best has been looked around. Any number of variables, any families; but a good
structure that only worse ones lead to is not found.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.graph.equivalence import completed_pdag
from unveil.kernels.moves import ADD, DELETE, REVERSE
from unveil.progress import Progress, StopReason, Ticker
from unveil.records import Record
from unveil.score.protocol import Families
from unveil.search.constraints import Constraints
from unveil.search.graph_state import GraphState, Move, dag_from

__all__ = ["BestFew", "best_few"]

PHASE = "the best few"

Parents = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class BestFew(Record):
    """The best structures found, the best first, and their scores (nats).

    Where `classes` is true, no two of them are equivalent: each stands for all graphs that data
    cannot tell from it.
    """

    dags: tuple[DAG, ...]
    scores: tuple[float, ...]
    classes: bool
    stopped: StopReason


def best_few(
    scores: Families,
    start: DAG,
    k: int = 50,
    constraints: Constraints | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> BestFew:
    """The `k` best structures around `start`, which is best the one that a search has found.

    If the score gives equivalent graphs equal values and nothing else tells them apart (a prior
    over structures, constraints), equivalent graphs count as one.

    >>> from unveil import datasets, learn
    >>> learned = learn(datasets.network("asia").sample(500, seed=1))
    >>> few = best_few(learned.scores, learned.dag, k=5)
    >>> len(few.dags), few.scores[0] == learned.score, sorted(few.scores) == list(few.scores)[::-1]
    (5, True, True)
    """
    if k < 1:
        raise DataError(f"the best few structures are at least one, got {k}")
    limits = constraints or Constraints()
    state = GraphState(scores, limits.rules(scores.names, start), start)
    ticker = Ticker.of(progress, time_limit)
    classes = scores.equivalent and scores.structure_prior is None and limits.only_max_parents
    kept = _Kept(k, scores.names, classes)
    kept.offer(state.parents, state.score)
    while (found := kept.next()) is not None:
        if not ticker.offer(PHASE, kept.n_seen, kept.best, detail=f"{kept.n_seen} looked around"):
            break
        state.restore(found)
        for move, gain in _moves(state):
            if state.score + gain <= kept.least:
                break
            kept.offer(_after(found, move), state.score + gain)
    return BestFew(*kept.result(), classes, ticker.reason or "converged")


class _Kept:
    """The k best structures so far, and which of them have not been looked around yet."""

    def __init__(self, k: int, names: tuple[str, ...], classes: bool) -> None:
        self.k, self.names, self.classes = k, names, classes
        self.n_seen = 0
        self._entries: list[tuple[float, int, DAG, Parents]] = []
        self._keys: set[Hashable] = set()
        self._seen: set[int] = set()

    @property
    def best(self) -> float:
        return -self._entries[0][0]

    @property
    def least(self) -> float:
        """A structure has to score more than this to be kept."""
        return -self._entries[-1][0] if len(self._entries) == self.k else -np.inf

    def offer(self, parents: Parents, score: float) -> None:
        """Keep a structure, unless it is kept already or not among the k best."""
        dag = dag_from(parents, self.names)
        key: Hashable = frozenset(dag.arcs)
        if self.classes:
            pattern = completed_pdag(dag)
            key = frozenset(pattern.arcs), frozenset(pattern.edges)
        if key in self._keys or score <= self.least:
            return
        insort(self._entries, (-score, len(self._keys), dag, parents))
        self._keys.add(key)
        del self._entries[self.k :]

    def next(self) -> Parents | None:
        """The best structure that has not been looked around yet; from now on it has."""
        for _, number, _, parents in self._entries:
            if number not in self._seen:
                self._seen.add(number)
                self.n_seen += 1
                return parents
        return None

    def result(self) -> tuple[tuple[DAG, ...], tuple[float, ...]]:
        return tuple(e[2] for e in self._entries), tuple(-e[0] for e in self._entries)


def _moves(state: GraphState) -> Iterator[tuple[Move, float]]:
    """The legal moves with what they gain, the best first."""
    gains, there = state.toggles, state.parents > 0
    turned = np.where(there, gains + gains.T, -np.inf)
    both = np.stack([gains, turned])
    for at in np.argsort(-both, axis=None, kind="stable").tolist():
        turn, y, x = np.unravel_index(at, both.shape)
        gain = float(both[turn, y, x])
        if gain == -np.inf:
            return
        move = (REVERSE if turn else DELETE if there[y, x] else ADD, int(x), int(y))
        if state.legal(move):
            yield move, gain


def _after(parents: Parents, move: Move) -> Parents:
    kind, x, y = move
    changed = parents.copy()
    changed[y, x] = kind == ADD
    if kind == REVERSE:
        changed[x, y] = 1
    return changed
