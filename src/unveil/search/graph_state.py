"""The mutable twin of a DAG that searches work on: arcs, who reaches whom, gains of all moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import CycleError, ModelError
from unveil.graph.dag import DAG
from unveil.kernels.moves import (
    ADD,
    DELETE,
    NOTHING,
    best_move,
    link,
    may_add,
    may_reverse,
    recompute_reach,
)
from unveil.score.protocol import Families
from unveil.search.constraints import Rules
from unveil.search.ties import tie

__all__ = ["GraphState", "Move"]

Move = tuple[int, int, int]
"""A kind (ADD, DELETE, REVERSE) and the arc's parent and child."""

NO_TABU = np.zeros(0, np.int64)


class GraphState:
    """A graph under search: apply moves, and know the best next one at any time.

    `toggles[y, x]` is what the family of y gains when x is added to or dropped from its parents;
    a move changes one or two families, and only their rows are computed anew. Those of a graph
    taken over are computed when first needed: with many variables that takes a while. `versions[y]`
    counts how often the family of y has changed.
    """

    def __init__(self, scores: Families, rules: Rules, start: DAG | None = None) -> None:
        n = scores.n_variables
        self.versions = np.zeros(n, np.int64)
        self.scores, self.rules = scores, rules
        self.codes = _arc_codes(n)
        self.parents = parents_matrix(start, scores.names) | rules.required.astype(np.uint8)
        rules.check(self.parents, scores.names)
        try:
            dag_from(self.parents, scores.names)
        except CycleError as error:
            raise ModelError(f"the start contradicts the required arcs: {error}") from None
        self.restore(self.parents)

    def restore(self, parents: npt.NDArray[np.uint8]) -> None:
        """Take over another graph."""
        self.parents = parents.copy()
        n = len(self.parents)
        self.versions += 1
        self.reach = np.zeros((n, n), np.uint8)
        recompute_reach(self.parents, self.reach)
        self._toggles = np.full((n, n), -np.inf)
        self._unknown = np.flatnonzero(self.rules.free())[::-1].tolist()
        families = [(y, self.parents_of(y)) for y in range(n)]
        self.score = float(self.scores.many(families).sum())
        self.tie = tie(self.score)
        self.key = int(np.bitwise_xor.reduce(self.codes[self.parents > 0], initial=0))
        self.room = self.rules.max_parents - self.parents.sum(axis=1)
        # The most that a legal move on an arc into each node can gain, see `best_move`.
        self._bounds = np.full(n, np.inf)

    @property
    def toggles(self) -> npt.NDArray[np.float64]:
        """The gains of all toggles."""
        self.find_gains()
        return self._toggles

    def find_gains(self, keep_going: Callable[[], bool] = lambda: True) -> bool:
        """Compute the gains not known yet; `False` if that had to stop before the end."""
        if self._unknown:
            families = [(y, self.parents_of(y)) for y in reversed(self._unknown)]
            rows = self.scores.all_toggles(families)
            while self._unknown and keep_going():
                self._toggles[self._unknown.pop()] = next(rows)
        return not self._unknown

    @property
    def inner(self) -> list[int]:
        """The nodes that have parents."""
        return np.flatnonzero(self.parents.any(axis=1)).tolist()

    def parents_of(self, child: int) -> tuple[int, ...]:
        """The positions of a node's parents, ascending."""
        return tuple(self.parents[child].nonzero()[0].tolist())

    def best(self, tabu: npt.NDArray[np.int64] = NO_TABU) -> tuple[Move, float] | None:
        """The legal move with the largest gain that leads to no graph in `tabu`, and its gain."""
        rules = self.rules
        kind, x, y, gain = best_move(
            self.toggles, self.parents, self.reach, rules.allowed,
            rules.required_now(self.parents), self.room,
            self.codes, self.key, tabu, self._bounds, self.tie,
        )  # fmt: skip
        if kind == ADD and self._better_turned(x, y, gain, tabu):
            x, y = y, x
        return None if kind == NOTHING else ((kind, x, y), gain)

    def _better_turned(self, x: int, y: int, gain: float, tabu: npt.NDArray[np.int64]) -> bool:
        """Whether y -> x gains as much as x -> y and leaves more to gain in the next step.

        Scores that treat equivalent graphs alike cannot tell the direction of a first arc, and
        luck should not decide: a child that wants further parents shows which way to point.
        """
        legal = self.legal((ADD, y, x)) and (self.key ^ int(self.codes[x, y])) not in tabu
        if not legal or abs(self.toggles[x, y] - gain) > self.tie:
            return False
        families = [
            (y, tuple(sorted((*self.parents_of(y), x)))),
            (x, tuple(sorted((*self.parents_of(x), y)))),
        ]
        here, turned = map(_wish, self.scores.all_toggles(families))
        return turned - _wish(self.toggles[x]) > here - _wish(self.toggles[y]) + self.tie

    def legal(self, move: Move) -> bool:
        """Whether a move on the present graph breaks no rule and makes no cycle."""
        kind, x, y = move
        if kind == ADD:
            new = not (self.parents[y, x] or self.parents[x, y])
            legal = new and may_add(self.reach, self.rules.allowed, self.room, x, y)
            return bool(legal and self.toggles[y, x] > -np.inf)
        if not self.parents[y, x] or self.rules.required_now(self.parents)[y, x]:
            return False
        if kind == DELETE:
            return bool(self.toggles[y, x] > -np.inf)
        turns = may_reverse(self.parents, self.reach, self.rules.allowed, self.room, x, y)
        return bool(turns and self.toggles[x, y] + self.toggles[y, x] > -np.inf)

    def apply(self, move: Move) -> None:
        """Carry out a legal move."""
        self.find_gains()
        kind, x, y = move
        if kind == ADD:
            self.parents[y, x] = 1
            self.room[y] -= 1
            link(self.reach, x, y)
        else:
            self.parents[y, x] = 0
            self.room[y] += 1
            if kind != DELETE:
                self.parents[x, y] = 1
                self.room[x] -= 1
            recompute_reach(self.parents, self.reach)
            # With fewer paths or more room, moves may have become legal anywhere.
            self._bounds[:] = np.inf
        self.score += self.toggles[y, x] + (0.0 if kind in (ADD, DELETE) else self.toggles[x, y])
        self.key ^= int(self.codes[y, x]) ^ (0 if kind in (ADD, DELETE) else int(self.codes[x, y]))
        self._recompute((y,) if kind in (ADD, DELETE) else (y, x))

    def replace(self, old: int, new: int, child: int, gain: float) -> None:
        """Let a parent give its place to another, legally; `gain` is what the score gains."""
        self.find_gains()
        self.parents[child, old], self.parents[child, new] = 0, 1
        recompute_reach(self.parents, self.reach)
        self._bounds[:] = np.inf
        self.score += gain
        self.key ^= int(self.codes[child, old]) ^ int(self.codes[child, new])
        self._recompute((child,))

    def _recompute(self, children: Sequence[int]) -> None:
        """Compute the gains of families that have changed."""
        families = [(v, self.parents_of(v)) for v in children]
        rows = self.scores.all_toggles(families)
        for (changed, _), row in zip(families, rows, strict=True):
            self._toggles[changed] = row
            self.versions[changed] += 1
            # Turning an arc changes the families at both of its ends.
            self._bounds[self.parents[:, changed] > 0] = np.inf
            self._bounds[changed] = np.inf

    def dag(self, names: Sequence[str] | None = None) -> DAG:
        """The graph as an immutable DAG."""
        return dag_from(self.parents, self.scores.names, names)


def parents_matrix(dag: DAG | None, names: Sequence[str]) -> npt.NDArray[np.uint8]:
    """The matrix with parents[y, x] = 1 for x -> y; no arcs if there is no graph."""
    parents = np.zeros((len(names), len(names)), np.uint8)
    if dag is None:
        return parents
    if set(dag.nodes) != set(names):
        strangers = [name for name in dag.nodes if name not in names]
        absent = [name for name in names if name not in dag.nodes]
        raise ModelError(
            "the start and the table must have the same variables; only in the start: "
            f"{strangers or 'none'}, only in the table: {absent or 'none'}"
        )
    place = {name: i for i, name in enumerate(names)}
    for parent, child in dag.arcs:
        parents[place[child], place[parent]] = 1
    return parents


def dag_from(
    parents: npt.NDArray[Any], names: Sequence[str], order: Sequence[str] | None = None
) -> DAG:
    """A DAG from a matrix with parents[y, x] = 1 for x -> y; nodes in the given order."""
    arcs = [(names[x], names[y]) for y, x in np.argwhere(parents)]
    return DAG(order or names, arcs)


def _arc_codes(n: int) -> npt.NDArray[np.int64]:
    """A random number per arc (Zobrist 1970), always the same ones."""
    return np.random.default_rng(20030101).integers(1, 2**62, size=(n, n), dtype=np.int64)


def _wish(gains: npt.NDArray[np.float64]) -> float:
    """What all further parents would gain a child, one by one."""
    return float(gains[gains > 0].sum())
