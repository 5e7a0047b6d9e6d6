"""Unseen cells of rows in parts: parameters go out to the parts, expected counts come back.

The same plan and the same kernels as for a table in memory, a part at a time; `expected_over` and
`log_likelihoods` do for either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.engines.rows import PartedRows
from unveil.infer.plan import Use, tree_for_passes
from unveil.infer.rows import prepared_rows
from unveil.infer.tree import JunctionTree
from unveil.infer.unseen import Expected, UnseenCells
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["Structure", "bits_over", "expected_over"]

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Structure:
    """A network of tables whose graph and states are sent to the parts, made ready once."""

    network: Network

    @cached_property
    def layout(self) -> FlatTables:
        """The tables as one vector."""
        return FlatTables(self.network)

    @cached_property
    def tree(self) -> JunctionTree:
        """The junction tree, which all parts of a worker share."""
        return tree_for_passes(self.network)

    def cells(self, table: Table) -> UnseenCells:
        """The unseen cells of a part; nothing is kept with it."""
        own = Table._trusted(table.variables, [table.column(n) for n in table.names], table.weights)
        use = Use(passes=1.0, n_jobs=1)
        rows = prepared_rows(self.network, own)
        return UnseenCells(self.layout, rows, use, lambda: self.tree)

    def __getstate__(self) -> dict[str, Network]:
        return {"network": self.network}

    def __setstate__(self, state: dict[str, Network]) -> None:
        object.__setattr__(self, "network", state["network"])


def expected_over(
    structure: Structure,
    data: Table | PartedRows,
    tables: Vector,
    hard: bool = False,
    temperature: float = 1.0,
) -> Expected:
    """The E-step over all rows (Eq. 2.16): expected counts, and the log-likelihood."""
    if isinstance(data, Table):
        cells = UnseenCells.to_learn_from(structure.network, data)
        return cells.completed(tables) if hard else cells.expected(tables, temperature)
    inside = [n for n in data.names if n in structure.network.names]
    counts, total = data.select(inside).sum(_expected, structure, tables, hard, temperature)
    return Expected(counts, float(total))


def _expected(
    table: Table, structure: Structure, tables: Vector, hard: bool, temperature: float
) -> tuple[Vector, float]:
    cells = structure.cells(table)
    found = cells.completed(tables) if hard else cells.expected(tables, temperature)
    return found.counts, found.log_likelihood


def bits_over(network: Any, rows: PartedRows) -> tuple[float, float, float]:
    """The weight of all rows, their mean of -log2 P(row), and its standard error."""
    weight, total, squares = rows.sum(_bits, network)
    if not weight > 0 or not math.isfinite(total):
        return weight, math.inf if weight > 0 else math.nan, math.inf
    mean = total / weight
    variance = max(0.0, squares - weight * mean * mean) / max(weight - 1, 1)
    return weight, mean, math.sqrt(variance / weight)


def _bits(table: Table, network: Any) -> Vector:
    """Weight, and the sums of the bits and of their squares."""
    seen = table.take(table.row_weights > 0) if table.weights is not None else table
    bits = -network.row_log_likelihoods(seen) / math.log(2)
    weights = seen.row_weights
    return np.array([weights.sum(), bits @ weights, (bits * bits) @ weights])
