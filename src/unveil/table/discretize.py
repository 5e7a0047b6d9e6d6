"""Continuous columns into discrete ones: variables whose states are intervals, with their cuts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from unveil.errors import DataError, did_you_mean
from unveil.table.core import Table
from unveil.table.cuts import CUTTERS
from unveil.table.places import count, listing, tell
from unveil.table.variable import Variable

__all__ = ["cut_variables", "interval_variable"]


def cut_variables(
    table: Table,
    names: str | Iterable[str] | None = None,
    *,
    method: str = "equal_frequency",
    n_bins: int = 3,
) -> list[Variable]:
    """The discrete variables that continuous columns become; `table.like(...)` of them cuts.

    `names` are the columns to cut, all continuous ones when not given; a discrete column of numbers
    can be named too. `method` is "equal_width", "equal_frequency", "kmeans" or "deviation" (always
    three bins). A bin becomes a state; a column with one value has one state.

    >>> table = Table.from_frame({"x": [0.5, 1.0, 2.0, 9.5], "y": ["a", "b", "b", "a"]})
    >>> cut = cut_variables(table, method="equal_width", n_bins=3)
    >>> cut[0].cuts, table.like(cut).labels("x")
    ((3.5, 6.5), ['< 3.5', '< 3.5', '< 3.5', '>= 6.5'])
    """
    if method not in CUTTERS:
        raise DataError(
            f"unknown method {method!r}; choose one of {listing(list(CUTTERS))}."
            + did_you_mean(method, CUTTERS)
        )
    if n_bins < 2 or (method == "deviation" and n_bins != 3):
        wanted = "exactly 3 bins (down, same, up)" if n_bins >= 2 else "at least 2 bins"
        raise DataError(f"method {method!r} needs {wanted}, got {n_bins}")
    chosen = _chosen(table, names)
    numbers = table.select(chosen).like([Variable(name) for name in chosen]) if chosen else table
    return [interval_variable(n, _cuts(numbers, n, method, n_bins), method) for n in chosen]


def interval_variable(name: str, cuts: Sequence[float], method: str = "") -> Variable:
    """A variable whose states are the intervals between cuts, called after them.

    A value belongs to the interval that starts at or below it: with cuts 3.5 and 7.2 the states
    are "< 3.5", "3.5 to 7.2" (3.5 in, 7.2 out) and ">= 7.2". Values outside the range seen fall
    into the outer states. Labels are rounded for reading, the cuts are exact. The method
    "deviation", which cuts one standard deviation below and above the mean, calls its states
    "down", "same" and "up" (as in section 6.6 of the thesis, but by column, not by row).

    >>> interval_variable("x", [1.5]).states
    ('< 1.5', '>= 1.5')
    """
    return Variable(name, _labels(cuts, method), cuts=cuts)


def _chosen(table: Table, names: str | Iterable[str] | None) -> list[str]:
    if names is None:
        return [v.name for v in table.variables if not v.is_discrete]
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        states = table.variable(name).states or ()
        if any(isinstance(state, (str, bool)) for state in states):
            raise DataError(f"column {name!r} is discrete already ({count(len(states), 'state')})")
    return chosen


def _cuts(table: Table, name: str, method: str, n_bins: int) -> tuple[float, ...]:
    there = ~table.missing(name) & (table.row_weights > 0)
    if not there.any():
        raise DataError(f"column {name!r} has no values, so there is nothing to cut; leave it out")
    values, place = np.unique(table.column(name)[there], return_inverse=True)
    if len(values) == 1:
        return ()
    weights = np.bincount(place, table.row_weights[there]).astype(np.float64)
    cuts = tuple(sorted(set(CUTTERS[method](values, weights, n_bins))))
    if len(cuts) < n_bins - 1:
        tell(
            f"column {name!r}: only {len(cuts) + 1} of the {n_bins} bins asked for, its "
            f"{count(len(values), 'distinct value')} leave no place for more cuts"
        )
    return cuts


def _labels(cuts: Sequence[float], method: str) -> list[str]:
    if method == "deviation":
        return ["down", "same", "up"] if cuts else ["same"]
    if not cuts:
        return ["any"]
    words = _rounded(cuts)
    inner = [f"{a} to {b}" for a, b in pairwise(words)]
    return [f"< {words[0]}", *inner, f">= {words[-1]}"]


def _rounded(cuts: Sequence[float]) -> list[str]:
    """The cuts with as few digits as keep them apart, three at least."""
    for digits in range(3, 17):
        words = [f"{cut:.{digits}g}" for cut in cuts]
        if len(set(words)) == len(words):
            return words
    return [repr(cut) for cut in cuts]
