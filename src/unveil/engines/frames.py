"""A Dask data frame, whose partitions are the pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.engines.reading import in_tables, one_line, unreadable
from unveil.errors import DataError, Hint, UnveilError
from unveil.table.options import check_names

__all__ = ["DaskSource", "Partition"]


class DaskSource:
    """The partitions of a Dask data frame."""

    def __init__(self, frame: Any) -> None:
        import pyarrow as pa

        self._frame = frame
        self.name = "the Dask data frame"
        self.texts: frozenset[str] = frozenset()
        self.n_rows: int | None = None
        meta = frame._meta
        names = [str(name) for name in meta.columns]
        check_names(names, self.name)
        try:
            shape = pa.Schema.from_pandas(meta, preserve_index=False)
        except Exception as error:
            raise DataError(f"{self.name}: {one_line(error)}") from error
        fields = []
        for name in names:
            field = shape.field(name)
            fields.append(field.with_type(pa.string()) if pa.types.is_null(field.type) else field)
        self.schema = pa.schema(fields)

    def pieces(self) -> Sequence[Partition]:
        """The partitions, in order."""
        delayed = self._frame.to_delayed()
        return [
            Partition(one, self.schema, f"{self.name}, partition {i} of {len(delayed)}")
            for i, one in enumerate(delayed, 1)
        ]


@dataclass(frozen=True)
class Partition:
    """One partition, not computed yet, or computed where it is to be worked on."""

    rows: Any
    schema: Any
    name: str

    def tables(self, columns: Sequence[str] | None, n_rows: int) -> Iterator[Any]:
        """The rows as Arrow tables of `n_rows` each."""
        import pyarrow as pa

        names = self.schema.names if columns is None else list(columns)
        try:
            frame = self.rows.compute() if hasattr(self.rows, "compute") else self.rows
            shape = pa.schema([self.schema.field(name) for name in names])
            frame = frame[[c for c in frame.columns if str(c) in set(names)]]
            frame = frame.rename(columns=str)[names]
            table = pa.Table.from_pandas(frame, preserve_index=False)
            _check_labels(table, shape, self.name)
            if any(pa.types.is_dictionary(f.type) for f in shape):
                shape = table.schema
            yield from in_tables(table.cast(shape).to_batches(), n_rows, shape, names)
        except UnveilError:
            raise
        except Exception as error:
            raise unreadable(self.name, error) from error


def _check_labels(table: Any, shape: Any, name: str) -> None:
    """An error where cells of no type turn out not to be text: as text they would lose theirs."""
    import pyarrow as pa

    for field in shape:
        kind = table.schema.field(field.name).type
        if pa.types.is_string(field.type) and not any(
            is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string,
                                          pa.types.is_string_view, pa.types.is_null)
        ):  # fmt: skip
            raise DataError(
                f"{name}, column {field.name!r}: the column was to hold text and holds {kind}; "
                "labels would lose their type. Give it the right one first.",
                hint=Hint(f"As with frame.astype({{{field.name!r}: ...}})."),
            )
