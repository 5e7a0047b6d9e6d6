"""Parquet and Arrow/Feather files, and the note about its variables that unveil leaves in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from unveil.errors import DataError, SizeError, UnveilError
from unveil.table.core import Table
from unveil.table.io.sniff import open_bytes
from unveil.table.options import Reading
from unveil.table.places import listing, tell
from unveil.table.typed import known_typed
from unveil.table.variable import Variable

__all__ = ["ARROW_MAGIC", "Note", "read_arrow", "with_note"]

ARROW_MAGIC = (b"PAR1", b"ARROW1", b"FEA1")
"""How the files begin that are read here."""

_KEY = b"unveil"


def read_arrow(file: Path, head: bytes) -> Any:
    """The Arrow table of a file; all of it is checked before anybody looks at a cell.

    Arrow trusts offsets and codes in a file and would follow them out of its memory, so that a
    damaged file could end the process.
    """
    if head.startswith(b"FEA1"):
        raise DataError(
            f"{file}: this is a Feather file of the old version 1, which cannot be read safely. "
            "Write it again as version 2 (pyarrow.feather.write_feather, since 2020), as Parquet "
            "or as CSV."
        )
    try:
        with open_bytes(file) as stream:
            source = stream if isinstance(stream, pa.OSFile) else pa.BufferReader(stream.read())
            if head.startswith(b"PAR1"):
                table = parquet.ParquetFile(source).read()
            else:
                table = pa.ipc.open_file(source).read_all()
        table.validate(full=True)
        _ = table.column_names  # text like any other, and not checked above
    except MemoryError as error:
        raise SizeError(
            f"{file}: the file asks for more memory than there is ({error}); is it damaged?"
        ) from error
    except Exception as error:  # Arrow raises what it likes
        raise DataError(f"{file}: the file starts well and cannot be read on: {error}") from error
    return table


@dataclass(frozen=True)
class Note:
    """What unveil wrote down about a table beside its cells, for an exact way back."""

    variables: dict[str, Variable] = field(default_factory=dict)
    weights: str | None = None

    @classmethod
    def of(cls, table: Table, weights: str) -> Note:
        """What there is to note of a table whose weights are in a column of this name."""
        named = None if table.weights is None else weights
        return cls({v.name: v for v in table.variables}, named)

    @classmethod
    def found(cls, table: Any, file: Path) -> Note:
        """The note in an Arrow table, as far as it still fits the columns.

        Others may have changed the table since. What does not fit is told and forgotten.
        """
        return cls.of_schema(table.schema, str(file))._fitting(table, file)

    @classmethod
    def of_schema(cls, schema: Any, source: str) -> Note:
        """The note in an Arrow schema, for the columns that are there; nobody looked at cells."""
        written = (schema.metadata or {}).get(_KEY)
        if written is None:
            return cls()
        try:
            known = json.loads(written)
            named = known["weights"]
            variables = [
                Variable(v["name"], v["states"], v["hidden"], v.get("cuts"))
                for v in known["variables"]
            ]
            if not isinstance(named, str | None):
                raise TypeError(f"weights: {named!r}")
        except (UnveilError, ValueError, KeyError, TypeError, RecursionError):
            tell(f"{source}: unveil's note about the columns is damaged and was ignored")
            return cls()
        return cls({v.name: v for v in variables if v.name in schema.names}, named)

    def _fitting(self, table: Any, file: Path) -> Note:
        changed = [v.name for v in self.variables.values() if not _fits(v, table.column(v.name))]
        note = self
        if changed:
            tell(
                f"{file}: the columns {listing(changed)} have changed since unveil wrote the file, "
                "so the states that it noted for them were ignored"
            )
            kept = {name: v for name, v in self.variables.items() if name not in changed}
            note = replace(note, variables=kept)
        if note.weights is not None and not _are_weights(table, note.weights):
            tell(
                f"{file}: the column {note.weights!r}, which held the weights when unveil wrote "
                "the file, holds none now; all rows count once"
            )
            note = replace(note, weights=None)
        return note

    def asked(self, ask: Reading) -> Reading:
        """The reading with what the note knows, save where something else was asked for."""
        weights = ask.weights
        if weights is None and (ask.columns is None or self.weights not in ask.columns):
            weights = self.weights
        return replace(ask, weights=weights, like=self.variables | ask.like)


def with_note(table: Table, arrow: Any, weights: str) -> Any:
    """The Arrow table with a note of what the columns were."""
    note = Note.of(table, weights)
    variables = [
        {"name": v.name, "states": v.states, "hidden": v.hidden, "cuts": v.cuts}
        for v in note.variables.values()
    ]
    written = json.dumps({"variables": variables, "weights": note.weights})
    return arrow.replace_schema_metadata({_KEY: written})


def _fits(variable: Variable, column: Any) -> bool:
    if variable.is_discrete and _has_dictionary(column, variable.labels):
        return True
    try:
        known_typed(variable, column, (), "")
    except (UnveilError, pa.ArrowException):
        return False
    return True


def _has_dictionary(column: Any, labels: Sequence[object]) -> bool:
    """Whether the cells are codes for exactly these labels, as they are in a file of ours."""
    return pa.types.is_dictionary(column.type) and all(
        chunk.dictionary.to_pylist() == list(labels) for chunk in column.chunks
    )


def _are_weights(table: Any, name: str) -> bool:
    if name not in table.column_names:
        return False
    try:
        numbers = known_typed(Variable(name), table.column(name), (), "")
    except (UnveilError, pa.ArrowException):
        return False
    return bool((numbers >= 0).all() and np.isfinite(numbers).all())
