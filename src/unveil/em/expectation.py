"""The E-step: expected counts of all families, and what it sums over (Eq. 2.16).

Rows are grouped by which variables they lack. Families that a row shows whole are counted once and
for all; groups with few unseen configurations go through the reduced model, the rest through the
junction tree. The choice is by estimated cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.infer.reduced import ReducedModel
from unveil.infer.tree import Evidence, JunctionTree
from unveil.model.network import Network
from unveil.table.core import Table, code_dtype, missing_code
from unveil.kernels.families import push_digit, tally

__all__ = ["Expectation", "Expected"]

Matrix = npt.NDArray[np.float64]

SMALL_GROUP = 16
"""Groups with fewer rows share the junction tree instead of getting a reduced model each."""
TREE_CELL_COST = 3.0
"""How much dearer a cell of the junction tree is than an entry of the reduced model."""


@dataclass(frozen=True)
class Expected:
    """Expected counts of every family (by name of the child), and the data's log-likelihood.

    `log_likelihood` is the weighted sum over rows of log P(what the row shows), in nats.
    """

    counts: dict[str, Matrix]
    log_likelihood: float


class Expectation:
    """The E-step of one graph on one table; call it with the current parameters.

    Built once: rows are folded and grouped, trees and layouts are made; then each call only
    computes. Variables without a column are hidden: unseen in every row.
    """

    def __init__(self, network: Network, table: Table) -> None:
        self._names = network.names
        self._families = {
            name: tuple(v.name for v in (*cpd.parents, cpd.variable))
            for name, cpd in network.cpds.items()
        }
        inside = [name for name in network.names if name in table]
        if not inside:
            raise DataError("the table has none of the network's variables")
        known = table.select(inside).conform([network.variable(n) for n in inside])
        if (known.total_weight or 0) <= 0:
            raise DataError("the weights of all rows are zero; there is nothing to learn from")
        folded = known.folded()
        self._codes, self._missing = _stack(network, folded)
        self._weights = folded.row_weights
        self.total_weight = folded.total_weight
        self._static = {name: np.zeros(0) for name in network.names}
        self._groups = self._group(network)
        self._tree: JunctionTree | None = None
        self._shapes = {
            name: tuple(v.n_states for v in (*cpd.parents, cpd.variable))
            for name, cpd in network.cpds.items()
        }

    def __call__(self, network: Network) -> Expected:
        """Expected counts and log-likelihood under the network's current parameters."""
        counts = {name: np.zeros(self._shapes[name]) for name in self._names}
        total = 0.0
        for group in self._groups:
            total += group.add(network, counts, self)
        return Expected(counts, total)

    # Grouping ----------------------------------------------------------------------------------

    def _group(self, network: Network) -> list[_Group]:
        unseen = self._codes == self._missing
        packed = np.packbits(unseen, axis=0)
        _, first, member = np.unique(packed, axis=1, return_index=True, return_inverse=True)
        member = member.reshape(-1)
        sizes = np.bincount(member)
        tree_cost: float | None = None
        groups: list[_Group] = []
        leftover: list[int] = []
        for g, example in enumerate(first):
            names = [n for n, lacks in zip(self._names, unseen[:, example], strict=True) if lacks]
            rows = np.flatnonzero(member == g) if sizes[g] >= SMALL_GROUP or not names else None
            if rows is None:
                leftover.append(g)
                continue
            if not names:
                groups.append(_CompleteRows(self, network, rows))
                continue
            if tree_cost is None:
                self._tree_template = JunctionTree(network)
                tree_cost = TREE_CELL_COST * self._tree_template.n_cells
            model = _reduced(network, names, tree_cost)
            if model is None:
                leftover.append(g)
            else:
                groups.append(_ReducedRows(self, network, rows, model))
        if leftover:
            rows = np.flatnonzero(np.isin(member, leftover))
            groups.append(_TreeRows(self, network, rows))
        return groups


def _reduced(network: Network, names: list[str], tree_cost: float) -> ReducedModel | None:
    """A reduced model if it is cheaper than the tree."""
    n_configurations = 1
    for name in names:
        n_configurations *= network.variable(name).n_states
        if n_configurations > tree_cost:
            return None
    model = ReducedModel(network, names)
    return model if model.cost <= tree_cost and model.fits else None


def _stack(network: Network, table: Table) -> tuple[Any, int]:
    """Codes of shape (n_variables, n_rows) over the network's variables, and the missing mark."""
    dtype = code_dtype(max(v.n_states for v in network.variables))
    missing = missing_code(dtype)
    codes = np.full((len(network.names), table.n_rows), missing, dtype)
    for row, name in enumerate(network.names):
        if name in table:
            codes[row] = np.where(table.missing(name), missing, table.column(name))
    return codes, missing


class _Group:
    """Rows that are summed over in the same way."""

    def add(self, network: Network, counts: dict[str, Matrix], step: Expectation) -> float:
        """Add the rows' expected counts; returns their weighted log-likelihood."""
        raise NotImplementedError


class _Observed:
    """The counts of families that every row of a group shows whole: counted once."""

    def __init__(self, step: Expectation, network: Network, rows: Any, unseen: set[str]) -> None:
        self.counts: dict[str, Matrix] = {}
        weights = step._weights[rows]
        place = {name: i for i, name in enumerate(step._names)}
        for name, family in step._families.items():
            if unseen & set(family):
                continue
            shape = [network.variable(n).n_states for n in family]
            position = np.zeros(len(rows), np.int64)
            for n, k in zip(family, shape, strict=True):
                push_digit(position, step._codes[place[n]][rows], k)
            cells = np.zeros(int(np.prod(shape)))
            tally(position, weights, cells)
            self.counts[name] = cells.reshape(shape)

    def add(self, network: Network, counts: dict[str, Matrix]) -> float:
        total = 0.0
        for name, cells in self.counts.items():
            counts[name] += cells
            values = network.cpd(name).values  # type: ignore[attr-defined]
            seen = cells > 0
            with np.errstate(divide="ignore"):
                total += float((cells[seen] * np.log(values[seen])).sum())
        return total


class _CompleteRows(_Group):
    """Rows that lack nothing."""

    def __init__(self, step: Expectation, network: Network, rows: Any) -> None:
        self.observed = _Observed(step, network, rows, set())

    def add(self, network: Network, counts: dict[str, Matrix], step: Expectation) -> float:
        return self.observed.add(network, counts)


class _ReducedRows(_Group):
    """Rows that lack the same few variables."""

    def __init__(
        self, step: Expectation, network: Network, rows: Any, model: ReducedModel
    ) -> None:
        self.observed = _Observed(step, network, rows, set(model.unseen))
        self.codes = np.ascontiguousarray(step._codes[:, rows])
        self.weights = step._weights[rows]
        self.model = model

    def add(self, network: Network, counts: dict[str, Matrix], step: Expectation) -> float:
        model = self.model.with_parameters(network)
        log_z, expected = model.expected_counts(self.codes, self.weights)
        for v, cells in expected.items():
            counts[step._names[v]] += cells
        return float(log_z @ self.weights) + self.observed.add(network, counts)


class _TreeRows(_Group):
    """Rows with gaps of their own, by the junction tree."""

    def __init__(self, step: Expectation, network: Network, rows: Any) -> None:
        n = len(step._names)
        codes = np.ascontiguousarray(step._codes[:, rows])
        self.evidence = Evidence(codes, step._missing, np.zeros((0, 0)), np.full(n, -1, np.int64))
        self.weights = step._weights[rows]
        self.tree = getattr(step, "_tree_template", None) or JunctionTree(network)

    def add(self, network: Network, counts: dict[str, Matrix], step: Expectation) -> float:
        tree = self.tree.with_parameters(network)
        log_z, expected = tree.expected_counts(self.evidence, self.weights)
        for name, cells in zip(step._names, expected, strict=True):
            counts[name] += cells
        return float(log_z @ self.weights)
