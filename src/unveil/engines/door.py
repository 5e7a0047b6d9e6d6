"""`open_rows`: from wherever many rows are to a table, if they fit, or to parts."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

from unveil.engines.ceiling import Ceiling
from unveil.engines.coding import folded
from unveil.engines.columns import look
from unveil.engines.installed import open_source
from unveil.engines.prepare import Opened, prepared, without
from unveil.engines.recognise import is_source
from unveil.engines.rows import PartedRows
from unveil.engines.runners import ThreadRunner
from unveil.engines.second_pass import coded_rows
from unveil.errors import DataError, Hint
from unveil.table.core import Table
from unveil.table.door import as_table
from unveil.table.options import Kinds, Reading, States, Unknown
from unveil.table.text import DEFAULT_MISSING

__all__ = ["Memory", "open_rows", "opened", "rows_of"]

Memory = int | float | str | None
"""A ceiling: bytes, or a text such as `2GiB`."""


def open_rows(
    data: Any,
    *,
    table: str | None = None,
    query: str | None = None,
    weights: str | None = None,
    drop: Sequence[str] | str = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
    kinds: Kinds = None,
    missing: Collection[str] = DEFAULT_MISSING,
    columns: Sequence[str] | None = None,
    states: States | None = None,
    like: Any = None,
    unknown: Unknown = "error",
    memory: Memory = None,
    engine: str | None = None,
    n_jobs: int | None = None,
    spool: str | os.PathLike[str] | None = None,
    seed: int = 0,
) -> Table | PartedRows:
    """Many rows ready to learn from: a table in memory where they fit, otherwise in parts.

    `data` is the path of a Parquet file or folder, of a DuckDB file (with the name of a `table` in
    it, or a `query`), a pyarrow dataset, a DuckDB relation or a Dask data frame. The rows are read
    twice, in pieces: to see what the columns are, by the rules for tables in memory, and to code
    them. Equal rows are folded where that makes them fewer. If what is left can be worked on in
    memory below the ceiling, it is a weighted `Table`; otherwise `PartedRows`, whose parts stay in
    files of a temporary folder in `spool`. Either can be given to `unveil.learn`, `fit`, `fit_em`,
    `discover` and the other calls that take tables.

    `memory` is the ceiling for the whole process (`"2GiB"`; half of the machine's if not given).
    `engine` is `parquet`, `duckdb`, `dask` or another that is installed; by default the one that
    the data belong to. `n_jobs` is how many parts are worked on at once. `seed` draws the rows for
    cuts where there are too many to sort.

    As in `unveil.table.read_table`: `weights` names the column that says how often a row counts,
    `kinds` says what columns are, `missing` which texts are missing cells, `columns` which columns
    to take, `states` the states of some, `like` a network or table whose states are taken, and
    `unknown` what another label is. As in `unveil.learn`: the columns of `drop` are left out, and
    so are identifiers and dates unless `keep` names them; `discretize` cuts continuous columns into
    `n_bins` bins.

    >>> import tempfile
    >>> from unveil import datasets
    >>> path = tempfile.mkdtemp() + "/rows.parquet"
    >>> datasets.network("asia").sample(5000, seed=1).write(path)
    >>> open_rows(path).total_weight
    5000.0
    """
    ceiling = Ceiling.of(memory)
    source, runner = open_source(data, table, query, engine, n_jobs, ceiling)
    n_columns = len(source.schema.names)
    part_rows = ceiling.part_rows(n_columns)
    runner = runner or ThreadRunner(ceiling.n_workers(n_columns, n_jobs))
    ask = Reading.asked(
        source.name, kinds, () if missing is DEFAULT_MISSING else missing, weights, columns,
        None, states, like, unknown,
    )  # fmt: skip
    away = [drop] if isinstance(drop, str) else list(drop)
    ask = without(ask, list(source.schema.names), away, source.name)
    pieces = source.pieces()
    found = Opened(
        source, pieces, runner, ceiling, look(source, pieces, ask, runner, part_rows), part_rows
    )
    asked_for = {*keep, *ask.states, *({} if isinstance(kinds, str) else kinds or {})}
    found = prepared(found, asked_for, discretize, n_bins, seed)
    rows = coded_rows(found, spool)
    if not rows.fits():
        return rows
    whole = rows.as_table()
    return whole if whole.weights is None or len(rows.parts) < 2 else folded(whole)


def opened(
    data: Any,
    weights: Any = None,
    memory: Memory = None,
    engine: str | None = None,
    **options: Any,
) -> Any:
    """The data as they are, unless they are a source that `open_rows` is for."""
    if isinstance(data, PartedRows):
        return _asked_again(data, weights, options)
    if not is_source(data, memory, engine):
        if memory is not None or engine is not None:
            raise DataError(
                "memory and engine are for rows that are read in pieces: the path of a Parquet "
                "file or folder or of a DuckDB file, a pyarrow dataset, a DuckDB relation or a "
                f"Dask data frame; not {type(data).__name__}"
                + (f" ({data})" if isinstance(data, str | os.PathLike) else "")
            )
        return data
    if weights is not None and not isinstance(weights, str):
        raise DataError(
            "the weights of rows that are read in pieces are a column; give its name as weights"
        )
    return open_rows(data, weights=weights, memory=memory, engine=engine, **options)


def _asked_again(rows: PartedRows, weights: Any, options: dict[str, Any]) -> PartedRows:
    """Rows that are open already, without the columns to drop; the rest is said when opening."""
    if weights is not None or options.get("discretize") is not None:
        raise DataError(
            "weights and cuts of rows in parts are decided when they are opened:",
            hint=Hint("open_rows(..., weights=..., discretize=...).", "--weights, --discretize."),
        )
    drop = options.get("drop") or ()
    away = [drop] if isinstance(drop, str) else list(drop)
    for name in away:
        rows.variable(name)  # which says what there is
    left = [name for name in rows.names if name not in away]
    if not left:
        raise DataError("all columns are dropped, which leaves nothing to learn from")
    return rows.select(left) if away else rows


def rows_of(
    data: Any, weights: Any = None, memory: Memory = None, engine: str | None = None
) -> Table | PartedRows:
    """The table behind the data, or their parts where they do not fit; see `open_rows`."""
    found = opened(data, weights, memory, engine)
    if isinstance(found, PartedRows):
        return found.as_table() if found.fits() else found
    return as_table(found, weights if found is data else None)
