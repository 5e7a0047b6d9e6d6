"""Whether neighbouring rows are alike, as they are when rows follow one another in time.

Scores and cross-validation take rows as drawn one by one. In a series they are not: a hidden
variable then can be an epoch, and rows left out are predicted by their neighbours.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.errors import Hint
from unveil.table.core import Column, Table
from unveil.table.places import tell

__all__ = ["likeness_of_neighbours", "tell_of_order"]

STRONG = 0.1
"""Neighbours that agree in so much more than chance, of what they could, depend on each other."""

_SURE = 4.0
"""How many standard deviations above chance, on average over the columns."""

_FEWEST = 100
_MOST_ROWS, _MOST_COLUMNS = 20_000, 50


def likeness_of_neighbours(table: Table) -> float | None:
    """How much more neighbouring rows agree than chance, as a share; `None` when not strongly.

    For every column the share of neighbours with the same value (continuous ones: the same third)
    is compared with that of two rows drawn at random, as Cohen's kappa does; the answer is the
    average. A table sorted by some column, as most are by a class, is compared within its runs.
    Weighted rows are no series, nor are few.

    >>> table = Table.from_frame({"x": ["a"] * 90 + ["b"] * 80 + ["a"] * 90})
    >>> round(likeness_of_neighbours(table), 2)
    0.98
    """
    if table.n_rows < _FEWEST or table.weights is not None:
        return None
    table = table.take(np.arange(min(table.n_rows, _MOST_ROWS)))
    some = table.names[:: -(-table.n_columns // _MOST_COLUMNS)]
    columns = [_thirds(table, name) for name in some]
    # Neither what never changes nor what nearly always does (dates, names) has neighbours alike.
    columns = [c for c in columns if 1 < len(np.unique(c)) <= table.n_rows / 5]
    run, columns = _runs(columns)
    if not columns:
        return None
    found = [_kappa(column, run) for column in columns]
    kappas = np.array([kappa for kappa, _ in found])
    # Columns of the same rows depend on each other, so their doubts do not average out.
    sure = float(np.mean([deviations for _, deviations in found])) > _SURE
    mean = float(kappas.mean())
    return mean if mean > STRONG and sure else None


def tell_of_order(table: Table) -> None:
    """Warn when rows look as if they followed one another in time."""
    likeness = likeness_of_neighbours(table)
    if likeness is not None:
        tell(
            f"neighbouring rows agree {likeness:.0%} more than chance, as if rows followed one "
            "another in time; hidden states may then be epochs, and rows left out at random be "
            "predicted by their neighbours.",
            Hint(
                "Settings(blocks=True) leaves out whole blocks of rows.",
                "With --blocks, whole blocks of rows are left out.",
            ),
        )


def _thirds(table: Table, name: str) -> Column:
    column = table.column(name)
    if table.variable(name).is_discrete:
        return column
    present = column[~np.isnan(column)]
    if len(present) == 0:
        return np.zeros(len(column), np.int64)
    cuts = np.quantile(present, [1 / 3, 2 / 3])
    return np.where(np.isnan(column), 3, np.searchsorted(cuts, column))


def _runs(columns: list[Column]) -> tuple[npt.NDArray[np.int64], list[Column]]:
    """The run of every row when the table is sorted by some columns, and the other columns."""
    run = np.zeros(len(columns[0]) if columns else 0, np.int64)
    left = columns
    while sorted_ := [i for i, column in enumerate(left) if _is_sorted(column, run)]:
        run = _numbered(run, left[sorted_[0]])
        left = left[: sorted_[0]] + left[sorted_[0] + 1 :]
    return run, left


def _numbered(run: npt.NDArray[np.int64], column: Column) -> npt.NDArray[np.int64]:
    """The runs parted where the column changes."""
    changes = (column[1:] != column[:-1]) | (run[1:] != run[:-1])
    return np.concatenate([[0], np.cumsum(changes)])


def _is_sorted(column: Column, run: npt.NDArray[np.int64]) -> bool:
    """Whether every value comes once in every run, without a break."""
    return int(_numbered(run, column)[-1]) + 1 == len(_cells(column, run)[0])


def _cells(column: Column, run: npt.NDArray[np.int64]) -> tuple[Column, Column]:
    """The pairs of a run and a value: the run of each, and in how many rows it is."""
    _, codes = np.unique(column, return_inverse=True)
    pairs, rows = np.unique(run * (int(codes.max()) + 1) + codes, return_counts=True)
    return pairs // (int(codes.max()) + 1), rows


def _kappa(column: Column, run: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Cohen's kappa of neighbours in the same run, and by how many deviations it is above zero."""
    together = run[1:] == run[:-1]
    n = int(together.sum())
    if n == 0:
        return 0.0, 0.0
    agree = float((column[1:] == column[:-1])[together].mean())
    runs, rows = _cells(column, run)
    # Two rows of a run of n are equal with probability sum n_s (n_s - 1) / n (n - 1).
    chance = float((rows * (rows - 1) / np.bincount(run)[runs]).sum()) / n
    if not 0 < chance < 1:
        return 0.0, 0.0
    return (agree - chance) / (1 - chance), (agree - chance) / np.sqrt(chance * (1 - chance) / n)
