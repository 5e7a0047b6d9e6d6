"""Options that several commands share: how to read a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unveil.errors import DataError

__all__ = [
    "Continuous",
    "Delimiter",
    "Discrete",
    "Encoding",
    "Header",
    "Missing",
    "Seed",
    "TableFile",
    "Text",
    "Weights",
    "reading",
]

TableFile = Annotated[
    Path, typer.Argument(help="A table: CSV, TSV, Parquet, Feather or ARFF; .gz is fine.")
]
Delimiter = Annotated[
    str | None, typer.Option(help="What separates the cells; found by itself if not given.")
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="A text that marks a missing cell, instead of the usual ones; repeatable."),
]
Weights = Annotated[
    str | None, typer.Option(help="The column that says how often each row counts.")
]
Encoding = Annotated[
    str | None, typer.Option(help="How the file's letters are written, for example latin-1.")
]
Header = Annotated[bool, typer.Option(help="Whether the first line holds the names.")]
Discrete = Annotated[
    list[str] | None, typer.Option(help="A column to read as discrete; repeatable.")
]
Continuous = Annotated[
    list[str] | None, typer.Option(help="A column to read as continuous; repeatable.")
]
Text = Annotated[
    list[str] | None,
    typer.Option(help="A column to read as labels, exactly as written; repeatable."),
]
Seed = Annotated[int | None, typer.Option(help="Repeat a run exactly; fresh randomness if absent.")]


def reading(
    delimiter: str | None = None,
    missing: list[str] | None = None,
    weights: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    discrete: list[str] | None = None,
    continuous: list[str] | None = None,
    text: list[str] | None = None,
) -> dict[str, Any]:
    """The keyword arguments of `read_table` that the command line's options stand for."""
    kinds: dict[str, str] = {}
    for kind, names in (("discrete", discrete), ("continuous", continuous), ("text", text)):
        for name in names or ():
            if kinds.setdefault(name, kind) != kind:
                raise DataError(f"column {name!r} cannot be both {kinds[name]} and {kind}")
    chosen: dict[str, Any] = {"header": header, "kinds": kinds or None, "weights": weights}
    if delimiter is not None:
        chosen["delimiter"] = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if missing:
        chosen["missing"] = tuple(missing)
    if encoding is not None:
        chosen["encoding"] = encoding
    return chosen
