"""A table as something else in memory: a dict, or an Arrow, pandas or polars frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from unveil.errors import DataError, Hint
from unveil.table.core import Column, Table
from unveil.table.places import listing
from unveil.table.variable import Label, Variable, label_text

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["label_array", "named_weights", "to_arrow", "to_dict", "to_pandas", "to_polars"]


def to_dict(table: Table, weights: str = "weight") -> dict[str, list[Label | None]]:
    """A list of labels or numbers per column, `None` where missing; the weights last.

    >>> to_dict(Table.from_frame({"x": ["a", None], "n": [1, 2]}))
    {'x': ['a', None], 'n': [1, 2]}
    """
    lists: dict[str, Any] = {name: table.labels(name) for name in table.names}
    return lists | {name: array.tolist() for name, array in named_weights(table, weights).items()}


def to_arrow(table: Table, weights: str = "weight") -> Any:
    """A pyarrow table: dictionary columns with the states in order, float64 with nulls.

    A column whose labels have several types is written as text, Arrow having one type a column.
    """
    arrays = {v.name: _arrow_column(v, table.column(v.name)) for v in table.variables}
    return pa.table(arrays | named_weights(table, weights))


def to_pandas(table: Table, weights: str = "weight") -> pandas.DataFrame:
    """A pandas frame: categorical columns with the states in order, float64 with NaN."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for variable in table.variables:
        column = table.column(variable.name)
        if variable.is_discrete:
            codes = np.where(table.missing(variable.name), -1, column.astype(np.int64))
            kinds = {type(label) for label in variable.labels}
            index = pd.Index(list(variable.labels), dtype=object if len(kinds) > 1 else None)
            columns[variable.name] = pd.Categorical.from_codes(codes, categories=index)
        else:
            columns[variable.name] = column.copy()
    return pd.DataFrame(columns | named_weights(table, weights))


def to_polars(table: Table, weights: str = "weight") -> polars.DataFrame:
    """A polars frame: string labels as an Enum in order, other labels as plain typed columns."""
    import polars as pl

    columns = []
    for variable in table.variables:
        array = _arrow_column(variable, table.column(variable.name))
        if pa.types.is_dictionary(array.type) and not pa.types.is_string(array.type.value_type):
            array = array.dictionary_decode()
        series = pl.Series(variable.name, pl.from_arrow(array))
        if variable.is_discrete and all(isinstance(x, str) for x in variable.labels):
            series = series.cast(pl.Enum([str(x) for x in variable.labels]))
        columns.append(series)
    extra = [pl.Series(n, array) for n, array in named_weights(table, weights).items()]
    return pl.DataFrame(columns + extra)


def named_weights(table: Table, name: str) -> dict[str, Any]:
    """The weights under a name that no column has; nothing when all rows count once."""
    if table.weights is None:
        return {}
    if name in table:
        raise DataError(
            f"the weights cannot be written as {name!r}, a column is called so; choose another "
            f"name. The columns are {listing(table.names)}.",
            hint=Hint("Give the name as weights=..."),
        )
    return {name: table.weights.copy()}


def label_array(variable: Variable) -> Any:
    """The states as an Arrow array of their type; as text when they have several types."""
    labels = list(variable.labels)
    if len({type(label) for label in labels}) == 1:
        try:
            return pa.array(labels)
        except OverflowError:  # integers beyond 64 bits
            pass
    texts = [label_text(label) for label in labels]
    if len(set(texts)) < len(texts):
        raise DataError(
            f"column {variable.name!r} has different states that look alike as text "
            f"({listing(labels)}); such a column cannot be written to a file with one type"
        )
    return pa.array(texts)


def _arrow_column(variable: Variable, column: Column) -> Any:
    if not variable.is_discrete:
        return pa.array(column, from_pandas=True)
    missing = column == np.iinfo(column.dtype).max
    signed = {1: np.int16, 2: np.int32, 4: np.int64}[column.dtype.itemsize]
    indices = pa.array(column.astype(signed), mask=missing)
    return pa.DictionaryArray.from_arrays(indices, label_array(variable))
