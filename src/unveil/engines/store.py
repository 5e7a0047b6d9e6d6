"""Coded parts between passes: in memory while they are few, else in files of a temporary folder.

The source is read twice, to see what the columns are and to code them; every later pass reads what
was coded, a byte per cell mostly. The folder goes when the rows are no longer used, or when the
process ends.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unveil.engines.ceiling import size_words
from unveil.engines.coding import row_bytes
from unveil.errors import DataError, Hint
from unveil.table.core import Table, code_dtype
from unveil.table.variable import Variable

__all__ = ["Held", "Remote", "Spooled", "Store", "loaded"]


@dataclass(frozen=True)
class Held:
    """A part in memory."""

    table: Table

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows

    @property
    def weighted(self) -> bool:
        """Whether rows count other than once."""
        return self.table.weights is not None

    def load(self) -> Table:
        """The part."""
        return self.table


@dataclass(frozen=True)
class Spooled:
    """A part in a file: the columns one after the other, then the weights if there are any."""

    path: str
    variables: tuple[Variable, ...]
    n_rows: int
    weighted: bool

    def load(self) -> Table:
        """The part, read."""
        columns: list[Any] = []
        try:
            with open(self.path, "rb") as file:
                for variable in self.variables:
                    kind = code_dtype(variable.n_states) if variable.is_discrete else np.float64
                    columns.append(np.fromfile(file, kind, self.n_rows))
                weights = np.fromfile(file, np.float64, self.n_rows) if self.weighted else None
        except OSError as error:
            raise DataError(
                f"{self.path}: a temporary file with coded rows is gone ({error.strerror}); start "
                "again, with another folder for temporary files if this one is cleaned up"
            ) from error
        if any(len(column) != self.n_rows for column in columns):
            raise DataError(f"{self.path}: a temporary file with coded rows was cut short")
        return Table._trusted(self.variables, columns, weights)


@dataclass(frozen=True)
class Remote:
    """A part on a cluster; `future` is what the cluster calls it, `worker` who works on it."""

    future: Any
    n_rows: int
    weighted: bool
    worker: str | None = None

    def load(self) -> Table:
        """The part, brought here."""
        table: Table = self.future.result()
        return table


Stored = Held | Spooled


def loaded(part: Stored | Table) -> Table:
    """The part as a table, wherever it is kept."""
    return part if isinstance(part, Table) else part.load()


class Store:
    """Takes parts from several threads; `most` bytes stay in memory, the rest goes to files."""

    def __init__(self, most: int, folder: str | os.PathLike[str] | None = None) -> None:
        self._most, self._held = most, 0
        self.asked = folder
        self._folder: Path | None = None
        self._number = 0
        self._lock = threading.Lock()
        self.n_spooled = 0

    def put(self, table: Table) -> Stored:
        """Keep a part."""
        size = table.n_rows * row_bytes(table)
        with self._lock:
            if self._held + size <= self._most:
                self._held += size
                return Held(table)
            path = self._next()
        self._write(table, path)
        return Spooled(str(path), table.variables, table.n_rows, table.weights is not None)

    def drop(self, part: Stored) -> None:
        """Forget a part."""
        with self._lock:
            if isinstance(part, Held):
                self._held -= part.n_rows * row_bytes(part.table)
            else:
                Path(part.path).unlink(missing_ok=True)

    def _next(self) -> Path:
        if self._folder is None:
            where = None if self.asked is None else str(self.asked)
            try:
                self._folder = Path(tempfile.mkdtemp(prefix="unveil-rows-", dir=where))
            except OSError as error:
                raise DataError(
                    f"{where or tempfile.gettempdir()}: no folder for the coded rows can be made "
                    f"here ({error.strerror}); name another one",
                    hint=Hint("(spool=...)", "(TMPDIR=... before the command)"),
                ) from error
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._number += 1
        return self._folder / f"part-{self._number}"

    def _write(self, table: Table, path: Path) -> None:
        try:
            with open(path, "wb") as file:
                # Not `tofile`, which says nothing of what did not fit on the disk.
                for name in table.names:
                    file.write(np.ascontiguousarray(table.column(name)).data)
                if table.weights is not None:
                    file.write(np.ascontiguousarray(table.weights).data)
        except OSError as error:
            need = table.n_rows * row_bytes(table)
            path.unlink(missing_ok=True)
            raise DataError(
                f"{path.parent}: the coded rows do not fit into the folder for temporary files "
                f"({error.strerror or 'no room'}; a part of {size_words(need)} was to be written)."
                " Nothing else was written. Free some room, or name another folder",
                hint=Hint("(spool=...)", "(TMPDIR=... before the command)"),
            ) from error
        with self._lock:
            self.n_spooled += 1
