"""What kind of text file this is: compression, encoding, delimiter and header, from its start."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from unveil.errors import DataError, Hint
from unveil.table.options import check_names
from unveil.table.places import tell

__all__ = [
    "DELIMITERS",
    "Layout",
    "encodings",
    "open_bytes",
    "read_head",
    "sniff",
    "text_encoding",
]

HEAD_BYTES = 1 << 18
DELIMITERS = (",", ";", "\t", "|")

_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


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


def encodings(first: str) -> Hint:
    """The encodings to try, `first` and one more."""
    return Hint(
        f'encoding="{first}" or encoding="cp1252".', f"--encoding {first} or --encoding cp1252."
    )


def text_encoding(head: bytes, path: Path, encoding: str | None) -> str:
    """The encoding given, or the one its byte order mark tells, or UTF-8; binary is refused."""
    if encoding is not None:
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise DataError(
                f'{path}: no encoding is called {encoding!r}; try "utf-8" or "latin-1"'
            ) from None
        return encoding
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    if b"\x00" in head:
        raise DataError(
            f"{path}: byte {head.index(0) + 1} is zero, so this is no text file. A table is a CSV, "
            "Parquet, Feather or ARFF file; for UTF-16 without a mark say",
            hint=Hint('encoding="utf-16".', "--encoding utf-16."),
        )
    return "utf-8"


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
    if len(quote) > 1 or (delimiter is not None and len(delimiter) != 1):
        raise DataError(
            f"delimiter and quote must be single characters, got {delimiter!r} and {quote!r}"
        )
    encoding = text_encoding(head, path, encoding)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    if not text.strip():
        raise DataError(f"{path}: the file is empty; expected a header line and rows of data")
    before, told = _preamble(path, text)
    text = "".join(text.splitlines(keepends=True)[before:])
    whole = len(head) < HEAD_BYTES
    delimiter = delimiter or told
    if delimiter is None:
        delimiter = max(DELIMITERS, key=lambda mark: _fit(_records(text, mark, quote, whole)[0]))
    records, lines = _records(text, delimiter, quote, whole)
    skip, rows = before + lines[0], tuple(map(tuple, records))
    if not header:
        names = tuple(f"x{i + 1}" for i in range(len(records[0])))
        return Layout(encoding, delimiter, quote, names, skip - 1, rows)
    names = _names(path, records)
    _doubt_header(path, names, head, encoding)
    return Layout(encoding, delimiter, quote, names, skip, rows[1:])


def _preamble(path: Path, text: str) -> tuple[int, str | None]:
    """How many lines come before the table, and the delimiter if Excel's `sep=;` tells it.

    Lines that start with `#` are comments when they have not the width of what follows.
    """
    lines = text.splitlines()[:100]
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
