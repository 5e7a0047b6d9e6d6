"""Rows in Parquet files and folders, or in any dataset of pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as parquet

from unveil.engines.ceiling import Ceiling
from unveil.engines.reading import begins, in_tables, one_line, unreadable
from unveil.engines.schemas import Common, common_schema, folder_columns
from unveil.engines.unchanged import Stamp
from unveil.errors import DataError, Hint, UnveilError
from unveil.files import no_such_file
from unveil.table.options import check_names

__all__ = ["DatasetSource", "open_parquet"]

PIECE_ROWS = 1 << 20
"""Small files and row groups are read together up to so many rows."""


@dataclass(frozen=True)
class FilePiece:
    """Some row groups of some files, which must stay as they were; `labels` say where each is."""

    fragments: tuple[Any, ...]
    labels: tuple[str, ...]
    schema: Any
    stamps: tuple[Stamp, ...]
    name: str
    common: Common

    def tables(self, columns: Sequence[str] | None, n_rows: int) -> Iterator[Any]:
        """The rows as Arrow tables of `n_rows` each."""
        self.common.check(self.schema.names if columns is None else columns)
        self._check()
        reading = [self.name]
        try:
            batches = self._batches(columns, n_rows, reading)
            yield from in_tables(batches, n_rows, self.schema, columns)
        except UnveilError:
            raise
        except Exception as error:  # Arrow raises what it likes
            self._check()
            raise unreadable(reading[-1], error) from error
        self._check()

    def _batches(
        self, columns: Sequence[str] | None, n_rows: int, reading: list[str]
    ) -> Iterator[Any]:
        names = self.schema.names if columns is None else list(columns)
        for fragment, label in zip(self.fragments, self.labels, strict=True):
            reading.append(label)
            yield from fragment.scanner(
                schema=self.schema, columns=names, batch_size=min(n_rows, 1 << 17),
                batch_readahead=1, fragment_readahead=1, use_threads=False,
            ).to_batches()  # fmt: skip

    def _check(self) -> None:
        for stamp in self.stamps:
            stamp.check()


class DatasetSource:
    """The rows of a pyarrow dataset; made from a path, a Parquet file or a folder of them.

    Folders called `name=value` (Hive partitions) are columns. Columns of text are read as the
    dictionaries that Parquet keeps.
    """

    def __init__(
        self,
        dataset: Any,
        name: str,
        texts: frozenset[str] = frozenset(),
        common: Common | None = None,
    ) -> None:
        self.dataset, self.name, self.texts = dataset, name, texts
        self.schema = dataset.schema
        self.common = common or Common(self.schema)

    @classmethod
    def of_path(cls, path: str | os.PathLike[str]) -> DatasetSource:
        """The source of a Parquet file, or of all Parquet files below a folder."""
        where = Path(path)
        files: list[str] | str = str(where)
        if where.is_dir():
            files = sorted(
                str(p) for p in where.rglob("*")
                if p.suffix in (".parquet", ".pq") and p.is_file()
                and not any(part.startswith((".", "_")) for part in p.relative_to(where).parts[:-1])
                and not p.name.startswith((".", "_"))
            )  # fmt: skip
            if not files:
                raise DataError(
                    f"{where}: there is no Parquet file (.parquet) in this folder; give a folder "
                    "that has some, or the path of one file"
                )
        base = where if where.is_dir() else where.parent
        first = files[0] if isinstance(files, list) else files
        try:
            inside = parquet.read_schema(first)
            check_names(inside.names, first)
            folders = folder_columns(files if isinstance(files, list) else [], base, inside)
            plain = _dataset(files, base, ds.ParquetFileFormat(), folders)
        except UnveilError:
            raise
        except Exception as error:  # Arrow raises what it likes
            raise DataError(
                f"{first}: this is no Parquet that can be read: {one_line(error)}"
            ) from error
        common = _common(plain)
        texts = frozenset(
            f.name for f in common.schema if _is_text(f.type) and f.name not in folders.names
        )
        way = ds.ParquetFileFormat(
            read_options=ds.ParquetReadOptions(dictionary_columns=set(texts))
        )
        whole = _whole_schema(plain.schema, common.schema, texts)
        return cls(_dataset(files, base, way, folders, whole), str(where), texts, common)

    @cached_property
    def n_rows(self) -> int | None:
        """The number of rows, by the files' own account."""
        try:
            return int(sum(f.count_rows() for f in self._fragments))
        except Exception as error:
            raise unreadable(self.name, error) from error

    @cached_property
    def _fragments(self) -> tuple[Any, ...]:
        return _fragments(self.dataset)

    def pieces(self) -> Sequence[FilePiece]:
        """Row groups, together up to a million rows; the files in the order of their names."""
        found: list[FilePiece] = []
        waiting: list[tuple[Any, str]] = []
        size = 0
        for fragment, label, n_rows in self._groups():
            if waiting and size + n_rows > PIECE_ROWS:
                found.append(self._piece(waiting))
                waiting, size = [], 0
            waiting.append((fragment, label))
            size += n_rows
        if waiting:
            found.append(self._piece(waiting))
        return found

    def _groups(self) -> Iterator[tuple[Any, str, int]]:
        for fragment in self._fragments:
            path = getattr(fragment, "path", None)
            try:
                if isinstance(fragment, ds.ParquetFileFragment):
                    for group in fragment.split_by_row_group():
                        n_rows = sum(g.num_rows for g in group.row_groups)
                        numbers = ", ".join(str(g.id) for g in group.row_groups)
                        yield group, f"{path}, row group {numbers}", n_rows
                else:
                    yield fragment, str(path or self.name), fragment.count_rows()
            except Exception as error:
                raise unreadable(str(path or self.name), error) from error

    def _piece(self, waiting: list[tuple[Any, str]]) -> FilePiece:
        paths = dict.fromkeys(
            p for f, _ in waiting if (p := getattr(f, "path", None)) and os.path.exists(p)
        )
        stamps = tuple(map(Stamp.of, paths))
        first, last = waiting[0][1], waiting[-1][1]
        name = first if first == last else f"{first} to {last}"
        fragments, labels = zip(*waiting, strict=True)
        return FilePiece(fragments, labels, self.schema, stamps, name, self.common)


def open_parquet(
    data: Any, table: str | None, query: str | None, n_jobs: int | None, ceiling: Ceiling
) -> tuple[DatasetSource, None] | None:
    """The rows of Parquet files, or of a pyarrow dataset."""
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        if not path.exists():
            raise DataError(no_such_file(path))
        if path.is_file() and not begins(path, b"PAR1"):
            return None
        if table or query:
            raise DataError(
                "a table or a query is asked of a DuckDB file; DuckDB reads Parquet, too:",
                hint=Hint(
                    "engine='duckdb', query='SELECT * FROM rows'.",
                    "--engine duckdb --query 'SELECT * FROM rows'.",
                ),
            )
        return DatasetSource.of_path(path), None
    if isinstance(data, ds.Dataset):
        if table or query:
            raise DataError("a pyarrow dataset is read as it is; leave out table and query")
        return DatasetSource(data, "the dataset", common=_common(data)), None
    return None


def _dataset(files: Any, base: Path, way: Any, folders: Any, schema: Any = None) -> Any:
    hive = ds.partitioning(folders, flavor="hive")
    return ds.dataset(files, schema, format=way, partitioning=hive, partition_base_dir=str(base))


def _common(dataset: Any) -> Common:
    """What all Parquet files have, by their own account; one that cannot be read is named."""
    reading: list[Any] = []

    def each() -> Iterator[Any]:
        for fragment in _fragments(dataset):
            if isinstance(fragment, ds.ParquetFileFragment):
                reading.append(fragment.path)
                yield fragment

    try:
        return common_schema(each())
    except (pa.ArrowException, OSError) as error:
        raise unreadable(str(reading[-1]), error) from error


def _fragments(dataset: Any) -> tuple[Any, ...]:
    try:
        return tuple(dataset.get_fragments())
    except ValueError as error:  # what pyarrow raises where a filter is set
        raise DataError(
            "a pyarrow dataset with a filter has no pieces that could be read one by one; give it "
            "without the filter, or let DuckDB filter.",
            hint=Hint("A relation, duckdb.from_arrow(dataset), is read."),
        ) from error


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _whole_schema(first: Any, inside: Any, texts: frozenset[str]) -> Any:
    """The columns inside of the files, text as dictionaries, then those that are names of folders.

    What the first file notes beside its columns stays.
    """
    text = pa.dictionary(pa.int32(), pa.string())
    fields = [f.with_type(text) if f.name in texts else f for f in inside]
    folders = [f for f in first if f.name not in inside.names]
    return pa.schema([*fields, *folders], first.metadata)
