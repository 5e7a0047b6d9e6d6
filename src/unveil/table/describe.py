"""`describe`: what is in a table, column by column, and what looks odd about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.records import Record
from unveil.table.core import Column, Table
from unveil.table.fold import row_groups
from unveil.table.oddities import column_oddities, table_oddities
from unveil.table.roles import role_of
from unveil.table.variable import Label

__all__ = ["ColumnDescription", "TableDescription", "describe"]


@dataclass(frozen=True)
class ColumnDescription(Record):
    """One column: counts and shares are weighted, `n_missing` counts stored rows."""

    name: str
    kind: str
    """"discrete" or "continuous"."""
    n_states: int | None
    """The number of states; `None` when continuous."""
    n_distinct: int
    """How many different values the rows hold."""
    n_missing: int
    missing_share: float
    common: tuple[tuple[Label, float], ...]
    """The most common states with their share of the present weight, when discrete."""
    minimum: float | None
    mean: float | None
    maximum: float | None
    oddities: tuple[str, ...]


@dataclass(frozen=True)
class TableDescription(Record):
    """A whole table: its size, its columns, and sentences about what looks odd."""

    told: ClassVar = ("sentences",)

    n_rows: int
    n_columns: int
    total_weight: float
    n_missing: int
    n_distinct_rows: int | None
    """`None` where they were not counted, as of rows that are read in pieces."""
    columns: tuple[ColumnDescription, ...]
    oddities: tuple[str, ...]
    """About the table as a whole; each column has its own."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """All oddities, those of columns with their name in front."""
        return self.oddities + tuple(
            f"column {column.name!r}: {oddity}"
            for column in self.columns
            for oddity in column.oddities
        )


def describe(table: Table, *, most_common: int = 5) -> TableDescription:
    """A record of every column and of what looks odd, in plain sentences.

    >>> found = describe(Table.from_frame({"x": ["a", "b", "a", "a"], "y": ["on"] * 4}))
    >>> found.columns[0].common
    (('a', 0.75), ('b', 0.25))
    >>> found.columns[1].oddities
    ("constant: every row holds 'on'; it can tell nothing about other columns",)
    """
    columns = tuple(_column(table, name, most_common) for name in table.names)
    n_distinct_rows = len(row_groups([table.column(name) for name in table.names])[0])
    return TableDescription(
        n_rows=table.n_rows,
        n_columns=table.n_columns,
        total_weight=table.total_weight,
        n_missing=sum(column.n_missing for column in columns),
        n_distinct_rows=n_distinct_rows,
        columns=columns,
        oddities=table_oddities(table, n_distinct_rows),
    )


def _column(table: Table, name: str, most_common: int) -> ColumnDescription:
    variable, column, missing = table.variable(name), table.column(name), table.missing(name)
    present, weights = column[~missing], table.row_weights[~missing]
    codes, rows, mass = _tally(present, weights)
    # Rows of weight zero are there, but say nothing.
    shares = mass / max(mass.sum(), 1e-300)
    order = np.argsort(-shares, kind="stable")
    labels = variable.labels if variable.is_discrete else ()
    numbers = not variable.is_discrete and len(present) > 0 and weights.sum() > 0
    weight_missing = float(table.row_weights[missing].sum())
    return ColumnDescription(
        name=name,
        kind="discrete" if variable.is_discrete else "continuous",
        n_states=variable.n_states if variable.is_discrete else None,
        n_distinct=len(codes),
        n_missing=int(missing.sum()),
        missing_share=weight_missing / table.total_weight if table.total_weight else 0.0,
        common=tuple((labels[int(codes[i])], float(shares[i])) for i in order[:most_common])
        if variable.is_discrete
        else (),
        minimum=float(present.min()) if numbers else None,
        mean=float(np.average(present, weights=weights)) if numbers else None,
        maximum=float(present.max()) if numbers else None,
        oddities=column_oddities(
            variable, codes, rows, shares, int(missing.sum()), role_of(table, name)
        ),
    )


def _tally(present: Column, weights: npt.NDArray[np.float64]) -> tuple[Column, Column, Column]:
    """The distinct codes or values, and for each its number of rows and its weight."""
    if present.dtype.kind == "f":
        values, places = np.unique(present, return_inverse=True)
    else:
        values, places = np.arange(int(present.max(initial=0)) + 1), present
    rows = np.bincount(places, minlength=len(values))
    seen = rows > 0
    return values[seen], rows[seen], np.bincount(places, weights, len(values))[seen]
