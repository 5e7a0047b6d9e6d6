"""Why a row gets its class: the weight of each cell, in bits.

The weight of evidence of a cell for a class c is what it adds to the log-odds of c,
log2 P(x | c, cells before) / P(x | not c, cells before) (Good 1950). Cells are taken in the order
of the network, parents before children, so that their weights and the log-odds of c beforehand add
up to the log-odds of c given the row, exactly, for any network. In naive Bayes with two classes the
order does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.model.network import Network
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.variable import Label, label_text

__all__ = ["CellWeight", "Weighing", "weigh"]

Matrix = npt.NDArray[np.float64]

ROWS_AT_ONCE = 2048
"""So many rows with ever more cells are asked about together."""


@dataclass(frozen=True)
class CellWeight(Record):
    """What one cell says: its predictor, its value, and bits for (or, below zero, against)."""

    predictor: str
    value: Label | None
    bits: float


@dataclass(frozen=True)
class Weighing(Record):
    """The evidence for one class in one row; `before` and `after` are log-odds in bits.

    before + the sum of all weights = after. `probability` is that of the class given the row.
    """

    label: Label
    probability: float
    before: float
    after: float
    weights: tuple[CellWeight, ...]

    @property
    def strongest(self) -> tuple[CellWeight, ...]:
        """The weights, the largest first, whatever their sign."""
        return tuple(sorted(self.weights, key=lambda w: -abs(w.bits)))

    def __str__(self) -> str:
        lines = [f"{label_text(self.label)}: probability {self.probability:.3f}"]
        lines.append(f"  {self.before:+8.2f} bits  beforehand")
        lines += [
            f"  {w.bits:+8.2f} bits  {w.predictor} = {label_text(w.value)}"
            for w in self.strongest
            if w.value is not None
        ]
        return "\n".join([*lines, f"  {self.after:+8.2f} bits  in all"])


def weigh(
    network: Network, target: str, order: Sequence[str], table: Table, code: int | None = None
) -> list[Weighing]:
    """The evidence of every row for the class `code`, or for its most probable one."""
    names = [name for name in order if name in table]
    at_once = max(1, ROWS_AT_ONCE // (len(names) + 1))
    found: list[Weighing] = []
    for start in range(0, table.n_rows, at_once):
        rows = np.arange(start, min(start + at_once, table.n_rows))
        found += _weighed(network, target, names, table.take(rows), code)
    return found


def _weighed(
    network: Network, target: str, names: list[str], table: Table, code: int | None
) -> list[Weighing]:
    labels = network.variable(target).labels
    steps = len(names) + 1
    shares = network.posterior(_unfolding(table, names), of=target)[target]
    shares = shares.reshape(table.n_rows, steps, len(labels))
    found = []
    for row, course in enumerate(shares):
        own = int(course[-1].argmax()) if code is None else code
        odds = _log_odds(course, own)
        cells = table.row(row)
        weights = [
            CellWeight(name, cells[name], float(after - before))
            for name, before, after in zip(names, odds[:-1], odds[1:], strict=True)
        ]
        last = float(course[-1, own])
        found.append(Weighing(labels[own], last, float(odds[0]), float(odds[-1]), tuple(weights)))
    return found


def _unfolding(table: Table, names: list[str]) -> Table:
    """Each row once for every step: first with no cell, then with one more at a time."""
    steps = len(names) + 1
    shown = np.tile(np.arange(steps), table.n_rows)
    long = table.select(names).take(np.repeat(np.arange(table.n_rows), steps))
    for place, name in enumerate(names):
        variable, column = long.variable(name), long.column(name)
        if variable.is_discrete:
            codes = np.where(long.missing(name), -1, column.astype(np.int64))
            long = long.with_column(variable, np.where(shown > place, codes, -1))
        else:
            long = long.with_column(variable, np.where(shown > place, column, np.nan))
    return long


def _log_odds(course: Matrix, own: int) -> Matrix:
    """log2 of P(own) / P(any other) at every step; the other ones are added up, not subtracted."""
    others = np.delete(course, own, axis=1).sum(axis=1)
    tiny = np.finfo(float).tiny
    result: Matrix = np.log2(np.maximum(course[:, own], tiny)) - np.log2(np.maximum(others, tiny))
    return result
