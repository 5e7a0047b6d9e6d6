"""How much memory a Feather file asks for, told from its headers: nothing is unpacked.

A Feather file is a row of messages (Arrow's IPC format): a header, and a body of buffers. A packed
buffer begins with eight bytes that say how long it is once unpacked (-1: not packed). Where a
buffer lies is in the header, a flatbuffer, of which four fields are read here.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

__all__ = ["Asked", "asked_for"]

MAGIC_BYTES = 8
"""A file is a stream of messages after so many bytes."""
DICTIONARY, BATCH = 2, 3
"""Kinds of messages that hold cells."""


@dataclass(frozen=True)
class Asked:
    """The bytes of all buffers once unpacked, and the rows and batches they are for."""

    n_bytes: int = 0
    n_rows: int = 0
    n_batches: int = 0


def asked_for(source: Any, most: int) -> Asked:
    """What the messages of a file ask for, added up no further than `most` bytes.

    Headers that cannot be followed are an error of some kind.
    """
    source.seek(MAGIC_BYTES)
    reader = pa.ipc.MessageReader.open_stream(source)
    found = Asked()
    while found.n_bytes <= most:
        try:
            message = reader.read_next_message()
        except StopIteration:
            break
        kind, rows, n_bytes = _message(memoryview(message.metadata), message.body)
        batch = kind == BATCH
        found = Asked(found.n_bytes + n_bytes, found.n_rows + batch * rows, found.n_batches + batch)
    return found


def _message(header: memoryview, body: Any) -> tuple[int, int, int]:
    """The kind of a message, its rows, and the bytes of its buffers once unpacked."""
    root = _number(header, 0, "<I")
    kind = _scalar(header, root, 1, "<B")
    if kind not in (DICTIONARY, BATCH):
        return kind, 0, 0
    batch = _table(header, root, 2)
    if kind == DICTIONARY:
        batch = _table(header, batch, 1)
    packed = _place(header, batch, 3) is not None
    total = 0
    for offset, length in _buffers(header, batch):
        size = length
        if packed and length >= 8:
            told = _number(memoryview(body)[offset : offset + 8], 0, "<q")
            size = length - 8 if told == -1 else told
        total += max(size, 0)
    return kind, _scalar(header, batch, 0, "<q"), total


def _buffers(header: memoryview, batch: int) -> list[tuple[int, int]]:
    """Where the buffers of a batch begin in its body, and how long they are there."""
    at = _table(header, batch, 2)
    n = _number(header, at, "<I")
    return [struct.unpack_from("<qq", header, at + 4 + 16 * i) for i in range(n)]


# A flatbuffer's table begins with the distance to the list of its fields' places. -----------------


def _place(header: memoryview, table: int, field: int) -> int | None:
    """Where a field of a table lies; `None` if it is not there."""
    fields = table - _number(header, table, "<i")
    entry = 4 + 2 * field
    if entry >= _number(header, fields, "<H"):
        return None
    offset = _number(header, fields + entry, "<H")
    return table + offset if offset else None


def _scalar(header: memoryview, table: int, field: int, form: str) -> int:
    place = _place(header, table, field)
    return 0 if place is None else _number(header, place, form)


def _table(header: memoryview, table: int, field: int) -> int:
    """Where the table or vector lies that a field refers to."""
    place = _place(header, table, field)
    if place is None:
        raise ValueError("a header without the field it needs")
    return place + _number(header, place, "<I")


def _number(data: memoryview, at: int, form: str) -> int:
    if at < 0:
        raise ValueError("a header that points before its beginning")
    return int(struct.unpack_from(form, data, at)[0])
