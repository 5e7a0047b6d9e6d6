"""What a column is for when it is no variable: an identifier, a date, how often its row counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from unveil.table.core import Column, Table
from unveil.table.fold import row_groups
from unveil.table.text import MAX_INTEGER_STATES
from unveil.table.variable import Label
from unveil.table.weights import named_like_weights

__all__ = ["FEW_ROWS", "Role", "labels_role", "numbers_role", "role_of"]

FEW_ROWS = 50
"""In so few rows, or with so few states, no column is taken for an identifier."""

_DAY, _MONTH = r"(0?[1-9]|[12]\d|3[01])", r"(0?[1-9]|1[0-2])"
_TIME = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|[+-]\d{2}:?\d{2}))?)?"
_DATE = re.compile(
    rf"\d{{4}}[-/.]{_MONTH}([-/.]{_DAY}{_TIME})?|{_DAY}[-/.]{_DAY}[-/.](\d\d)?\d\d{_TIME}"
)
_IDENTIFIER = re.compile(
    r"(.*[ _.-])?(id|ids|uuid|guid|key|index|rownames?|row|ssn)|.*[a-z]Id|.*ID|unnamed: ?\d+"
    r"|column_1_*"
)


class Role(StrEnum):
    """What a column seems to be; the value says it in words."""

    IDENTIFIER = "an identifier"
    ROW_NUMBER = "a row number"
    DATE = "a date"
    COUNT = "how often each row counts"


def role_of(table: Table, name: str) -> Role | None:
    """What the column seems to be when it is no variable; `None` when it seems to be one.

    Dates are those with more different values than whole numbers may have to be discrete: a few
    dates can be states as good as any.

    >>> role_of(Table.from_frame({"day": [f"2024-01-{d:02}" for d in range(1, 31)]}), "day")
    <Role.DATE: 'a date'>
    """
    column = table.column(name)
    present = column[~table.missing(name)]
    if len(present) == 0:
        return None
    if table.weights is None and _counts_rows(table, name):
        return Role.COUNT
    if table.variable(name).is_discrete:
        seen = np.flatnonzero(np.bincount(present))
        labels = [table.variable(name).labels[int(code)] for code in seen]
        return labels_role(labels, len(present))
    return numbers_role(name, present)


def labels_role(labels: Sequence[Label], n_present: int) -> Role | None:
    """The same, for a column in which these labels occur in so many cells."""
    texts = [label.strip() for label in labels if isinstance(label, str)]
    if len(texts) == len(labels) > MAX_INTEGER_STATES and all(map(_DATE.fullmatch, texts)):
        return Role.DATE
    if len(labels) > max(FEW_ROWS, 0.9 * n_present):
        return Role.IDENTIFIER
    return None


def numbers_role(name: str, present: Column) -> Role | None:
    """The same, for a column of these numbers, none of them missing."""
    if len(present) <= FEW_ROWS or (present != np.floor(present)).any():
        return None
    if (np.diff(present) == 1).all():
        return Role.ROW_NUMBER
    different = len(np.unique(present)) == len(present)
    return Role.IDENTIFIER if different and _IDENTIFIER.fullmatch(name.strip()) else None


def _counts_rows(table: Table, name: str) -> bool:
    """Whether the column counts the rows of a table in which equal rows come once."""
    numbers = _whole_numbers(table, name)
    if numbers is None or len(numbers) < 2 or (numbers == numbers[0]).all():
        return False
    others = [other for other in table.names if other != name]
    if not others or not all(table.variable(other).is_discrete for other in others):
        return False
    if not (named_like_weights(name) or _is_crossed(table, others)):
        return False
    return len(row_groups([table.column(other) for other in others])[0]) == table.n_rows


def _whole_numbers(table: Table, name: str) -> Column | None:
    """The column as numbers, when all are there, whole and not negative."""
    variable, column = table.variable(name), table.column(name)
    if table.missing(name).any():
        return None
    if variable.is_discrete:
        if not {type(label) for label in variable.labels} <= {int, float}:
            return None
        column = np.array(variable.labels, float)[column]
    return column if ((column >= 0) & (column == np.floor(column))).all() else None


def _is_crossed(table: Table, others: list[str]) -> bool:
    """Whether the rows are all combinations of the states of two columns or more, each once."""
    sizes = [table.variable(other).n_states for other in others]
    return len(others) > 1 and min(sizes) > 1 and float(np.prod(sizes, dtype=float)) == table.n_rows
