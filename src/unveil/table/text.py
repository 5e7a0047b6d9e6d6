r"""What a column of text holds: the rules by which a CSV column becomes discrete or continuous.

Decided on the distinct values, surrounding spaces removed, missing markers left out:

1. all `true`/`false` (in any case): discrete, boolean labels;
2. all integers in canonical form (`0`, `-3`, `12`; not `007`, which is a label, nor anything of
   more than `LONGEST_INTEGER` digits):
   discrete with integer labels in ascending order while there are at most
   `MAX_INTEGER_STATES` of them, else continuous;
3. all numbers: continuous, unless all are whole (`1.0`, `2.0`, as pandas writes integers with
   gaps) and at most `MAX_INTEGER_STATES`: then discrete with float labels. Infinity is refused;
4. anything else: discrete, the labels kept verbatim as strings, sorted;
5. no values at all: continuous, every cell missing, with a warning.

`kinds` overrides this per column: "discrete" keeps typed labels however many, "text" keeps the
labels as strings, "continuous" asks for numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import DataError
from unveil.table.coding import (
    all_missing,
    code_known,
    code_labels,
    distinct,
    first_row,
    floats,
    refuse_infinite,
    sorted_labels,
)
from unveil.table.core import Column
from unveil.table.options import Unknown
from unveil.table.places import at, correct_or_reread
from unveil.table.variable import LONGEST_INTEGER, Label, Variable

__all__ = [
    "DEFAULT_MISSING",
    "MAX_INTEGER_STATES",
    "infer_text",
    "known_text",
    "typed_labels",
]

DEFAULT_MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
"""Cells read as missing. Not "None": it is a state of well known networks."""

MAX_INTEGER_STATES = 20
"""A column of whole numbers with at most this many different ones is discrete."""

_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_PADDED = re.compile(r"[+-]?0[0-9]+")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


def infer_text(
    name: str, values: Any, kind: str | None, missing: Collection[str], source: str, quote: str = ""
) -> tuple[Variable, Column]:
    """The variable and the coded column that a column of text stands for.

    >>> variable, column = infer_text("x", pa.array(["1", "?", "0"]), None, DEFAULT_MISSING, "")
    >>> variable, column.tolist()
    (Variable('x', states=[0, 1]), [1, 255, 0])
    """
    if kind in (None, "continuous") and not pa.types.is_dictionary(values.type):
        numbers = _plainly_numbers(values, missing)
        if numbers is not None:
            refuse_infinite(numbers, name, source)
            return Variable(name), numbers
    codes, texts = distinct(values)
    cells = _cells(texts.to_pylist(), missing, quote)
    used = [cell for cell in cells if cell is not None]
    if not used:
        return all_missing(name, len(codes), source)
    if kind == "text":
        return code_labels(name, codes, cells, sorted_labels(used))
    labels = typed_labels(used)
    if kind == "continuous" or (kind is None and _is_continuous(labels)):
        return Variable(name), _numbers(name, codes, cells, source)
    if kind is None and isinstance(labels[0], str):
        _refuse_infinite_words(name, codes, cells, source)
    typed = dict(zip(used, labels, strict=True))
    return code_labels(
        name, codes, [None if c is None else typed[c] for c in cells], sorted_labels(labels)
    )


def known_text(
    variable: Variable,
    values: Any,
    missing: Collection[str],
    source: str,
    quote: str = "",
    unknown: Unknown = "error",
) -> Column:
    """A column of text coded by a variable that is already known.

    A text that is a state of the variable is that state even if it looks like a missing marker.
    """
    codes, texts = distinct(values)
    raw = texts.to_pylist()
    if not variable.is_discrete:
        return _numbers(variable.name, codes, _cells(raw, missing, quote), source)
    states = {state for state in variable.labels if isinstance(state, str)}
    cells = [
        text if text in states else cell
        for text, cell in zip(raw, _cells(raw, missing, quote, states), strict=True)
    ]
    return code_known(variable, codes, cells, source, unknown)


def typed_labels(texts: Sequence[str]) -> list[Label]:
    """The texts as booleans, integers or floats when all of them are, else as they stand.

    >>> typed_labels(["1", "2"]), typed_labels(["TRUE", "false"]), typed_labels(["1", "007"])
    ([1, 2], [True, False], ['1', '007'])
    """
    if all(text.lower() in ("true", "false") for text in texts):
        return [text.lower() == "true" for text in texts]
    if all(_INTEGER.fullmatch(text) for text in texts):
        # Python takes no more than a few thousand digits for a number; such codes stay text.
        long = max(map(len, texts)) > LONGEST_INTEGER
        return list(texts) if long else [int(text) for text in texts]
    if all(_NUMBER.fullmatch(t) and not _PADDED.fullmatch(t) for t in texts):
        numbers = [float(text) for text in texts]
        # A number too large for a float would become infinity: keep such a column as text.
        return list(texts) if any(map(np.isinf, numbers)) else [x + 0.0 for x in numbers]
    return list(texts)


def _is_continuous(labels: Sequence[Label]) -> bool:
    """Rules 2 and 3: numbers that are too many, or not whole."""
    first = labels[0]
    if isinstance(first, (bool, str)):
        return False
    whole = all(isinstance(x, int) or (isinstance(x, float) and x.is_integer()) for x in labels)
    return not whole or len(set(labels)) > MAX_INTEGER_STATES


def _cells(
    texts: Sequence[str | None], missing: Collection[str], quote: str, keep: Collection[str] = ()
) -> list[str | None]:
    """Each distinct text without surrounding spaces, `None` for a missing marker.

    A quoted cell after a space (`1, "yes"`) reaches us with its quotes; they are taken off here.
    """
    markers = frozenset(missing)
    cells: list[str | None] = []
    for text in texts:
        bare = text.strip() if text is not None else None
        if bare and quote and text != bare and len(bare) > 1 and bare[0] == bare[-1] == quote:
            bare = bare[1:-1].replace(quote * 2, quote).strip()
        cells.append(None if bare in markers and bare not in keep else bare)
    return cells


def _plainly_numbers(values: Any, missing: Collection[str]) -> Column | None:
    """The whole column as numbers when it is full of different ones, else `None`.

    The fast way for real numbers: a million distinct texts are never put in a dictionary.
    """
    bare = pc.utf8_trim_whitespace(values)
    nulls = pc.is_in(bare, value_set=pa.array(sorted(set(missing)), bare.type))
    bare = pc.if_else(nulls, pa.scalar(None, bare.type), bare)
    try:
        numbers = pc.cast(bare, pa.float64())
    except pa.ArrowInvalid:
        return None
    if len(pc.unique(numbers[: 50 * MAX_INTEGER_STATES])) <= MAX_INTEGER_STATES + 1:
        return None
    if pc.any(pc.match_substring_regex(bare, r"^[+-]?0[0-9]+$")).as_py():
        return None
    if pc.any(pc.is_nan(numbers)).as_py():  # the text "nan" where it is not a missing marker
        return None
    return floats(numbers)


def _numbers(name: str, codes: Column, cells: Sequence[str | None], source: str) -> Column:
    """The column as float64; an error that names the first cell that is not a number."""
    table = np.full(len(cells) + 1, np.nan)
    bad = []
    for i, cell in enumerate(cells):
        if cell is None:
            continue
        if _NUMBER.fullmatch(cell) or _INFINITE.fullmatch(cell):
            table[i] = float(cell)
        else:
            bad.append(i)
    if bad:
        row, worst = min((first_row(codes, i), i) for i in bad)
        raise DataError(
            f"{at(source, row, name)}: {cells[worst]!r} is not a number, and the column is to be "
            "continuous.",
            hint=correct_or_reread(name),
        )
    numbers: Column = table[codes]
    refuse_infinite(numbers, name, source)
    return numbers


def _refuse_infinite_words(
    name: str, codes: Column, cells: Sequence[str | None], source: str
) -> None:
    """Refuse a column of numbers among which there is an infinity."""
    used = [cell for cell in cells if cell is not None]
    words = [cell for cell in used if _INFINITE.fullmatch(cell)]
    if (
        words
        and len(words) < len(used)
        and all(_NUMBER.fullmatch(cell) or cell in words for cell in used)
    ):
        _numbers(name, codes, cells, source)
