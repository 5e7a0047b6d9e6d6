"""`write_posteriors`: posteriors of rows that are read in pieces, written part by part."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from unveil.engines.ceiling import Ceiling
from unveil.engines.coding import coded
from unveil.engines.door import Memory
from unveil.engines.installed import open_source
from unveil.engines.protocol import Piece
from unveil.engines.runners import ThreadRunner
from unveil.errors import DataError, Hint
from unveil.files import atomic_write
from unveil.infer.columns import default_targets, with_posteriors
from unveil.model.network import Network
from unveil.table.options import Reading, Unknown
from unveil.table.variable import Variable

__all__ = ["write_posteriors"]

NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""What systems say when a file does not fit."""


def write_posteriors(
    network: Network,
    data: Any,
    output: str | os.PathLike[str],
    of: Sequence[str] | None = None,
    *,
    unknown: Unknown = "error",
    table: str | None = None,
    query: str | None = None,
    memory: Memory = None,
    engine: str | None = None,
    n_jobs: int | None = None,
) -> tuple[int, list[str]]:
    """Write all rows with posteriors beside them to a Parquet file; how many, and of what.

    `data`, `table`, `query`, `memory`, `engine` and `n_jobs` are as in `unveil.open_rows`, `of` and
    `unknown` as in `with_posteriors`. The columns stay as they are. The file appears when it is
    whole; a part that cannot be read, or a full disk, leaves none behind.

    >>> import tempfile
    >>> from unveil import datasets
    >>> asia, folder = datasets.network("asia"), tempfile.mkdtemp()
    >>> asia.sample(100, seed=1).without("lung").write(f"{folder}/rows.parquet")
    >>> write_posteriors(asia, f"{folder}/rows.parquet", f"{folder}/lung.parquet")
    (100, ['lung'])
    """
    target = Path(output)
    if target.suffix.lower() not in (".parquet", ".pq"):
        raise DataError(
            f"{target}: rows that are read in pieces are written to Parquet; call the file .parquet"
        )
    ceiling = Ceiling.of(memory)
    source, _ = open_source(data, table, query, engine, n_jobs, ceiling)
    names = list(source.schema.names)
    inside = {n: network.variable(n) for n in names if n in network.names}
    if not inside:
        raise DataError(
            f"{source.name}: none of the columns is a variable of the network; they are "
            f"{', '.join(map(repr, names[:12]))}"
        )
    targets = list(of) if of else default_targets(network, inside)  # type: ignore[arg-type]
    for name in targets:
        network.variable(name)
    aside = [t for t in targets if len(targets) == 1]
    known = {n: v for n, v in inside.items() if n not in aside}
    if not known:
        raise DataError(f"{source.name}: there is no column to predict {targets[0]!r} from")
    workers = ThreadRunner(ceiling.n_workers(len(names) + 2 * len(targets), n_jobs))
    chunks = _chunks(source.pieces(), ceiling.part_rows(len(names)))
    ask = Reading(variables=known, unknown=unknown)
    found = workers.each(_predicted, chunks, network, ask, targets)
    try:
        n_rows = _written(found, target, source.name)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise DataError(
            f"{target}: the rows do not fit on the disk ({error.strerror or error}); nothing was "
            "left behind. Free some room, or write elsewhere",
            hint=Hint("", "(-o)"),
        ) from error
    return n_rows, targets


def _written(parts: Iterator[Any], target: Path, name: str) -> int:
    """How many rows were written to the file, which appears when it is whole."""
    n_rows, writer = 0, None
    with atomic_write(target, "wb") as file:
        try:
            for part in parts:
                writer = writer or parquet.ParquetWriter(file, part.schema)
                writer.write_table(part.cast(writer.schema))
                n_rows += part.num_rows
        finally:
            if writer is not None:
                writer.close()
        if not n_rows:
            raise DataError(f"{name}: the table has no rows")
    return n_rows


def _chunks(pieces: Sequence[Piece], part_rows: int) -> Iterator[tuple[str, Any]]:
    for piece in pieces:
        for table in piece.tables(None, part_rows):
            yield piece.name, table


def _predicted(chunk: tuple[str, Any], network: Network, ask: Reading, targets: list[str]) -> Any:
    """The rows with the posteriors behind them."""
    from dataclasses import replace

    name, arrow = chunk
    wanted: dict[str, Variable] = ask.variables or {}
    table = coded(arrow.select(list(wanted)), replace(ask, source=name))
    beside = with_posteriors(network, table, targets, ask.unknown)
    made = beside.select(beside.names[table.n_columns :]).to_arrow()
    taken = set(arrow.column_names)
    for column in made.column_names:
        free = column
        while free in taken:
            free += "'"
        arrow = arrow.append_column(pa.field(free, made.schema.field(column).type),
                                    made.column(column))  # fmt: skip
    return arrow
