"""Search over orders of the variables with grow-shrink trees, in the manner of BOSS.

Given an order, every variable takes its parents from those before it by growing and shrinking, so
an order stands for a graph; the search moves one variable at a time to its best place (Andrews,
Ramsey, Sanchez-Romero, Camchong and Kummerfeld, "Fast scalable and accurate discovery of DAGs using
the best order score search and grow-shrink trees", 2023). A move in the order changes many
families at once, which takes it past maxima where single arcs are stuck.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.graph.dag import DAG
from unveil.kernels.order import (
    GaussianOpener,
    Trees,
    enter_candidates,
    try_positions,
    walk_order,
)
from unveil.progress import Progress, Step, Ticker
from unveil.score.gaussian_families import GaussianFamilies
from unveil.score.protocol import Families
from unveil.search.constraints import Constraints, Rules
from unveil.search.graph_state import dag_from, parents_matrix
from unveil.search.result import SearchResult
from unveil.search.ties import tie
from unveil.seeds import generator_of, seed_or_fresh

__all__ = ["OrderClimber", "order_search"]

PHASE = "order search"
Order = npt.NDArray[np.int64]


def order_search(
    scores: Families,
    start: DAG | None = None,
    constraints: Constraints | None = None,
    restarts: int = 0,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """The graph of the best order found by moving one variable at a time.

    The first order is that of `start`, or of the names. With `restarts`, the best order is then
    shaken by moving a tenth of its variables at random, and climbed from again, until so many
    restarts in a row brought nothing better. Required and forbidden arcs, tiers and numbers of
    parents of `constraints` are honoured.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu, FamilyScores
    >>> table = datasets.network("asia").sample(2000, seed=1)
    >>> order_search(FamilyScores(table, BDeu(1))).stopped
    'converged'
    """
    limits = constraints or Constraints()
    if limits.no_leaf:
        raise ModelError("order search cannot promise that variables keep a child (no_leaf)")
    rules = limits.rules(scores.names, start)
    ticker = Ticker.of(progress, time_limit)
    if restarts and seed is None:
        seed = seed_or_fresh(None)
    first = parents_matrix(start, scores.names) | rules.required.astype(np.uint8)
    climber = OrderClimber(scores, rules, ticker)
    climber.climb(topological(first))
    best_order, best, failures = climber.order.copy(), climber.score, 0
    generator = generator_of(seed)
    while failures < restarts and ticker.keep_going():
        climber.climb(climber.shaken(best_order, generator))
        better = climber.score > best + climber.tie
        failures = 0 if better else failures + 1
        if better:
            best_order, best = climber.order.copy(), climber.score
    parents = climber.parents(best_order)
    dag = dag_from(parents, scores.names)
    return SearchResult.made(scores, ticker, PHASE, dag, best, climber.trace, seed)


class OrderClimber:
    """Moves variables in an order while that helps; the trees serve all orders climbed from."""

    def __init__(self, scores: Families, rules: Rules, ticker: Ticker) -> None:
        self.scores, self.rules, self.ticker = scores, rules, ticker
        self.n = n = scores.n_variables
        self.trace: list[Step] = []
        self.n_moves = 0
        self.best = -np.inf
        self._required = [tuple(np.flatnonzero(row).tolist()) for row in rules.required]
        own = scores.many([(y, self._required[y]) for y in range(n)])
        self.tie = tie(float(own.sum()))
        self._trees = _new_trees(n, own)
        self._wanted = np.empty(3 * n + 1, np.int64)
        self._opener = _opener(scores, rules, self.tie)

    def climb(self, order: Order) -> None:
        """Move every variable to its best place, again and again, until none moves."""
        self.order = order.copy()
        self.score = self._score(self.order)
        self._tell(np.nan)
        settled = 0
        while settled < self.n and self.ticker.keep_going():
            for v in self.order.copy().tolist():
                gain = self._move(v)
                settled = 0 if gain > 0 else settled + 1
                if gain > 0:
                    self.n_moves += 1
                    self.score += gain
                    self._tell(gain)
                if settled >= self.n or not self.ticker.keep_going():
                    break

    def parents(self, order: Order) -> npt.NDArray[np.uint8]:
        """The graph that an order stands for."""
        parents = np.zeros((self.n, self.n), np.uint8)
        for y, node in enumerate(self._ends(order).tolist()):
            parents[y, list(self._shrunk(y, self._family(node))[0])] = 1
        return parents

    def shaken(self, order: Order, generator: np.random.Generator) -> Order:
        """The order with a tenth of its variables moved elsewhere, as far as rules permit."""
        shaken = order.tolist()
        for _ in range(max(2, self.n // 10)):
            v = shaken.pop(int(generator.integers(self.n)))
            low, high = self._span(v, shaken)
            shaken.insert(int(generator.integers(low, high + 1)), v)
        return np.array(shaken, np.int64)

    def _move(self, v: int) -> float:
        """Move a variable to its best place; what that gains, 0 if it stays."""
        others = self.order[self.order != v]
        without, behind, own = np.empty(self.n - 1), np.empty(self.n - 1), np.empty(self.n)
        while self._to_open(
            try_positions(self._trees, self._opener, v, others, without, behind, own, self._wanted)
        ):
            pass
        # Total at place i: those before it without v, v itself, those after it with v before them.
        totals = own.copy()
        totals[1:] += np.cumsum(without)
        totals[:-1] += np.cumsum(behind[::-1])[::-1]
        low, high = self._span(v, others.tolist())
        here = int(np.flatnonzero(self.order == v)[0])
        # Places that differ by rounding only are one place, and the first of them stands for it.
        near = totals[low : high + 1] >= totals[low : high + 1].max() - self.tie
        best = low + int(near.argmax())
        gain = float(totals[best] - totals[here])
        if gain <= self.tie:
            return 0.0
        self.order = np.insert(others, best, v)
        return gain

    def _span(self, v: int, others: Sequence[int]) -> tuple[int, int]:
        """The places a variable may take: after its required parents, before its children."""
        low, high = 0, len(others)
        children = self.rules.required[:, v]
        if not (self._required[v] or children.any()):
            return low, high
        for i, other in enumerate(others):
            if other in self._required[v]:
                low = i + 1
            elif children[other]:
                high = min(high, i)
        return low, high

    def _score(self, order: Order) -> float:
        ends = self._ends(order)  # first, since the trees grow on the way
        return float(self._trees.shrunk[ends].sum())

    def _ends(self, order: Order) -> Order:
        """The nodes where the paths of an order end."""
        ends = np.empty(self.n, np.int64)
        while self._to_open(walk_order(self._trees, self._opener, order, ends, self._wanted)):
            pass
        return ends

    def _to_open(self, n_wanted: int) -> bool:
        """Open the nodes that a kernel wants, and make room for more; `False` if it had all."""
        if n_wanted == 0:
            return False
        nodes = self._wanted[: max(0, n_wanted)].tolist()
        self._make_room(len(nodes))
        families = [(int(self._trees.child[node]), self._family(node)) for node in nodes]
        rows = self.scores.all_toggles(families)
        for node, (y, parents), gains in zip(nodes, families, rows, strict=True):
            room = int(self.rules.max_parents[y]) - len(parents)
            enter_candidates(self._trees, node, gains, self.rules.allowed[y], room, self.tie)
            self._trees.shrunk[node] += self._shrunk(y, parents, gains)[1]
        return True

    def _shrunk(
        self, y: int, parents: tuple[int, ...], gains: npt.NDArray[np.float64] | None = None
    ) -> tuple[tuple[int, ...], float]:
        """The parents that are left when some are dropped while that helps, and what it gains."""
        gained, free = 0.0, [p for p in parents if p not in self._required[y]]
        while free:
            gains = self.scores.toggles(y, parents) if gains is None else gains
            best = max(free, key=gains.__getitem__)
            if gains[best] <= self.tie:
                break
            gained += float(gains[best])
            free.remove(best)
            parents, gains = tuple(p for p in parents if p != best), None
        return parents, gained

    def _family(self, node: int) -> tuple[int, ...]:
        """The parents a node stands for, ascending."""
        trees = self._trees
        found = list(self._required[int(trees.child[node])])
        while trees.above[node] >= 0:
            found.append(int(trees.added[node]))
            node = int(trees.above[node])
        return tuple(sorted(found))

    def _make_room(self, n_open: int) -> None:
        """Room for what a walk may come to, and for the candidates of nodes to be opened."""
        n_nodes, n_candidates = self._trees.used.tolist()
        more = (n_open + 8) * self.n
        self._trees = _with_room(self._trees, n_nodes + 4 * self.n, n_candidates + more)

    def _tell(self, gain: float) -> None:
        if self.score > self.best + self.tie:
            self.best = self.score
            elapsed = self.ticker.elapsed
            self.trace.append(Step(PHASE, self.n_moves, self.score, gain, elapsed=elapsed))
        self.ticker.offer(PHASE, self.n_moves, self.best, gain)


def topological(parents: npt.NDArray[np.uint8]) -> Order:
    """The variables in an order that the arcs agree with; of several, the first in order."""
    waiting = parents.sum(axis=1).astype(np.int64)
    done = np.zeros(len(parents), np.bool_)
    order = []
    for _ in range(len(parents)):
        v = int(np.argmax((waiting == 0) & ~done))
        done[v] = True
        order.append(v)
        waiting -= parents[:, v]
    return np.array(order, np.int64)


def _new_trees(n: int, own: npt.NDArray[np.float64]) -> Trees:
    """Roots only: the root of a variable has its number."""
    whole = np.int64
    return Trees(
        np.arange(n, dtype=whole), np.full(n, -1, whole), np.full(n, -1, whole),
        np.zeros(n, np.uint8), np.zeros(n, whole), np.zeros(n, whole), own.copy(), own.copy(),
        np.zeros(n, np.int32), np.zeros(n), np.zeros(n, whole), np.array([n, 0], whole),
    )  # fmt: skip


def _opener(scores: Families, rules: Rules, tie: float) -> GaussianOpener:
    """Who opens nodes: for plain Gaussian families the kernel itself."""
    nothing = np.zeros(0)
    limits = rules.allowed, rules.required, rules.max_parents, tie
    if isinstance(scores, GaussianFamilies) and scores.structure_prior is None:
        matrix, _, constant, slope, half = scores.term
        return GaussianOpener(matrix, constant, slope, half, *limits)
    return GaussianOpener(np.zeros((0, 0)), nothing, nothing, 0.0, *limits)


def _with_room(trees: Trees, n_nodes: int, n_candidates: int) -> Trees:
    """The same trees in arrays that are long enough."""
    per_node = len(trees.child) < n_nodes
    per_candidate = len(trees.variable) < n_candidates
    if not (per_node or per_candidate):
        return trees
    nodes = [_longer(a, 2 * n_nodes) if per_node else a for a in trees[:8]]
    candidates = [_longer(a, 2 * n_candidates) if per_candidate else a for a in trees[8:11]]
    return Trees._make([*nodes, *candidates, trees.used])


def _longer(array: npt.NDArray[np.generic], size: int) -> npt.NDArray[np.generic]:
    longer = np.zeros(size, array.dtype)
    longer[: len(array)] = array
    return longer
