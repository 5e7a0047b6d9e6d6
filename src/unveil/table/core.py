"""`Table`: typed, coded columns with missing cells and row weights. Immutable.

A discrete column is an array of small unsigned integers, the positions of its variable's states;
the largest value of the array's type marks a missing cell. A continuous column is float64 with
NaN for missing. Weights say how often a row counts; they may be fractional.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, did_you_mean
from unveil.records import html_table
from unveil.table.places import count, listing
from unveil.table.variable import Label, Variable, label_text
from unveil.table.weights import checked_weights

if TYPE_CHECKING:
    from os import PathLike

    import pandas
    import polars

    from unveil.table.describe import TableDescription
    from unveil.table.options import Unknown

__all__ = ["Column", "Table", "code_dtype", "missing_code", "recoded"]

Column = npt.NDArray[Any]


def code_dtype(n_states: int) -> np.dtype[Any]:
    """The smallest unsigned type that holds `n_states` codes and the missing mark."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if n_states <= np.iinfo(kind).max:
            return np.dtype(kind)
    raise DataError(f"a column with {n_states:,} states is more than a table can hold")


def missing_code(dtype: npt.DTypeLike) -> int:
    """The code that marks a missing cell in a discrete column of this type."""
    return int(np.iinfo(np.dtype(dtype)).max)


class Table:
    """Rows of data: one column per variable, missing cells, and optional row weights.

    Make one with `Table.read(path)`, `Table.from_frame(frame)` or, from coded arrays, with
    `Table(variables, columns, weights)`. Nothing changes a table; methods give new ones that
    share the columns they did not touch.

    >>> table = Table.from_frame({"smoker": ["no", "yes", None], "age": [31.5, 44.0, 28.25]})
    >>> table
    Table(3 rows, 2 columns: 'smoker' (2 states), 'age' (continuous); 1 missing cell)
    >>> table.column("smoker").tolist()
    [0, 1, 255]
    """

    __slots__ = ("_cache", "_columns", "_position", "variables", "weights")

    variables: tuple[Variable, ...]
    weights: npt.NDArray[np.float64] | None
    # What others have worked out from these rows and want to find again (rows folded, codes
    # stacked for a model). It is safe because rows never change. Whoever puts something here
    # names its key after itself and bounds how much it keeps. It starts empty in every table,
    # plays no part in equality, and stays behind when a table is copied or pickled.
    _cache: dict[Any, Any]

    def __init__(
        self,
        variables: Iterable[Variable],
        columns: Iterable[npt.ArrayLike],
        weights: npt.ArrayLike | None = None,
    ) -> None:
        self.variables = tuple(variables)
        given = [np.asarray(column) for column in columns]
        if len(given) != len(self.variables):
            raise DataError(f"{len(self.variables)} variables but {len(given)} columns were given")
        if not self.variables:
            raise DataError("a table needs at least one column")
        self._position = {v.name: i for i, v in enumerate(self.variables)}
        if len(self._position) != len(self.variables):
            names = [v.name for v in self.variables]
            twice = next(n for n in names if names.count(n) > 1)
            raise DataError(f"two columns are called {twice!r}; every column needs its own name")
        n_rows = given[0].shape[0] if given[0].ndim == 1 else -1
        self._columns = tuple(
            _checked_column(v, c, n_rows) for v, c in zip(self.variables, given, strict=True)
        )
        self.weights = None if weights is None else _checked_weights(weights, n_rows)
        self._cache = {}

    @classmethod
    def _trusted(
        cls,
        variables: Iterable[Variable],
        columns: Iterable[Column],
        weights: npt.NDArray[np.float64] | None,
    ) -> Table:
        """A table of columns and weights that were checked before, as parts of another table."""
        table = cls.__new__(cls)
        table.variables = tuple(variables)
        table._position = {v.name: i for i, v in enumerate(table.variables)}
        table._columns = tuple(_read_only(column) for column in columns)
        table.weights = None if weights is None else _read_only(weights)
        table._cache = {}
        if not table.variables or len(table._position) != len(table.variables):
            return cls(variables, columns, weights)  # which says what is wrong
        return table

    # Ways in -----------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | PathLike[str], **options: Any) -> Table:
        """Read a CSV, TSV, Parquet, Arrow/Feather or ARFF file; see `unveil.read_table`."""
        from unveil.table.io.read import read_table

        return read_table(path, **options)

    @classmethod
    def from_frame(cls, frame: Any, **options: Any) -> Table:
        """Take a pandas, polars or Arrow frame, a dict of columns or an array; see `from_frame`."""
        from unveil.table.frames import from_frame

        return from_frame(frame, **options)

    # Looking -----------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._position)

    @property
    def n_rows(self) -> int:
        """The number of rows stored (a row of weight 3 is stored once)."""
        return int(self._columns[0].shape[0])

    def __len__(self) -> int:
        return self.n_rows

    @property
    def n_columns(self) -> int:
        """The number of columns, the weights not counted."""
        return len(self._columns)

    @property
    def row_weights(self) -> npt.NDArray[np.float64]:
        """The weight of every row, ones where none were given."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    @property
    def total_weight(self) -> float:
        """The sum of the row weights: how many cases the table stands for."""
        return float(self.n_rows) if self.weights is None else float(self.weights.sum())

    def __contains__(self, name: object) -> bool:
        return name in self._position

    def position(self, name: str) -> int:
        """The position of a column; an error that lists the names when there is none."""
        if name not in self._position:
            raise DataError(
                f"the table has no column {name!r}; it has {listing(self.names)}."
                + did_you_mean(name, self.names)
            )
        return self._position[name]

    def variable(self, name: str) -> Variable:
        """The variable behind a column."""
        return self.variables[self.position(name)]

    def column(self, name: str) -> Column:
        """The codes (discrete) or values (continuous) of a column, read-only."""
        return self._columns[self.position(name)]

    def missing(self, name: str) -> npt.NDArray[np.bool_]:
        """Which cells of a column are missing."""
        return _is_missing(self.column(name))

    @property
    def n_missing(self) -> int:
        """The number of missing cells in the whole table."""
        return int(sum(np.count_nonzero(_is_missing(c)) for c in self._columns))

    @property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        if "complete" not in self._cache:
            self._cache["complete"] = not any(_is_missing(c).any() for c in self._columns)
        complete: bool = self._cache["complete"]
        return complete

    def labels(self, name: str) -> list[Label | None]:
        """A column as labels or numbers, `None` where missing."""
        column = self.column(name)
        missing = _is_missing(column)
        if column.dtype.kind == "f":
            return [None if m else float(x) for x, m in zip(column, missing, strict=True)]
        states = self.variable(name).labels
        return [None if m else states[int(x)] for x, m in zip(column, missing, strict=True)]

    def row(self, index: int) -> dict[str, Label | None]:
        """One row as a dict from name to label or number, `None` where missing."""
        one = self.take([range(self.n_rows)[index]])
        return {name: one.labels(name)[0] for name in self.names}

    def codes(self, names: Sequence[str] | None = None) -> Column:
        """The codes of discrete columns stacked as a matrix of shape (n_columns, n_rows).

        All rows of the matrix share one type, wide enough for the widest column.
        """
        chosen = list(self.names if names is None else names)
        widest = max(self.variable(name).n_states for name in chosen)
        dtype = code_dtype(widest)
        matrix = np.empty((len(chosen), self.n_rows), dtype)
        for row, name in zip(matrix, chosen, strict=True):
            row[:] = recoded(self.column(name), dtype)
        return matrix

    # Making new tables -------------------------------------------------------------------------

    def take(self, rows: npt.ArrayLike) -> Table:
        """The chosen rows, by position or by a mask.

        >>> Table.from_frame({"x": ["a", "b", "c"]}).take([2, 0]).labels("x")
        ['c', 'a']
        """
        index = np.asarray(rows)
        if index.size == 0 and index.dtype.kind != "b":
            index = index.astype(np.intp)
        try:
            weights = None if self.weights is None else self.weights[index]
            columns = [c[index] for c in self._columns]
        except IndexError as error:
            folded = "" if self.weights is None else ", each with the weight of its equals"
            raise DataError(
                f"rows are taken by position or by a mask; there are {self.n_rows:,} of them"
                f"{folded}: {error}"
            ) from None
        if index.ndim != 1:
            return Table(self.variables, columns, weights)
        return Table._trusted(self.variables, columns, weights)

    def select(self, names: Iterable[str]) -> Table:
        """Only the named columns, in the order given."""
        chosen = [self.position(name) for name in names]
        if chosen == list(range(self.n_columns)):
            return self
        return Table._trusted(
            [self.variables[i] for i in chosen], [self._columns[i] for i in chosen], self.weights
        )

    def without(self, names: str | Iterable[str]) -> Table:
        """All columns but the named ones."""
        away = {names} if isinstance(names, str) else set(names)
        for name in away:
            self.position(name)
        return self.select(name for name in self.names if name not in away)

    def with_column(self, variable: Variable, column: npt.ArrayLike) -> Table:
        """The table with a column added at the end, or replaced in its place.

        >>> Table.from_frame({"x": ["a", "b"]}).with_column(Variable("y", [0, 1]), [1, 0]).names
        ('x', 'y')
        """
        checked = _checked_column(variable, np.asarray(column), self.n_rows)
        variables, columns = list(self.variables), list(self._columns)
        if variable.name in self:
            place = self.position(variable.name)
            variables[place], columns[place] = variable, checked
        else:
            variables.append(variable)
            columns.append(checked)
        return Table._trusted(variables, columns, self.weights)

    def with_weights(self, weights: npt.ArrayLike | None) -> Table:
        """The same rows with other weights."""
        checked = None if weights is None else _checked_weights(weights, self.n_rows)
        return Table._trusted(self.variables, self._columns, checked)

    def conform(self, variables: Sequence[Variable], *, unknown: Unknown = "error") -> Table:
        """The columns of these variables, coded by their states; see `unveil.table.conform`."""
        from unveil.table.conform import conform

        return conform(self, variables, unknown)

    def like(self, other: Any, *, unknown: Unknown = "error") -> Table:
        """The same columns, coded by the states of a table or network; see `unveil.table.conform`.

        >>> train = Table.from_frame({"x": ["a", "b"]})
        >>> Table.from_frame({"x": ["b", "b"]}).like(train).column("x").tolist()
        [1, 1]
        """
        from unveil.table.conform import like

        return like(self, other, unknown)

    def folded(self) -> Table:
        """Equal rows merged into one, weights added up; see `unveil.table.fold`.

        >>> Table.from_frame({"x": ["a", "b", "a"]}).folded()
        Table(2 rows, 1 column: 'x' (2 states); total weight 3)
        """
        from unveil.table.fold import fold

        if "folded" not in self._cache:
            self._cache["folded"] = fold(self)
        folded: Table = self._cache["folded"]
        return folded

    def split(
        self, fraction: float | Sequence[int] = 0.8, *, seed: Any = None
    ) -> tuple[Table, ...]:
        """The rows shared out at random; see `unveil.table.sampling`."""
        from unveil.table.sampling import split

        return split(self, fraction, seed=seed)

    def hide(self, names: str | Iterable[str]) -> Table:
        """The named columns all missing, their variables marked as hidden."""
        from unveil.table.sampling import hide

        return hide(self, names)

    def knock_out(
        self, fraction: float, *, seed: Any = None, names: Iterable[str] | None = None
    ) -> Table:
        """Each present cell missing with this probability, completely at random."""
        from unveil.table.sampling import knock_out

        return knock_out(self, fraction, seed=seed, names=names)

    # Ways out ----------------------------------------------------------------------------------

    def write(self, path: str | PathLike[str], *, weights: str = "weight") -> None:
        """Write a CSV, TSV, Parquet or Feather file; see `unveil.table.io.write`."""
        from unveil.table.io.write import write_table

        write_table(self, path, weights=weights)

    def describe(self) -> TableDescription:
        """What is in each column and what looks odd; see `unveil.table.describe`."""
        from unveil.table.describe import describe

        return describe(self)

    def to_dict(self, weights: str = "weight") -> dict[str, list[Label | None]]:
        """A list of labels or numbers per column, `None` where missing; the weights last."""
        from unveil.table.export import to_dict

        return to_dict(self, weights)

    def to_arrow(self, weights: str = "weight") -> Any:
        """A pyarrow table, the states as dictionaries in order."""
        from unveil.table.export import to_arrow

        return to_arrow(self, weights)

    def to_pandas(self, weights: str = "weight") -> pandas.DataFrame:
        """A pandas frame with categorical columns, the states in order."""
        from unveil.table.export import to_pandas

        return to_pandas(self, weights)

    def to_polars(self, weights: str = "weight") -> polars.DataFrame:
        """A polars frame: string labels as an Enum, other labels as typed columns."""
        from unveil.table.export import to_polars

        return to_polars(self, weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self.variables == other.variables
            and self.n_rows == other.n_rows
            and np.array_equal(self.row_weights, other.row_weights)
            and all(_same_cells(a, b) for a, b in zip(self._columns, other._columns, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Rows and weights only: the cache stays behind, and the columns come back read-only.
        return type(self)._trusted, (self.variables, self._columns, self.weights)

    def _repr_html_(self) -> str:
        """What a notebook shows: the first rows."""
        some = self.take(range(min(self.n_rows, 10)))
        columns = some.to_dict()
        rows = zip(*columns.values(), strict=True)
        cells = [["" if x is None else label_text(x) for x in row] for row in rows]
        return html_table(repr(self), list(columns), cells)

    def __repr__(self) -> str:
        words = [f"{v.name!r} ({_kind(v)})" for v in self.variables[:8]]
        if self.n_columns > 8:
            words.append("...")
        missing = f"; {count(self.n_missing, 'missing cell')}" if self.n_missing else ""
        weight = f"; total weight {self.total_weight:,.6g}" if self.weights is not None else ""
        rows, columns = count(self.n_rows, "row"), count(self.n_columns, "column")
        return f"Table({rows}, {columns}: {', '.join(words)}{missing}{weight})"


def _checked_column(variable: Variable, column: Column, n_rows: int) -> Column:
    """The column as a read-only array of the right type, after checking it."""
    name = variable.name
    if column.ndim != 1:
        raise DataError(f"column {name!r} must be one-dimensional, got shape {column.shape}")
    if column.shape[0] != n_rows:
        raise DataError(f"column {name!r} has {column.shape[0]} rows, the first column {n_rows}")
    if not variable.is_discrete:
        return _read_only(column.astype(np.float64, copy=False))
    if column.dtype.kind not in "iu" and column.size:
        raise DataError(f"discrete column {name!r} needs integer codes, got {column.dtype}")
    dtype = code_dtype(variable.n_states)
    missing = _is_missing(column)
    bad = (column < 0) & ~missing if column.dtype.kind == "i" else np.zeros(0, bool)
    bad = bad if bad.any() else (column >= variable.n_states) & ~missing
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"column {name!r}, row {row + 1}: code {int(column[row])} is not one of the "
            f"{variable.n_states} states (codes 0 to {variable.n_states - 1})"
        )
    return _read_only(recoded(column, dtype))


def _checked_weights(weights: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.float64]:
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n_rows,):
        raise DataError(f"weights must have one number per row ({n_rows}), got {array.shape}")
    return _read_only(checked_weights(array))


def recoded(column: Column, dtype: npt.DTypeLike) -> Column:
    """The same codes in another type, missing cells marked as that type marks them."""
    if column.dtype == dtype:
        return column
    wide = column.astype(dtype)
    wide[_is_missing(column)] = missing_code(dtype)
    return wide


def _is_missing(column: Column) -> npt.NDArray[np.bool_]:
    """Missing cells: NaN, the largest code of an unsigned type, or -1 of a signed one."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind == "u":
        return column == missing_code(column.dtype)
    return column == -1


def _same_cells(a: Column, b: Column) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def _read_only(array: Column) -> Column:
    view = array.view()
    view.flags.writeable = False
    return view


def _kind(variable: Variable) -> str:
    return count(variable.n_states, "state") if variable.is_discrete else "continuous"
