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
from unveil.kernels.agglomerate import agglomerate, state_term
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
    states, row_state, weights = _initial_states(table, layout.blanket, cap)
    counts = layout.counts(states, row_state, table, weights)
    n = len(states)
    alpha = layout.alpha(equivalent_sample_size) / n
    merges = np.zeros((n - 1, 2), np.int64)
    changes = np.zeros(n - 1)
    work = counts.copy()
    agglomerate(work, np.ones(n), alpha, layout.row_first, merges, changes)
    scores = _score_curve(counts, merges, layout, equivalent_sample_size, max_states)
    return Agglomeration(name, layout.blanket, states, row_state, merges, changes, scores)


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
        rows = [np.array([sizes[0]])]
        for start, size, family in zip(self.first[1:], sizes[1:], self.families[1:], strict=False):
            step = family[-1].n_states
            rows.append(np.arange(start + step, start + size + 1, step))
        self.row_first = np.concatenate(rows).astype(np.int64)

    def alpha(self, equivalent_sample_size: float) -> Matrix:
        """The pseudo-count of every cell for a variable with a single state."""
        parts = [
            np.full(b - a, equivalent_sample_size / (b - a))
            for a, b in zip(self.first, self.first[1:], strict=False)
        ]
        return np.concatenate(parts)

    def counts(
        self,
        states: npt.NDArray[np.int64],
        row_state: npt.NDArray[np.int64],
        table: Table,
        weights: Matrix,
    ) -> Matrix:
        """Counts of every initial state in every cell, shape (n_states, n_cells)."""
        n_cells = int(self.first[-1])
        flat = np.zeros(len(states) * n_cells)
        for start, family in zip(self.first, self.families, strict=False):
            position = np.zeros(table.n_rows, np.int64)
            for v in family:
                position = position * v.n_states + table.column(v.name)
            flat += np.bincount(row_state * n_cells + start + position, weights, flat.size)
        return flat.reshape(len(states), n_cells)


def _initial_states(
    table: Table, blanket: Sequence[str], cap: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Matrix]:
    """Distinct blanket assignments, the one every row belongs to, and the rows' weights."""
    codes = np.stack([table.column(n) for n in blanket], axis=1).astype(np.int64)
    states, member = np.unique(codes, axis=0, return_inverse=True)
    member = member.reshape(-1)
    weights = table.row_weights
    if len(states) > cap:
        mass = np.bincount(member, weights, len(states))
        kept = np.sort(np.argsort(-mass, kind="stable")[:cap])
        target = np.empty(len(states), np.int64)
        for s, assignment in enumerate(states):
            agreement = (states[kept] == assignment).sum(axis=1)
            closest = np.flatnonzero(agreement == agreement.max())
            target[s] = closest[mass[kept[closest]].argmax()]
        target[kept] = np.arange(len(kept))
        states, member = states[kept], target[member]
    return states, member, weights


def _score_curve(
    counts: Matrix, merges: npt.NDArray[np.int64], layout: _Layout, size: float, most: int
) -> Matrix:
    """The BDeu score of the completed data for 1, 2, ... states, from the tree of merges."""
    n = len(counts)
    work = counts.copy()
    alive = np.ones(n, bool)
    alpha = layout.alpha(size)
    none = np.zeros(work.shape[1])
    scores = np.full(min(most, n), -np.inf)
    for t in range(n):
        k = n - t
        if k <= len(scores):
            scores[k - 1] = sum(
                state_term(work[s], none, 1.0 / k, alpha, layout.row_first)
                for s in np.flatnonzero(alive)
            )
        if t < n - 1:
            kept, gone = merges[t]
            work[kept] += work[gone]
            alive[gone] = False
    return scores
