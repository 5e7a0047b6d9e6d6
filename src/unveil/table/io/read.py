"""`read_table`: a file becomes a `Table`, whatever common format it is in."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unveil.errors import DataError, Hint
from unveil.files import no_such_file
from unveil.table.assemble import assemble
from unveil.table.core import Table
from unveil.table.io.arff import read_arff
from unveil.table.io.arrow import ARROW_MAGIC, Note, read_arrow
from unveil.table.io.csv import read_delimited
from unveil.table.io.encoding import text_encoding, whole_text
from unveil.table.io.size import MAX_BYTES, check_size
from unveil.table.io.sniff import open_bytes, read_head, sniff
from unveil.table.options import Kinds, Reading, States, Unknown, check_names
from unveil.table.text import DEFAULT_MISSING
from unveil.table.variable import Variable

__all__ = ["read_table"]

_IN_PIECES = (
    " (learn, fit, discover, cluster, info and predict read folders of Parquet and DuckDB files)"
)
_BINARY = {
    b"PK\x03\x04": "a zip archive or an Excel workbook; unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV",
    b"%PDF": "a PDF document; save the table as CSV",
    b"\x89HDF": "an HDF5 file; write the table as CSV or Parquet",
    b"SQLite format 3": "an SQLite database; export the table as CSV",
}
_NETWORK = re.compile(
    rb'"unveil-network"|^\s*network\s+\S+\s*\{|^\s*net\s*\{|<BIF\b|<smile\b', re.MULTILINE
)


def read_table(
    path: str | os.PathLike[str],
    *,
    kinds: Kinds = None,
    missing: Collection[str] = DEFAULT_MISSING,
    weights: str | None = None,
    delimiter: str | None = None,
    quote: str = '"',
    header: bool = True,
    encoding: str | None = None,
    variables: Sequence[Variable] | None = None,
    columns: Sequence[str] | None = None,
    states: States | None = None,
    like: Any = None,
    unknown: Unknown = "error",
    max_bytes: int | None = MAX_BYTES,
) -> Table:
    r"""A table from a CSV, TSV, Parquet, Arrow/Feather or ARFF file.

    The content decides the format, not the name; gzip, bz2 and zstd are undone on the way. The
    delimiter (`,` `;` tab `|`) is found by itself. Spaces around a cell are removed. Empty lines
    are skipped, except in a file of one column, where they are missing cells. In errors, row 1 is
    the first row of data.

    Parameters
    ----------
    path
        The file.
    kinds
        Overrides what a column is, for all columns or by name: "discrete" (typed labels, however
        many), "text" (labels as strings, verbatim) or "continuous". The rules without it are told
        in `unveil.table.text` (text files) and `unveil.table.typed` (Parquet, Feather).
    missing
        The texts that mean "missing", for text columns.
    weights
        The name of a column that says how often each row counts.
    delimiter, quote, header, encoding
        For delimited text: what separates cells, what encloses them ("" for nothing), whether the
        first line holds the names (else `x1`, `x2`, ...), and the encoding (UTF-8, or what the
        byte order mark says).
    variables
        Known variables, as of a model: their columns are coded by their states, other columns are
        left out; a label that is not among the states is refused. Hidden variables need no column.
    columns
        The names of the columns to take, in this order; all when not given.
    states
        The states of some columns by name, in this order, also those that no row shows.
    like
        A table, a network or a list of variables: columns of the same name get their states from
        it. Other columns are read as usual.
    unknown
        What a label is that is not among the states known from `states`, `like` or `variables`:
        "error", or "missing" for an empty cell and a warning.
    max_bytes
        A table that takes more, once unpacked, is refused; `None` for no limit.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "patients.csv"
    >>> _ = path.write_text("smoker;dose\nyes;1\nno;2\nNA;1\n")
    >>> read_table(path)
    Table(3 rows, 2 columns: 'smoker' (2 states), 'dose' (2 states); 1 missing cell)
    >>> read_table(path, kinds={"dose": "continuous"}).variable("dose")
    Variable('dose')
    >>> read_table(path, states={"dose": [0, 1, 2]}).variable("dose")
    Variable('dose', states=[0, 1, 2])
    """
    file = _checked_path(path)
    ask = Reading.asked(
        str(file), kinds, missing, weights, columns, variables, states, like, unknown
    )
    head = read_head(file)
    check_size(file, head, max_bytes)
    if head.startswith(ARROW_MAGIC):
        return _from_arrow(file, read_arrow(file, head), ask)
    if head[8:12] == b"DUCK":
        raise DataError(
            f"{file}: this is a DuckDB file; write the rows as Parquet first{_IN_PIECES}"
        )
    for magic, what in _BINARY.items():
        if head.startswith(magic):
            raise DataError(f"{file}: this is {what}")
    if _NETWORK.search(head[:2000]):
        raise DataError(
            f"{file}: this is a network, not a table of data. Networks are read by",
            hint=Hint(
                "unveil.load.",
                "query, predict, impute, sample, convert and info, and as --structure by fit.",
            ),
        )
    if _is_arff(file, head):
        return _from_arff(file, head, encoding, ask)
    layout = sniff(file, head, delimiter=delimiter, quote=quote, header=header, encoding=encoding)
    ask.check(layout.names)
    cells = read_delimited(file, layout, _wanted(layout.names, ask))
    return assemble(cells, ask, text=True, quote=quote)


def _checked_path(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if file.is_dir():
        raise DataError(f"{file}: this is a folder; give the path of one file in it{_IN_PIECES}")
    if not file.exists():
        raise DataError(no_such_file(file))
    if not os.access(file, os.R_OK):
        raise DataError(f"{file}: the file may not be read; ask its owner for permission")
    return file


def _wanted(names: Sequence[str], ask: Reading) -> list[str] | None:
    """The columns to read, the weights among them; `None` for all."""
    if ask.variables is None and ask.columns is None:
        return None
    return [*ask.inputs(names), *([] if ask.weights is None else [ask.weights])]


def _from_arrow(file: Path, table: Any, ask: Reading) -> Table:
    """A table from Parquet or Feather; one that unveil wrote comes back exactly as it was."""
    names = list(table.column_names)
    check_names(names, str(file))
    ask.check(names)
    if table.num_rows == 0 or not names:
        raise DataError(f"{file}: the table has {table.num_rows} rows and {len(names)} columns")
    if ask.variables is None and ask.kinds is None:
        ask = Note.found(table, file).asked(ask)
    if ask.missing is DEFAULT_MISSING:
        ask = replace(ask, missing=())  # markers belong to text files; in a typed one a null is one
    cells = {name: table.column(name) for name in _wanted(names, ask) or names}
    return assemble(cells, ask)


def _is_arff(file: Path, head: bytes) -> bool:
    for line in head.lstrip(codecs.BOM_UTF8).splitlines():
        bare = line.strip().lower()
        if bare and not bare.startswith(b"%"):
            return bare.startswith((b"@relation", b"@attribute", b"@data"))
    return file.suffix.lower() == ".arff"


def _from_arff(file: Path, head: bytes, encoding: str | None, ask: Reading) -> Table:
    """A table by the file's own declarations, save where something else was asked for."""
    encoding = text_encoding(head, file, encoding)
    with open_bytes(file) as stream:
        data = bytes(stream.read())
    text = whole_text(data, file, encoding)
    attributes, cells = read_arff(file, text)
    ask.check(tuple(cells))
    if ask.variables is None and not isinstance(ask.kinds, str):
        declared = {a.name: v for a in attributes if (v := a.variable)}
        others = {a.name: "text" for a in attributes if a.name not in declared | ask.like}
        kinds = others | dict(ask.kinds or {})
        ask = replace(ask, kinds=kinds, like=declared | ask.like)
    return assemble(cells, ask, text=True)
