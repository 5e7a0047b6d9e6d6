"""One door for every way in: named Arrow columns become a `Table`, options checked on the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.errors import DataError
from unveil.table.coding import KINDS
from unveil.table.core import Column, Table
from unveil.table.places import at, listing
from unveil.table.text import infer_text, known_text
from unveil.table.typed import infer_objects, infer_typed, known_typed
from unveil.table.variable import Variable

__all__ = ["Kinds", "assemble", "check_names", "check_options"]

Kinds = str | Mapping[str, str] | None


def assemble(
    columns: Mapping[str, Any],
    *,
    source: str = "",
    kinds: Kinds = None,
    missing: Collection[str] = (),
    weights: str | None = None,
    variables: Sequence[Variable] | None = None,
    text: bool = False,
    quote: str = "",
) -> Table:
    """A table of the columns: Arrow arrays, or lists of Python objects of several types.

    `text` says that the columns are the cells of a text file, whose types are still to be found.
    """
    check_options(tuple(columns), source, kinds, weights, variables)
    inputs = {name: column for name, column in columns.items() if name != weights}
    if not inputs:
        raise DataError(f"{at(source) or 'the table'}: no column is left beside the weights")
    known = None if variables is None else {v.name: v for v in variables if v.name in inputs}
    made: list[tuple[Variable, Column]] = []
    for name in inputs if known is None else known:
        values, variable = inputs[name], None if known is None else known[name]
        kind = kinds if kinds is None or isinstance(kinds, str) else kinds.get(name)
        if isinstance(values, list):
            made.append(infer_objects(name, values, kind, missing, source, variable))
        elif variable is not None and text:
            made.append((variable, known_text(variable, values, missing, source, quote)))
        elif variable is not None:
            made.append((variable, known_typed(variable, values, missing, source)))
        elif text:
            made.append(infer_text(name, values, kind, missing, source, quote))
        else:
            made.append(infer_typed(name, values, kind, missing, source))
    weight = None if weights is None else _weights(weights, columns[weights], missing, source, text)
    return Table([v for v, _ in made], [c for _, c in made], weight)


def check_names(names: Sequence[str], source: str) -> None:
    """An error when two columns share a name, telling both positions."""
    first: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in first:
            raise DataError(
                f"{at(source) or 'the table'}: columns {first[name]} and {position} are both "
                f"called {name!r}; rename one of them, every column needs its own name"
            )
        first[name] = position


def check_options(
    names: Sequence[str],
    source: str,
    kinds: Kinds,
    weights: str | None,
    variables: Sequence[Variable] | None,
    columns: Sequence[str] | None = None,
) -> None:
    """An error when an option names a column that is not there, or a kind nobody knows."""
    where = at(source) or "the table"
    asked = {"kinds": [] if isinstance(kinds, str) else list(kinds or ())}
    asked |= {"weights": [] if weights is None else [weights], "columns": list(columns or ())}
    if columns is not None and len(set(columns)) != max(len(columns), 1):
        raise DataError(f"{where}: columns must name each column once, got {list(columns)}")
    for option, wanted in asked.items():
        for name in wanted:
            if name not in names:
                raise DataError(
                    f"{where}: {option} names a column {name!r}, but the columns are "
                    f"{listing(names)}"
                )
    for kind in [kinds] if isinstance(kinds, str) else (kinds or {}).values():
        if kind not in KINDS:
            raise DataError(f"unknown kind {kind!r}; a column can be {listing(KINDS)}")
    absent = [v.name for v in variables or () if v.name not in names and not v.hidden]
    if absent:
        raise DataError(
            f"{where}: the model's variables {listing(absent)} have no column; the columns are "
            f"{listing(names)}. Add them (empty cells are fine), or mark the variables as hidden."
        )


def _weights(
    name: str, values: Any, missing: Collection[str], source: str, text: bool
) -> np.ndarray[Any, np.dtype[np.float64]]:
    number = Variable(name)
    if isinstance(values, list):
        numbers = infer_objects(name, values, "continuous", missing, source)[1]
    elif text:
        numbers = known_text(number, values, missing, source)
    else:
        numbers = known_typed(number, pa.chunked_array(values), missing, source)
    bad = ~(numbers >= 0)
    if bad.any():
        row = int(np.argmax(bad))
        what = "empty" if np.isnan(numbers[row]) else repr(float(numbers[row]))
        raise DataError(
            f"{at(source, row + 1, name)}: a weight must be a number that is not negative, and "
            f"it is {what}"
        )
    return numbers
