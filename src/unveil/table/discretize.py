"""`Discretizer`: continuous columns into discrete ones, with cut points kept for new data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from unveil.errors import DataError
from unveil.table.core import Column, Table, code_dtype, missing_code
from unveil.table.cuts import CUTTERS
from unveil.table.places import count, listing, tell
from unveil.table.variable import Variable

__all__ = ["Discretizer"]


@dataclass(frozen=True)
class Discretizer:
    """Cut points per column, learned once and applied to any table.

    A value belongs to the interval that starts at or below it: with cuts 3.5 and 7.2 the states
    are "< 3.5", "3.5 to 7.2" (3.5 in, 7.2 out) and ">= 7.2". Values outside the range seen fall
    into the outer states. Labels are rounded for reading, the cuts are exact. The method
    "deviation" cuts one standard deviation below and above the mean and calls the states "down",
    "same" and "up" (as in section 6.6 of the thesis, but by column, not by row). A
    column with one value has one state.

    >>> table = Table.from_frame({"x": [0.5, 1.0, 2.0, 9.5], "y": ["a", "b", "b", "a"]})
    >>> coarse = Discretizer.fit(table, method="equal_width", n_bins=3)
    >>> coarse.cuts
    {'x': (3.5, 6.5)}
    >>> coarse.apply(table).labels("x")
    ['< 3.5', '< 3.5', '< 3.5', '>= 6.5']
    """

    method: str
    cuts: Mapping[str, tuple[float, ...]]

    @classmethod
    def fit(
        cls,
        table: Table,
        names: str | Iterable[str] | None = None,
        *,
        method: str = "equal_frequency",
        n_bins: int = 3,
    ) -> Discretizer:
        """Cut points for the named continuous columns, for all of them when not given.

        `method` is "equal_width", "equal_frequency", "kmeans" or "deviation" (always three bins).
        A bin becomes a state.
        """
        if method not in CUTTERS:
            raise DataError(f"unknown method {method!r}; choose one of {listing(list(CUTTERS))}")
        if n_bins < 2 or (method == "deviation" and n_bins != 3):
            wanted = "exactly 3 bins (down, same, up)" if n_bins >= 2 else "at least 2 bins"
            raise DataError(f"method {method!r} needs {wanted}, got n_bins={n_bins}")
        chosen = _chosen(table, names)
        return cls(method, {name: _cuts(table, name, method, n_bins) for name in chosen})

    def apply(self, table: Table) -> Table:
        """The table with the learned columns replaced by discrete ones; missing stays missing."""
        for name in self.cuts:
            column = table.column(name)
            if table.variable(name).is_discrete:
                raise DataError(
                    f"column {name!r} is discrete already "
                    f"({count(table.variable(name).n_states, 'state')}); it was continuous when "
                    "the cuts were learned"
                )
            table = table.with_column(self.variable(name), self._codes(name, column))
        return table

    def variable(self, name: str) -> Variable:
        """The discrete variable that a column becomes."""
        return Variable(name, _labels(self.cuts[name], self.method))

    def _codes(self, name: str, column: Column) -> Column:
        cuts = np.array(self.cuts[name])
        dtype = code_dtype(len(cuts) + 1)
        codes = np.searchsorted(cuts, column, side="right").astype(dtype)
        codes[np.isnan(column)] = missing_code(dtype)
        return codes

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON."""
        return {"method": self.method, "cuts": {n: list(c) for n, c in self.cuts.items()}}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Discretizer:
        """The discretizer that `to_dict` wrote.

        >>> Discretizer.from_dict({"method": "kmeans", "cuts": {"x": [1.5]}}).variable("x")
        Variable('x', states=['< 1.5', '>= 1.5'])
        """
        method, cuts = given.get("method"), given.get("cuts")
        if method not in CUTTERS or not isinstance(cuts, Mapping):
            raise DataError(
                'a discretizer is written as {"method": ..., "cuts": {name: [numbers]}}, with a '
                f"method among {listing(list(CUTTERS))}; got {dict(given)!r}"
            )
        read = {name: tuple(float(cut) for cut in each) for name, each in cuts.items()}
        for name, each in read.items():
            if any(not a < b for a, b in pairwise(each)):
                raise DataError(f"the cuts of column {name!r} must ascend, got {list(each)}")
        return cls(method, read)


def _chosen(table: Table, names: str | Iterable[str] | None) -> list[str]:
    if names is None:
        return [v.name for v in table.variables if not v.is_discrete]
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if table.variable(name).is_discrete:
            states = count(table.variable(name).n_states, "state")
            raise DataError(f"column {name!r} is discrete already ({states})")
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
