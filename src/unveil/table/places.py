"""Words for where in the data something happened, shared by every error and warning here."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence

from unveil.errors import Hint, UnveilWarning

__all__ = ["at", "correct_or_reread", "count", "free_name", "in_short", "listing", "tell"]


def at(source: str, row: int | None = None, column: str | None = None) -> str:
    """Where something is: file, row (the first row of data is row 1) and column.

    >>> at("patients.csv", 3, "age")
    "patients.csv, row 3, column 'age'"
    """
    parts = [source] if source else []
    if row is not None:
        parts.append(f"row {row}")
    if column is not None:
        parts.append(f"column {column!r}")
    return ", ".join(parts)


def tell(message: str, hint: Hint | None = None) -> None:
    """Warn about something that was handled and that a person may want to know."""
    warnings.warn(UnveilWarning(message, hint=hint), stacklevel=2)


def correct_or_reread(column: str) -> Hint:
    """What to do about a cell of a continuous column that is no number."""
    return Hint(
        "Correct the cell, add the text to missing=..., or read the column with "
        f'kinds={{{column!r}: "discrete"}}.',
        f"Correct the cell, add the text with --missing, or read the column with "
        f"--discrete {column}.",
    )


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with underscores after it as long as something else is called so.

    >>> free_name("class", ["class", "x"])
    'class_'
    """
    while name in taken:
        name += "_"
    return name


def listing(items: Sequence[object], most: int = 12) -> str:
    """The items, quoted and separated by commas; the tail is counted when there are many.

    >>> listing(["a", "b", "c"], most=2)
    "'a', 'b', ... (3 in all)"
    """
    shown = ", ".join(repr(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, ... ({len(items):,} in all)"


def in_short(names: Sequence[object], most: int = 20) -> str:
    """The names separated by commas, for people; the tail is counted when there are many.

    >>> in_short(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(str(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
