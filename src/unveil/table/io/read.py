"""`read_table`: a file becomes a `Table`, whatever common format it is in."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

from unveil.errors import DataError, Hint
from unveil.table.assemble import Kinds, assemble, check_names, check_options
from unveil.table.core import Table
from unveil.table.io.arff import read_arff
from unveil.table.io.csv import read_delimited
from unveil.table.io.sniff import open_bytes, read_head, sniff, text_encoding
from unveil.table.text import DEFAULT_MISSING
from unveil.table.variable import Variable

__all__ = ["read_table"]

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

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "patients.csv"
    >>> _ = path.write_text("smoker;dose\nyes;1\nno;2\nNA;1\n")
    >>> read_table(path)
    Table(3 rows, 2 columns: 'smoker' (2 states), 'dose' (2 states); 1 missing cell)
    >>> read_table(path, kinds={"dose": "continuous"}).variable("dose")
    Variable('dose')
    """
    file = _checked_path(path)
    columns = [columns] if isinstance(columns, str) else columns
    options: dict[str, Any] = {"kinds": kinds, "weights": weights}
    options |= {"missing": (missing,) if isinstance(missing, str) else missing}
    options |= {"source": str(file)}
    head = read_head(file)
    if head.startswith((b"PAR1", b"ARROW1", b"FEA1")):
        return _from_arrow(file, _arrow_table(file, head), columns, variables, options)
    for magic, what in _BINARY.items():
        if head.startswith(magic):
            raise DataError(f"{file}: this is {what}")
    if _NETWORK.search(head[:2000]):
        raise DataError(
            f"{file}: this is a network, not a table of data. Networks are read by "
            "unveil.load and by the commands query, predict, sample and convert."
        )
    if _is_arff(file, head):
        return _from_arff(file, head, encoding, columns, variables, options)
    layout = sniff(file, head, delimiter=delimiter, quote=quote, header=header, encoding=encoding)
    check_options(layout.names, str(file), kinds, weights, variables, columns)
    wanted = _wanted(layout.names, weights, variables, columns)
    cells = read_delimited(file, layout, wanted)
    return assemble(cells, variables=variables, text=True, quote=quote, **options)


def _checked_path(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if file.is_dir():
        raise DataError(f"{file}: this is a folder; give the path of one file in it")
    if not file.exists():
        near = sorted(p.name for p in file.parent.glob(f"{file.stem[:3]}*"))[:5]
        hint = f"; in the same folder there are {', '.join(near)}" if near else ""
        raise DataError(f"{file}: there is no such file (looked in {file.parent.resolve()}){hint}")
    if not os.access(file, os.R_OK):
        raise DataError(f"{file}: the file may not be read; ask its owner for permission")
    return file


def _wanted(
    names: Sequence[str],
    weights: str | None,
    variables: Sequence[Variable] | None,
    columns: Sequence[str] | None,
) -> list[str] | None:
    """The columns to read, the weights among them; `None` for all."""
    if variables is not None:
        wanted = [v.name for v in variables if v.name in names]
    elif columns is not None:
        wanted = list(columns)
    else:
        return None
    return wanted if weights is None or weights in wanted else [*wanted, weights]


def _arrow_table(file: Path, head: bytes) -> Any:
    try:
        if head.startswith(b"PAR1"):
            with open_bytes(file) as stream:
                compressed = not isinstance(stream, pa.OSFile)
                source = pa.BufferReader(stream.read()) if compressed else str(file)
            return parquet.ParquetFile(source).read()
        return feather.read_table(str(file), memory_map=False)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file}: the file starts well and cannot be read on: {error}") from error


def _from_arrow(
    file: Path,
    table: Any,
    columns: Sequence[str] | None,
    variables: Sequence[Variable] | None,
    options: dict[str, Any],
) -> Table:
    """A table from Parquet or Feather; one that unveil wrote comes back exactly as it was."""
    names = list(table.column_names)
    check_names(names, str(file))
    check_options(names, str(file), options["kinds"], options["weights"], variables, columns)
    if table.num_rows == 0 or not names:
        raise DataError(f"{file}: the table has {table.num_rows} rows and {len(names)} columns")
    note = json.loads((table.schema.metadata or {}).get(b"unveil", b"null"))
    if note and variables is None and options["kinds"] is None:
        weights = options["weights"] or note["weights"]
        chosen = [n for n in columns or names if n != weights]
        declared = {v["name"]: Variable(**v) for v in note["variables"]}
        variables = [declared[n] for n in chosen]
        options = options | {"weights": weights}
    wanted = _wanted(names, options["weights"], variables, columns) or names
    # Markers belong to text files; in a typed one a null is a null.
    missing = () if options["missing"] is DEFAULT_MISSING else options["missing"]
    cells = {name: table.column(name) for name in wanted}
    return assemble(cells, variables=variables, **options | {"missing": missing})


def _is_arff(file: Path, head: bytes) -> bool:
    for line in head.lstrip(codecs.BOM_UTF8).splitlines():
        bare = line.strip().lower()
        if bare and not bare.startswith(b"%"):
            return bare.startswith((b"@relation", b"@attribute", b"@data"))
    return file.suffix.lower() == ".arff"


def _from_arff(
    file: Path,
    head: bytes,
    encoding: str | None,
    columns: Sequence[str] | None,
    variables: Sequence[Variable] | None,
    options: dict[str, Any],
) -> Table:
    encoding = text_encoding(head, file, encoding)
    with open_bytes(file) as stream:
        data = bytes(stream.read())
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError(
            f"{file}, line {line}: byte 0x{data[error.start]:02x} is not {encoding} text; try",
            hint=Hint('encoding="latin-1"', "--encoding latin-1"),
        ) from error
    attributes, cells = read_arff(file, text)
    names = list(cells)
    check_options(names, str(file), options["kinds"], options["weights"], variables, columns)
    wanted = _wanted(names, options["weights"], variables, columns) or names
    kinds = options["kinds"]
    if variables is None and not isinstance(kinds, str):
        return _declared(attributes, cells, wanted, options)
    chosen = {name: cells[name] for name in wanted}
    return assemble(chosen, variables=variables, text=True, **options)


def _declared(
    attributes: Sequence[Any], cells: dict[str, Any], wanted: Sequence[str], options: dict[str, Any]
) -> Table:
    """The table by the file's own declarations, save for the columns that `kinds` names."""
    kinds, weights = dict(options["kinds"] or {}), options["weights"]
    declared = {a.name: a.variable for a in attributes}
    by_file = [v for n in wanted if n not in kinds and n != weights and (v := declared[n])]
    kinds |= {n: "text" for n in wanted if declared[n] is None and n not in kinds and n != weights}
    parts: dict[str, Table] = {}
    plain = {"source": options["source"], "missing": options["missing"], "text": True}
    for variable in by_file:
        one = {variable.name: cells[variable.name]}
        parts[variable.name] = assemble(one, variables=[variable], **plain)
    for name in kinds:
        if name in wanted:
            parts[name] = assemble({name: cells[name]}, kinds={name: kinds[name]}, **plain)
    row_weights = None
    if weights is not None:
        first = next(n for n in wanted if n != weights)
        pair = {first: cells[first], weights: cells[weights]}
        row_weights = assemble(pair, kinds="text", weights=weights, **plain).weights
    order = [n for n in wanted if n != weights]
    return Table(
        [parts[n].variables[0] for n in order], [parts[n].column(n) for n in order], row_weights
    )
