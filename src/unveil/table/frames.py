"""`from_frame`: what is already in memory becomes a `Table`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from unveil.errors import DataError, Hint
from unveil.table.assemble import assemble
from unveil.table.core import Table
from unveil.table.options import Kinds, Reading, States, Unknown, check_names
from unveil.table.variable import Variable

__all__ = ["from_frame"]


def from_frame(
    frame: Any,
    *,
    kinds: Kinds = None,
    missing: Collection[str] = (),
    weights: str | None = None,
    names: Sequence[str] | None = None,
    variables: Sequence[Variable] | None = None,
    columns: Sequence[str] | None = None,
    states: States | None = None,
    like: Any = None,
    unknown: Unknown = "error",
) -> Table:
    """A table from a pandas, polars or Arrow frame, a dict of columns or a NumPy array.

    Labels keep their type, categories their order. `None`, NaN, NaT and `pd.NA` are missing; text
    is taken as it stands unless `missing` lists markers. `names` names the columns of a plain
    array (else `x1`, `x2`, ...). The other options are those of `read_table`; what the columns
    become is told in `unveil.table.typed`.

    >>> from_frame({"dose": [1, 2, None], "sick": [True, False, True]}).variables
    (Variable('dose', states=[1, 2]), Variable('sick', states=[False, True]))
    >>> import numpy as np
    >>> from_frame(np.array([[0, 1], [1, 1]]), names=["a", "b"]).variable("a")
    Variable('a', states=[0, 1])
    >>> from_frame({"sick": [0, 0]}, states={"sick": [0, 1]}).variable("sick")
    Variable('sick', states=[0, 1])
    """
    cells = _columns(frame, names)
    ask = Reading.asked("", kinds, missing, weights, columns, variables, states, like, unknown)
    ask.check(tuple(cells))
    if not cells or min(map(len, cells.values())) == 0:
        rows = min(map(len, cells.values()), default=0)
        raise DataError(
            f"the frame has {rows} rows and {len(cells)} columns; "
            "a table needs at least one of each"
        )
    return assemble(cells, ask)


def _columns(frame: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """The columns by name: Arrow arrays, or lists of objects of several types."""
    if isinstance(frame, np.ndarray):
        frame = _array_columns(frame, names)
    elif names is not None:
        raise DataError("names are for plain arrays; this frame has names of its own")
    if isinstance(frame, Mapping):
        return _mapping_columns(frame)
    if isinstance(frame, (list, tuple)):
        raise DataError(
            "a list of rows has no column names; give a dict of columns or a data frame,",
            hint=Hint("or numpy.array(rows) with names=[...]."),
        )
    if isinstance(frame, pa.RecordBatch):
        frame = pa.table(frame)
    # Before narwhals looks: it refuses duplicate names without telling the positions.
    if isinstance(frame, pa.Table):
        check_names(frame.column_names, "")
    elif nw.dependencies.is_pandas_like_dataframe(frame):
        check_names([str(name) for name in frame.columns], "")
    try:
        wrapped = nw.from_native(frame)
    except TypeError:
        raise DataError(
            f"cannot read a table from {type(frame).__name__}; give a pandas, polars or pyarrow "
            "frame, a dict of columns, or a NumPy array"
        ) from None
    eager = wrapped.collect() if isinstance(wrapped, nw.LazyFrame) else wrapped
    return {str(name): _series(str(name), eager.get_column(name)) for name in eager.columns}


def _mapping_columns(frame: Mapping[Any, Any]) -> dict[str, Any]:
    names = [str(name) for name in frame]
    check_names(names, "")
    made = {n: _cells(n, column) for n, column in zip(names, frame.values(), strict=True)}
    lengths = {name: len(column) for name, column in made.items()}
    for name, length in lengths.items():
        if length != lengths[names[0]]:
            raise DataError(
                f"column {name!r} has {length} rows and column {names[0]!r} has "
                f"{lengths[names[0]]}; all columns need the same number"
            )
    return made


def _array_columns(array: Any, names: Sequence[str] | None) -> dict[str, Any]:
    if array.dtype.names is not None:
        return {name: array[name] for name in array.dtype.names}
    if array.ndim != 2:
        raise DataError(
            f"an array must have two dimensions, rows and columns; this has shape {array.shape}"
        )
    chosen = [f"x{i + 1}" for i in range(array.shape[1])] if names is None else list(names)
    if len(chosen) != array.shape[1]:
        raise DataError(f"{len(chosen)} names for an array of {array.shape[1]} columns")
    check_names(chosen, "")
    return {name: array[:, i] for i, name in enumerate(chosen)}


def _series(name: str, series: Any) -> Any:
    """A column of a data frame: Arrow when it has one type, else a list of objects."""
    if series.dtype == nw.Object:
        return _cells(name, series.to_list())
    try:
        return series.to_arrow()
    except (pa.ArrowException, TypeError, NotImplementedError):
        return _cells(name, series.to_list())


def _cells(name: str, column: Any) -> Any:
    """A column given as a list, an array or a series."""
    if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
        raise DataError(f"column {name!r} must be a list or an array, not {column!r}")
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    if not isinstance(column, (np.ndarray, list, tuple)):
        try:
            return _series(name, nw.from_native(column, series_only=True))
        except TypeError:
            return _foreign_cells(name, column)
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise DataError(
                f"column {name!r} has shape {column.shape}; a cell must be one label or number"
            )
        if column.dtype.kind != "O":
            return _numpy_cells(name, column)
    types = {type(value) for value in column} - {type(None)}
    plain = {"NAType", "NaTType"}
    kinds = {_family(kind) for kind in types if kind.__name__ not in plain}
    # Numbers may mix; anything else of several types keeps each label's own type.
    if len(kinds) > 1 and not kinds <= {"int", "float"} and kinds - {"str"} != {"float"}:
        return list(column)
    if "other" in kinds and any(not isinstance(k, type) or k in (list, dict, set) for k in types):
        row = next(i for i, value in enumerate(column) if isinstance(value, (list, dict, set)))
        raise DataError(
            f"row {row + 1}, column {name!r}: the cell holds {column[row]!r}; a cell must be one "
            "label or number"
        )
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError):
        return list(column)


def _foreign_cells(name: str, column: Any) -> Any:
    """A column of a class of its own: a pandas Categorical or array, a range, ..."""
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError):
        return _cells(name, list(column))


def _numpy_cells(name: str, column: Any) -> Any:
    if column.dtype.kind in "SVc":
        raise DataError(f"column {name!r} holds {column.dtype}; use text, numbers or booleans")
    return pa.array(np.ascontiguousarray(column), from_pandas=True)


def _family(kind: type) -> str:
    for name, base in (("bool", (bool, np.bool_)), ("int", (int, np.integer))):
        if issubclass(kind, base):
            return name
    if issubclass(kind, (float, np.floating)):
        return "float"
    return "str" if issubclass(kind, str) else "other"
