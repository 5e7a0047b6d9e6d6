"""What kind of text file this is: compression, delimiter and header, from its start."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from unveil.errors import DataError, Hint
from unveil.table.io.encoding import decoded, encodings, text_encoding
from unveil.table.options import check_names
from unveil.table.places import tell

__all__ = ["DELIMITERS", "Layout", "open_bytes", "read_head", "sniff"]

HEAD_BYTES = 1 << 18
DELIMITERS = (",", ";", "\t", "|")

_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}


@dataclass(frozen=True)
class Layout:
    """How to read a delimited file: its dialect, its names, and the lines before the data."""

    encoding: str
    delimiter: str
    quote: str
    names: tuple[str, ...]
    skip_lines: int
    rows: tuple[tuple[str, ...], ...]
    """The first rows of data, to guess by."""


def open_bytes(path: Path) -> Any:
    """A stream of the file's bytes, decompressed when its first bytes say gzip, bz2 or zstd."""
    with path.open("rb") as file:
        magic = file.read(4)
    for start, name in _COMPRESSED.items():
        if magic.startswith(start):
            return pa.CompressedInputStream(pa.OSFile(str(path)), name)
    return pa.OSFile(str(path))


def read_head(path: Path) -> bytes:
    """The first bytes of a file, decompressed; a broken archive is refused."""
    try:
        with open_bytes(path) as stream:
            return bytes(stream.read(HEAD_BYTES))
    except OSError as error:
        raise DataError(
            f"{path}: the file cannot be decompressed ({error}); is it cut off?"
        ) from error


def sniff(
    path: Path,
    head: bytes,
    *,
    delimiter: str | None = None,
    quote: str = '"',
    header: bool = True,
    encoding: str | None = None,
) -> Layout:
    """The layout of a delimited text file, from its first bytes."""
    encoding = text_encoding(head, path, encoding)
    text = decoded(head, path, encoding)
    before, told = _preamble(path, text)
    text = "".join(text.splitlines(keepends=True)[before:])
    if not text.strip():
        raise DataError(f"{path}: the file is empty; expected a header line and rows of data")
    whole = len(head) < HEAD_BYTES
    delimiter = told if delimiter is None else delimiter
    _check_marks(path, delimiter, quote)
    if delimiter is None:
        marks = [mark for mark in DELIMITERS if mark != quote]
        delimiter = max(marks, key=lambda mark: _fit(_records(text, mark, quote, whole)[0]))
    records, lines = _records(text, delimiter, quote, whole)
    if len(records[0]) == 1:
        _doubt_delimiter(path, delimiter, text, quote, whole)
    skip, rows = before + lines[0], tuple(map(tuple, records))
    if not header:
        names = tuple(f"x{i + 1}" for i in range(len(records[0])))
        return Layout(encoding, delimiter, quote, names, skip - 1, rows)
    names = _names(path, records)
    _doubt_header(path, names, head, encoding)
    return Layout(encoding, delimiter, quote, names, skip, rows[1:])


def _check_marks(path: Path, delimiter: str | None, quote: str) -> None:
    """Refuse a delimiter or a quote that no parser can work with."""
    for what, mark in (("delimiter", delimiter), ("quote", quote or None)):
        if mark is not None and not (len(mark) == 1 and mark.isascii() and mark not in "\0\r\n"):
            raise DataError(
                f"{path}: the {what} must be one plain (ASCII) character, and it is {mark!r}; "
                "replace it in the file by a semicolon or a tab"
            )
    if delimiter is not None and delimiter == quote:
        raise DataError(f"{path}: {quote!r} cannot be both the delimiter and the quote")


def _doubt_delimiter(path: Path, given: str, text: str, quote: str, whole: bool) -> None:
    """A note when the delimiter leaves one column and another would make several."""
    marks = [mark for mark in DELIMITERS if mark != quote]
    best = max(marks, key=lambda mark: _fit(_records(text, mark, quote, whole)[0]))
    width = len(_records(text, best, quote, whole)[0][0])
    if width > 1 and best != given:
        tell(
            f"{path}: with the delimiter {given!r} every row is a single cell; {best!r} would make "
            f"{width} columns.",
            Hint(
                f"Leave delimiter= out, or say delimiter={best!r}.",
                f"Leave --delimiter out, or say --delimiter {shlex.quote(best)}.",
            ),
        )


def _preamble(path: Path, text: str) -> tuple[int, str | None]:
    """How many lines come before the table, and the delimiter if Excel's `sep=;` tells it.

    Lines that start with `#` are comments when they have not the width of what follows.
    """
    lines = text.splitlines()[:100] or [""]
    told = re.fullmatch(r"sep=(.)", lines[0])
    if told:
        return 1, told.group(1)
    n = 0
    while n < len(lines) and lines[n].startswith("#"):
        n += 1
    if n == 0 or n == len(lines):
        return 0, None
    widths = [(lines[n - 1].count(mark), lines[n].count(mark)) for mark in DELIMITERS]
    if not any(there for _, there in widths) or any(a == b > 0 for a, b in widths):
        return n - 1, None  # the last of these lines is the header itself
    tell(f"{path}: the first {n} lines start with '#' and were skipped as comments")
    return n, None


def _records(
    text: str, delimiter: str, quote: str, whole: bool, most: int = 1000
) -> tuple[list[list[str]], list[int]]:
    """The first records that are not blank, and the line on which each one ends."""
    style: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **style)
    records, lines = [], []
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    for record in reader:
        if any(cell.strip() for cell in record) or len(record) > 1:
            records.append(record)
            lines.append(reader.line_num)
        if len(records) > most:
            break
    if not whole and len(records) > 1 and len(records) <= most:
        records.pop()  # the last one may be cut off
        lines.pop()
    return records, lines


def _fit(records: list[list[str]]) -> tuple[float, bool, int]:
    """How well a delimiter fits: the share of records of the usual width, and that width.

    The header must have that width too, or else one less (as R writes row names); this keeps
    decimal commas from being taken for delimiters.
    """
    widths = Counter(map(len, records[1:] or records))
    width, often = max(widths.items(), key=lambda item: (item[1], item[0]))
    if width < 2 or len(records[0]) not in (width, width - 1):
        # A ragged body under a good header is still best read by the header's delimiter.
        return (0.0, True, len(records[0]))
    return (round(often / widths.total(), 1), len(records[0]) == width, width)


def _names(path: Path, records: list[list[str]]) -> tuple[str, ...]:
    """The names of the columns, gaps filled with a warning, duplicates refused."""
    names = [cell.strip() for cell in records[0]]
    body = records[1:]
    if body and all(len(record) == len(names) + 1 for record in body):
        if all(not record[-1].strip() for record in body):
            names.append("")
        else:
            names.insert(0, "")
    empty = [i for i, name in enumerate(names) if not name]
    for i in empty:
        name = f"column_{i + 1}"
        while name in names:
            name += "_"
        names[i] = name
        row_names = " (row names, perhaps? leave it out with table.without)" if i == 0 else ""
        tell(f"{path}: column {i + 1} has no name in the header; called {name!r}{row_names}")
    check_names(names, str(path))
    return tuple(names)


def _doubt_header(path: Path, names: tuple[str, ...], head: bytes, encoding: str) -> None:
    """Refuse names with bytes of another encoding; warn of names that look like data."""
    if any("\ufffd" in name for name in names):
        try:
            head.decode(encoding)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}, the header: byte 0x{head[error.start]:02x} (byte {error.start + 1} of "
                f"the file) is not {encoding} text. Read the file with its own encoding, often",
                hint=encodings("latin-1"),
            ) from error
    number = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
    if all(number.fullmatch(name) for name in names):
        tell(
            f"{path}: the header line holds only numbers ({', '.join(names[:5])}, ...), as if it "
            "were data; if the file has no header, read it with",
            Hint("header=False", "--no-header"),
        )
