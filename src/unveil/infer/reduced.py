"""`ReducedModel`: exact inference for rows that all lack the same few variables.

What is seen in every row is conditioned on first; only the families of the unseen variables are
summed over, one row of numbers per joint configuration. For one or a few hidden variables this is
much less work than passing messages through the whole network.

With many rows, families are put together: six binary children of a hidden variable become one with
64 configurations, whose logs are added up once per pass instead of once per row, and whose counts
are taken apart once at the end. Configurations are padded to a multiple of the numbers that a
processor works on at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.infer import costs
from unveil.infer.tree import N_PARTS
from unveil.kernels.reduced import ReducedPlan, add_rows, hand_out_rows, reduced_pass
from unveil.kernels.threads import in_threads
from unveil.model.network import Network
from unveil.table.fold import row_groups

__all__ = ["Layout", "ReducedModel"]

Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
THREAD_WORK, MUCH_WORK = 10_000_000, 300_000_000
"""From so much work on it is done in two parts, or in more: every part has counts of its own."""
GROUP_SIZES = ((4000, 64), (1000, 16), (0, 1))
"""From so many rows on, families are put together while they have at most so many configurations
of what is seen: beyond 64, reading the larger tables costs what the fewer look-ups save."""
LANES = 4
"""How many numbers a processor works on at a time; with fewer configurations than `FEW` it does not
pay to fill them up."""
FEW = 6


class ReducedModel:
    """The part of a network that matters when exactly the variables `unseen` are not observed.

    `cost` estimates the work per row. Tables are given as one vector in the order of the
    network's variables (as `unveil.model.flat.FlatTables` lays them out).
    """

    def __init__(self, network: Network, unseen: Sequence[str]) -> None:
        self.unseen = tuple(unseen)
        place = {name: i for i, name in enumerate(network.names)}
        self._n_states = [v.n_states for v in network.variables]
        self._hidden = [place[name] for name in self.unseen]
        self.shape = tuple(self._n_states[v] for v in self._hidden)
        self.n_configurations = math.prod(self.shape)
        families = [
            tuple(place[v.name] for v in (*cpd.parents, cpd.variable))
            for cpd in network.cpds.values()
        ]
        self.relevant = [v for v, f in enumerate(families) if set(self._hidden) & set(f)]
        """The families that contain an unseen variable."""
        self._families = [families[v] for v in self.relevant]
        self.beside = sorted({m for f in self._families for m in f} - set(self._hidden))
        """What is seen of these families."""
        self._table_first = np.concatenate(
            [[0], np.cumsum([math.prod(self._n_states[m] for m in f) for f in families])]
        )
        self.n_table_entries = int(self._table_first[-1])
        self.n_entries = sum(
            math.prod(self._n_states[m] for m in f if m not in self._hidden) * self.n_configurations
            for f in self._families
        )
        self.cost = self.n_configurations * (len(self.relevant) + 4)
        self._layouts: dict[int, Layout] = {}

    @property
    def fits(self) -> bool:
        """Whether the layout is small enough to be used."""
        return self.n_entries <= costs.MOST_ENTRIES

    def alike(self, codes: Any) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The first of all rows that are alike beside what is unseen, and the group of every row.

        The posterior of what is unseen depends on nothing else; where nothing seen is near, all
        rows are alike.
        """
        return row_groups([codes[v] for v in self.beside] or [np.zeros(codes.shape[1], np.uint8)])

    def log_likelihoods(self, tables: Matrix, codes: Any) -> Matrix:
        """The log of the sum over unseen configurations of the relevant families' product."""
        return self._run(tables, codes, None, False)[0]

    def posterior(self, tables: Matrix, codes: Any) -> tuple[Matrix, Matrix]:
        """The same, and the posterior of every configuration, shape (n_rows, K)."""
        log_z, posterior, _ = self._run(tables, codes, None, True)
        return log_z, posterior

    def expected_vector(self, tables: Matrix, codes: Any, weights: Matrix) -> tuple[Matrix, Matrix]:
        """The same, and the expected counts of the relevant families, laid out like `tables`."""
        log_z, _, counts = self._run(tables, codes, weights, False)
        return log_z, counts

    def counts(self, posterior: Matrix, codes: Any, weights: Matrix, size: int) -> Matrix:
        """The counts of the relevant families under a given posterior, shape (n_rows, K)."""
        layout = self._layout(1)
        plan, every = layout.plan, np.arange(self.n_configurations)
        mass = (posterior * weights[:, None]).ravel()
        flat = np.zeros(layout.n_entries)
        for f, first in enumerate(plan.first):
            place = np.full(codes.shape[1], first, np.int64)
            for m in range(plan.member_first[f], plan.member_first[f + 1]):
                place += codes[plan.member[m]].astype(np.int64) * int(plan.step[m])
            flat += np.bincount((place[:, None] + every).ravel(), mass, flat.size)
        return layout.counts(layout.taken_apart(flat), size)

    def _run(
        self, tables: Matrix, codes: Any, weights: Matrix | None, keep: bool
    ) -> tuple[Matrix, Matrix, Matrix]:
        n_rows = codes.shape[1]
        layout = self.layout_for(n_rows)
        logs = layout.logs(tables)
        log_z = np.empty(n_rows)
        posterior = np.empty((n_rows, self.n_configurations) if keep else (0, 0))
        work = n_rows * self.cost
        n_parts = 1 if self.is_light(n_rows) else 2 if work < MUCH_WORK else N_PARTS
        flat: list[Matrix] = [np.zeros(0)] * n_parts
        row_weights = np.ones(n_rows) if weights is None else np.asarray(weights, np.float64)
        edges = [n_rows * part // n_parts for part in range(n_parts + 1)]

        def passed(part: int) -> None:
            counts = np.zeros(0 if weights is None else logs.size)
            reduced_pass(
                layout.plan, logs, codes, row_weights, edges[part], edges[part + 1], log_z,
                posterior, counts,
            )  # fmt: skip
            if weights is not None:
                flat[part] = layout.taken_apart(counts)

        in_threads(passed, n_parts)
        counts = (
            np.zeros(0) if weights is None else layout.counts(np.sum(flat, axis=0), tables.size)
        )
        return log_z, posterior, counts

    def is_light(self, n_rows: int) -> bool:
        """Whether a pass over so many rows is so little work that it is not shared out."""
        return n_rows * self.cost < THREAD_WORK

    def layout_for(self, n_rows: int) -> Layout:
        """How tables are laid out for passes over so many rows."""
        return self._layout(next(size for least, size in GROUP_SIZES if n_rows >= least))

    def _layout(self, group_size: int) -> Layout:
        """The layout for groups of this size, made when first needed."""
        if group_size not in self._layouts:
            groups = self._groups(group_size)
            self._layouts[group_size] = Layout(
                self._plan(groups), self.n_configurations, self._entries, *self._rows(groups)
            )
        return self._layouts[group_size]

    @property
    def _width(self) -> int:
        """The number of configurations, padded."""
        k = self.n_configurations
        return k if k < FEW else -(-k // LANES) * LANES

    def _groups(self, group_size: int) -> list[_Group]:
        """Families put together, in their order, while they have few configurations seen."""
        groups: list[_Group] = []
        for v, family in zip(self.relevant, self._families, strict=True):
            seen = [m for m in family if m not in self._hidden]
            if groups:
                union = list(dict.fromkeys([*groups[-1].seen, *seen]))
                if math.prod(self._n_states[m] for m in union) <= group_size:
                    groups[-1] = _Group((*groups[-1].families, (v, family)), tuple(union))
                    continue
            groups.append(_Group(((v, family),), tuple(seen)))
        return groups

    def _plan(self, groups: Sequence[_Group]) -> ReducedPlan:
        first, members, steps, member_first = [0], [], [], [0]
        for group in groups:
            step = self._width
            for m in reversed(group.seen):
                members.append(m)
                steps.append(step)
                step *= self._n_states[m]
            first.append(first[-1] + step)
            member_first.append(len(members))
        return ReducedPlan(
            np.array(first[:-1], np.uint32),
            np.array(member_first, np.int64),
            np.array(members, np.int64),
            np.array(steps, np.uint32),
            self._width,
        )

    @cached_property
    def _entries(self) -> Indices:
        """Where each entry of the relevant families is in the tables, shape (n_rows, K).

        A row for every configuration of what is seen of a family, one family after the other.
        """
        found = []
        for v, family in zip(self.relevant, self._families, strict=True):
            seen = [m for m in family if m not in self._hidden]
            axes = [*seen, *self._hidden]
            entry = np.full([self._n_states[m] for m in axes], self._table_first[v], np.int64)
            step = 1
            for m in reversed(family):
                view = [1] * len(axes)
                view[axes.index(m)] = self._n_states[m]
                entry += (np.arange(self._n_states[m]) * step).reshape(view)
                step *= self._n_states[m]
            found.append(entry.reshape(-1, self.n_configurations))
        return np.concatenate(found)

    def _rows(self, groups: Sequence[_Group]) -> tuple[Indices, Indices]:
        """For every configuration of what a group sees, the rows of its families (see there)."""
        first, rows, start = [np.zeros(1, np.int64)], [], 0
        for group in groups:
            shape = [self._n_states[m] for m in group.seen]
            own = []
            for _, family in group.families:
                row, step = np.zeros(shape, np.int64), 1
                for m in reversed([m for m in family if m not in self._hidden]):
                    view = [1] * len(shape)
                    view[group.seen.index(m)] = self._n_states[m]
                    row += (np.arange(self._n_states[m]) * step).reshape(view)
                    step *= self._n_states[m]
                own.append(start + row.ravel())
                start += step
            first.append(np.full(len(own[0]), len(own)))
            rows.append(np.column_stack(own).ravel())
        return np.cumsum(np.concatenate(first)), np.concatenate(rows)


@dataclass(frozen=True)
class _Group:
    """Families (place in the network, members) that are looked up together, and what they see."""

    families: tuple[tuple[int, tuple[int, ...]], ...]
    seen: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """How tables become the kernel's logs, and the kernel's counts become those of the tables.

    `entries` are places in the tables, a row for every configuration of what is seen of a family.
    Row i of the kernel is the sum of the rows `row[first[i] : first[i + 1]]` of these.
    """

    plan: ReducedPlan
    n_configurations: int
    entries: Indices
    first: Indices
    row: Indices

    @property
    def n_entries(self) -> int:
        """How many numbers the kernel reads, those that pad among them."""
        return (len(self.first) - 1) * self.plan.n_configurations

    @property
    def _is_plain(self) -> bool:
        """Whether no families are put together."""
        return len(self.row) == len(self.entries) == len(self.first) - 1

    def logs(self, tables: Matrix) -> Matrix:
        """The log of every group's product, entry by entry; what pads is impossible."""
        with np.errstate(divide="ignore"):
            logs = np.log(tables)
        own = np.full((len(self.entries), self.plan.n_configurations), -np.inf)
        own[:, : self.n_configurations] = logs[self.entries]
        if self._is_plain:
            return own.ravel()
        out = np.empty((len(self.first) - 1, own.shape[1]))
        add_rows(self.first, self.row, own, out)
        return out.ravel()

    def taken_apart(self, counts: Matrix) -> Matrix:
        """Every group's counts handed to each of its families, laid out like `entries`."""
        given = counts.reshape(len(self.first) - 1, -1)
        if self._is_plain:
            return given
        out = np.zeros((len(self.entries), given.shape[1]))
        hand_out_rows(self.first, self.row, given, out)
        return out

    def counts(self, taken_apart: Matrix, size: int) -> Matrix:
        """The counts laid out like the tables."""
        own = taken_apart[:, : self.n_configurations].ravel()
        return np.asarray(np.bincount(self.entries.ravel(), own, size), np.float64)
