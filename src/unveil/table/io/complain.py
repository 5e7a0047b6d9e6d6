"""Why a delimited file could not be read, in a sentence with line, row and column.

Only called after Arrow has refused the file, so a slow and careful second reading is welcome.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unveil.errors import DataError, Hint
from unveil.table.io.encoding import encodings
from unveil.table.io.sniff import Layout, open_bytes
from unveil.table.places import count

__all__ = ["explain", "open_quote"]


def explain(path: Path, layout: Layout, error: Exception) -> DataError:
    """The error to raise in place of Arrow's."""
    if "skip initial" in str(error):
        return DataError(f"{path}: the file has a header and no rows of data")
    if isinstance(error, OSError):
        return DataError(f"{path}: the file cannot be read to its end ({error}); is it cut off?")
    return (
        _wrong_encoding(path, layout)
        or _ragged(path, layout)
        or DataError(f"{path}: the file cannot be read as delimited text: {error}")
    )


def open_quote(path: Path, layout: Layout) -> DataError | None:
    """The quote that opens and is never closed; `None` when all are."""
    row = 0
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(stream, encoding=layout.encoding, errors="replace", newline="")
        try:
            for line, _ in _records(text, layout, strict=True):
                row += line > layout.skip_lines
        except csv.Error as error:
            if "unexpected end" not in str(error):
                return None
            return DataError(
                f"{path}, row {row + 1}: a quote ({layout.quote}) opens and is never closed, so "
                "the rest of the file would be one cell. Close it.",
                hint=Hint('Or read with quote="" if quotes mean nothing in this file.'),
            )
    return None


def _wrong_encoding(path: Path, layout: Layout) -> DataError | None:
    """The first byte that is not in the encoding, with its place; `None` when all are."""
    with open_bytes(path) as stream:
        data = bytes(stream.read())
    try:
        codecs.decode(data, layout.encoding)
        return None
    except UnicodeDecodeError as error:
        start = error.start
    except Exception:  # codecs raise what they like
        return None
    # One character in place of the bad byte, so that its cell is there even when it is empty.
    before = codecs.decode(data[:start], layout.encoding, "replace") + "x"
    records = list(_records(io.StringIO(before, newline=""), layout))
    row = sum(line > layout.skip_lines for line, _ in records)
    place = min(max(len(records[-1][1]) if records else 1, 1), len(layout.names)) - 1
    where = f"row {row}, column {layout.names[place]!r}" if row > 0 else "the header"
    try_this = "latin-1" if layout.encoding != "latin-1" else "utf-8"
    return DataError(
        f"{path}, {where}: byte 0x{data[start]:02x} (byte {start + 1} of the file) is "
        f"not {layout.encoding} text. Read the file with its own encoding, often",
        hint=encodings(try_this),
    )


def _ragged(path: Path, layout: Layout) -> DataError | None:
    """The first row with too few or too many fields; `None` when there is none."""
    expected = len(layout.names)
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(stream, encoding=layout.encoding, errors="replace", newline="")
        row = 0
        for line, record in _records(text, layout):
            row += line > layout.skip_lines
            if row > 0 and len(record) != expected:
                start = layout.delimiter.join(record)[:60]
                return DataError(
                    f"{path}, line {line} (row {row} of the data): expected "
                    f"{count(expected, 'field')} as in the header, found {len(record)}: "
                    f"{start!r}. Look for a missing or extra {layout.delimiter!r}, put text that "
                    f"contains it in quotes, or, if {layout.delimiter!r} is not what separates the "
                    "columns, say",
                    hint=Hint("delimiter=...", "--delimiter TEXT"),
                )
    return None


def _records(text: Any, layout: Layout, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    style: dict[str, Any] = (
        {"quotechar": layout.quote} if layout.quote else {"quoting": csv.QUOTE_NONE}
    )
    reader = csv.reader(text, delimiter=layout.delimiter, strict=strict, **style)
    start = 1
    for record in reader:
        if record:
            yield start, record
        start = reader.line_num + 1
