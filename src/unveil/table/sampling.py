"""Tables for experiments: split the rows, hide columns, knock out cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from unveil.errors import DataError
from unveil.seeds import generator_of
from unveil.table.core import Column, Table, missing_code

__all__ = ["Seed", "hide", "knock_out", "split"]

Seed = int | np.random.Generator | None


def split(
    table: Table, fraction: float | Sequence[int] = 0.8, *, seed: Seed = None
) -> tuple[Table, ...]:
    """Tables that share the rows out at random, every row exactly once, in their old order.

    A `fraction` gives two tables, that share of the rows first. Several sizes, which must add up
    to the number of rows, give that many tables. No table is left empty.

    >>> table = Table.from_frame({"x": list("aabbb")})
    >>> [part.n_rows for part in split(table, 0.6, seed=1)]
    [3, 2]
    """
    sizes = _sizes(table.n_rows, fraction)
    order = generator_of(seed).permutation(table.n_rows)
    parts = np.split(order, np.cumsum(sizes)[:-1])
    return tuple(table.take(np.sort(part)) for part in parts)


def hide(table: Table, names: str | Iterable[str]) -> Table:
    """The table with all cells of the named columns missing and their variables hidden.

    >>> hide(Table.from_frame({"x": ["a", "b"], "y": [0, 1]}), "x").variables[0]
    Variable('x', states=['a', 'b'], hidden=True)
    """
    for name in [names] if isinstance(names, str) else names:
        column = table.column(name)
        everything = np.ones(table.n_rows, bool)
        table = table.with_column(table.variable(name).as_hidden(), _emptied(column, everything))
    return table


def knock_out(
    table: Table, fraction: float, *, seed: Seed = None, names: Iterable[str] | None = None
) -> Table:
    """The table with cells gone missing completely at random, each with this probability.

    Cells already missing stay so. Only the named columns are touched, all when not given.

    >>> table = Table.from_frame({"x": list("ab") * 500})
    >>> 150 < knock_out(table, 0.2, seed=0).n_missing < 250
    True
    """
    if not 0 <= fraction <= 1:
        raise DataError(f"the fraction of cells to knock out must be from 0 to 1, got {fraction}")
    rng = generator_of(seed)
    for name in table.names if names is None else names:
        gone = rng.random(table.n_rows) < fraction
        table = table.with_column(table.variable(name), _emptied(table.column(name), gone))
    return table


def _emptied(column: Column, gone: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Column:
    emptied = column.copy()
    emptied[gone] = np.nan if column.dtype.kind == "f" else missing_code(column.dtype)
    return emptied


def _sizes(n_rows: int, fraction: float | Sequence[int]) -> list[int]:
    if isinstance(fraction, (int, float)):
        if not 0 < fraction < 1:
            raise DataError(f"the fraction of rows must be between 0 and 1, got {fraction}")
        if n_rows < 2:
            raise DataError(f"a table of {n_rows} rows cannot be split in two")
        size = min(max(round(n_rows * fraction), 1), n_rows - 1)
        return [size, n_rows - size]
    sizes = [int(size) for size in fraction]
    if sum(sizes) != n_rows or min(sizes, default=0) < 1:
        raise DataError(
            f"the sizes {sizes} must be positive and add up to the {n_rows} rows, "
            f"they add up to {sum(sizes)}"
        )
    return sizes
