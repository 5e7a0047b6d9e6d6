"""The inside of a BIF `probability` block: rows, `table`, `default`.

Rows may come in any order; `default` fills those not given. A `table` line for a variable with
parents is read in the order of the BIF definition: the variable's own state varies slowest, the
last parent fastest. When only the opposite order (own state fastest) gives rows that sum to one,
that is what the writer meant, and a warning says so.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from unveil.errors import FormatError, UnveilWarning
from unveil.formats.draft import Family, numbers
from unveil.formats.scan import Scanner, unquoted

__all__ = ["PROPERTY", "read_table"]

PROPERTY = re.compile(r'property\b(?:"[^"]*"|[^;\n"])*;?')
_ROW_WORD = re.compile(r'"[^"]*"|[^\s,"]+')
# Numbers up to a semicolon, or up to what can only be the next entry; an odd word is kept, to
# be complained about.
_NUMBERS = r"\s*([-+0-9.eE,\s]*+(?:(?=[(}]|table\b|default\b|property\b)|[^;(){}\s]*));?"
_ROW = re.compile(r'\(((?:[^()"]++|"[^"]*")*+)\)' + _NUMBERS)
_VALUES = re.compile(r"(table|default)\b" + _NUMBERS)


def read_table(scanner: Scanner, family: Family) -> npt.NDArray[np.float64]:
    """The table of a family, from the inside of its block; steps over the closing bracket."""
    values = np.full((family.n_rows, family.shape[-1]), np.nan)
    given = np.zeros(family.n_rows, bool)
    default: list[float] | None = None
    row_of = _row_finder(family)
    while not scanner.has("}"):
        start = scanner.at
        if row := scanner.match(_ROW):
            i = row_of(row.group(1), lambda: scanner.place(row.start()))
            if given[i]:
                raise FormatError(
                    f"{scanner.place(start)}: the row ({row.group(1).strip()}) of "
                    f"{family.variable.name!r} is given twice"
                )
            values[i], given[i] = _row_values(scanner, family, row.group(2), start), True
        elif entry := scanner.match(_VALUES):
            if entry.group(1) == "default":
                default = _row_values(scanner, family, entry.group(2), start)
            else:
                values, given = _whole_table(scanner, family, entry.group(2), start), given | True
        elif not (scanner.match(PROPERTY) or scanner.has(";")):
            raise scanner.unexpected(
                f"a row, 'table', 'default' or '}}' in {family.variable.name!r}"
            )
    if default is not None:
        values[~given] = default
    elif not given.all():
        raise FormatError(_missing_rows(family, given))
    return values.reshape(family.shape)


def _row_finder(family: Family) -> Callable[[str, Callable[[], str]], int]:
    """A function from the labels in a row's brackets to the number of the row."""
    codes = [{label: code for code, label in enumerate(own)} for own in family.spelled[:-1]]

    def row_of(text: str, place: Callable[[], str]) -> int:
        labels = [unquoted(label.strip()) for label in text.split(",")] if text.strip() else []
        if '"' in text or len(labels) != len(codes):
            labels = [unquoted(word) for word in _ROW_WORD.findall(text)]
        if len(labels) != len(codes):
            raise FormatError(
                f"{place()}: the row ({text.strip()}) of {family.variable.name!r} names "
                f"{len(labels)} states, but there are {len(codes)} parents"
            )
        row = 0
        for own, parent, label in zip(codes, family.parents, labels, strict=True):
            if label not in own:
                raise FormatError(
                    f"{place()}: the row ({text.strip()}) of {family.variable.name!r} names "
                    f"{label!r}, which is no state of {parent.name!r}; it has {', '.join(own)}"
                )
            row = row * len(own) + own[label]
        return row

    return row_of


def _row_values(scanner: Scanner, family: Family, text: str, start: int) -> list[float]:
    values = numbers(text, lambda: scanner.place(start))
    if len(values) != family.shape[-1]:
        raise FormatError(
            f"{scanner.place(start)}: a row of {family.variable.name!r} needs {family.shape[-1]} "
            f"numbers, got {len(values)}"
        )
    return values


def _whole_table(
    scanner: Scanner, family: Family, text: str, start: int
) -> npt.NDArray[np.float64]:
    place = scanner.place(start)
    listed = numbers(text, lambda: place)
    family._replace(place=place).check_count(listed)
    by_state = np.array(listed).reshape(family.shape[-1], -1).T
    by_row = np.array(listed).reshape(by_state.shape)
    if not _sums_to_one(by_state) and _sums_to_one(by_row):
        warnings.warn(
            f"{place}: the table of {family.variable.name!r} lists its own states fastest, against "
            "the BIF definition; it was read that way because only so its rows sum to one",
            UnveilWarning,
            stacklevel=2,
        )
        return by_row
    return by_state


def _sums_to_one(rows: npt.NDArray[np.float64]) -> bool:
    return bool(np.all(np.abs(rows.sum(axis=1) - 1) < 0.01))


def _missing_rows(family: Family, given: npt.NDArray[np.bool_]) -> str:
    digits = np.unravel_index(int(given.argmin()), family.shape[:-1])
    pairs = zip(family.parents, digits, strict=True)
    first = ", ".join(f"{p.name}={p.labels[int(d)]}" for p, d in pairs)
    return (
        f"{family.place}: {family.variable.name!r} lacks {int((~given).sum())} of {family.n_rows} "
        f"rows, the first for {first or 'its only row'}; give it, or a 'default' row"
    )
