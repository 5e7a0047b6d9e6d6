"""One door for every way in: named Arrow columns become a `Table`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unveil.errors import DataError
from unveil.table.core import Column, Table
from unveil.table.options import Reading
from unveil.table.text import infer_text, known_text
from unveil.table.typed import infer_objects, infer_typed, known_typed
from unveil.table.variable import Variable
from unveil.table.weights import checked_weights, no_weights

__all__ = ["assemble"]


def assemble(
    columns: Mapping[str, Any], ask: Reading, *, text: bool = False, quote: str = ""
) -> Table:
    """A table of the columns: Arrow arrays, or lists of Python objects of several types.

    `text` says that the columns are the cells of a text file, whose types are still to be found.
    """
    made = [_column(n, columns[n], ask, text, quote) for n in ask.inputs(tuple(columns))]
    weights = None if ask.weights is None else _weights(columns, ask, text)
    return Table([v for v, _ in made], [c for _, c in made], weights)


def _column(
    name: str, values: Any, ask: Reading, text: bool, quote: str
) -> tuple[Variable, Column]:
    kind, known = ask.kind(name), ask.variable(name)
    missing, source, unknown = ask.missing, ask.source, ask.unknown
    if isinstance(values, list):
        return infer_objects(name, values, kind, missing, source, known, unknown)
    if known is not None and text:
        return known, known_text(known, values, missing, source, quote, unknown)
    if known is not None:
        return known, known_typed(known, values, missing, source, unknown)
    if text:
        return infer_text(name, values, kind, missing, source, quote)
    return infer_typed(name, values, kind, missing, source)


def _weights(columns: Mapping[str, Any], ask: Reading, text: bool) -> npt.NDArray[np.float64]:
    name, missing, source = str(ask.weights), ask.missing, ask.source
    number, values = Variable(name), columns[name]
    try:
        if isinstance(values, list):
            numbers = infer_objects(name, values, "continuous", missing, source)[1]
        elif text:
            numbers = known_text(number, values, missing, source)
        else:
            numbers = known_typed(number, pa.chunked_array(values), missing, source)
    except DataError as error:
        raise no_weights(name, error, list(columns)) from error
    return checked_weights(numbers, source, name)
