"""One schema for many files, and what the files do not agree about.

Arrow takes the schema of the first file for all: it leaves out columns that only others have, fills
in those they lack, and makes numbers of text. Here all files are asked. A column that some lack has
missing cells there, which is told; types that hold one another are joined; text in one file and
numbers in another are refused, as labels would lose their type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds

from unveil.errors import DataError, Hint
from unveil.table.options import check_names

__all__ = ["Common", "common_schema", "folder_columns"]

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""How Hive calls the folder of rows whose cell is missing."""


@dataclass(frozen=True)
class Common:
    """The columns of all files: their types, and sentences about those that differ."""

    schema: Any
    lacking: dict[str, str] = field(default_factory=dict)
    """Of columns that some files do not have."""
    clashing: dict[str, str] = field(default_factory=dict)
    """Of columns whose types no type holds."""

    def check(self, wanted: Iterable[str]) -> None:
        """An error if a column that is to be read has types that do not go together."""
        for name in wanted:
            if name in self.clashing:
                raise DataError(
                    f"{self.clashing[name]}; labels would lose their type. Write the files alike, "
                    "or learn without the column",
                    hint=Hint(f"(drop=[{name!r}])", f"(--drop {name})"),
                )


def common_schema(fragments: Iterable[Any]) -> Common:
    """The columns of all files in order of appearance, with types that hold those of each."""
    types: dict[str, Any] = {}
    having: dict[str, list[str]] = {}
    clashing: dict[str, str] = {}
    paths: list[str] = []
    for fragment in fragments:
        path = str(getattr(fragment, "path", None) or "a part")
        paths.append(path)
        inside = fragment.physical_schema
        check_names(inside.names, path)
        folders = ds.get_partition_keys(fragment.partition_expression)
        for name in dict.fromkeys([*folders, *inside.names]):
            having.setdefault(name, []).append(path)
        for column in inside:
            name, before = column.name, types.get(column.name, column.type)
            types[name] = _joined(before, column.type)
            if types[name] is None:
                types[name] = before
                words = f"column {name!r} is {column.type} in {path} and {before} in"
                clashing.setdefault(name, f"{words} {having[name][0]}")
    lacking = {n: _lack(n, own, paths) for n, own in having.items() if len(own) < len(paths)}
    return Common(pa.schema(list(types.items())), lacking, clashing)


def folder_columns(files: Iterable[str], base: Path, inside: Any) -> Any:
    """The columns that folders called `name=value` below `base` stand for, as an Arrow schema.

    Whole numbers where all values are written as such, as in a CSV: `01` is a label. A column that
    is also `inside` of the files keeps its type; its cells are what the folders say.

    >>> folder_columns(["/lake/year=2024/k=01/a.parquet"], Path("/lake"), pa.schema([]))
    year: int64
    k: string
    """
    values: dict[str, set[str]] = {}
    for file in files:
        for part in Path(file).relative_to(base).parts[:-1]:
            name, equals, value = part.partition("=")
            if name and equals:
                values.setdefault(unquote(name), set()).add(unquote(value))
    fields = []
    for name, written in values.items():
        kind = pa.int64() if all(map(_is_whole, written - {NO_VALUE})) else pa.string()
        if name in inside.names:
            kind = inside.field(name).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        fields.append((name, kind))
    return pa.schema(fields)


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text) is not None


def _lack(name: str, having: list[str], paths: list[str]) -> str:
    without = sorted(set(paths) - set(having))
    return (
        f"column {name!r} is in {having[0]} and not in {without[0]} ({len(without):,} of "
        f"{len(paths):,} files lack it): its cells are missing there"
    )


def _joined(a: Any, b: Any) -> Any:
    """A type that holds both, if there is one: wider numbers, text for text; no text for numbers.

    >>> _joined(pa.int32(), pa.float64())
    DataType(double)
    >>> _joined(pa.int32(), pa.string()) is None
    True
    """
    if a == b:
        return a
    if pa.types.is_dictionary(a) != pa.types.is_dictionary(b):
        a, b = (t.value_type if pa.types.is_dictionary(t) else t for t in (a, b))
    try:
        one, other = (pa.schema([("x", t)]) for t in (a, b))
        return pa.unify_schemas([one, other], promote_options="permissive").field("x").type
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return None
