"""Greedy equivalence search (Chickering 2002): climb over classes of equivalent graphs.

Forward, arcs are inserted while that helps; backward, they are deleted. Insert(x, y, T) turns the
neighbours T of y into its parents and adds x; its gain is

    s(y, S + Pa(y) + {x}) - s(y, S + Pa(y)),    S = NA(y, x) + T,

where NA(y, x) are the neighbours of y adjacent to x (Theorem 15, Corollary 16). So all inserts
into y are found by asking, for every clique S of y's neighbours, what each x would add to the
parents S + Pa(y): one row of `FamilyScores.toggles`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.graph.dag import DAG
from unveil.kernels.classes import complete, extend, semi_directed_path
from unveil.progress import Listener, Step, Ticker
from unveil.score.families import FamilyScores
from unveil.search.graph_state import dag_from, parents_matrix
from unveil.search.result import SearchResult

__all__ = ["EquivalenceClimber", "equivalence_search"]

PHASE = "equivalence search"
TIE = 1e-9
Matrix = npt.NDArray[np.uint8]


def equivalence_search(
    scores: FamilyScores,
    start: DAG | None = None,
    max_parents: int | None = None,
    progress: Listener | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """A member of the class of graphs found by greedy equivalence search (GES).

    With much data and a score that treats equivalent graphs alike, the class found is that of the
    true graph (Chickering 2002, Theorem 4). Slower than hill climbing and usually better.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu
    >>> table = datasets.network("asia").sample(2000, seed=1)
    >>> equivalence_search(FamilyScores(table, BDeu(1))).stopped
    'converged'
    """
    if not scores.score.equivalent:
        raise ModelError(
            f"equivalence search needs a score that treats equivalent graphs alike; "
            f"{scores.score.name} does not. Take bdeu or bic, or hill climbing."
        )
    ticker = Ticker(progress, time_limit)
    climber = EquivalenceClimber(scores, parents_matrix(start, scores.names), max_parents, ticker)
    climber.climb()
    return SearchResult(
        dag=dag_from(climber.parents, scores.names),
        score=climber.score,
        score_name=scores.score.name,
        search=PHASE,
        trace=tuple(climber.trace),
        stopped=ticker.reason or "converged",
        seed=None,
        elapsed=ticker.elapsed,
        n_scored=scores.n_scored,
    )


class EquivalenceClimber:
    """A class of graphs under search: its completed graph, and the gains of all inserts."""

    def __init__(
        self, scores: FamilyScores, parents: Matrix, max_parents: int | None, ticker: Ticker
    ) -> None:
        self.scores, self.ticker = scores, ticker
        self.n = scores.n_variables
        self.most = self.n if max_parents is None else max_parents
        self.trace: list[Step] = []
        self.n_moves = 0
        self.restart(parents)

    def restart(self, parents: Matrix) -> None:
        """Take over a DAG's class."""
        self.parents = parents.copy()
        self.pdag: Matrix = complete(self.parents)
        families = [(y, tuple(np.flatnonzero(row).tolist())) for y, row in enumerate(parents)]
        self.score = float(self.scores.many(families).sum())

    def climb(self) -> None:
        """Insert, then delete, until neither helps."""
        while True:
            before = self.n_moves
            self._inserts()
            self._deletes()
            if self.n_moves == before or not self.ticker.keep_going():
                return

    # Forward -----------------------------------------------------------------------------------

    def _inserts(self) -> None:
        rows = [_Inserts(self, y) for y in range(self.n)]
        best = np.array([r.best for r in rows])
        while self.ticker.keep_going():
            found = self._best_insert(rows, best)
            if found is None:
                return
            gain, x, y, chosen = found
            old = self.pdag
            step = old.copy()
            step[chosen, y] = 0
            step[y, x] = 1
            if not self._settle(step, gain, f"add {self._name(x)} -> {self._name(y)}"):
                rows[y].forbid(x, chosen)
                best[y] = rows[y].best
                continue
            for v in self._touched(old, x, y):
                rows[v] = _Inserts(self, v)
                best[v] = rows[v].best

    def _best_insert(self, rows: list[_Inserts], best: Any) -> tuple[float, int, int, Any] | None:
        """The valid insert with the largest gain; rows whose best is invalid go to their next."""
        bound = best.copy()
        skipped: dict[int, int] = {}
        while True:
            y = int(bound.argmax())
            if bound[y] <= TIE:
                return None
            gain, x, chosen = rows[y].option(skipped.get(y, 0))
            blocked = np.zeros(self.n, np.uint8)
            blocked[chosen] = 1
            if not semi_directed_path(self.pdag, y, x, blocked):
                return gain, x, y, chosen
            skipped[y] = skipped.get(y, 0) + 1
            bound[y] = rows[y].gain(skipped[y])

    def _touched(self, old: Matrix, x: int, y: int) -> list[int]:
        """The nodes whose inserts may have changed: new parents or neighbours, or x, y near."""
        changed = (old != self.pdag).any(axis=1) | (old != self.pdag).any(axis=0)
        near = (self.pdag[x] & self.pdag[:, x]) | (self.pdag[y] & self.pdag[:, y])
        changed |= near.astype(bool)
        changed[[x, y]] = True
        return np.flatnonzero(changed).tolist()

    # Backward ----------------------------------------------------------------------------------

    def _deletes(self) -> None:
        while self.ticker.keep_going():
            options = [option for y in range(self.n) for option in self._deletes_into(y)]
            if not options:
                return
            wanted = [family for *_, more, fewer in options for family in (more, fewer)]
            scores = self.scores.many(wanted)
            gains = scores[1::2] - scores[0::2]
            best = int(gains.argmax())
            if gains[best] <= TIE:
                return
            x, y, freed, _, _ = options[best]
            step = self.pdag.copy()
            step[y, x] = step[x, y] = 0
            step[y, freed] = 0
            neighbours_of_x = (self.pdag[x] & self.pdag[:, x]).astype(bool)
            for h in freed:
                if neighbours_of_x[h]:
                    step[x, h] = 0
            detail = f"delete {self._name(x)} -> {self._name(y)}"
            if not self._settle(step, float(gains[best]), detail):
                return

    def _deletes_into(self, y: int) -> Iterator[tuple[int, int, list[int], Any, Any]]:
        """Delete(x, y, H): x leaves the parents of y, and y points to the neighbours H."""
        inside = self.pdag[y].astype(bool)
        neighbours = inside & self.pdag[:, y].astype(bool)
        adjacent = (self.pdag | self.pdag.T).astype(bool)
        fixed = np.flatnonzero(inside & ~neighbours).tolist()
        for x in np.flatnonzero(inside):
            common = np.flatnonzero(neighbours & adjacent[x]).tolist()
            for kept in _cliques(common, adjacent):
                freed = [h for h in common if h not in kept]
                rest = tuple(sorted({*kept, *fixed} - {int(x)}))
                more = tuple(sorted({*rest, int(x)}))
                yield int(x), y, freed, (y, more), (y, rest)

    # Both --------------------------------------------------------------------------------------

    def _settle(self, step: Matrix, gain: float, detail: str) -> bool:
        """Complete a changed graph and take it over; `False` if it has no extension."""
        possible, parents = extend(step)
        if not possible:
            return False
        self.parents, self.pdag = parents, complete(parents)
        self.score += gain
        self.n_moves += 1
        self.trace.append(
            Step(PHASE, self.n_moves, self.score, gain, elapsed=self.ticker.elapsed, detail=detail)
        )
        self.ticker.offer(PHASE, self.n_moves, self.score, gain, detail=detail)
        return True

    def _name(self, position: int) -> str:
        return self.scores.names[position]


class _Inserts:
    """All inserts into one node that would help, best first."""

    def __init__(self, climber: EquivalenceClimber, y: int) -> None:
        pdag, scores = climber.pdag, climber.scores
        adjacent = (pdag | pdag.T).astype(bool)
        inside = pdag[y].astype(bool)
        neighbours = inside & pdag[:, y].astype(bool)
        fixed = np.flatnonzero(inside & ~neighbours).tolist()
        around = np.flatnonzero(neighbours).tolist()
        possible = ~adjacent[y]
        possible[y] = False
        gains, xs, sets = [], [], []
        for chosen in _cliques(around, adjacent):
            if len(chosen) + len(fixed) + 1 > climber.most:
                continue
            left_out = [v for v in around if v not in chosen]
            fits = possible & ~adjacent[:, left_out].any(axis=1) if left_out else possible
            row = scores.toggles(y, (*fixed, *chosen))
            helpful = np.flatnonzero(fits & (row > TIE))
            gains.append(row[helpful])
            xs.append(helpful)
            sets += [chosen] * helpful.size
        gain = np.concatenate(gains) if gains else np.zeros(0)
        order = np.argsort(-gain, kind="stable")
        self._gains = gain[order]
        self._xs = np.concatenate(xs)[order] if xs else np.zeros(0, np.int64)
        self._sets = [sets[i] for i in order]

    @property
    def best(self) -> float:
        """The largest gain, or minus infinity."""
        return self.gain(0)

    def gain(self, rank: int) -> float:
        """The gain of the option of that rank."""
        return float(self._gains[rank]) if rank < self._gains.size else -np.inf

    def option(self, rank: int) -> tuple[float, int, list[int]]:
        """The gain, the new parent and the clique of the option of that rank."""
        return float(self._gains[rank]), int(self._xs[rank]), self._sets[rank]

    def forbid(self, x: int, chosen: list[int]) -> None:
        """Strike one option that turned out to be impossible."""
        keep = [
            i for i in range(self._gains.size) if not (self._xs[i] == x and self._sets[i] == chosen)
        ]
        self._gains, self._xs = self._gains[keep], self._xs[keep]
        self._sets = [self._sets[i] for i in keep]


def _cliques(nodes: list[int], adjacent: npt.NDArray[np.bool_]) -> Iterator[list[int]]:
    """All cliques among `nodes`, the empty one first."""
    stack: list[tuple[list[int], list[int]]] = [([], nodes)]
    while stack:
        clique, rest = stack.pop()
        yield clique
        for i, v in enumerate(rest):
            stack.append(([*clique, v], [w for w in rest[i + 1 :] if adjacent[v, w]]))
