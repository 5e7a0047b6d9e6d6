"""How large a table may be: a small file can hide a huge one, and memory ends without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from unveil.errors import DataError, Hint, SizeError
from unveil.table.io.feather_size import asked_for
from unveil.table.io.sniff import open_bytes

__all__ = ["MAX_BYTES", "check_size"]

MAX_BYTES = 1 << 32
"""The largest table that is read unless another limit is given, in bytes once unpacked."""
MOST_GZIP_SAVES = 1032
"""No gzip file is smaller than what it holds by more than this factor."""
CHUNK = 1 << 22
CELL_BYTES = 8


def check_size(path: Path, head: bytes, most: int | None = MAX_BYTES) -> None:
    """Refuse a file that holds more than so many bytes, before it is read; `None` for no limit.

    Text counts as it is once decompressed; Parquet and Feather by the memory their columns need.
    """
    if most is None or not path.is_file():
        return
    if most < 0:
        raise DataError(
            f"the largest size of a table is zero bytes or more, got {most}.",
            hint=Hint("(max_bytes=None sets no limit)"),
        )
    if _unpacked(path, most) > most or _columns(path, head, most) > most:
        raise SizeError(
            f"{path}: the table takes more than {most:,} bytes once it is unpacked. If there is "
            "memory for it,",
            hint=Hint("say max_bytes=None.", "say --max-bytes 0."),
        )


def _unpacked(path: Path, most: int) -> int:
    """The bytes of the file, decompressed; counted no further than needed."""
    size = path.stat().st_size
    try:
        with open_bytes(path) as stream:
            if isinstance(stream, pa.OSFile):
                return size
            with path.open("rb") as file:
                if file.read(2) == b"\x1f\x8b" and size * MOST_GZIP_SAVES <= most:
                    return size
            total = 0
            while total <= most and (chunk := stream.read(CHUNK)):
                total += len(chunk)
            return total
    except OSError:
        return size  # whoever reads it says what is wrong with it


def _columns(path: Path, head: bytes, most: int) -> int:
    """The memory that the columns of a Parquet or Feather file need; 0 for other files."""
    try:
        with open_bytes(path) as stream:
            source = stream if isinstance(stream, pa.OSFile) else pa.BufferReader(stream.read())
            if head.startswith(b"PAR1"):
                about = parquet.ParquetFile(source).metadata
                groups = (about.row_group(i).total_byte_size for i in range(about.num_row_groups))
                # A column that repeats itself takes no room in the file, but a cell is a cell.
                return max(sum(groups), about.num_rows * about.num_columns * CELL_BYTES)
            if head.startswith(b"ARROW1"):
                return _feather(source, most)
    except Exception:  # Arrow raises what it likes; whoever reads the file says what is wrong
        return 0
    return 0


def _feather(source: Any, most: int) -> int:
    """What the headers of a Feather file ask for; where they cannot be followed, batch by batch."""
    file = pa.ipc.open_file(source)
    try:
        told = asked_for(source, most)
    except Exception:
        return _batches(file, most)
    if told.n_bytes <= most and told.n_batches < file.num_record_batches:
        return _batches(file, most)  # the list of batches at the end names some more than once
    return max(told.n_bytes, told.n_rows * len(file.schema) * CELL_BYTES)


def _batches(file: Any, most: int) -> int:
    total = 0
    for number in range(file.num_record_batches):
        total += file.get_batch(number).get_total_buffer_size()
        if total > most:
            break
    return total
