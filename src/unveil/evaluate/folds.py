"""Cases dealt to folds: what to learn from, and what to leave out.

A row of whole weight w stands for w cases, which are dealt one by one; rows of fractional weight
are dealt whole, rows of weight zero not at all. Cases are dealt at random or, when rows follow one
another in time, in blocks: a case is then predicted without its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.seeds import generator_of
from unveil.table.core import Table

__all__ = ["check_dealing", "deal_cases", "fold_tables", "n_cases", "parted"]

Weights = npt.NDArray[np.float64]


def n_cases(table: Table) -> int:
    """How many cases there are to deal: the whole weights added up, or the rows that have any."""
    weights = table.row_weights
    return int(weights.sum()) if _whole(weights) else int((weights > 0).sum())


def fold_tables(
    table: Table,
    folds: int,
    seed: int | np.random.Generator | None = None,
    blocks: bool = False,
) -> Iterator[tuple[Table, Table]]:
    """For each fold, the cases to learn from and the cases left out.

    >>> table = Table.from_frame({"x": list("abcde")})
    >>> [held_out.n_rows for _, held_out in fold_tables(table, folds=2, seed=1)]
    [3, 2]
    >>> [held_out.labels("x") for _, held_out in fold_tables(table, folds=2, blocks=True)]
    [['a', 'b', 'c'], ['d', 'e']]
    """
    for share in deal_cases(table, folds, None, seed, blocks).T:
        yield parted(table, share)


def parted(table: Table, share: Weights) -> tuple[Table, Table]:
    """The table without the cases of a fold, and those cases; `share` has shape (n_rows,)."""
    return _weighing(table, table.row_weights - share), _weighing(table, share)


def deal_cases(
    table: Table,
    folds: int,
    held_out: float | None = None,
    seed: int | np.random.Generator | None = None,
    blocks: bool = False,
) -> Weights:
    """The weight of every row that each fold leaves out, shape (n_rows, n_folds).

    With `held_out` there is a single fold, of that share of the cases. `blocks` makes every fold a
    block of neighbouring rows, and what is held out the last ones.
    """
    check_dealing(table, folds, held_out)
    generator = generator_of(seed)
    counted = np.flatnonzero(table.row_weights > 0)
    weights = table.row_weights[counted]
    whole = _whole(weights)
    owners = np.repeat(counted, weights.astype(np.int64)) if whole else counted
    in_order = np.arange(len(owners))
    order = in_order[::-1] if blocks else generator.permutation(len(owners))
    if held_out is None:
        place = in_order * folds // len(owners) if blocks else order % folds
    else:
        folds, place = 1, np.ones(len(owners), np.int64)
        place[order[: _n_held_out(len(owners), held_out)]] = 0
    dealt = np.zeros((table.n_rows, folds))
    left = place < folds
    np.add.at(dealt, (owners[left], place[left]), 1.0 if whole else weights[left])
    return dealt


def check_dealing(table: Table, folds: int, held_out: float | None = None) -> None:
    """Refuse a number of folds or a share to hold out that the cases are too few for."""
    cases = n_cases(table)
    if held_out is None:
        if not 2 <= folds <= cases:
            raise DataError(f"folds must be between 2 and the {cases} cases, got {folds}")
        return
    if not 0 < held_out < 1:
        raise DataError(f"held_out must be a fraction between 0 and 1, got {held_out}")
    if not _n_held_out(cases, held_out) < cases:
        raise DataError(
            f"{cases} cases are too few to hold {held_out} of them out: none would be left to "
            "learn from"
        )


def _n_held_out(cases: int, held_out: float) -> int:
    return max(1, round(held_out * cases))


def _whole(weights: Weights) -> bool:
    return bool((weights == np.round(weights)).all()) and weights.sum() < 2**31


def _weighing(table: Table, weights: Weights) -> Table:
    return table.take(weights > 0).with_weights(weights[weights > 0])
