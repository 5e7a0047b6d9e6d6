"""Greedy equivalence search (Chickering 2002): climb over classes of equivalent graphs.

Forward, arcs are inserted while that helps; backward, they are deleted. Insert(x, y, T) turns the
neighbours T of y into its parents and adds x; its gain is

    s(y, S + Pa(y) + {x}) - s(y, S + Pa(y)),    S = NA(y, x) + T,

where NA(y, x) are the neighbours of y adjacent to x (Theorem 15, Corollary 16). So all inserts
into y are found by asking, for every clique S of y's neighbours, what each x would add to the
parents S + Pa(y): one row of `Families.toggles`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.graph.dag import DAG
from unveil.kernels.classes import (
    completed,
    entries,
    matrix_of,
    moved,
    transposed,
)
from unveil.kernels.inserts import first_valid_insert, helpful_inserts
from unveil.progress import Progress, Step, StopReason, Ticker, run
from unveil.score.protocol import Families, Family
from unveil.search.graph_state import dag_from, parents_matrix
from unveil.search.result import SearchResult
from unveil.search.ties import tie

__all__ = ["EquivalenceClimber", "equivalence_search"]

PHASE = "equivalence search"
Matrix = npt.NDArray[np.uint8]


def equivalence_search(
    scores: Families,
    start: DAG | None = None,
    max_parents: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """A member of the class of graphs found by greedy equivalence search (GES).

    With much data and a score that treats equivalent graphs alike, the class found is that of the
    true graph (Chickering 2002, Theorem 4). Slower than hill climbing and usually better.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu, FamilyScores
    >>> table = datasets.network("asia").sample(2000, seed=1)
    >>> equivalence_search(FamilyScores(table, BDeu(1))).stopped
    'converged'
    """
    if not scores.equivalent:
        raise ModelError(
            f"equivalence search needs a score that treats equivalent graphs alike; "
            f"{scores.score_name} does not. Take bdeu or bic, or hill climbing."
        )
    ticker = Ticker.of(progress, time_limit)
    climber = EquivalenceClimber(scores, parents_matrix(start, scores.names), max_parents, ticker)
    climber.climb()
    dag = dag_from(climber.parents, scores.names)
    return SearchResult.made(scores, ticker, PHASE, dag, climber.score, climber.trace)


class EquivalenceClimber:
    """A class of graphs under search: its completed graph, and the gains of all inserts."""

    def __init__(
        self, scores: Families, parents: Matrix, max_parents: int | None, ticker: Ticker
    ) -> None:
        self.scores, self.ticker = scores, ticker
        self.n = scores.n_variables
        self.most = self.n if max_parents is None else max_parents
        self.trace: list[Step] = []
        self.n_moves, self._gain = 0, 0.0
        self.restart(parents)

    def restart(self, parents: Matrix) -> None:
        """Take over a DAG's class."""
        # The graph and its completion as lists; of the latter also the matrix, kept in step.
        self._parents = entries(parents)
        self._lists = completed(self._parents)
        self._after = transposed(self._lists)
        self.pdag: Matrix = matrix_of(self._lists)
        self.adjacent = (self.pdag | self.pdag.T).astype(bool)
        families = [(y, tuple(np.flatnonzero(row).tolist())) for y, row in enumerate(parents)]
        self.score = float(self.scores.many(families).sum())
        self.tie = tie(self.score)
        # What can be inserted into or deleted from each node, kept until the graph changes nearby.
        # Of the inserts into y, best first, those before `_ranks[y]` are known to be invalid while
        # the nodes marked in column y of `_witness` keep their parents and neighbours; `_bounds[y]`
        # is the gain of the next one, NaN where all are to be found anew.
        self._inserts_into: dict[int, _Inserts] = {}
        self._bounds = np.full(self.n, np.nan)
        self._ranks = np.zeros(self.n, np.int64)
        self._witness = np.zeros((self.n, self.n), np.uint8)
        self._best_delete: dict[int, tuple[float, int, list[int]]] = {}

    @property
    def parents(self) -> Matrix:
        """A member of the class."""
        return matrix_of(self._parents)

    def climb(self) -> None:
        """Insert, then delete, until neither helps."""
        self._phase, self._other, self._settled = self._insert, self._delete, False
        found = run(lambda _: (None, self.step()), None, lambda *_: self._stopped(), self.ticker)
        self.trace += found.trace[: -1 if self._settled else None]

    def step(self) -> Step:
        """The best move of this phase, or where none helps, the first one of the other phase."""
        detail = self._phase()
        if detail is None:
            self._phase, self._other = self._other, self._phase
            detail = self._phase()
        self._settled = detail is None
        gain = 0.0 if detail is None else self._gain
        return Step(PHASE, self.n_moves, self.score, gain, detail=detail or "")

    def _stopped(self) -> StopReason | None:
        return "converged" if self._settled else None

    # Forward -----------------------------------------------------------------------------------

    def _insert(self) -> str | None:
        """Take the best insert, if one helps; its words."""
        while self.ticker.keep_going():
            found = self._best_insert()
            if found is None:
                break
            gain, x, y, chosen = found
            if self._settle([(v, y) for v in chosen], gain, x, y, "add"):
                return self._words("add", x, y)
            self._inserts_into[y].forbid(x, chosen)
            self._bounds[y] = self._inserts_into[y].gain(self._ranks[y])
        return None

    def _best_insert(self) -> tuple[float, int, int, list[int]] | None:
        """The valid insert with the largest gain: the gain, x, y and the clique S."""
        bounds = self._bounds
        fresh = {y: _Inserts(self, y) for y in np.isnan(bounds).nonzero()[0].tolist()}
        rows = self.scores.all_toggles([f for inserts in fresh.values() for f in inserts.families])
        for y, inserts in fresh.items():
            if not self.ticker.keep_going():
                return None
            inserts.rank(self, rows)
            self._inserts_into[y] = inserts
            self._from_the_first(y)
        valid: set[int] = set()
        while True:
            y = int(bounds.argmax())
            if bounds[y] <= self.tie:
                return None
            row = self._inserts_into[y]
            rank = int(self._ranks[y])
            if y in valid:
                return row.option(y, rank)
            rank = first_valid_insert(
                self._after, y, row.xs, row.which, row.blocked, rank, self._witness
            )
            self._ranks[y], bounds[y] = rank, row.gain(rank)
            valid.add(y)

    def _from_the_first(self, y: int) -> None:
        """Forget which inserts into y are invalid."""
        self._ranks[y] = self._witness[:, y] = 0
        self._bounds[y] = self._inserts_into[y].gain(0)

    # Backward ----------------------------------------------------------------------------------

    def _delete(self) -> str | None:
        """Take the best delete, if one helps; its words."""
        if not self.ticker.keep_going():
            return None
        self._renew_deletes()
        y = max(range(self.n), key=lambda v: self._best_delete[v][0])
        gain, x, freed = self._best_delete[y]
        if gain <= self.tie:
            return None
        cleared = [(y, x), (x, y), *[(y, h) for h in freed]]
        cleared += [(x, h) for h in freed if self.pdag[x, h] and self.pdag[h, x]]
        done = self._settle(cleared, gain, x, y, "delete")
        return self._words("delete", x, y) if done else None

    def _renew_deletes(self) -> None:
        """Find the best delete of every node near which the graph has changed."""
        stale = [y for y in range(self.n) if y not in self._best_delete]
        options = [option for y in stale for option in self._deletes_into(y)]
        scores = self.scores.many(
            [family for *_, more, fewer in options for family in (more, fewer)]
        )
        self._best_delete |= {y: (-np.inf, y, []) for y in stale}
        for gain, (x, y, freed, *_) in zip(
            (scores[1::2] - scores[0::2]).tolist(), options, strict=True
        ):
            if gain > self._best_delete[y][0]:
                self._best_delete[y] = gain, x, freed

    def _deletes_into(self, y: int) -> Iterator[tuple[int, int, list[int], Any, Any]]:
        """Delete(x, y, H): x leaves the parents of y, and y points to the neighbours H."""
        inside = self.pdag[y]
        neighbours = inside & self.pdag[:, y]
        around = neighbours.nonzero()[0].tolist()
        fixed = (inside - neighbours).nonzero()[0].tolist()
        for x in inside.nonzero()[0].tolist():
            common = [v for v in around if self.adjacent[x, v]]
            for kept in _cliques(common, self.adjacent):
                freed = [h for h in common if h not in kept]
                rest = tuple(sorted({*kept, *fixed} - {x}))
                more = tuple(sorted({*rest, x}))
                yield x, y, freed, (y, more), (y, rest)

    # Both --------------------------------------------------------------------------------------

    def _settle(
        self, cleared: list[tuple[int, int]], gain: float, x: int, y: int, word: str
    ) -> bool:
        """Change, complete and take over the graph; `False` if it then has no extension.

        Entries `cleared` of the matrix vanish, and with the word "add" that of x -> y appears.
        """
        undo = [(v, w, self.pdag[v, w]) for v, w in (*cleared, (y, x))]
        for v, w in cleared:
            self.pdag[v, w] = 0
        self.pdag[y, x] = word == "add"
        possible, *new, changed, lost = moved(self.pdag, self._lists, y, x)
        if not possible:
            for v, w, value in undo:
                self.pdag[v, w] = value
            return False
        self._parents, self._lists, self._after = new
        self.adjacent[x, y] = self.adjacent[y, x] = word == "add"
        if lost.any():
            freed = self._witness[lost > 0].any(axis=0) & ~np.isnan(self._bounds)
            for v in freed.nonzero()[0].tolist():
                self._from_the_first(v)
        for v in changed.nonzero()[0].tolist():
            self._bounds[v] = np.nan
            self._best_delete.pop(v, None)
        self.score, self._gain = self.score + gain, gain
        self.n_moves += 1
        return True

    def _words(self, word: str, x: int, y: int) -> str:
        return f"{word} {self.scores.names[x]} -> {self.scores.names[y]}"


class _Inserts:
    """All inserts into one node that would help, best first.

    Option i adds `xs[i]` with the clique `sets[which[i]]`, for `gains[i]`; `blocked` has a row of
    bytes per clique, ones at its members.
    """

    def __init__(self, climber: EquivalenceClimber, y: int) -> None:
        inside = climber.pdag[y]
        neighbours = inside & climber.pdag[:, y]
        self._y, self._around = y, neighbours.nonzero()[0]
        fixed = (inside - neighbours).nonzero()[0].tolist()
        room = climber.most - len(fixed) - 1
        cliques = _cliques(self._around.tolist(), climber.adjacent)
        self.sets = [clique for clique in cliques if len(clique) <= room]
        self.families: list[Family] = [
            (y, tuple(sorted((*fixed, *chosen)))) for chosen in self.sets
        ]

    def rank(self, climber: EquivalenceClimber, rows: Iterator[npt.NDArray[np.float64]]) -> None:
        """Find the options, given the toggles of the `families`, which are next in `rows`."""
        self.blocked = np.zeros((len(self.sets), climber.n), np.uint8)
        gains = np.empty((len(self.sets), climber.n))
        for i, chosen in enumerate(self.sets):
            if chosen:
                self.blocked[i, chosen] = 1
            gains[i] = next(rows)
        self.which, self.xs, self.gains = helpful_inserts(
            gains, climber.tie, self.blocked, climber.adjacent, self._around, self._y
        )

    def gain(self, rank: int) -> float:
        """The gain of the option of that rank; minus infinity if there are fewer."""
        return float(self.gains[rank]) if rank < self.gains.size else -np.inf

    def option(self, y: int, rank: int) -> tuple[float, int, int, list[int]]:
        """The gain, the new parent, the node and the clique of the option of that rank."""
        return float(self.gains[rank]), int(self.xs[rank]), y, self.sets[self.which[rank]]

    def forbid(self, x: int, chosen: list[int]) -> None:
        """Strike one option that turned out to be impossible."""
        left = (self.xs != x) | (self.which != self.sets.index(chosen))
        self.gains, self.xs, self.which = self.gains[left], self.xs[left], self.which[left]


def _cliques(nodes: list[int], adjacent: npt.NDArray[np.bool_]) -> Iterator[list[int]]:
    """All cliques among `nodes`, the empty one first."""
    stack: list[tuple[list[int], list[int]]] = [([], nodes)]
    while stack:
        clique, rest = stack.pop()
        yield clique
        for i, v in enumerate(rest):
            stack.append(([*clique, v], [w for w in rest[i + 1 :] if adjacent[v, w]]))
