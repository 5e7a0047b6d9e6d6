"""How many states a hidden variable has: agglomeration of blanket assignments (thesis Ch. 5).

One state per distinct assignment of the Markov blanket (Proposition 5.1.3), merged two by two; at
every cardinality the completed data have a closed-form score. The best few cardinalities can then
be compared by a short EM from their completions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.kernels.agglomerate import Cells, agglomerate, score_curve
from unveil.kernels.scoring import LIKELIHOOD
from unveil.score.base import Sample, Score
from unveil.statistics.counting import positions
from unveil.statistics.memory import MemoryStatistics, as_statistics
from unveil.statistics.protocol import Statistics
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["Agglomeration", "agglomerate_states"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Agglomeration:
    """The whole tree of merges of one hidden variable.

    Initial state s is the s-th distinct assignment of the blanket (`assignments[s]`, codes in the
    order of `blanket`); `initial` has the initial state of every row, `None` where the engine does
    not know its rows. Merge t joins `merges[t]` (the first stays) and changes the score by
    `changes[t]` (its data term). `scores[k - 1]` is the score of the completed data with k states,
    up to a constant that does not depend on k, for k up to `len(scores)`.
    """

    name: str
    blanket: tuple[str, ...]
    assignments: npt.NDArray[np.int64]
    initial: npt.NDArray[np.int64] | None
    merges: npt.NDArray[np.int64]
    changes: Matrix
    scores: Matrix

    @property
    def n_initial(self) -> int:
        """The number of initial states."""
        return len(self.assignments)

    @property
    def best(self) -> int:
        """The cardinality with the best score of the completed data."""
        return int(self.scores.argmax()) + 1

    def states(self, n_states: int) -> npt.NDArray[np.int64]:
        """The state of every row when `n_states` are left; states are numbered by first row."""
        if not 1 <= n_states <= self.n_initial:
            raise DataError(
                f"{self.name!r} can have 1 to {self.n_initial} states here, not {n_states}"
            )
        if self.initial is None:
            raise DataError(
                f"the states of {self.name!r} row by row need an engine that has its rows in "
                "order; read the rows into a Table"
            )
        root = np.arange(self.n_initial)
        for kept, gone in self.merges[: self.n_initial - n_states]:
            root[root == gone] = kept
        row = root[self.initial]
        _, first, code = np.unique(row, return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        return rank[code.reshape(-1)]

    def candidates(self, most: int = 5) -> list[int]:
        """The cardinalities with the best scores, best first."""
        return [int(k) + 1 for k in np.argsort(-self.scores, kind="stable")[:most]]


def agglomerate_states(
    data: Table | Statistics,
    dag: DAG,
    name: str,
    equivalent_sample_size: float = 5.0,
    cap: int = 400,
    max_states: int = 30,
    score: Score | None = None,
) -> Agglomeration:
    """The tree of merges for the hidden variable `name` of `dag`.

    `data`, a table or another engine, must hold the variable's Markov blanket, complete; other
    hidden variables count with the states they have there. When the blanket shows more than
    `cap` assignments, the most frequent ones are initial states, and each other assignment joins
    the one among them that agrees with it in most of the blanket. The tree is told for up to
    `max_states`.

    Merges are judged by BDeu with `equivalent_sample_size`, or by a penalised likelihood as `score`
    (`BIC()`, `MDL()`), which decomposes as well: every merge saves the same number of parameters,
    so the one that costs least likelihood is best.

    >>> from unveil import BIC, datasets
    >>> alarm = datasets.network("alarm")
    >>> rows = alarm.sample(10_000, seed=1)
    >>> agglomerate_states(rows, alarm.dag, "HYPOVOLEMIA").best
    2
    >>> agglomerate_states(rows, alarm.dag, "HYPOVOLEMIA", score=BIC()).best
    2
    """
    penalised = score if score is not None and _is_likelihood(score) else None
    if penalised is not None:
        equivalent_sample_size = 0.0
    statistics = as_statistics(data)
    layout = _Layout(statistics, dag, name)
    place = [v.name for v in statistics.variables]
    found = statistics.distinct([place.index(n) for n in layout.blanket])
    seen, mass = found.codes, found.weights
    kept, target = _initial_states(seen, mass, cap)
    states = seen[kept]
    n = len(states)
    counts = layout.counts(seen, mass, target, n)
    merges, changes = np.zeros((n - 1, 2), np.int64), np.zeros(n - 1)
    scores = np.empty(min(max_states, n))
    agglomerate(
        counts.copy(), np.ones(n), layout.cells(equivalent_sample_size / n), merges, changes
    )
    score_curve(counts, merges, layout.cells(equivalent_sample_size), scores)
    if penalised is not None:
        sample = Sample(float(mass.sum()), len(dag.nodes))
        scores -= [layout.penalty(penalised, k + 1, sample) for k in range(len(scores))]
    initial = None if found.which is None else target[found.which]
    return Agglomeration(name, layout.blanket, states, initial, merges, changes, scores)


def _is_likelihood(score: Score) -> bool:
    """Whether a score is a likelihood less penalties."""
    return score.term is not None and score.term.mode == LIKELIHOOD


class _Layout:
    """The families that contain the hidden variable, laid out as cells for the kernel."""

    def __init__(self, statistics: Statistics, dag: DAG, name: str) -> None:
        self.blanket = tuple(n for n in dag.nodes if n in dag.markov_blanket(name))
        if not self.blanket:
            raise DataError(f"{name!r} has no neighbours; nothing can be said about its states")
        variables = {v.name: v for v in statistics.variables}
        table = statistics.table if isinstance(statistics, MemoryStatistics) else None
        for n in self.blanket:
            if n not in variables or (table is not None and table.missing(n).any()):
                raise DataError(f"agglomeration needs a complete column for {n!r}")
        self.families: list[list[Variable]] = [[variables[p] for p in dag.parents(name)]]
        for child in dag.children(name):
            others = [variables[p] for p in dag.parents(child) if p != name]
            self.families.append([*others, variables[child]])
        sizes = [math.prod(v.n_states for v in family) for family in self.families]
        self.first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def cells(self, equivalent_sample_size: float) -> Cells:
        """Rows and pseudo-counts of the cells of a state that has all of the prior's weight."""
        rows: list[npt.NDArray[np.int64]] = []
        alphas: list[Matrix] = []
        row_alphas: list[Matrix] = []
        n_rows = 0
        for family, size in zip(self.families, np.diff(self.first), strict=True):
            width = family[-1].n_states if rows else size
            row = np.arange(size) // width + n_rows if rows else np.full(size, -1)
            n_rows = int(row[-1]) + 1
            rows.append(row)
            alphas.append(np.full(size, equivalent_sample_size / size))
            row_alphas.append(np.full(size, equivalent_sample_size / size * width))
        return Cells(*(np.concatenate(part) for part in (rows, alphas, row_alphas)))

    def penalty(self, score: Score, n_states: int, sample: Sample) -> float:
        """What the families cost when the variable has so many states."""
        own, *children = self.families
        given = float(math.prod(v.n_states for v in own))
        total = float(score.penalty(given, float(n_states), float(len(own)), sample))
        for *others, child in children:
            rows = float(n_states * math.prod(v.n_states for v in others))
            total += float(score.penalty(rows, float(child.n_states), len(others) + 1.0, sample))
        return total

    def counts(
        self,
        seen: npt.NDArray[np.int64],
        mass: Matrix,
        target: npt.NDArray[np.int64],
        n_states: int,
    ) -> Matrix:
        """Counts of every initial state in every cell, shape (n_states, n_cells)."""
        columns = dict(zip(self.blanket, seen.T, strict=True))
        counts = np.zeros((n_states, int(self.first[-1])))
        for start, family in zip(self.first, self.families, strict=False):
            codes, cards = [columns[v.name] for v in family], [v.n_states for v in family]
            np.add.at(counts, (target, start + positions(codes, cards, len(seen))), mass)
        return counts


def _initial_states(
    seen: npt.NDArray[np.int64], mass: Matrix, cap: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The assignments that are initial states, and the initial state each assignment joins."""
    if len(seen) <= cap:
        return np.arange(len(seen)), np.arange(len(seen))
    kept = np.sort(np.argsort(-mass, kind="stable")[:cap])
    target = np.empty(len(seen), np.int64)
    for s, assignment in enumerate(seen):
        agreement = (seen[kept] == assignment).sum(axis=1)
        closest = np.flatnonzero(agreement == agreement.max())
        target[s] = closest[mass[kept[closest]].argmax()]
    target[kept] = np.arange(cap)
    return kept, target
