"""What a typed column holds: Arrow columns of frames, Parquet and Feather files.

- dictionary (pandas Categorical, polars Enum and Categorical): discrete, the order of the
  categories kept, unused ones too;
- booleans: discrete; strings: discrete, sorted, and no missing markers unless asked for;
- whole numbers (integers, or floats that are all whole): discrete with at most
  `MAX_INTEGER_STATES` different ones, else continuous; other numbers: continuous;
- dates and times: discrete, written as ISO text; nulls and NaN: missing;
- lists, structs and raw bytes are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import DataError
from unveil.table.coding import (
    all_missing,
    code_known,
    code_labels,
    cut,
    distinct,
    first_row,
    floats,
    refuse_infinite,
    sorted_labels,
)
from unveil.table.core import Column
from unveil.table.options import Unknown
from unveil.table.places import at, correct_or_reread
from unveil.table.text import MAX_INTEGER_STATES
from unveil.table.variable import Label, Variable, label_text

__all__ = ["check_type", "infer_objects", "infer_typed", "known_typed"]


def infer_typed(
    name: str, values: Any, kind: str | None, missing: Collection[str], source: str
) -> tuple[Variable, Column]:
    """The variable and the coded column that a typed Arrow column stands for.

    >>> variable, column = infer_typed("x", pa.array([3, None, 1]), None, (), "")
    >>> variable, column.tolist()
    (Variable('x', states=[1, 3]), [1, 255, 0])
    """
    values = _plain(name, values, missing, source)
    if values.null_count == len(values) and not pa.types.is_dictionary(values.type):
        return all_missing(name, len(values), source)
    if kind == "continuous":
        return Variable(name), _numbers(name, values, source)
    if kind is None and _is_continuous(values):
        return Variable(name), _numbers(name, values, source)
    codes, dictionary = distinct(values)
    labels = _labels(dictionary, as_text=kind == "text")
    ordered = pa.types.is_dictionary(values.type)
    known = [label for label in labels if label is not None]
    if not known:
        return all_missing(name, len(values), source)
    states = list(dict.fromkeys(known)) if ordered else sorted_labels(known)
    return code_labels(name, codes, labels, states)


def known_typed(
    variable: Variable,
    values: Any,
    missing: Collection[str],
    source: str,
    unknown: Unknown = "error",
) -> Column:
    """A typed column coded by a variable that is already known."""
    values = _plain(variable.name, values, missing, source, variable.states or ())
    if not variable.is_discrete:
        return _numbers(variable.name, values, source)
    if variable.is_cut and (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return cut(_numbers(variable.name, values, source), variable)
    codes, dictionary = distinct(values)
    return code_known(variable, codes, _labels(dictionary, as_text=False), source, unknown)


def infer_objects(
    name: str,
    values: Sequence[Any],
    kind: str | None,
    missing: Collection[str],
    source: str,
    known: Variable | None = None,
    unknown: Unknown = "error",
) -> tuple[Variable, Column]:
    """The variable and codes of a column of Python objects of several types, types kept.

    >>> variable, column = infer_objects("x", ["a", 1, True, None], None, (), "")
    >>> variable, column.tolist()
    (Variable('x', states=[True, 1, 'a']), [2, 1, 0, 255])
    """
    seen: dict[Any, int] = {}
    codes = np.fromiter(
        (
            seen.setdefault((type(x).__name__, _one_cell(x, row, name, source)), len(seen))
            for row, x in enumerate(values, start=1)
        ),
        np.int64,
        len(values),
    )
    labels: list[Label | None] = []
    for i, (_, value) in enumerate(seen):
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or value != value or (isinstance(value, str) and value in missing):
            labels.append(None)
        elif isinstance(value, (str, int, float, bool)):
            labels.append(label_text(value) if kind == "text" else value)
        else:
            raise DataError(
                f"{at(source, first_row(codes, i), name)}: {value!r} ({type(value).__name__}) "
                "cannot be a label; use strings, integers, floats or booleans"
            )
    if known is not None and known.is_discrete:
        return known, code_known(known, codes, labels, source, unknown)
    present = [label for label in labels if label is not None]
    if kind == "continuous" or known is not None:
        bad = [i for i, x in enumerate(labels) if isinstance(x, str)]
        if bad:
            raise _not_a_number(name, labels[bad[0]], first_row(codes, bad[0]), source)
        table = np.array([np.nan if x is None else float(x) for x in labels])
        refuse_infinite(table[codes], name, source)
        return known or Variable(name), table[codes]
    if not present:
        return all_missing(name, len(values), source)
    return code_labels(name, codes, labels, sorted_labels(present))


def _one_cell(value: Any, row: int, name: str, source: str) -> Any:
    """The value, `None` for the missing marks of pandas; a cell that holds many is refused."""
    if type(value).__hash__ is None:
        raise DataError(
            f"{at(source, row, name)}: the cell holds {value!r}; a cell must be one label or number"
        )
    return None if type(value).__name__ in ("NAType", "NaTType") else value


def _plain(
    name: str, values: Any, missing: Collection[str], source: str, keep: Collection[Label] = ()
) -> Any:
    """The column with NaN and markers as nulls, dates as text; nested types refused."""
    if isinstance(values, pa.Array):
        values = pa.chunked_array([values])
    if isinstance(values.type, pa.BaseExtensionType):
        values = values.cast(values.type.storage_type)
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    for is_kind, plain in _PLAINER:
        if is_kind(kind):
            return plain(values)
    if _is_text(kind):
        markers = sorted(set(missing) - {x for x in keep if isinstance(x, str)})
        return _without(values, markers) if markers else values
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind):
        return values
    raise DataError(
        f"{at(source, None, name)}: the column holds {values.type}; a cell must be one label or "
        "number. Take the column out, or turn it into plain columns first."
    )


def check_type(name: str, kind: Any, source: str) -> None:
    """An error unless cells of this Arrow type can be labels or numbers."""
    _plain(name, pa.chunked_array([], kind), (), source)


def _without(values: Any, markers: list[str]) -> Any:
    decoded = values
    if pa.types.is_dictionary(values.type):
        codes, dictionary = distinct(values)
        keep = [None if text in markers else text for text in dictionary.to_pylist()]
        if None not in keep:
            return values
        kept = [text for text in keep if text is not None]
        table = np.array([kept.index(x) if x is not None else -1 for x in keep] + [-1])
        return pa.chunked_array([_dictionary(table[codes], kept)])
    nulls = pc.is_in(decoded, value_set=pa.array(markers, decoded.type))
    return pc.if_else(nulls, pa.scalar(None, decoded.type), decoded)


def _dictionary(codes: Column, labels: Sequence[Any]) -> Any:
    indices = pa.array(codes, pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(labels, pa.string()))


def _nan_to_null(values: Any) -> Any:
    if pa.types.is_dictionary(values.type):
        return values
    if not pa.types.is_float64(values.type):
        values = values.cast(pa.float64())
    nan = pc.is_nan(values)
    if not pc.any(nan).as_py():
        return values
    return pc.if_else(nan, pa.scalar(None, values.type), values)


def _is_text(kind: Any) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_date(kind: Any) -> bool:
    """Whether cells are dates, times or durations; months and days together Arrow cannot write."""
    return bool(pa.types.is_temporal(kind) and not pa.types.is_interval(kind))


def _date_text(values: Any) -> Any:
    """Dates as ISO text; a time of day that is midnight in every row is left out."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_timestamp(values.type):
        days = values.cast(pa.date32(), safe=False)
        if pc.all(pc.equal(days.cast(values.type), values)).as_py():
            values = days
    if pa.types.is_duration(values.type):
        values = values.cast(pa.int64())
    return values.cast(pa.string())


_PLAINER: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (pa.types.is_floating, _nan_to_null),
    (pa.types.is_decimal, _nan_to_null),
    (_is_date, _date_text),
)


def _is_continuous(values: Any) -> bool:
    """Whether the values are numbers that are not whole, or too many different ones."""
    kind = values.type
    if pa.types.is_integer(kind):
        return len(pc.unique(values.drop_null())) > MAX_INTEGER_STATES
    if not pa.types.is_floating(kind):
        return False
    head = pc.unique(values[: 50 * MAX_INTEGER_STATES].drop_null())
    if len(head) > MAX_INTEGER_STATES:
        return True
    numbers = pc.unique(values.drop_null()).to_numpy(zero_copy_only=False)
    return len(numbers) > MAX_INTEGER_STATES or bool((numbers != np.floor(numbers)).any())


def _numbers(name: str, values: Any, source: str) -> Column:
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if _is_text(kind):
        for row, text in enumerate(values.to_pylist()):
            try:
                float(text or 0)
            except ValueError:
                raise _not_a_number(name, text, row + 1, source) from None
        values = values.cast(pa.string())
    elif kind != values.type:
        values = values.cast(kind)
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    numbers = floats(values)
    refuse_infinite(numbers, name, source)
    return numbers


def _not_a_number(name: str, value: Any, row: int, source: str) -> DataError:
    return DataError(
        f"{at(source, row, name)}: {value!r} is not a number, and the column is to be continuous.",
        hint=correct_or_reread(name),
    )


def _labels(dictionary: Any, as_text: bool) -> list[Label | None]:
    labels = [None if x is None or x != x else x for x in dictionary.to_pylist()]
    if not as_text:
        return labels
    return [None if x is None else label_text(x) for x in labels]
