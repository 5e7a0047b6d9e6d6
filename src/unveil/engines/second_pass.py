"""The second pass: all pieces as coded parts, equal rows folded where that makes them fewer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from unveil.engines.ceiling import Ceiling
from unveil.engines.coding import coded, folded, joined, row_bytes
from unveil.engines.prepare import Opened
from unveil.engines.protocol import Arranging, Piece
from unveil.engines.rows import PartedRows
from unveil.engines.store import Remote, Store
from unveil.errors import DataError
from unveil.table.core import Table
from unveil.table.options import Reading

__all__ = ["coded_rows"]

FOLDS = 0.6
"""Equal rows are folded where that leaves at most this share of them."""
MERGES = 0.9
"""Folded parts are merged as long as that leaves at most this share of their rows."""


def coded_rows(found: Opened, spool: Any) -> PartedRows:
    """The second pass: all pieces as coded parts, folded where that makes them fewer."""
    columns, runner, ceiling = found.columns, found.runner, found.ceiling
    store = Store(ceiling.kept, spool)
    weights = columns.ask.weights
    wanted = (*(v.name for v in columns.variables), *([] if weights is None else [weights]))
    first, rest = found.pieces[:1], found.pieces[1:]
    folds = all(v.is_discrete for v in columns.variables)
    shared = wanted, columns.ask, found.part_rows
    parts = runner.keep(_code, first, *shared, folds, store=store)
    if rest:
        folds = folds and any(part.weighted for part in parts)
        parts += runner.keep(_code, rest, *shared, folds, store=store)
    if folds and not any(isinstance(part, Remote) for part in parts):
        parts = _merged(parts, store, ceiling, found.part_rows)
    if isinstance(runner, Arranging):
        parts = runner.arranged(parts)
    missing = {v.name: columns.n_missing[v.name] for v in columns.variables}
    rows = PartedRows(
        parts, columns.variables, columns.n_rows, missing, columns.n_rows, runner, ceiling,
        found.source.name, store,
    )  # fmt: skip
    if weights is not None:
        rows.total_weight = rows.weigh()
    else:
        _check_all_there(rows)
    return rows


def _check_all_there(rows: PartedRows) -> None:
    """An error if the second reading gave other rows than the first, as a drawn sample would."""
    folded = any(part.weighted for part in rows.parts)
    n_rows = round(rows.weigh()) if folded else rows.n_stored
    if n_rows != rows.n_rows:
        raise DataError(
            f"{rows.name}: {rows.n_rows:,} rows came at the first reading and {n_rows:,} at the "
            "second; all passes must see the same rows. If they are drawn at random, give the draw "
            "a seed (USING SAMPLE bernoulli(10%) REPEATABLE (1)), or write them to Parquet first"
        )


def _code(
    piece: Piece, wanted: tuple[str, ...], ask: Reading, part_rows: int, fold: bool
) -> Iterator[Table]:
    """The parts of a piece; each is folded if that leaves few enough of its rows."""
    own = replace(ask, source=piece.name)
    for arrow in piece.tables(wanted, part_rows):
        table = coded(arrow, own)
        if fold:
            few = folded(table)
            table = few if few.n_rows <= FOLDS * table.n_rows else table
        yield table


def _merged(parts: list[Any], store: Store, ceiling: Ceiling, part_rows: int) -> list[Any]:
    """The parts with equal rows of neighbours folded, again and again while that pays."""
    if not parts:
        return parts
    size = row_bytes(parts[0].load())
    going = len(parts) > 1
    while going:
        going, left, after = False, list(parts), []
        while left:
            one = left.pop(0)
            if not left or (one.n_rows + left[0].n_rows) * (4 * size + 40) > 0.5 * ceiling.room:
                after.append(one)
                continue
            other = left.pop(0)
            both = folded(joined([one.load(), other.load()]))
            if both.n_rows > MERGES * (one.n_rows + other.n_rows):
                after += [one, other]
                continue
            store.drop(one)
            store.drop(other)
            after.append(store.put(both))
            going = len(after) > 1 or bool(left)
        parts = after
    return [piece for part in parts for piece in _split(part, store, part_rows)]


def _split(part: Any, store: Store, part_rows: int) -> list[Any]:
    """Parts of no more rows than every part may have."""
    if part.n_rows <= part_rows:
        return [part]
    table = part.load()
    store.drop(part)
    starts = range(0, table.n_rows, part_rows)
    return [
        store.put(table.take(np.arange(start, min(start + part_rows, table.n_rows))))
        for start in starts
    ]
