"""What is in the columns of rows that are read in pieces: as `describe` tells of tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.engines.ceiling import Ceiling
from unveil.engines.coding import coded
from unveil.engines.columns import Columns, look
from unveil.engines.door import Memory
from unveil.engines.installed import open_source
from unveil.engines.on_parts import added
from unveil.engines.protocol import Piece
from unveil.engines.runners import ThreadRunner
from unveil.statistics.memory import MAX_STATES
from unveil.table.core import Table
from unveil.table.describe import ColumnDescription, TableDescription
from unveil.table.options import Kinds, Reading, States, Unknown
from unveil.table.text import DEFAULT_MISSING
from unveil.table.variable import Variable

__all__ = ["describe_rows"]


def describe_rows(
    data: Any,
    *,
    table: str | None = None,
    query: str | None = None,
    weights: str | None = None,
    kinds: Kinds = None,
    missing: Any = DEFAULT_MISSING,
    states: States | None = None,
    unknown: Unknown = "error",
    memory: Memory = None,
    engine: str | None = None,
    n_jobs: int | None = None,
    most_common: int = 5,
) -> TableDescription:
    """A record of every column, from two passes over the rows; see `unveil.open_rows`.

    Distinct rows are not counted.
    """
    ceiling = Ceiling.of(memory)
    source, runner = open_source(data, table, query, engine, n_jobs, ceiling)
    names = list(source.schema.names)
    runner = runner or ThreadRunner(ceiling.n_workers(len(names), n_jobs))
    ask = Reading.asked(
        source.name, kinds, () if missing is DEFAULT_MISSING else missing, weights, None, None,
        states, None, unknown,
    )  # fmt: skip
    pieces, size = source.pieces(), ceiling.part_rows(len(names))
    columns = look(source, pieces, ask, runner, size)
    named = columns.ask.weights
    wanted = (*(v.name for v in columns.variables), *([] if named is None else [named]))
    total, *found = runner.sum(_tally, pieces, wanted, columns.ask, size, add=added)
    described = [
        _column(v, columns, tally, float(total), most_common)
        for v, tally in zip(columns.variables, found, strict=True)
    ]
    described += [_identifier(name, columns) for name in columns.identifiers]
    return TableDescription(
        columns.n_rows, len(described), float(total), sum(columns.n_missing.values()), None,
        tuple(described), (),
    )  # fmt: skip


def _tally(piece: Piece, wanted: tuple[str, ...], ask: Reading, part_rows: int) -> list[Any]:
    """The weight of all rows and, for every column, that of each state, or of numbers and sums."""
    totals: list[Any] | None = None
    for arrow in piece.tables(wanted, part_rows):
        table = coded(arrow, ask)
        found = [table.total_weight, *(_of_column(table, v) for v in table.variables)]
        totals = found if totals is None else added(totals, found)
    if totals is None:
        empty = [
            np.zeros(v.n_states if v.is_discrete else 2) for v in (ask.variables or {}).values()
        ]
        return [0.0, *empty]
    return totals


def _of_column(table: Table, variable: Variable) -> Any:
    there = ~table.missing(variable.name)
    column, weights = table.column(variable.name)[there], table.row_weights[there]
    if variable.is_discrete:
        return np.bincount(column, weights, variable.n_states)
    return np.array([weights.sum(), column @ weights])


def _column(
    variable: Variable, columns: Columns, tally: Any, total: float, most_common: int
) -> ColumnDescription:
    name, n_missing = variable.name, columns.n_missing[variable.name]
    present = float(tally.sum()) if variable.is_discrete else float(tally[0])
    shares = tally / present if present and variable.is_discrete else tally * 0.0
    order = np.argsort(-shares, kind="stable") if variable.is_discrete else np.zeros(0, np.intp)
    low, high = columns.spans[name]
    numbers = not variable.is_discrete and present > 0
    oddities = []
    if variable.is_discrete and (tally > 0).sum() == 1:
        label = variable.labels[int(tally.argmax())]
        oddities.append(
            f"constant: every row holds {label!r}; it can tell nothing about other columns"
        )
    return ColumnDescription(
        name,
        "discrete" if variable.is_discrete else "continuous",
        variable.n_states if variable.is_discrete else None,
        int((tally > 0).sum()) if variable.is_discrete else 0,
        n_missing,
        1.0 - present / total if total else 0.0,
        tuple(
            (variable.labels[int(i)], float(shares[i])) for i in order[:most_common] if tally[i] > 0
        ),
        low if numbers else None,
        float(tally[1]) / present if numbers else None,
        high if numbers else None,
        tuple(oddities),
    )


def _identifier(name: str, columns: Columns) -> ColumnDescription:
    n_missing = columns.n_missing[name]
    words = f"more than {MAX_STATES:,} different labels; it looks like an identifier"
    return ColumnDescription(
        name, "discrete", None, MAX_STATES + 1, n_missing, n_missing / columns.n_rows, (), None,
        None, None, (words,),
    )  # fmt: skip
