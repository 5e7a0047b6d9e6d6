"""Columns with states beside numbers: what they say of every number is taken away first.

A mixed table asks for hidden parents *beyond* what its states explain: that two groups differ in
five measurements is no hidden variable if the group is a column. So every number is replaced by
what is left of it after a regression on the states (one level for each, all columns of states
together), in its own units and with its own mean. By the theorem of Frisch, Waugh and Lovell lines
among what is left are those of the numbers themselves, states held fixed; both sides, without and
with hidden parents, have the same levels, so a difference of scores is that of the whole model.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import Hint
from unveil.ideal.layers import LEAST_CHILDREN
from unveil.table.core import Table
from unveil.table.places import tell

__all__ = ["Beyond", "beyond_states", "has_enough_numbers"]

Matrix = npt.NDArray[np.float64]

ROWS_FOR_A_LEVEL = 10
"""So many rows for each level that is fitted; columns with more states are not heeded."""
EXACT = 1e-10
"""A number of which no more than this share of its deviation is left follows from the states."""


@dataclass(frozen=True, eq=False)
class Beyond:
    """The numbers of a table beyond its states, and the columns whose states were held fixed."""

    table: Table
    given: tuple[str, ...] = ()


def has_enough_numbers(table: Table) -> bool:
    """Whether there are so many continuous columns that one may be hidden behind them."""
    return sum(not v.is_discrete for v in table.variables) >= LEAST_CHILDREN


def beyond_states(table: Table) -> Beyond:
    """What is left of every number beyond what the columns with states say of it.

    A table of numbers is as it was. What is done is told.

    >>> import warnings
    >>> rows = {"sex": ["f", "m"] * 20, "height": [165.0 + 12 * (i % 2) + i for i in range(40)]}
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     left = beyond_states(Table.from_frame(rows))
    >>> left.given, left.table.names, left.table.column("height")[:4].round(1).tolist()
    (('sex',), ('height',), [171.5, 171.5, 173.5, 173.5])
    """
    numbers = [v.name for v in table.variables if not v.is_discrete]
    states = [v.name for v in table.variables if v.is_discrete]
    if not states:
        return Beyond(table)
    levels, given, crowded = _levels(table, states)
    kept = table.select(numbers)
    weights = table.row_weights
    for name in numbers:
        kept = kept.with_column(kept.variable(name), _left(kept.column(name), levels, weights))
    _tell(given, crowded)
    flat = [n for n in numbers if _follows(table.column(n), kept.column(n))]
    for name in flat:
        tell(f"column {name!r} follows from {_listed(given)}; it is left out")
    if flat and len(flat) < len(numbers):
        kept = kept.select([n for n in numbers if n not in flat])
    return Beyond(kept, given)


def _levels(table: Table, states: list[str]) -> tuple[Matrix, tuple[str, ...], list[str]]:
    """A column of ones, and one for every further state; which columns have them, and which not.

    Those with the fewest states come first, while there are rows enough.
    """
    design, given, crowded = [np.ones(table.n_rows)], list[str](), list[str]()
    found = {}
    for name in states:
        codes = np.where(table.missing(name), -1, np.asarray(table.column(name), np.int64))
        found[name] = [codes == s for s in np.unique(codes).tolist()][1:]
    for name in sorted(states, key=lambda n: len(found[n])):
        own = found[name]
        if (len(design) + len(own)) * ROWS_FOR_A_LEVEL > table.total_weight:
            crowded.append(name)
        else:
            given.append(name)
            design += [inside.astype(np.float64) for inside in own]
    order = [n for n in states if n in given]
    return np.array(design), tuple(order), crowded


def _left(column: Matrix, levels: Matrix, weights: Matrix) -> Matrix:
    """The column less what the levels say of it, with its own mean; gaps stay."""
    seen = ~np.isnan(column) & (weights > 0)
    if not seen.any():
        return column
    mean = float(np.average(column[seen], weights=weights[seen]))
    root = np.sqrt(weights[seen])
    fitted = np.linalg.lstsq((levels[:, seen] * root).T, (column[seen] - mean) * root, rcond=None)[
        0
    ]
    return np.asarray(column - fitted @ levels)


def _follows(before: Matrix, after: Matrix) -> bool:
    """Whether nothing is left of a column that varied."""
    whole, rest = np.nanstd(before), np.nanstd(after)
    return bool(whole > 0 and rest <= EXACT * whole)


def _tell(given: tuple[str, ...], crowded: list[str]) -> None:
    if given:
        say = "says" if len(given) == 1 else "say"
        tell(
            f"numbers are looked at beyond what {_listed(given)} {say} of them; for hidden "
            "variables with states behind all columns cut the numbers with",
            Hint("discretize='equal_frequency'", "--discretize equal_frequency"),
        )
    for name in crowded:
        tell(
            f"column {name!r} has too many states for the rows there are; it is not heeded",
            Hint("", f"(--drop {shlex.quote(name)} leaves it out)"),
        )


def _listed(names: tuple[str, ...]) -> str:
    shown = [repr(n) for n in names[:6]] + ["..."] * (len(names) > 6)
    return ", ".join(shown[:-1]) + (" and " if len(shown) > 1 else "") + shown[-1]
