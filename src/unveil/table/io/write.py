"""`write_table`: a table into a file, atomically, with the labels in their own words.

What comes back: Parquet and Feather files carry the variables with them and are read back equal,
states that no row has included. Text files hold only text: reading one back finds the types
again by the rules of `unveil.table.text`, so a string label that looks like a number, a
boolean or a missing marker ("1", "true", "NA"), spaces around a label, float labels, the order of
states and unused states need `read_table(path, variables=table.variables)` to be restored. An
empty string as a label cannot be told from a missing cell and is written with a warning.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import DataError
from unveil.files import atomic_write, check_target
from unveil.table.core import Table
from unveil.table.export import named_weights, to_arrow
from unveil.table.io.arrow import with_note
from unveil.table.io.sniff import DELIMITERS
from unveil.table.places import at, tell
from unveil.table.variable import Variable, label_text

__all__ = ["check_table_target", "write_table"]

_BLOCK = 1 << 16


class BinaryStream(Protocol):
    """What a writer needs of a file."""

    def write(self, data: Any, /) -> Any:
        """Take the bytes."""


def write_table(table: Table, path: str | os.PathLike[str], *, weights: str = "weight") -> None:
    """Write a CSV, TSV (both also `.gz`), Parquet or Feather file, by the ending of its name.

    Missing cells are empty; row weights become a column called `weights`.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> write_table(Table.from_frame({"x": ["a, b", None], "n": [1, 2]}), path)
    >>> print(path.read_text())
    x,n
    "a, b",1
    ,2
    <BLANKLINE>
    """
    ending, zipped = check_table_target(path)
    writer = _WRITERS[ending]
    named_weights(table, weights)
    with atomic_write(path, "wb") as stream:
        if zipped:
            # No time stamp and no name inside: the same table gives the same bytes.
            with gzip.GzipFile("", "wb", 4, stream, mtime=0) as packing:
                writer(table, packing, weights)
        else:
            writer(table, stream, weights)


def check_table_target(path: str | os.PathLike[str]) -> tuple[str, bool]:
    """The ending that tells the format, and whether gzip follows; an error for any other name.

    Called before long work, so that nobody learns of a wrong name only after it.
    """
    file = Path(path)
    ending = "".join(s for s in file.suffixes[-2:] if s.lower() in _WRITERS or s.lower() == ".gz")
    stem, _, packed = ending.lower().partition(".gz")
    zipped = ending.lower().endswith(".gz")
    if stem not in _WRITERS or packed or (zipped and stem not in (".csv", ".tsv")):
        raise DataError(
            f"{file}: the ending does not tell a format; use .csv, .tsv, .csv.gz, .tsv.gz, "
            ".parquet or .feather"
        )
    if not file.parent.is_dir():
        raise DataError(f"{file}: there is no folder {file.parent}; make it first")
    check_target(file)
    return stem, zipped


def _write_csv(table: Table, stream: BinaryStream, weights: str) -> None:
    _write_delimited(table, stream, weights, ",")


def _write_tsv(table: Table, stream: BinaryStream, weights: str) -> None:
    _write_delimited(table, stream, weights, "\t")


def _write_delimited(table: Table, stream: BinaryStream, weights: str, delimiter: str) -> None:
    """Rows are joined column by column inside Arrow, a block at a time."""
    extra = named_weights(table, weights)
    header = delimiter.join(_quoted(name, delimiter) for name in [*table.names, *extra])
    stream.write((header + "\n").encode())
    # A row of one empty cell would be an empty line.
    blank = '""' if len(table.names) + len(extra) == 1 else ""
    states = [_state_texts(v, delimiter, blank) for v in table.variables]
    arrays = [table.column(name) for name in table.names]
    for start in range(0, table.n_rows, _BLOCK):
        rows = slice(start, start + _BLOCK)
        cells = [
            _float_text(array[rows], blank) if texts is None else _take(texts, array[rows])
            for texts, array in zip(states, arrays, strict=True)
        ]
        cells += [_float_text(array[rows], blank) for array in extra.values()]
        lines = pc.binary_join_element_wise(*cells, delimiter)
        stream.write(pc.binary_join(_as_list(lines), "\n")[0].as_buffer())
        stream.write(b"\n")


def _state_texts(variable: Variable, delimiter: str, blank: str) -> Any:
    """The states as they stand in the file, then the missing mark; `None` when continuous."""
    if not variable.is_discrete:
        return None
    if "" in variable.labels:
        tell(
            f"{at('', None, variable.name)}: the empty string is one of the states; in a text "
            "file it is read back as missing. Parquet and Feather keep it."
        )
    return pa.array([_quoted(label_text(s), delimiter) for s in variable.labels] + [blank])


def _take(texts: Any, codes: Any) -> Any:
    return texts.take(pa.array(np.minimum(codes, len(texts) - 1).astype(np.int64)))


def _float_text(values: Any, blank: str) -> Any:
    return pc.fill_null(pc.cast(pa.array(values, from_pandas=True), pa.string()), blank)


def _as_list(lines: Any) -> Any:
    return pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)


def _quoted(text: str, delimiter: str) -> str:
    # Every delimiter that a reader may look for, so that none finds the wrong one.
    special = any(mark in text for mark in (delimiter, *DELIMITERS, '"', "\n", "\r"))
    return '"' + text.replace('"', '""') + '"' if special or text != text.strip() else text


def _noted(table: Table, weights: str) -> Any:
    return with_note(table, to_arrow(table, weights), weights)


def _write_parquet(table: Table, stream: BinaryStream, weights: str) -> None:
    import pyarrow.parquet as parquet

    parquet.write_table(_noted(table, weights), stream)


def _write_feather(table: Table, stream: BinaryStream, weights: str) -> None:
    import pyarrow.feather as feather

    feather.write_feather(_noted(table, weights), stream)


_WRITERS: dict[str, Callable[[Table, BinaryStream, str], None]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".parquet": _write_parquet,
    ".pq": _write_parquet,
    ".feather": _write_feather,
    ".arrow": _write_feather,
}
