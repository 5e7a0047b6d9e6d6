"""The E-step: expected counts of all families, and what it sums over (Eq. 2.16).

Rows are grouped by which variables they lack. Families that a row shows whole are counted once and
for all; groups with few unseen configurations go through the reduced model, the rest through the
junction tree. The choice is by estimated cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unveil.em.flat import FlatTables
from unveil.errors import DataError, SizeError
from unveil.infer.reduced import ReducedModel
from unveil.infer.shared import TREE_CELL_COST, least_cells
from unveil.infer.tree import Evidence, JunctionTree, memory_limit
from unveil.kernels.families import push_digit, tally
from unveil.model.network import Network
from unveil.table.core import Table, code_dtype, missing_code, recoded

__all__ = ["Expectation", "Expected", "rows_to_learn_from", "stack_codes"]

Vector = npt.NDArray[np.float64]

TREE_OVERHEAD = 5.0
"""What every pass costs for each cell of the tree, however few rows there are, in visits."""
TREE_BYTES, FACTOR_BYTES = 40, 60
"""The memory that a pass takes for each cell of the tree, and for each cell that a family's table
is multiplied into."""
SMALL_GROUP = 1_000_000
"""Groups whose rows visit fewer cells of the junction tree share it: setting up a reduced model for
them would cost more than it saves."""


@dataclass(frozen=True)
class Expected:
    """Expected counts of all families as one vector, and the data's log-likelihood.

    `log_likelihood` is the weighted sum over rows of log P(what the row shows), in nats.
    """

    counts: Vector
    log_likelihood: float


class Expectation:
    """The E-step of one graph on one table; call it with the current tables as one vector.

    Built once: rows are folded and grouped, trees and layouts are made; then each call only
    computes. Variables without a column are hidden: unseen in every row.
    """

    def __init__(self, flat: FlatTables, table: Table) -> None:
        folded = rows_to_learn_from(flat.network, table)
        self.flat = flat
        self.total_weight = folded.total_weight
        self.groups = _grouped(flat, *stack_codes(flat.network, folded), folded.row_weights)

    def __call__(self, tables: Vector) -> Expected:
        """Expected counts and log-likelihood under the current tables."""
        counts = np.zeros(self.flat.size)
        total = 0.0
        for group in self.groups:
            total += group.add(tables, counts)
        return Expected(counts, total)


class Group(Protocol):
    """Rows that are summed over in the same way."""

    def add(self, tables: Vector, counts: Vector) -> float:
        """Add the rows' expected counts; returns their weighted log-likelihood."""


def _grouped(flat: FlatTables, codes: Any, missing: int, weights: Vector) -> list[Group]:
    network = flat.network
    unseen = codes == missing
    packed = np.packbits(unseen, axis=0)
    _, first, member = np.unique(packed, axis=1, return_index=True, return_inverse=True)
    member = member.reshape(-1)
    if len(first) == 1 and unseen.any():
        names = [n for n, lacks in zip(network.names, unseen[:, 0], strict=True) if lacks]
        sole = ReducedModel(network, names)
        if sole.fits and sole.cost <= TREE_CELL_COST * least_cells(network):
            return [_ReducedRows(flat, codes, weights, sole)]
    tree = _tree_if_it_fits(network) if unseen.any() else None
    groups: list[Group] = []
    leftover: list[int] = []
    for g, example in enumerate(first):
        names = [n for n, lacks in zip(network.names, unseen[:, example], strict=True) if lacks]
        rows = np.flatnonzero(member == g)
        if not names:
            groups.append(_ObservedFamilies(flat, codes[:, rows], weights[rows], ()))
            continue
        cost = np.inf
        if tree is not None:
            overhead = TREE_OVERHEAD * tree.n_cells / codes.shape[1]
            cost = tree.cost(np.flatnonzero(unseen[:, example]).tolist()) + overhead
        small = len(first) > 1 and len(rows) * cost < SMALL_GROUP
        model = None if small else _reduced(network, names, cost)
        if model is not None:
            groups.append(_ReducedRows(flat, codes[:, rows], weights[rows], model))
        else:
            leftover.append(g)
    if leftover:
        assert tree is not None
        rows = np.flatnonzero(np.isin(member, leftover))
        groups.append(_TreeRows(flat, codes[:, rows], missing, weights[rows], tree))
    return groups


def _tree_if_it_fits(network: Network) -> JunctionTree | None:
    try:
        tree = JunctionTree(network)
    except SizeError:
        return None
    needed = TREE_BYTES * tree.n_cells + FACTOR_BYTES * tree.n_factor_cells
    return tree if needed <= memory_limit() else None


def _reduced(network: Network, names: list[str], tree_cost: float) -> ReducedModel | None:
    """A reduced model if it is cheaper than the tree, or if there can be no tree."""
    if tree_cost == np.inf:
        model = ReducedModel(network, names)
        if not model.fits:
            raise SizeError(
                f"rows that lack {', '.join(names[:6])} cannot be summed over exactly: neither a "
                f"junction tree nor {model.n_entries:,} configurations fit into memory. Use fewer "
                "hidden variables or states, or a sparser graph."
            )
        return model
    limit = TREE_CELL_COST * tree_cost
    n_configurations = 1
    for name in names:
        n_configurations *= network.variable(name).n_states
        if n_configurations > limit:
            return None
    model = ReducedModel(network, names)
    return model if model.cost <= limit and model.fits else None


def rows_to_learn_from(network: Network, table: Table) -> Table:
    """The network's columns, coded as there; equal rows folded, those of weight zero left out."""
    inside = [name for name in network.names if name in table]
    if not inside:
        raise DataError("the table has none of the network's variables")
    known = table.select(inside).conform([network.variable(n) for n in inside])
    if known.total_weight <= 0:
        raise DataError("the weights of all rows are zero; there is nothing to learn from")
    folded = known.folded()
    return folded.take(folded.row_weights > 0)


def stack_codes(network: Network, table: Table) -> tuple[Any, int]:
    """Codes of shape (n_variables, n_rows) over the network's variables, and the missing mark."""
    dtype = code_dtype(max(v.n_states for v in network.variables))
    missing = missing_code(dtype)
    codes = np.full((len(network.names), table.n_rows), missing, dtype)
    for row, name in enumerate(network.names):
        if name in table:
            codes[row] = recoded(table.column(name), dtype)
    return codes, missing


class _ObservedFamilies:
    """Families that every row of a group shows whole: counted once, the same ever after."""

    def __init__(
        self, flat: FlatTables, codes: Any, weights: Vector, unseen: Sequence[int]
    ) -> None:
        self._counts = np.zeros(flat.size)
        for v, family in enumerate(flat.families):
            if set(unseen) & set(family):
                continue
            position = np.zeros(codes.shape[1], np.int64)
            for m, k in zip(family, flat.shapes[v], strict=True):
                push_digit(position, codes[m], k)
            tally(position, weights, self._counts[flat.first[v] : flat.first[v + 1]])
        self._seen = np.flatnonzero(self._counts)

    def add(self, tables: Vector, counts: Vector) -> float:
        counts += self._counts
        with np.errstate(divide="ignore"):
            return float(self._counts[self._seen] @ np.log(tables[self._seen]))


class _ReducedRows:
    """Rows that lack the same few variables."""

    def __init__(self, flat: FlatTables, codes: Any, weights: Vector, model: ReducedModel) -> None:
        unseen = [flat.names.index(name) for name in model.unseen]
        self._observed = _ObservedFamilies(flat, codes, weights, unseen)
        self._codes, self._weights = np.ascontiguousarray(codes), weights
        self._model = model

    def add(self, tables: Vector, counts: Vector) -> float:
        log_z, expected = self._model.expected_vector(tables, self._codes, self._weights)
        counts += expected
        return float((log_z * self._weights).sum()) + self._observed.add(tables, counts)


class _TreeRows:
    """Rows with gaps of their own, by the junction tree."""

    def __init__(
        self, flat: FlatTables, codes: Any, missing: int, weights: Vector, tree: JunctionTree
    ) -> None:
        none = np.full(len(flat.names), -1, np.int64)
        self._evidence = Evidence(np.ascontiguousarray(codes), missing, np.zeros((0, 0)), none)
        self._weights = weights
        self._tree = tree

    def add(self, tables: Vector, counts: Vector) -> float:
        tree = self._tree.with_tables(tables)
        log_z, expected = tree.expected_vector(self._evidence, self._weights, tables.size)
        counts += expected
        return float((log_z * self._weights).sum())
