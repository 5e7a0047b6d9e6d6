"""The one door of Python calls: whatever holds a table becomes a `Table`, weights and all."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, UnveilWarning
from unveil.table.core import Table
from unveil.table.options import Unknown, known_variables
from unveil.table.prepare import prepare
from unveil.table.variable import Variable

__all__ = ["Data", "Weights", "as_table", "is_engine", "read_and_ready", "ready_table"]

Data = Any
"""A `Table`, a pandas, polars or Arrow frame, a dict of columns, an array, the path of a file, or
an engine of `unveil.statistics`."""

Weights = str | npt.ArrayLike | None
"""How often each row counts: the name of a column, or one number for every row."""


def as_table(
    data: Data, weights: Weights = None, *, like: Any = None, unknown: Unknown = "error"
) -> Table:
    """The table behind `data`: a `Table`, a frame, a dict of columns, an array, a path, an engine.

    Of an engine that counts, it is the distinct rows with their weights.

    `weights` names the column that says how often each row counts, or holds one number for every
    row. With `like`, a network or a table, labels are read by its states, and `unknown` says what
    another label is. A table comes back itself when nothing is asked for.

    >>> as_table({"x": ["a", "b"], "n": [3, 1]}, weights="n").total_weight
    4.0
    >>> as_table({"x": ["a", "b"]}, weights=[3, 1])
    Table(2 rows, 1 column: 'x' (2 states); total weight 4)
    """
    named = weights if isinstance(weights, str) else None
    if is_engine(data):
        data = _rows(data)
    if isinstance(data, Table):
        table = data if named is None else _weighted_by(data, named)
        table = table if like is None else table.like(like, unknown=unknown)
    else:
        known = None if like is None else list(known_variables(like).values())
        make = Table.read if isinstance(data, (str, PathLike)) else Table.from_frame
        table = make(data, weights=named, like=known, unknown=unknown)
    if weights is None or named is not None:
        return table
    return table.with_weights(_numbers(weights))


def ready_table(
    data: Data,
    weights: Weights = None,
    drop: Sequence[str] | str = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
    numbers: bool = False,
) -> Table:
    """The table behind `data`, ready to learn from: see `as_table` and `prepare`.

    A `Table` of which nothing is asked stays as it is. With `numbers`, continuous columns that are
    not cut stay as they are.

    >>> ready_table({"x": [0.5, 1.0, 9.5]}, discretize="equal_width", n_bins=2).variable("x").cuts
    (5.0,)
    """
    return read_and_ready(data, weights, drop, discretize, n_bins, keep, numbers)[1]


def read_and_ready(
    data: Data,
    weights: Weights = None,
    drop: Iterable[str] | str = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
    numbers: bool = False,
) -> tuple[Table, Table]:
    """The table behind `data` with all its columns, and the same ready to learn from.

    >>> rows = {"who": ["Ann", "Bo", "Cy"], "x": ["a", "b", "b"]}
    >>> [table.names for table in read_and_ready(rows, drop="who")]
    [('who', 'x'), ('x',)]
    """
    table = as_table(data, weights)
    away = [drop] if isinstance(drop, str) else list(drop)
    if (isinstance(data, Table) or is_engine(data)) and not away and discretize is None:
        return table, table
    ready = prepare(
        table, drop=away, discretize=discretize, n_bins=n_bins, keep=keep, numbers=numbers
    )
    return table, ready.table


def is_engine(data: object) -> bool:
    """Whether it counts by itself, as the engines of `unveil.statistics` do."""
    return not isinstance(data, Table) and hasattr(data, "distinct") and hasattr(data, "variables")


def _rows(engine: Any) -> Table:
    """The distinct rows of an engine as a weighted table.

    For work that goes over rows, such as EM: nothing that counts by weight can tell them apart.
    """
    if hasattr(engine, "as_table"):
        table: Table = engine.as_table()
        return table
    if not all(v.is_discrete for v in engine.variables):
        raise DataError("an engine with continuous columns has no list of distinct rows")
    found = engine.distinct(range(len(engine.variables)))
    return Table(engine.variables, list(found.codes.T), found.weights)


def _weighted_by(table: Table, name: str) -> Table:
    """The table with one of its columns as the weights."""
    numbers = table.select([name]).like([Variable(name)])
    if numbers.missing(name).any():
        row = int(np.argmax(numbers.missing(name))) + 1
        raise DataError(f"row {row}, column {name!r}: a weight must be a number, and it is empty")
    if table.weights is not None:
        warnings.warn(
            UnveilWarning(f"the weights the table had are replaced by those of column {name!r}"),
            stacklevel=4,
        )
    return table.without(name).with_weights(numbers.column(name))


def _numbers(weights: Any) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "weights are the name of a column or one number for every row, got "
            f"{type(weights).__name__}"
        ) from None
