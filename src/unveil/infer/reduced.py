"""`ReducedModel`: exact inference for rows that all lack the same few variables.

What is seen in every row is conditioned on first; only the families of the unseen variables are
summed over, one row of numbers per joint configuration. For one or a few hidden variables this is
much less work than passing messages through the whole network.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.kernels.reduced import ReducedPlan, reduced_pass
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD

__all__ = ["ReducedModel"]

Matrix = npt.NDArray[np.float64]
THREAD_WORK = 2_000_000
MAX_ENTRIES = 20_000_000


class ReducedModel:
    """The part of a network that matters when exactly the variables `unseen` are not observed.

    `cost` estimates the work per row. Build once per graph; `with_parameters` swaps the tables.
    """

    def __init__(self, network: Network, unseen: Sequence[str]) -> None:
        self.unseen = tuple(unseen)
        self._place = {name: i for i, name in enumerate(network.names)}
        self._n_states = [v.n_states for v in network.variables]
        self.shape = tuple(network.variable(name).n_states for name in self.unseen)
        self.n_configurations = math.prod(self.shape)
        hidden = {self._place[name] for name in self.unseen}
        self._families = [
            tuple(self._place[v.name] for v in (*cpd.parents, cpd.variable))
            for cpd in network.cpds.values()
        ]
        self.relevant = [v for v, f in enumerate(self._families) if hidden & set(f)]
        self.n_entries = sum(
            math.prod(self._n_states[m] for m in self._families[v] if m not in hidden)
            * self.n_configurations
            for v in self.relevant
        )
        self.cost = self.n_configurations * (len(self.relevant) + 4)
        self._hidden = hidden
        self._network = network

    @property
    def fits(self) -> bool:
        """Whether the layout is small enough to be used."""
        return self.n_entries <= MAX_ENTRIES

    def with_parameters(self, network: Network) -> ReducedModel:
        """The same layout for a network with the same graph and other tables."""
        import copy

        other = copy.copy(self)
        other._network = network
        return other

    def log_likelihoods(self, codes: Any) -> Matrix:
        """log of the sum over unseen configurations of the relevant families' product, per row."""
        return self._run(codes, None, False)[0]

    def posterior(self, codes: Any) -> tuple[Matrix, Matrix]:
        """The same, and the posterior of every configuration, shape (n_rows, K)."""
        log_z, posterior, _ = self._run(codes, None, True)
        return log_z, posterior

    def expected_counts(self, codes: Any, weights: Matrix) -> tuple[Matrix, dict[int, Matrix]]:
        """The same, and the expected counts of every relevant family, in its table's shape."""
        log_z, _, flat = self._run(codes, weights, False)
        return log_z, {v: self._fold(flat, i, v) for i, v in enumerate(self.relevant)}

    def _run(
        self, codes: Any, weights: Matrix | None, keep: bool
    ) -> tuple[Matrix, Matrix, Matrix]:
        plan, logs = self._plan(), self._logs()
        n_rows = codes.shape[1]
        log_z = np.empty(n_rows)
        posterior = np.empty((n_rows, self.n_configurations) if keep else (0, 0))
        n_parts = (cpu_count() or 1) if n_rows * self.cost >= THREAD_WORK else 1
        flat = np.zeros((n_parts, 0 if weights is None else logs.size))
        row_weights = np.ones(n_rows) if weights is None else np.asarray(weights, np.float64)
        edges = [int(e) for e in np.linspace(0, n_rows, n_parts + 1)]

        def work(part: int) -> None:
            reduced_pass(
                plan, logs, codes, row_weights, edges[part], edges[part + 1], log_z, posterior,
                flat[part],
            )  # fmt: skip

        if n_parts == 1:
            work(0)
        else:
            with ThreadPoolExecutor(n_parts) as pool:
                for task in [pool.submit(work, part) for part in range(n_parts)]:
                    task.result()
        return log_z, posterior, flat.sum(axis=0)

    def _plan(self) -> ReducedPlan:
        first, members, steps, member_first = [0], [], [], [0]
        for v in self.relevant:
            seen = [m for m in self._families[v] if m not in self._hidden]
            step = self.n_configurations
            for m in reversed(seen):
                members.append(m)
                steps.append(step)
                step *= self._n_states[m]
            first.append(first[-1] + step)
            member_first.append(len(members))
        return ReducedPlan(
            np.array(first[:-1], np.uint64),
            np.array(member_first, np.int64),
            np.array(members, np.int64),
            np.array(steps, np.uint64),
            self.n_configurations,
        )

    def _logs(self) -> Matrix:
        """The log-probabilities of the relevant families, every configuration of U spelled out."""
        blocks = []
        cpds = list(self._network.cpds.values())
        for v in self.relevant:
            cpd = cpds[v]
            if not isinstance(cpd, TableCPD):
                raise ModelError(f"summing over {cpd.variable.name!r} needs a table, not {cpd.kind}")
            with np.errstate(divide="ignore"):
                logs = np.log(cpd.values)
            seen, own = self._split(v)
            ordered = np.transpose(logs, [*seen, *own])
            names = [self._families[v][axis] for axis in own]
            wide = ordered.reshape([*ordered.shape[: len(seen)], *self._spread(names)])
            full = np.broadcast_to(wide, [*ordered.shape[: len(seen)], *self.shape])
            blocks.append(full.reshape(-1))
        return np.concatenate(blocks)

    def _split(self, v: int) -> tuple[list[int], list[int]]:
        """The axes of a family's table: observed members, then unseen ones in the order of U."""
        family = self._families[v]
        seen = [axis for axis, m in enumerate(family) if m not in self._hidden]
        order = [self._place[name] for name in self.unseen]
        own = [axis for axis, m in enumerate(family) if m in self._hidden]
        return seen, sorted(own, key=lambda axis: order.index(family[axis]))

    def _spread(self, members: Sequence[int]) -> list[int]:
        """The shape over U with size one where a family has no say."""
        return [
            k if self._place[name] in members else 1
            for name, k in zip(self.unseen, self.shape, strict=True)
        ]

    def _fold(self, flat: Matrix, i: int, v: int) -> Matrix:
        """A family's expected counts from the flat layout, in the order of its table."""
        seen, own = self._split(v)
        family = self._families[v]
        seen_shape = [self._n_states[family[axis]] for axis in seen]
        start = int(self._plan().first[i])
        size = math.prod(seen_shape) * self.n_configurations
        table = flat[start : start + size].reshape([*seen_shape, *self.shape])
        members = [family[axis] for axis in own]
        away = tuple(
            len(seen) + i for i, name in enumerate(self.unseen) if self._place[name] not in members
        )
        table = table.sum(axis=away)
        return np.transpose(table, np.argsort([*seen, *own]))
