"""What looks odd in a table, as plain sentences: each finder looks for one thing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from unveil.table.core import Column, Table
from unveil.table.order import likeness_of_neighbours
from unveil.table.places import count, listing
from unveil.table.roles import Role
from unveil.table.text import MAX_INTEGER_STATES
from unveil.table.variable import Label, Variable, label_text

__all__ = ["column_oddities", "table_oddities"]

MANY_STATES = 50
NEARLY_CONSTANT = 0.99

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


def column_oddities(
    variable: Variable,
    codes: Column,
    rows: npt.NDArray[np.intp],
    shares: npt.NDArray[np.float64],
    n_missing: int,
    role: Role | None = None,
) -> tuple[str, ...]:
    """Sentences about one column: its distinct codes or values, their rows and shares of weight.

    `role` is what it seems to be when it is no variable.
    """
    n_present = int(rows.sum())
    if n_present == 0:
        if variable.is_discrete:
            return ("all cells are missing; it will be treated as never observed",)
        return ("all cells are missing; nothing can be learned about it, so leave it out",)
    if len(codes) == 1:
        value = variable.labels[int(codes[0])] if variable.is_discrete else float(codes[0])
        every = "every row holds" if not n_missing else "every cell that is there holds"
        return (f"constant: {every} {value!r}; it can tell nothing about other columns",)
    found = _ROLES[role](variable.name) if role in _ROLES else []
    top = float(shares.max())
    if top > NEARLY_CONSTANT:
        most = int(np.argmax(shares))
        value, rest = _value(variable, codes[most]), n_present - int(rows[most])
        found.append(f"nearly constant: all rows but {rest:,} hold {value!r}")
    if variable.is_discrete and role is not Role.DATE:
        found += _discrete(variable, codes, rows)
    elif not variable.is_discrete and role is not Role.COUNT:
        found += _continuous(codes, rows, top)
    if n_missing > n_present:
        found.append(f"more than half of the cells are missing ({n_missing:,})")
    return tuple(found)


def table_oddities(table: Table, n_distinct_rows: int) -> tuple[str, ...]:
    """Sentences about the table as a whole."""
    found = []
    likeness = likeness_of_neighbours(table)
    if likeness is not None:
        found.append(
            f"neighbouring rows agree {likeness:.0%} more than chance, as if rows followed one "
            "another in time"
        )
    if table.n_columns > table.n_rows:
        found.append(
            f"there are more columns ({table.n_columns:,}) than rows ({table.n_rows:,}); expect "
            "weak evidence for any structure"
        )
    found += [
        f"the columns {listing(names)} say the same in every row; keep one"
        for names in _twins(table)
    ]
    if n_distinct_rows <= table.n_rows / 2:
        found.append(
            f"only {n_distinct_rows:,} of the {table.n_rows:,} rows are different; "
            "folding the equal ones makes the work as much smaller"
        )
    return tuple(found)


_ROLES: dict[Role | None, Callable[[str], list[str]]] = {
    Role.DATE: lambda name: ["dates; learning leaves them out"],
    Role.COUNT: lambda name: [
        f"looks like how often each row counts; if so, take it as the weights (--weights {name})"
    ],
}
"""What is said of roles that the finders below do not see."""


def _discrete(variable: Variable, codes: Column, rows: npt.NDArray[np.intp]) -> list[str]:
    labels = [variable.labels[int(code)] for code in codes]
    found = []
    n_rows = int(rows.sum())
    if len(codes) > 0.9 * n_rows and n_rows > 5:
        every = "every row" if len(codes) == n_rows else "nearly every row"
        found.append(f"{every} holds a different label, like an identifier; leave it out")
    elif len(codes) > MANY_STATES:
        found.append(f"many states ({len(codes):,}); tables of probabilities will be large")
    once = [label for label, n in zip(labels, rows, strict=True) if n == 1]
    if once and len(codes) <= 0.9 * n_rows:
        found.append(f"{count(len(once), 'state')} seen in one row only: {listing(once, 5)}")
    unseen = variable.n_states - len(codes)
    if unseen:
        found.append(f"{count(unseen, 'state')} never seen")
    return found + _alike(labels) + _nearly_numbers(labels, rows)


def _alike(labels: list[Label]) -> list[str]:
    """Labels that differ only by case or spaces."""
    groups: dict[str, list[Label]] = defaultdict(list)
    for label in labels:
        groups[" ".join(label_text(label).casefold().split())].append(label)
    return [
        f"the labels {listing(group)} differ only by case or spaces; are they one state?"
        for group in groups.values()
        if len(group) > 1
    ]


def _nearly_numbers(labels: list[Label], rows: npt.NDArray[np.intp]) -> list[str]:
    """Numbers kept as text because of a few words, or because of decimal commas."""
    if not all(isinstance(label, str) for label in labels):
        return []
    texts = [str(label) for label in labels]
    if all(_DECIMAL_COMMA.fullmatch(text) or _NUMBER.fullmatch(text) for text in texts):
        if any("," in text for text in texts):
            return ["the labels look like numbers with decimal commas; write them with points"]
        return []
    numeric = np.array([bool(_NUMBER.fullmatch(text)) for text in texts])
    words = [text for text, is_number in zip(texts, numeric, strict=True) if not is_number]
    if numeric.sum() >= 5 and len(words) <= 3 and rows[numeric].sum() > 0.5 * rows.sum():
        return [
            f"numbers kept as text because of {listing(words)}; if that means missing, read them "
            "as marks of missing cells"
        ]
    return []


def _continuous(values: Column, rows: npt.NDArray[np.intp], top: float) -> list[str]:
    found: list[str] = []
    n_rows = int(rows.sum())
    whole = bool((values == np.floor(values)).all())
    if len(values) == n_rows and whole and n_rows > MAX_INTEGER_STATES:
        if (np.diff(values) == 1).all():
            found.append("counts up by one from row to row, like a row number; leave it out")
        else:
            found.append("whole numbers, different in every row, like an identifier")
    if len(values) <= MAX_INTEGER_STATES and n_rows > 5 * len(values):
        found.append(f"only {len(values)} distinct numbers; perhaps it is better read as discrete")
    if np.abs(values).max() > 2**53:
        found.append("numbers beyond 2^53 are rounded; if they are codes, read them as text")
    if 0.3 < top <= NEARLY_CONSTANT and len(values) > 10:
        often = float(values[int(np.argmax(rows))])
        found.append(f"one number, {often:g}, fills {top:.0%} of the cells; is it a code?")
    return found


def _value(variable: Variable, code: float) -> Label:
    return variable.labels[int(code)] if variable.is_discrete else float(code)


def _twins(table: Table) -> list[list[str]]:
    """Groups of columns that say the same in every row, whatever their labels."""
    groups: list[list[str]] = []
    by_shape: dict[object, list[list[str]]] = defaultdict(list)
    for name in table.names:
        shape = _shape(table, name)
        if shape is None:
            continue
        for group in by_shape[shape]:
            if _say_the_same(table, group[0], name):
                group.append(name)
                break
        else:
            by_shape[shape].append([name])
            groups.append(by_shape[shape][-1])
    return [group for group in groups if len(group) > 1]


def _shape(table: Table, name: str) -> object:
    """What equal columns have in common and is quick to find; `None` for no information."""
    column = table.column(name)
    if not table.variable(name).is_discrete:
        return sha256(column.tobytes()).digest() if not np.isnan(column).all() else None
    counts = np.bincount(column[~table.missing(name)])
    counts = np.sort(counts[counts > 0])
    constant_or_identifier = len(counts) < 2 or counts[-1] == 1
    return None if constant_or_identifier else counts.tobytes()


def _say_the_same(table: Table, one: str, other: str) -> bool:
    """Whether each state of one column goes with a single state of the other, and back."""
    if not table.variable(one).is_discrete:
        return True  # the bytes are equal already
    if not np.array_equal(table.missing(one), table.missing(other)):
        return False
    there = ~table.missing(one)
    a, b = table.column(one)[there], table.column(other)[there]
    partner = np.zeros(table.variable(one).n_states, b.dtype)
    partner[a] = b
    # The counts of states are equal, so a map one way is a map both ways.
    return bool(np.array_equal(partner[a], b))
