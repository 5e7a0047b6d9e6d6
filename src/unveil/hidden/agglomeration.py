"""How many states a hidden variable has: agglomeration of blanket assignments (thesis Ch. 5).

One state per distinct assignment of the Markov blanket (Proposition 5.1.3), merged two by two; at
every cardinality the completed data have a closed-form score. The best few cardinalities can then
be compared by a short EM from their completions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.kernels.agglomerate import Cells, agglomerate, score_curve
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["Agglomeration", "agglomerate_states"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Agglomeration:
    """The whole tree of merges of one hidden variable.

    Initial state s is the s-th distinct assignment of the blanket (`assignments[s]`, codes in the
    order of `blanket`). Merge t joins `merges[t]` (the first stays) and changes the score by
    `changes[t]`. `scores[k - 1]` is the BDeu score of the completed data with k states, up to a
    constant that does not depend on k, for k up to `len(scores)`.
    """

    name: str
    blanket: tuple[str, ...]
    assignments: npt.NDArray[np.int64]
    initial: npt.NDArray[np.int64]
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
    table: Table,
    dag: DAG,
    name: str,
    equivalent_sample_size: float = 5.0,
    cap: int = 400,
    max_states: int = 30,
) -> Agglomeration:
    """The tree of merges for the hidden variable `name` of `dag`.

    `table` must hold the variable's Markov blanket, complete; other hidden variables count with
    the states they have there. When the blanket shows more than `cap` assignments, the most
    frequent ones are initial states, and each other assignment joins the one among them that
    agrees with it in most of the blanket.

    >>> from unveil import datasets
    >>> alarm = datasets.network("alarm")
    >>> rows = alarm.sample(10_000, seed=1)
    >>> agglomerate_states(rows, alarm.dag, "HYPOVOLEMIA").best
    2
    """
    layout = _Layout(table, dag, name)
    seen, mass, kind = _distinct(table, layout.blanket)
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
    return Agglomeration(name, layout.blanket, states, target[kind], merges, changes, scores)


class _Layout:
    """The families that contain the hidden variable, laid out as cells for the kernel."""

    def __init__(self, table: Table, dag: DAG, name: str) -> None:
        self.blanket = tuple(n for n in dag.nodes if n in dag.markov_blanket(name))
        if not self.blanket:
            raise DataError(f"{name!r} has no neighbours; nothing can be said about its states")
        for n in self.blanket:
            if n not in table or table.missing(n).any():
                raise DataError(f"agglomeration needs a complete column for {n!r}")
        variables = {n: table.variable(n) for n in self.blanket}
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
            position = np.full(len(seen), start)
            place = 1
            for v in reversed(family):
                position += columns[v.name] * place
                place *= v.n_states
            np.add.at(counts, (target, position), mass)
        return counts


def _distinct(
    table: Table, blanket: Sequence[str]
) -> tuple[npt.NDArray[np.int64], Matrix, npt.NDArray[np.int64]]:
    """The distinct assignments of the blanket, their weights, and which one every row has."""
    number = np.zeros(table.n_rows, np.int64)
    n_kinds = 1
    for name in blanket:
        k = table.variable(name).n_states
        if n_kinds > 2**62 // k:
            number = np.unique(number, return_inverse=True)[1].reshape(-1)
            n_kinds = table.n_rows
        number = number * k + table.column(name)
        n_kinds *= k
    _, first, kind = np.unique(number, return_index=True, return_inverse=True)
    seen = np.stack([table.column(n)[first] for n in blanket], axis=1).astype(np.int64)
    kind = kind.reshape(-1)
    mass = np.bincount(kind, table.row_weights, len(seen)).astype(np.float64)
    return seen, mass, kind.astype(np.int64)


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
