"""From Arrow columns to codes: the steps that text columns and typed columns share."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import DataError, Hint, did_you_mean
from unveil.table.core import Column, code_dtype, missing_code
from unveil.table.options import Unknown
from unveil.table.places import at, count, listing, tell
from unveil.table.variable import Label, Variable, label_finder, label_key, label_text

__all__ = [
    "all_missing",
    "code_known",
    "code_labels",
    "cut",
    "distinct",
    "first_row",
    "floats",
    "refuse_infinite",
    "sorted_labels",
]


def distinct(values: Any) -> tuple[npt.NDArray[np.int64], Any]:
    """Codes (-1 where null) and the Arrow array of distinct values that they point into."""
    if not pa.types.is_dictionary(values.type):
        values = pc.dictionary_encode(values)
    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries().combine_chunks()
    if isinstance(values, pa.ChunkedArray):  # no chunks at all, or too long for one
        values = pa.concat_arrays(values.chunks)
    codes = values.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, values.dictionary


def first_row(codes: npt.NDArray[Any], code: int) -> int:
    """The row, counted from one, in which a code first appears."""
    return int(np.argmax(codes == code)) + 1


def sorted_labels(labels: Sequence[Label]) -> list[Label]:
    """The different labels in a fixed order: by type, then by value.

    >>> sorted_labels(["b", 2, "a", 1, True])
    [True, 1, 2, 'a', 'b']
    """
    keys = dict.fromkeys(label_key(label) for label in labels)
    order = {"bool": 0, "int": 1, "float": 2, "str": 3}
    return [label for _, label in sorted(keys, key=lambda key: (order[key[0]], key[1]))]


def code_labels(
    name: str, codes: npt.NDArray[Any], labels: Sequence[Label | None], states: Sequence[Label]
) -> tuple[Variable, Column]:
    """The variable and its codes, given the label of each distinct value (`None`: missing)."""
    place = {label_key(state): i for i, state in enumerate(states)}
    return Variable(name, states), _recoded(
        codes, [None if x is None else place[label_key(x)] for x in labels], len(states)
    )


def code_known(
    variable: Variable,
    codes: npt.NDArray[Any],
    labels: Sequence[Label | None],
    source: str = "",
    unknown: Unknown = "error",
) -> Column:
    """The codes of a column by the states of a known variable.

    A label that no state fits is an error or, with `unknown="missing"`, a missing cell and a
    warning.
    """
    find = label_finder(variable)
    targets = [None if label is None else find(label) for label in labels]
    seen = np.bincount(codes[codes >= 0], minlength=len(labels))
    strange = {
        i: label
        for i, label in enumerate(labels)
        if label is not None and targets[i] is None and seen[i]
    }
    if strange and unknown == "error":
        first = min(strange, key=lambda i: first_row(codes, i))
        raise _unknown(variable, strange[first], at(source, first_row(codes, first), variable.name))
    if strange and unknown == "missing":
        cells = count(int(seen[list(strange)].sum()), "cell")
        tell(
            f"{at(source, None, variable.name)}: {cells} taken as missing; "
            f"{listing(list(strange.values()))} not among the known states "
            f"{listing(variable.labels)}"
        )
    return _recoded(codes, targets, variable.n_states)


def cut(numbers: npt.NDArray[np.float64], variable: Variable) -> Column:
    """The codes of numbers by the cuts of a variable; NaN is missing.

    >>> cut(np.array([39.5, 40.0, np.nan]), Variable("age", ["young", "old"], cuts=[40])).tolist()
    [0, 1, 255]
    """
    assert variable.cuts is not None
    dtype = code_dtype(variable.n_states)
    codes = np.searchsorted(np.array(variable.cuts), numbers, side="right").astype(dtype)
    codes[np.isnan(numbers)] = missing_code(dtype)
    return codes


def _unknown(variable: Variable, label: Label, where: str) -> DataError:
    name, states = variable.name, [*variable.labels, label]
    short = len(states) <= 12
    labels = ",".join(map(_as_option, states)) if short else "..."
    return DataError(
        f"{where}: {label!r} is not one of the known states {listing(variable.labels)}."
        + did_you_mean(label, variable.labels),
        hint=Hint(
            'Correct the cell, take such cells as missing (unknown="missing", or '
            'table.like(model, unknown="missing")), or learn again from a table that declares '
            f"the state (states={{{name!r}: {states if short else '[...]'}}}).",
            "Correct the cell, take such cells as missing (--unknown missing), or learn again "
            f"with the state declared (--states {shlex.quote(f'{name}={labels}')}).",
        ),
    )


def _as_option(label: Label) -> str:
    """The label as `--states` takes it: in quotes when it has a comma."""
    text = label_text(label)
    return f'"{text}"' if "," in text else text


def _recoded(codes: npt.NDArray[Any], targets: Sequence[int | None], n_states: int) -> Column:
    dtype = code_dtype(n_states)
    missing = missing_code(dtype)
    # One slot more at the end, for the code -1 of a null.
    table = np.array([missing if t is None else t for t in targets] + [missing], dtype)
    return table[codes]


def floats(values: Any) -> npt.NDArray[np.float64]:
    """A numeric Arrow column as float64, NaN where null."""
    numbers = pc.cast(values, pa.float64(), safe=False)
    if numbers.null_count:
        numbers = pc.fill_null(numbers, np.nan)
    array: npt.NDArray[np.float64] = numbers.to_numpy()
    return array


def refuse_infinite(numbers: npt.NDArray[np.float64], name: str, source: str) -> None:
    """An error that names the first infinite cell, if there is one."""
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise DataError(
            f"{at(source, row + 1, name)}: the value is infinite ({numbers[row]}). A number must "
            "be finite; empty the cell (missing) or put a real value there."
        )


def all_missing(name: str, n_rows: int, source: str) -> tuple[Variable, Column]:
    """A continuous column of NaN, with a warning: nothing says what its states would be."""
    tell(f"{at(source, None, name)}: the column has no values; kept as continuous, all missing")
    return Variable(name), np.full(n_rows, np.nan)
