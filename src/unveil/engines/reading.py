"""What all who read pieces share: tables of an exact number of rows, and what cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from unveil.errors import DataError

__all__ = ["begins", "in_tables", "one_line", "unreadable"]


def in_tables(
    batches: Iterable[Any], n_rows: int, schema: Any, columns: Sequence[str] | None
) -> Iterator[Any]:
    """The batches as tables of `n_rows` rows each, the last of fewer; empty ones are left out.

    >>> batches = [pa.record_batch({"x": [1, 2]}), pa.record_batch({"x": [3, 4, 5]})]
    >>> [t.num_rows for t in in_tables(batches, 2, batches[0].schema, None)]
    [2, 2, 1]
    """
    names = schema.names if columns is None else list(columns)
    shape = pa.schema([schema.field(name) for name in names])
    waiting: list[Any] = []
    size = 0
    for batch in batches:
        while batch.num_rows:
            head = batch.slice(0, n_rows - size)
            batch = batch.slice(head.num_rows)
            waiting.append(head)
            size += head.num_rows
            if size == n_rows:
                yield _table(waiting, shape)
                waiting, size = [], 0
    if waiting:
        yield _table(waiting, shape)


def _table(batches: Sequence[Any], shape: Any) -> Any:
    table = pa.Table.from_batches([b.select(shape.names) for b in batches])
    table = table if table.schema.equals(shape) else table.cast(shape)
    table.validate(full=True)  # Arrow trusts codes and offsets, and would follow them anywhere
    return table


def begins(path: Path, magic: bytes, at: int = 0) -> bool:
    """Whether a file has these bytes at its beginning, or so far behind it."""
    with open(path, "rb") as file:
        return file.read(at + len(magic))[at:] == magic


def unreadable(name: str, error: object) -> DataError:
    """The error for a part that could not be read, with what was said of it."""
    return DataError(f"{name}: this part cannot be read: {one_line(error)}")


def one_line(error: object) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split())
