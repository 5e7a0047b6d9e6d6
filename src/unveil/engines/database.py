"""Rows in DuckDB: a table or view of a file, a query, or a relation.

DuckDB does what it does well: it reads, filters, projects and, where the rows are few when equal
ones are folded, groups them. What is asked of the rows is counted by our kernels.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.engines.ceiling import Ceiling
from unveil.engines.datasets import DatasetSource
from unveil.engines.reading import begins, in_tables, one_line, unreadable
from unveil.engines.schemas import Common
from unveil.engines.unchanged import Stamp
from unveil.errors import DataError, Hint, UnveilError, did_you_mean

__all__ = ["DuckSource", "open_duckdb"]

RANGE = 10 * 122_880
"""Rows of a table are read in ranges of so many: ten of DuckDB's row groups."""


def open_duckdb(
    data: Any, table: str | None, query: str | None, n_jobs: int | None, ceiling: Ceiling
) -> tuple[DuckSource, None] | None:
    """The rows of a DuckDB file, of Parquet files read by DuckDB, or of a relation."""
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        if path.is_dir() or (path.is_file() and begins(path, b"PAR1")):
            duckdb = _duckdb()
            parquet = DatasetSource.of_path(path)
            parquet.common.check(parquet.common.schema.names)
            _check_capitals(parquet.schema.names, str(path))
            connection = duckdb.connect(config=_config(n_jobs, ceiling))
            _try(connection.execute, str(path), _parquet_view(parquet.dataset.files))
            stamps = tuple(map(Stamp.of, parquet.dataset.files))
            found = DuckSource(connection, query or "SELECT * FROM rows", str(path), stamps=stamps)
            found.common = parquet.common
            return found, None
        if not path.is_file() or not begins(path, b"DUCK", 8):
            return None
        return _of_file(path, table, query, n_jobs, ceiling), None
    if type(data).__name__ != "DuckDBPyRelation":
        return None
    if table or query:
        raise DataError("a relation is a query already; leave out table and query")
    return DuckSource.of_relation(data), None


class DuckSource:
    """The rows of a query, delivered by one connection; of a plain table, range by range."""

    def __init__(
        self, connection: Any, query: str, name: str, table: str | None = None,
        stamps: tuple[Stamp, ...] = (),
    ) -> None:  # fmt: skip
        query = query.strip().rstrip(";")
        self._connection, self._query, self._table = connection, query, table
        self._stamps = stamps
        self.name = name
        self.texts: frozenset[str] = frozenset()
        self.n_rows: int | None = None
        self.common: Common | None = None
        head = _try(lambda: connection.sql(f"SELECT * FROM ({query}\n) LIMIT 0"), name)
        self.schema = _reader(head).schema
        if table is not None:
            counted = f"SELECT count(*), coalesce(max(rowid) + 1, 0) FROM {table}"
            self.n_rows, self._end = map(int, connection.execute(counted).fetchone())

    @classmethod
    def of_relation(cls, relation: Any) -> DuckSource:
        """The rows of a relation, which lives in a connection of its own."""
        found = cls.__new__(cls)
        found._connection, found._table, found._stamps = None, None, ()
        found._query = relation
        found.name, found.texts, found.n_rows = "the relation", frozenset(), None
        found.common = None
        found.schema = _reader(relation.limit(0)).schema
        return found

    def pieces(self) -> Sequence[DuckPiece]:
        """Ranges of row numbers of a table; a query or a relation is one piece."""
        if self._connection is None:
            return [DuckPiece(None, self._query, self.schema, self.name)]
        if self._table is None or self.n_rows is None:
            return [DuckPiece(self._connection, self._query, self.schema, self.name, self._stamps)]
        starts = range(0, max(self._end, 1), RANGE)  # numbers of deleted rows stay unused
        return [
            DuckPiece(
                self._connection,
                f"SELECT * FROM {self._table} WHERE rowid >= {start} AND rowid < {start + RANGE}",
                self.schema, f"{self.name}, rows {start + 1:,} to {start + RANGE:,}", self._stamps,
            )
            for start in starts
        ]  # fmt: skip


@dataclass(frozen=True)
class DuckPiece:
    """The rows of one query; each reader has a cursor of its own."""

    connection: Any
    query: Any
    schema: Any
    name: str
    stamps: tuple[Stamp, ...] = ()

    def tables(self, columns: Sequence[str] | None, n_rows: int) -> Iterator[Any]:
        """The rows as Arrow tables of `n_rows` each."""
        names = self.schema.names if columns is None else list(columns)
        chosen = ", ".join(_quoted(name) for name in names)
        self._check()
        try:
            if self.connection is None:
                found = self.query.project(chosen)
            else:
                found = self.connection.cursor().sql(f"SELECT {chosen} FROM ({self.query}\n)")
            yield from in_tables(_reader(found), n_rows, self.schema, names)
        except UnveilError:
            raise
        except Exception as error:
            raise unreadable(self.name, _words(error)) from error
        self._check()

    def _check(self) -> None:
        for stamp in self.stamps:
            stamp.check()


def _of_file(
    path: Path, table: str | None, query: str | None, n_jobs: int | None, ceiling: Ceiling
) -> DuckSource:
    if table and query:
        raise DataError("give the name of a table or a query, not both")
    connection = _try(
        lambda: _duckdb().connect(str(path), read_only=True, config=_config(n_jobs, ceiling)),
        str(path),
    )
    stamps = (Stamp.of(path),)
    if query:
        return DuckSource(connection, query, f"{path}, the query", stamps=stamps)
    known = _tables(connection)
    if table is None:
        if len(known) != 1:
            raise DataError(
                f"{path}: the database has {len(known)} tables"
                + (f" ({', '.join(list(known)[:12])})" if known else "")
                + "; say which one.",
                hint=Hint("(table=..., or query=...)", "(--table NAME, or --query)"),
            )
        table = next(iter(known))
    if table not in known:
        raise DataError(
            f"{path}: there is no table {table!r}; the tables are {', '.join(list(known)[:12])}."
            + did_you_mean(table, known)
        )
    own, is_plain = known[table]
    ranged = own if is_plain else None
    return DuckSource(connection, f"SELECT * FROM {own}", f"{path}, {table}", ranged, stamps)


def _tables(connection: Any) -> dict[str, tuple[str, bool]]:
    """The tables and views by name: what SQL calls them, and whether it is a plain table.

    Those outside of the schema `main` are called `schema.table`.
    """
    found = connection.execute(
        "SELECT table_schema, table_name, table_type FROM information_schema.tables "
        "ORDER BY table_schema <> 'main', table_schema, table_name"
    ).fetchall()
    known: dict[str, tuple[str, bool]] = {}
    for schema, name, kind in found:
        called = name if schema == "main" else f"{schema}.{name}"
        known.setdefault(called, (f"{_quoted(schema)}.{_quoted(name)}", kind == "BASE TABLE"))
    return known


def _config(n_jobs: int | None, ceiling: Ceiling) -> dict[str, Any]:
    """A share of the room for DuckDB; rows in the order they are in."""
    found: dict[str, Any] = {"memory_limit": f"{max(ceiling.room // 4, 64 << 20)}B"}
    if n_jobs is not None:
        found["threads"] = n_jobs
    return found


def _parquet_view(files: Sequence[str]) -> str:
    escaped = [re.sub(r"[][*?]", lambda sign: f"[{sign[0]}]", f) for f in files]
    listed = ", ".join("'" + f.replace("'", "''") + "'" for f in escaped)
    how = "hive_partitioning = true, union_by_name = true"
    return f"CREATE VIEW rows AS SELECT * FROM read_parquet([{listed}], {how})"


def _check_capitals(names: Sequence[str], source: str) -> None:
    """An error where names differ in capital letters only, which DuckDB takes for one."""
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(name.lower(), name)
        if other != name:
            raise DataError(
                f"{source}: DuckDB takes the columns {other!r} and {name!r} for one, as it does "
                "not tell capital letters from small ones. Read the files without it, or rename "
                "one of them",
                hint=Hint("(engine='parquet')", "(--engine parquet)"),
            )


def _reader(relation: Any) -> Any:
    """The rows of a relation as Arrow batches, one after the other."""
    newer = getattr(relation, "to_arrow_reader", None)
    return (newer or relation.fetch_record_batch)(1 << 17)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError as error:
        raise DataError(
            "DuckDB is needed for this and is not installed: pip install 'unveil[big]'"
        ) from error
    return duckdb


def _try(call: Any, name: str, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except UnveilError:
        raise
    except Exception as error:
        raise DataError(f"{name}: DuckDB cannot read this: {_words(error)}") from error


def _words(error: Exception) -> str:
    """What DuckDB says, without the line of SQL, part of which is ours."""
    return one_line(re.split(r"\n+LINE \d+:", str(error))[0])
