"""Equal rows folded into one weighted row. Nothing that counts rows by weight can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.table.core import Column, Table

__all__ = ["fold", "row_groups"]

_Keys = npt.NDArray[np.uint64]


def fold(table: Table) -> Table:
    """The table with equal rows merged, in order of first appearance; weights added up.

    Missing equals missing. Continuous columns count as equal when their numbers are.

    >>> folded = fold(Table.from_frame({"x": ["a", "b", "a", None, None]}))
    >>> folded.labels("x"), folded.weights.tolist()
    (['a', 'b', None], [2.0, 1.0, 2.0])
    """
    columns = [table.column(name) for name in table.names]
    first, group = row_groups(columns)
    weights = np.bincount(group, table.weights, minlength=len(first)).astype(np.float64)
    return table.take(first).with_weights(weights)


def row_groups(columns: list[Column]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The first row of each group of equal rows, and the group of each row.

    Rows are compared by a 64-bit key mixed from all cells. Different rows that share a key are
    found by comparing every row with the first of its group, and then the salt is changed.
    """
    for salt in range(100):
        first, group = _groups(_keys(columns, salt))
        head = first[group]
        if all(_equal(column, column[head]) for column in columns):
            return first, group
    raise AssertionError("a hundred salts and still a collision")


def _keys(columns: list[Column], salt: int) -> _Keys:
    """One 64-bit key per row (the finaliser of splitmix64 over the running sum)."""
    key: _Keys = np.full(len(columns[0]), salt, np.uint64)
    for column in columns:
        key = _mixed(key + _bits(column))
    return key


def _mixed(key: _Keys) -> _Keys:
    key = key + np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def _bits(column: Column) -> _Keys:
    """The cells as 64-bit integers; one pattern for all NaN, and none for minus zero."""
    if column.dtype.kind != "f":
        return column.astype(np.uint64)
    bits: _Keys = (column + 0.0).view(np.uint64).copy()
    bits[np.isnan(column)] = np.uint64(0x7FF8000000000000)
    return bits


def _groups(keys: _Keys) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Groups of equal keys, numbered by first appearance."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse]


def _equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
