"""`ForestModel`: exact inference where hidden variables form a forest above observed leaves.

Latent class models, hierarchies of hidden variables and hidden Chow-Liu trees are of this kind.
Rows go through the forest in blocks, a matrix product for every arc, whatever cells they lack; a
junction tree would go row by row through the cells of its cliques.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.infer import costs
from unveil.infer.tree import N_PARTS
from unveil.kernels.forest import ForestPlan, forest_pass
from unveil.kernels.threads import in_threads
from unveil.model.network import Network

__all__ = ["ForestModel", "inner_variables"]

Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
BLOCK_BYTES = 2_000_000
"""Rows go through the forest together while their messages take at most about so much memory."""
FEWEST, MOST = 32, 512
"""Fewer rows at a time are too few for a matrix product, more do not make it faster."""
THREAD_WORK = 10_000_000


def inner_variables(network: Network) -> list[int] | None:
    """The numbers of the variables that have children, if no variable has two parents."""
    place = {name: i for i, name in enumerate(network.names)}
    if any(len(cpd.parents) > 1 for cpd in network.cpds.values()):
        return None
    return sorted({place[p.name] for cpd in network.cpds.values() for p in cpd.parents})


class ForestModel:
    """A network in which no variable has two parents and all that have children are unseen.

    Other variables may be seen or not, differently in every row. Tables are given as one vector in
    the order of the network's variables (as `unveil.model.flat.FlatTables` lays them out).
    """

    def __init__(self, network: Network) -> None:
        names = {name: i for i, name in enumerate(network.names)}
        n_states = [v.n_states for v in network.variables]
        parent = [names[c.parents[0].name] if c.parents else -1 for c in network.cpds.values()]
        inner = inner_variables(network)
        assert inner is not None
        above = set(inner)
        sizes = [n_states[v] * (n_states[p] if p >= 0 else 1) for v, p in enumerate(parent)]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.n_entries = int(first[-1])
        # Topologically, and a variable of one state above the columns that have no parent.
        order = [names[n] for n in network.dag.topological_order if names[n] in above]
        alone = [v for v, p in enumerate(parent) if p < 0 and v not in above]
        self.hidden = order
        own = {v: h for h, v in enumerate(order)}
        states = [n_states[v] for v in order] + [1] * bool(alone)
        parents = [own.get(parent[v], -1) for v in order] + [-1] * bool(alone)
        link_parts = [np.arange(first[v], first[v + 1]) for v in order]
        link_parts += [np.array([self.n_entries])] * bool(alone)
        leaves = [[v for v, p in enumerate(parent) if p == z and v not in above] for z in order]
        leaves += [alone] * bool(alone)
        self.link_entries: Indices = np.concatenate(link_parts).astype(np.int64)
        self.leaf_entries, self._leaf_shapes = self._leaves(leaves, states, first, n_states)
        self.leaf_of = {v: (h, i) for h, group in enumerate(leaves) for i, v in enumerate(group)}
        self.leaves = [v for group in leaves for v in group]
        self.place = np.concatenate([[0], np.cumsum(states)]).astype(np.int64)
        lengths = [len(part) for part in link_parts]
        leaf_lengths = [a * b for a, b in self._leaf_shapes]
        self.plan = ForestPlan(
            np.array(states, np.int64),
            np.array(parents, np.int64),
            np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64),
            np.concatenate([[0], np.cumsum([len(g) for g in leaves])]).astype(np.int64),
            np.array(self.leaves, np.int64),
            np.array([n_states[v] for v in self.leaves], np.int64),
            np.concatenate([[0], np.cumsum(leaf_lengths)[:-1]]).astype(np.int64),
            self.place[:-1],
        )
        self.width = int(self.place[-1])
        self.cost = sum(lengths) * 3 + len(self.leaf_entries)
        messages = sum(states[p] for p in parents if p >= 0)
        rows = BLOCK_BYTES // (8 * (self.width + messages))
        self.block = int(np.clip(rows // 8 * 8, FEWEST, MOST))

    def _leaves(
        self, leaves: Sequence[Sequence[int]], states: Sequence[int], first: Any, n_states: Any
    ) -> tuple[Indices, list[tuple[int, int]]]:
        """The tables of all leaves turned round, each with a row of ones for what is missing."""
        parts, shapes = [], []
        for group, k in zip(leaves, states, strict=True):
            for v in group:
                table = np.arange(first[v], first[v + 1]).reshape(k, n_states[v]).T
                ones = np.full((1, k), self.n_entries)
                parts.append(np.concatenate([table, ones]).ravel())
                shapes.append((n_states[v] + 1, k))
        return np.concatenate(parts).astype(np.int64), shapes

    def log_likelihoods(self, tables: Matrix, codes: Any) -> Matrix:
        """The log-probability of what every row shows."""
        return self._run(tables, codes, None, 0, codes.shape[1])[0]

    def expected_vector(self, tables: Matrix, codes: Any, weights: Matrix) -> tuple[Matrix, Matrix]:
        """The same, and the expected counts of all families, laid out like `tables`."""
        log_z, links, leaves = self._run(tables, codes, weights, 0, codes.shape[1])
        return log_z, self.counts(tables, tables, links, leaves)

    def counts(self, passed: Matrix, tables: Matrix, links: Matrix, leaves: Matrix) -> Matrix:
        """Expected counts laid out like `tables`, from those of a pass with the tables `passed`.

        Both are the same unless the pass was tempered; cells that are missing are expected as
        `tables` says.
        """
        through, full = np.append(passed, 1.0), np.append(tables, 1.0)
        counts = np.zeros(full.size)
        counts[self.link_entries] = links * through[self.link_entries]
        roots = self.plan.parent < 0
        for h in np.flatnonzero(roots):  # whose counts are posteriors already
            own = slice(self.plan.link[h], self.plan.link[h] + self.plan.n_states[h])
            counts[self.link_entries[own]] = links[own]
        for start, (rows, k) in zip(self.plan.leaf, self._leaf_shapes, strict=True):
            own = slice(start, start + rows * k)
            entry = self.leaf_entries[own].reshape(rows, k)[:-1]
            shown = leaves[own].reshape(rows, k)
            # What is missing is expected as the table says: P(h | row) P(x | h).
            counts[entry] = shown[:-1] + shown[-1] * full[entry]
        return counts[:-1]

    def posteriors(self, tables: Matrix, codes: Any) -> Iterator[tuple[slice, Matrix, Matrix]]:
        """Rows a block at a time: which, log P(row), posteriors of the hidden (n_rows, width)."""
        n_rows = codes.shape[1]
        length = max(1, costs.MOST_POSTERIORS // self.width)
        for start in range(0, n_rows, length):
            block = slice(start, min(n_rows, start + length))
            part = np.ascontiguousarray(codes[:, block])
            posterior = np.empty((part.shape[1], self.width))
            log_z, _, _ = self._run(tables, part, None, 0, part.shape[1], posterior)
            yield block, log_z, posterior

    def _run(
        self,
        tables: Matrix,
        codes: Any,
        weights: Matrix | None,
        start: int,
        stop: int,
        posterior: Matrix | None = None,
    ) -> tuple[Matrix, Matrix, Matrix]:
        full = np.append(tables, 1.0)
        links, leaves = full[self.link_entries], full[self.leaf_entries]
        n_rows = stop - start
        log_z = np.empty(n_rows)
        row_weights = np.ones(n_rows) if weights is None else np.asarray(weights, np.float64)
        n_parts = N_PARTS if n_rows * self.cost >= THREAD_WORK else 1
        edges = [int(e) for e in np.linspace(start, stop, n_parts + 1)]
        counting = 0 if weights is None else 1
        link_counts = np.zeros((n_parts, counting * links.size))
        leaf_counts = np.zeros((n_parts, counting * leaves.size))
        out = np.empty((0, 0)) if posterior is None else posterior

        def work(part: int) -> None:
            forest_pass(
                self.plan, links, leaves, codes, row_weights, edges[part], edges[part + 1],
                self.block, log_z, link_counts[part], leaf_counts[part], out,
            )  # fmt: skip

        with _one_blas_thread():
            in_threads(work, n_parts)
        return log_z, link_counts.sum(axis=0), leaf_counts.sum(axis=0)


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _one_blas_thread() -> AbstractContextManager[Any]:
    """Products of small matrices by one thread each: rows are divided among threads already."""
    limit: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limit
