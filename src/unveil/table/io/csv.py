"""Delimited text into columns of text, by Arrow's parser; what the text means is decided later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from unveil.errors import DataError, Hint
from unveil.table.io.complain import explain, open_quote
from unveil.table.io.sniff import Layout, open_bytes

__all__ = ["parse_delimited", "read_delimited"]

BLOCK_BYTES = 1 << 23


def read_delimited(
    path: Path, layout: Layout, columns: Sequence[str] | None = None
) -> dict[str, Any]:
    """The columns of a delimited file as Arrow text, in file order or as asked.

    Columns that repeat themselves come dictionary encoded, which is faster and smaller; columns
    that look like real numbers or identifiers come as plain strings.
    """
    with open_bytes(path) as stream:
        try:
            table = parse_delimited(stream, layout, columns)
        except MemoryError:
            raise
        except Exception as error:  # Arrow and the codecs under it raise what they like
            raise explain(path, layout, error) from error
    if table.num_rows == 0:
        raise DataError(
            f"{path}: the file has a header and no rows of data (columns "
            f"{', '.join(map(repr, layout.names[:8]))}). If the first line is data, read it with",
            hint=Hint("header=False.", "--no-header."),
        )
    last = table.column(table.num_columns - 1)[-1].as_py()
    if (
        layout.quote
        and ("\n" in last or "\r" in last)
        and (never_closed := open_quote(path, layout))
    ):
        raise never_closed
    return {name: table.column(name) for name in table.column_names}


def parse_delimited(
    stream: Any, layout: Layout, columns: Sequence[str] | None = None, escape: str | bool = False
) -> Any:
    """An Arrow table of text columns; Arrow's own errors for lines that do not fit."""
    encoding = "utf8" if layout.encoding in ("utf-8", "utf-8-sig") else layout.encoding
    return arrow_csv.read_csv(
        stream,
        read_options=arrow_csv.ReadOptions(
            column_names=list(layout.names),
            skip_rows=layout.skip_lines,
            encoding=encoding,
            block_size=BLOCK_BYTES,
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char=layout.quote or False,
            escape_char=escape,
            newlines_in_values=True,
            # In a file of one column an empty line is a missing cell, not a gap.
            ignore_empty_lines=len(layout.names) > 1,
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict(zip(layout.names, _text_types(layout), strict=True)),
            include_columns=None if columns is None else list(columns),
            strings_can_be_null=False,
        ),
    )


def _text_types(layout: Layout) -> list[Any]:
    """Plain text for columns whose first cells are nearly all different, else a dictionary."""
    repeated = pa.dictionary(pa.int32(), pa.string())
    types = []
    for i in range(len(layout.names)):
        cells = [row[i] for row in layout.rows if i < len(row)]
        varied = len(cells) >= 100 and len(set(cells)) > 0.3 * len(cells)
        types.append(pa.string() if varied else repeated)
    return types
