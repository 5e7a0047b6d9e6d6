"""The first pass: what the columns are, by the rules that tables in memory are read by.

A column's variable follows from its distinct values alone, so every piece tells which it has seen,
as long as they are few enough to be states, and the values of all pieces together are given to the
rules of `unveil.table.typed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.engines.coding import coded
from unveil.engines.protocol import Piece, Runner, Source
from unveil.errors import DataError, Hint, UnveilError
from unveil.statistics.memory import MAX_STATES
from unveil.table.coding import label_finder
from unveil.table.core import Table
from unveil.table.io.arrow import Note
from unveil.table.options import Reading, check_names
from unveil.table.places import count, listing, tell
from unveil.table.text import MAX_INTEGER_STATES
from unveil.table.typed import check_type, infer_typed, known_typed
from unveil.table.variable import Variable

__all__ = ["Columns", "Seen", "look"]

HEAD = 5_000
"""So many rows of the beginning are looked at as they are."""


@dataclass(frozen=True)
class Seen:
    """What a column shows: its distinct values in order of appearance, as an Arrow array.

    `values` is `None` when they are more than `most`. `low` and `high` are those of numbers.
    `n_unknown` cells hold labels that are to be taken as missing.
    """

    values: Any
    n_missing: int
    most: int
    low: float = np.inf
    high: float = -np.inf
    n_unknown: int = 0

    def __add__(self, other: Seen) -> Seen:
        values = None
        if self.values is not None and other.values is not None:
            values = _few(pa.concat_arrays([self.values, other.values]), self.most)
        return Seen(
            values, self.n_missing + other.n_missing, self.most,
            min(self.low, other.low), max(self.high, other.high),
            self.n_unknown + other.n_unknown,
        )  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """The variables of a source, and how it is to be read.

    `identifiers` have too many different labels to be counted, and are not among the variables.
    """

    variables: tuple[Variable, ...]
    ask: Reading
    n_rows: int
    n_missing: dict[str, int]
    spans: dict[str, tuple[float, float]]
    identifiers: tuple[str, ...]
    head: Table
    """The first rows, of all columns that can be variables."""

    def variable(self, name: str) -> Variable:
        """The variable of this name."""
        return next(v for v in self.variables if v.name == name)


def look(
    source: Source,
    pieces: Sequence[Piece],
    ask: Reading,
    runner: Runner,
    part_rows: int,
) -> Columns:
    """The columns of a source after one pass over it."""
    names = list(source.schema.names)
    check_names(names, source.name)
    ask.check(names)
    if not names:
        raise DataError(f"{source.name}: there are no columns")
    note = Note()
    if ask.variables is None and ask.kinds is None:
        note = Note.of_schema(source.schema, source.name)
        ask = note.asked(ask)
    wanted = [*ask.inputs(names), *([] if ask.weights is None else [ask.weights])]
    inputs = ask.inputs(names)
    if not pieces:
        raise DataError(f"{source.name}: the table has no rows")
    lacking = getattr(getattr(source, "common", None), "lacking", {})  # what files differ in
    for name in inputs:
        if name in lacking:
            tell(lacking[name])
        check_type(name, source.schema.field(name).type, source.name)
    head = next((table for piece in pieces for table in piece.tables(wanted, HEAD)), None)
    limits = {name: _most(source.schema.field(name).type, ask.kind(name)) for name in inputs}
    noted = {n: v for n, v in note.variables.items() if ask.variable(n) is v}
    gaps = _with_gaps(ask, [n for n in inputs if n not in noted])
    looking = (tuple(wanted), limits, part_rows, tuple(ask.missing), gaps)
    seen, n_rows = runner.sum(_look, pieces, *looking, add=_added)
    if n_rows == 0 or head is None:
        raise DataError(f"{source.name}: the table has no rows")
    variables, identifiers = _variables(source, seen, ask, inputs, noted)
    _tell_unknown(source.name, variables, seen)
    reading = replace(
        ask, variables={v.name: v for v in variables}, states={}, like={}, kinds=None,
        unknown="told" if ask.unknown == "missing" else ask.unknown,
    )  # fmt: skip
    return Columns(
        tuple(variables), reading, n_rows,
        {n: seen[n].n_missing + seen[n].n_unknown for n in inputs},
        {n: (seen[n].low, seen[n].high) for n in inputs}, tuple(identifiers),
        coded(head.select([*(v.name for v in variables), *wanted[len(inputs):]]), reading),
    )  # fmt: skip


def _with_gaps(ask: Reading, names: Sequence[str]) -> Reading:
    """How columns are read whose unknown labels are missing cells; none if these are errors."""
    known = {n: v for n in names if (v := ask.variable(n)) is not None}
    known = known if ask.unknown == "missing" else {}
    return replace(ask, variables=known, weights=None, unknown="told")


def _variables(
    source: Source,
    seen: dict[str, Seen],
    ask: Reading,
    inputs: Sequence[str],
    noted: dict[str, Variable],
) -> tuple[list[Variable], list[str]]:
    """The variables of all columns, and the names of those with too many labels.

    Those that unveil `noted` in the file must still fit its cells.
    """
    variables: list[Variable] = []
    identifiers: list[str] = []
    for name in inputs:
        known, kind = ask.variable(name), ask.kind(name)
        found, own = seen[name], source.schema.field(name).type
        if name in noted and not _fits(noted[name], found, ask):
            tell(
                f"{source.name}: the column {name!r} has changed since unveil wrote the file, so "
                "the states that it noted for it were ignored"
            )
            known = None
        if known is not None:
            variables.append(known)
        elif found.values is None and (kind == "continuous" or (kind is None and _numeric(own))):
            variables.append(Variable(name))
        elif found.values is None:
            identifiers.append(name)
        else:
            values = found.values
            if pa.types.is_dictionary(own) and name not in source.texts:
                places = pa.array(range(len(values)), pa.int32())
                values = pa.DictionaryArray.from_arrays(places, values)
            variables.append(infer_typed(name, values, kind, ask.missing, source.name)[0])
    if not variables:
        raise DataError(
            f"{source.name}: no column is left; {count(len(identifiers), 'column')} have more than "
            f"{MAX_STATES:,} different labels"
        )
    return variables, identifiers


def _tell_unknown(source: str, variables: Sequence[Variable], seen: dict[str, Seen]) -> None:
    """Say once for every column which labels are taken as missing, and in how many cells."""
    for variable in variables:
        found = seen[variable.name]
        if not found.n_unknown:
            continue
        labels = [] if found.values is None else found.values.to_pylist()
        find = label_finder(variable)
        strange = listing([x for x in labels if find(x) is None]) if labels else "their labels are"
        tell(
            f"{source}, column {variable.name!r}: {count(found.n_unknown, 'cell')} taken as "
            f"missing; {strange} not among the known states {listing(variable.labels)}"
        )


def _fits(variable: Variable, seen: Seen, ask: Reading) -> bool:
    if seen.values is None:
        return not variable.is_discrete or variable.is_cut
    try:
        known_typed(variable, seen.values, ask.missing, "")
    except (UnveilError, pa.ArrowException):
        return False
    return True


# In every piece ----------------------------------------------------------------------------------

Looked = tuple[dict[str, Seen], int]


def _look(
    piece: Piece, wanted: tuple[str, ...], limits: dict[str, int], part_rows: int,
    missing: tuple[str, ...], gaps: Reading,
) -> Looked:  # fmt: skip
    total: Looked | None = None
    for table in piece.tables(wanted, part_rows):
        seen = {n: _seen(table.column(n), most, missing) for n, most in limits.items()}
        if gaps.variables:
            own = coded(table.select(list(gaps.variables)), replace(gaps, source=piece.name))
            for name in own.names:
                n_gaps = int(own.missing(name).sum())
                seen[name] = replace(seen[name], n_unknown=n_gaps - seen[name].n_missing)
        found = seen, table.num_rows
        total = found if total is None else _added(total, found)
    if total is None:
        nothing = {n: Seen(pa.array([], pa.string()), 0, most) for n, most in limits.items()}
        return nothing, 0
    return total


def _added(a: Looked, b: Looked) -> Looked:
    if a[1] == 0 or b[1] == 0:
        return b if a[1] == 0 else a
    return {name: a[0][name] + b[0][name] for name in a[0]}, a[1] + b[1]


def _seen(values: Any, most: int, missing: tuple[str, ...]) -> Seen:
    n_missing = values.null_count
    kind = values.type
    low, high = np.inf, -np.inf
    if pa.types.is_dictionary(kind):
        if pa.types.is_null(kind.value_type):
            return Seen(pa.array([], pa.string()), len(values), most)
        dictionary = values.unify_dictionaries()
        labels = dictionary.chunk(0).dictionary if dictionary.num_chunks else pa.array([])
        n_missing += _marked(dictionary, labels, missing)
        return Seen(_few(labels, most), n_missing, most)
    if pa.types.is_float16(kind):  # which Arrow cannot compare
        values, kind = values.cast(pa.float32()), pa.float32()
    if pa.types.is_floating(kind):
        nan = pc.is_nan(values)
        n_nan = int(pc.sum(nan).as_py() or 0)
        if n_nan:
            values = pc.if_else(nan, pa.scalar(None, kind), values)
            n_missing += n_nan
    if _numeric(kind):
        span = pc.min_max(values)
        if span["min"].as_py() is not None:
            low, high = float(span["min"].as_py()), float(span["max"].as_py())
        few = _few(pc.unique(values.slice(0, 4096).drop_null()), most)
        if few is None:
            return Seen(None, n_missing, most, low, high)
    distinct = _few(pc.unique(values.drop_null()), most)
    if missing and distinct is not None and _textual(kind):
        n_missing += int(pc.sum(pc.is_in(values, pa.array(missing, kind))).as_py() or 0)
    return Seen(distinct, n_missing, most, low, high)


def _marked(values: Any, labels: Any, missing: tuple[str, ...]) -> int:
    if not missing or not _textual(labels.type):
        return 0
    places = [i for i, x in enumerate(labels.to_pylist()) if x in missing]
    if not places:
        return 0
    codes = np.concatenate(
        [c.indices.fill_null(-1).to_numpy(zero_copy_only=False) for c in values.chunks]
    )
    return int(np.isin(codes, places).sum())


def _few(values: Any, most: int) -> Any:
    """The distinct values as one array, `None` if they are more than `most`."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if len(values) > most:
        values = pc.unique(values)
        return values if len(values) <= most else None
    return pc.unique(values)


def _most(kind: Any, asked: str | None) -> int:
    """How many distinct values a column may have to be discrete."""
    if asked == "continuous":
        return 0
    return MAX_INTEGER_STATES if _numeric(kind) and asked is None else MAX_STATES


def _numeric(kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _textual(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def too_many_labels(name: str) -> DataError:
    """The error for a column that was to be kept and cannot be counted."""
    return DataError(
        f"column {name!r} has more than {MAX_STATES:,} different labels; at most so many can be "
        "counted. It looks like an identifier: leave it out.",
        hint=Hint(f"(drop=[{name!r}])", f"(--drop {name})"),
    )
