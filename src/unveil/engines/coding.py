"""Arrow rows as a part: a table coded by known variables, equal rows folded where that pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from unveil.table.assemble import assemble
from unveil.table.core import Table
from unveil.table.options import Reading
from unveil.table.variable import Variable

__all__ = ["coded", "folded", "joined", "row_bytes"]


def coded(table: Any, ask: Reading) -> Table:
    """The rows of an Arrow table, coded by the variables that `ask` knows."""
    cells: dict[str, Any] = {}
    for name in table.column_names:
        column = table.column(name)
        variable = ask.variable(name)
        # Whether the time of day is left out was decided by all rows.
        if pa.types.is_timestamp(column.type) and _shows_time(variable):
            column = column.cast(pa.string())
        cells[name] = column
    return assemble(cells, ask)


def _shows_time(variable: Variable | None) -> bool:
    if variable is None or not variable.is_discrete:
        return False
    return any(":" in str(label) for label in variable.labels)


def folded(table: Table) -> Table:
    """The same with equal rows as one, in order of first appearance; discrete columns only."""
    if table.n_rows < 2 or not all(v.is_discrete for v in table.variables):
        return table
    from unveil.kernels.parts import group_rows

    group = np.empty(table.n_rows, np.int64)
    first = group_rows(np.ascontiguousarray(table.codes().T), group)
    weights = np.bincount(group, table.weights, minlength=len(first)).astype(np.float64)
    return table.take(first).with_weights(weights)


def joined(parts: list[Table]) -> Table:
    """The rows of several parts as one table."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    columns = [np.concatenate([p.column(name) for p in parts]) for name in first.names]
    weighted = any(p.weights is not None for p in parts)
    weights = np.concatenate([p.row_weights for p in parts]) if weighted else None
    return Table._trusted(first.variables, columns, weights)


def row_bytes(table: Table) -> int:
    """How many bytes a row of the coded columns takes, its weight included."""
    return 8 + sum(table.column(name).dtype.itemsize for name in table.names)
