"""Continuous columns that say nothing of their own: those of one value, and linear functions of
others.

A Gaussian given its parents has a density only if it varies given its parents. A column that is
twice another, or the sum of two, would have an infinite one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.errors import DataError
from unveil.statistics.moments import GaussianMoments, Matrix
from unveil.table.core import Table

__all__ = ["Redundant", "check_units", "redundant_columns", "redundant_with_gaps"]

EXPLAINED = 1e-10
"""A column is a function of others if they leave at most this share of its variance: its digits in
double precision, squared, less what sums of many rows lose."""
NEGLIGIBLE = 1e-6
LARGE, SMALL = 1e150, 1e-150
"""Squares of numbers beyond these cannot be told from infinity or from zero."""


@dataclass(frozen=True)
class Redundant:
    """A column that says nothing of its own, and the others that it is a function of (if any)."""

    name: str
    of: tuple[str, ...]
    value: float

    def __str__(self) -> str:
        if not self.of:
            return f"column {self.name!r} has the value {self.value:g} in every row"
        if len(self.of) == 1:
            return f"column {self.name!r} is {self.of[0]!r} in other units, or a copy of it"
        sources = ", ".join(map(repr, self.of[:6])) + (", ..." if len(self.of) > 6 else "")
        return f"column {self.name!r} is an exact sum of multiples of {sources}"


def check_units(name: str, size: float) -> None:
    """Refuse a column whose values are about so large, if their squares cannot be held.

    >>> check_units("mass", 1e-200)
    Traceback (most recent call last):
    unveil.errors.DataError: column 'mass' has values of about 1e-200, too small to be squared; ...
    """
    if size >= LARGE or 0 < size <= SMALL:
        kind = "large" if size >= LARGE else "small"
        raise DataError(
            f"column {name!r} has values of about {size:.0e}, too {kind} to be squared; give it in "
            "other units, or leave it out"
        )


def redundant_with_gaps(table: Table) -> list[Redundant]:
    """The continuous columns that have one value wherever they have any, or are functions of others
    in all rows that show them all.

    >>> seen = {"a": [0.5, None, 2.5, 4.0, 1.0], "b": [3.5, 3.5, None, 3.5, 3.5]}
    >>> print(*redundant_with_gaps(Table.from_frame(seen)))
    column 'b' has the value 3.5 in every row
    """
    names = [v.name for v in table.variables if not v.is_discrete]
    values = np.array([table.column(n) for n in names], np.float64).reshape(len(names), -1)
    found = []
    for name, column in zip(names, values, strict=True):
        seen = column[~np.isnan(column)]
        check_units(name, float(np.abs(seen).max(initial=0.0)))
        if seen.size and np.ptp(seen) <= 8 * np.finfo(float).eps * np.abs(seen).max():
            found.append(Redundant(name, (), float(seen[0])))
    constant = {r.name for r in found}
    varying = [i for i, name in enumerate(names) if name not in constant]
    whole = ~np.isnan(values[varying]).any(axis=0)
    if varying and whole.sum() > len(varying) + 2:
        rows = np.ascontiguousarray(values[varying][:, whole].T)
        moments = GaussianMoments.of_rows(rows, np.ones(len(rows)))
        found += [r for r in redundant_columns([names[i] for i in varying], moments) if r.of]
    return found


def redundant_columns(names: Sequence[str], moments: GaussianMoments) -> list[Redundant]:
    """The columns that are constant, or exact linear functions of others that come before them.

    As many columns as rows are always functions of one another; once so many are independent, only
    copies are looked for.

    >>> rows = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 3.0], [4.0, 8.0, 3.0], [3.0, 6.0, 3.0]])
    >>> found = redundant_columns(["a", "b", "c"], GaussianMoments.of_rows(rows, np.ones(4)))
    >>> print(*found, sep="; ")
    column 'b' is 'a' in other units, or a copy of it; column 'c' has the value 3 in every row
    """
    spread = np.sqrt(np.diag(moments.scatter) / moments.weight)
    for name, mean, size in zip(names, np.abs(moments.mean), spread, strict=True):
        check_units(name, max(mean, size) if np.isfinite(size) else max(mean, LARGE))
    varies = spread > 4 * np.finfo(float).eps * np.abs(moments.mean)
    scale = np.where(varies, spread, 1.0)
    correlation = moments.scatter / moments.weight / np.outer(scale, scale)
    if varies.all() and _independent(correlation):
        return []
    left = correlation.copy()  # what the columns that are kept leave of all others
    kept: list[int] = []  # independent of each other
    others: list[int] = []  # all that are not redundant
    found = []
    for i, name in enumerate(names):
        known = float(moments.mean[i])
        near = np.abs(correlation[i, others]) if others else np.zeros(1)
        if not varies[i]:
            found.append(Redundant(name, (), known))
        elif near.max() >= 1 - EXPLAINED and moments.weight >= 3:
            found.append(Redundant(name, (names[others[int(near.argmax())]],), known))
        elif left[i, i] > EXPLAINED:
            later = left[i + 1 :, i]
            left[i + 1 :, i + 1 :] -= np.outer(later, later) / left[i, i]
            kept.append(i)
            others.append(i)
        elif len(kept) < moments.weight - 1:
            found.append(Redundant(name, _sources(names, correlation, kept, i), known))
        else:
            others.append(i)
    return found


def _independent(correlation: Matrix) -> bool:
    """Whether no column is a function of others, by the diagonal of the Cholesky factor."""
    try:
        factor = np.linalg.cholesky(correlation)
    except np.linalg.LinAlgError:
        return False
    return bool((np.diag(factor) ** 2 > EXPLAINED).all())


def _sources(
    names: Sequence[str], correlation: Matrix, kept: list[int], column: int
) -> tuple[str, ...]:
    shares = np.linalg.lstsq(correlation[np.ix_(kept, kept)], correlation[kept, column])[0]
    return tuple(names[j] for j, s in zip(kept, shares, strict=True) if abs(s) > NEGLIGIBLE)
