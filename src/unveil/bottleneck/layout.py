"""Rows as the bottleneck reads them: what is hidden, what a row lacks besides, what it shows.

Rows that lack the same columns are summed over together. A cell that is missing in a column without
children says nothing about anything else: such rows stay with the others, their cell reads
"not seen" and its family's factor is one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import Hint, SizeError
from unveil.infer.reduced import GROUP_SIZES, THREAD_WORK
from unveil.infer.rows import prepared_rows
from unveil.infer.tree import N_PARTS
from unveil.kernels.bottleneck import bottleneck_pass, collected_rows, counted_rows
from unveil.kernels.reduced import ReducedPlan
from unveil.kernels.threads import in_threads
from unveil.model.flat import FlatTables
from unveil.table.core import Table

__all__ = ["HiddenRows", "RowPart"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

MOST_CONFIGURATIONS = 20_000
"""So many joint configurations of what a row lacks are still summed over one by one."""


class HiddenRows:
    """The rows of a table for a network whose variables `hidden` (numbers) no row shows.

    Vectors over tables are longer here than in `FlatTables`. Behind the cells of all tables come
    their rows, one entry per configuration of parents: there stands what is known of families whose
    child was not seen, and `spread` hands it on to the cells. Last come the joint configurations of
    the hidden variables.
    """

    def __init__(self, layout: FlatTables, table: Table, hidden: Sequence[int]) -> None:
        self.layout, self.hidden = layout, tuple(hidden)
        network = layout.network
        rows = prepared_rows(network, table, fold=True)
        self.weights, self.which = rows.weights, rows.which
        codes = rows.codes
        gaps = codes == rows.evidence.missing
        gaps[list(hidden)] = True
        leaf = np.array([not network.dag.children(name) for name in network.names])
        leaf[list(hidden)] = False
        self.n_states = [v.n_states for v in network.variables]
        codes = codes.astype(np.uint16)
        for v in np.flatnonzero(leaf):
            codes[v, gaps[v]] = self.n_states[v]
        self.silent = {int(v) for v in np.flatnonzero(leaf) if gaps[v].any()}
        """Columns without children that some rows do not show."""
        self._row_first = layout._row_first
        self._row_length = layout._row_length
        self.n_hidden = math.prod(self.n_states[v] for v in self.hidden)
        self.joint_first = layout.size + len(self._row_first)
        self.size = self.joint_first + self.n_hidden
        lacks = rows.patterns.lacks & ~leaf[:, None]
        patterns, which = np.unique(lacks, axis=1, return_inverse=True)
        member = which.reshape(-1)[rows.patterns.member]
        self.parts = []
        for p in range(patterns.shape[1]):
            own = np.flatnonzero(member == p)
            self.parts.append(RowPart(self, codes, own, np.flatnonzero(patterns[:, p]).tolist()))
        self.shown = np.sum([part.shown_counts() for part in self.parts], axis=0)
        self._seen = np.flatnonzero(self.shown[: layout.size])

    @property
    def total_weight(self) -> float:
        """How many cases the rows stand for."""
        return float(self.weights.sum())

    def longer(self, values: Vector) -> Vector:
        """A vector over tables with zeros for families whose child is not seen: log 1."""
        return np.concatenate([values, np.zeros(self.size - self.layout.size)])

    def spread(self, counts: Vector, tables: Vector) -> Vector:
        """Counts of cells: those seen, and P(x | u) of those whose child was not."""
        seen, rest = counts[: self.layout.size], counts[self.layout.size : self.joint_first]
        if not self.silent:
            return seen
        return seen + np.repeat(rest, self._row_length) * tables

    def shown_log_likelihood(self, logs: Vector) -> float:
        """The part that families without anything hidden have in the log-likelihood."""
        return float(self.shown[self._seen] @ logs[self._seen])

    def entry(self, v: int, axes: Sequence[int], shape: Sequence[int]) -> Indices:
        """Where family v's cell lies for every configuration of the variables `axes`."""
        family = self.layout.families[v]
        sizes = self.layout.shapes[v]
        place = np.zeros(shape, np.int64)
        step = 1
        for m, size in zip(reversed(family), reversed(sizes), strict=True):
            view = [1] * len(shape)
            at = list(axes).index(m)
            view[at] = shape[at]
            place += (np.minimum(np.arange(shape[at]), size - 1) * step).reshape(view)
            step *= size
        place += self.layout.first[v]
        child = family[-1]
        if child in self.silent:
            at = list(axes).index(child)
            rows = np.searchsorted(self._row_first, place, side="right") - 1 + self.layout.size
            view = [1] * len(shape)
            view[at] = shape[at]
            unseen = (np.arange(shape[at]) == self.n_states[child]).reshape(view)
            place = np.where(unseen, rows, place)
        return place


@dataclass(frozen=True)
class _Group:
    families: tuple[int, ...]
    seen: tuple[int, ...]


class RowPart:
    """Rows that lack the same variables: the hidden ones first, then others."""

    def __init__(
        self, whole: HiddenRows, codes: Any, own: npt.NDArray[np.intp], lacks: Sequence[int]
    ) -> None:
        self._whole = whole
        self.rows = own
        self.weights = whole.weights[own]
        self._codes = np.ascontiguousarray(codes[:, own])
        self.unseen = [*whole.hidden, *(v for v in lacks if v not in whole.hidden)]
        layout, n_states = whole.layout, whole.n_states
        self.shape = tuple(n_states[v] for v in self.unseen)
        self.n_configurations = math.prod(self.shape)
        self.n_hidden = math.prod(self.shape[: len(whole.hidden)])
        self._refuse_if_large()
        inside = set(self.unseen)
        self.relevant = [v for v, f in enumerate(layout.families) if inside & set(f)]
        self.others = [v for v, f in enumerate(layout.families) if not inside & set(f)]
        self._lay_out()

    def _refuse_if_large(self) -> None:
        if self.n_configurations <= MOST_CONFIGURATIONS:
            return
        names = [self._whole.layout.names[v] for v in self.unseen]
        raise SizeError(
            f"some rows lack {', '.join(names[:6])}{', ...' if len(names) > 6 else ''} at once, "
            f"which have {self.n_configurations:,} joint states; at most {MOST_CONFIGURATIONS:,} "
            "are summed over one by one.",
            hint=Hint("Use posterior='mean field', or fewer states."),
        )

    def _wide(self, v: int) -> int:
        """The number of codes of a column: its states, and one for "not seen" if it has gaps."""
        return self._whole.n_states[v] + (v in self._whole.silent)

    def _lay_out(self) -> None:
        """As `ReducedModel` does: small families are put together where there are many rows."""
        n_rows = len(self.rows)
        most = next(size for least, size in GROUP_SIZES if n_rows >= least)
        groups: list[_Group] = []
        for v in self.relevant:
            seen = [m for m in self._whole.layout.families[v] if m not in self.unseen]
            if groups:
                union = tuple(dict.fromkeys([*groups[-1].seen, *seen]))
                if math.prod(self._wide(m) for m in union) <= most:
                    groups[-1] = _Group((*groups[-1].families, v), union)
                    continue
            groups.append(_Group((v,), tuple(seen)))
        first, members, steps, member_first = [0], [], [], [0]
        own, theirs = [], []
        for group in groups:
            step = self.n_configurations
            for m in reversed(group.seen):
                members.append(m)
                steps.append(step)
                step *= self._wide(m)
            shape = [*(self._wide(m) for m in group.seen), *self.shape]
            for v in group.families:
                own.append(np.arange(first[-1], first[-1] + step))
                theirs.append(self._whole.entry(v, [*group.seen, *self.unseen], shape).ravel())
            if group is groups[0]:  # the joint configurations are counted with the first
                own.append(np.arange(first[-1], first[-1] + step))
                every = self._whole.joint_first + np.arange(self.n_hidden)
                each = np.repeat(every, self.n_configurations // self.n_hidden)
                theirs.append(np.tile(each, step // self.n_configurations))
            first.append(first[-1] + step)
            member_first.append(len(members))
        self._own, self._theirs = np.concatenate(own), np.concatenate(theirs)
        self._n_entries = first[-1]
        self._plan = ReducedPlan(
            np.array(first[:-1], np.uint32),
            np.array(member_first, np.int64),
            np.array(members, np.int64),
            np.array(steps, np.uint32),
            self.n_configurations,
        )
        work = n_rows * self.n_configurations * (len(self.relevant) + 4)
        self._n_blocks = N_PARTS if work >= THREAD_WORK else 1
        self._edges = [int(e) for e in np.linspace(0, n_rows, self._n_blocks + 1)]

    def _put(self, values: Vector) -> Vector:
        """A vector over tables (`longer`), as the kernels read it: sums over each group."""
        return np.asarray(np.bincount(self._own, values[self._theirs]), np.float64)

    def _taken(self, entries: Vector) -> Vector:
        """The kernels' counts handed to each family, as a vector over tables."""
        return np.asarray(
            np.bincount(self._theirs, entries[self._own], self._whole.size), np.float64
        )

    def expected(
        self, logs: Vector, common: Vector, gamma: float, keep: bool
    ) -> tuple[Vector, Vector, Matrix]:
        """log Z of every row, the counts as a vector over tables, and Q(t, m | y) if kept."""
        put = self._put(logs)
        log_z = np.empty(len(self.rows))
        posterior = np.empty((len(self.rows), self.n_configurations) if keep else (0, 0))
        flat = np.zeros((self._n_blocks, self._n_entries))

        def work(i: int) -> None:
            bottleneck_pass(
                self._plan, put, common, float(gamma), self._codes, self.weights, self._edges[i],
                self._edges[i + 1], log_z, posterior, flat[i],
            )  # fmt: skip

        in_threads(work, self._n_blocks)
        return log_z, self._taken(flat.sum(axis=0)), posterior

    def collected(self, values: Vector) -> Matrix:
        """For every row and configuration, the sum over families of `values` (over tables)."""
        put = self._put(values)
        out = np.empty((len(self.rows), self.n_configurations))

        def work(i: int) -> None:
            collected_rows(self._plan, put, self._codes, self._edges[i], self._edges[i + 1], out)

        in_threads(work, self._n_blocks)
        return out

    def counted(self, mass: Matrix) -> Vector:
        """The counts that a mass of every row and configuration implies, over tables."""
        flat = np.zeros((self._n_blocks, self._n_entries))

        def work(i: int) -> None:
            counted_rows(self._plan, mass, self._codes, self._edges[i], self._edges[i + 1], flat[i])

        in_threads(work, self._n_blocks)
        return self._taken(flat.sum(axis=0))

    def shown_counts(self) -> Vector:
        """The counts of the families that these rows show without anything hidden."""
        counts = np.zeros(self._whole.size)
        for v in self.others:
            family = self._whole.layout.families[v]
            shape = [self._wide(m) for m in family]
            entry = self._whole.entry(v, family, shape)
            at = entry[tuple(self._codes[m] for m in family)]
            counts += np.bincount(at, self.weights, counts.size)
        return counts
