"""`prepare`: a table made ready to learn from, the same way at every door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unveil.errors import DataError, Hint
from unveil.table.core import Table
from unveil.table.cuts import CUTTERS
from unveil.table.discretize import Discretizer
from unveil.table.places import tell

__all__ = ["Prepared", "prepare"]

FEW_ROWS = 50
"""In so few rows, or with so few states, no column is taken for an identifier."""


@dataclass(frozen=True)
class Prepared:
    """A discrete table to learn from, and the cuts that made it so, for rows that come later."""

    table: Table
    discretizer: Discretizer | None = None


def prepare(
    table: Table,
    *,
    drop: Sequence[str] = (),
    discretize: str | None = None,
    n_bins: int = 3,
) -> Prepared:
    """The table without the columns of `drop`, its continuous columns cut into `n_bins` states.

    `discretize` is a method of `Discretizer`; without one, continuous columns are refused. Columns
    that look like identifiers are warned of.

    >>> table = Table.from_frame({"id": [7, 8, 9], "x": [0.5, 1.0, 9.5]})
    >>> prepare(table, drop=["id"], discretize="equal_width", n_bins=2).table.labels("x")
    ['< 5', '< 5', '>= 5']
    """
    if discretize is not None and discretize not in CUTTERS:
        raise DataError(f"discretize is one of {', '.join(CUTTERS)}, not {discretize!r}")
    if drop:
        if set(drop) >= set(table.names):
            raise DataError("all columns are dropped, which leaves nothing to learn from")
        table = table.without(drop)
    continuous = [v.name for v in table.variables if not v.is_discrete]
    _refuse_empty(table, continuous)
    cuts = None
    if continuous:
        if discretize is None:
            raise _undecided(continuous)
        cuts = Discretizer.fit(table, continuous, method=discretize, n_bins=n_bins)
        table = cuts.apply(table)
    _tell_of_identifiers(table)
    return Prepared(table, cuts)


def _refuse_empty(table: Table, names: Sequence[str]) -> None:
    empty = [name for name in names if table.missing(name).all()][:6]
    if empty:
        raise DataError(
            f"column {empty[0]!r} has no values, so nothing can be learned about it; leave it out "
            "with",
            hint=Hint(f"table.without({empty!r})", " ".join(f"--drop {name}" for name in empty)),
        )


def _undecided(continuous: Sequence[str]) -> DataError:
    how_many = "1 column is" if len(continuous) == 1 else f"{len(continuous)} columns are"
    named = ", ".join(continuous[:6]) + (", ..." if len(continuous) > 6 else "")
    others = ", ".join(method for method in CUTTERS if method != "equal_frequency")
    return DataError(
        f"{how_many} continuous ({named}).",
        hint=Hint(
            f"Make them discrete with discretize='equal_frequency' (or {others}), read them as "
            f'they are with kinds={{{continuous[0]!r}: "discrete"}}, or leave them out.',
            f"Make them discrete with --discretize equal_frequency (or {others}), read them as "
            f"they are with --discrete NAME, or leave them out with --drop NAME.",
        ),
    )


def _tell_of_identifiers(table: Table) -> None:
    for variable in table.variables:
        if variable.n_states > max(FEW_ROWS, table.n_rows // 2) and table.n_rows > FEW_ROWS:
            tell(
                f"column {variable.name!r} has {variable.n_states:,} states in {table.n_rows:,} "
                "rows; it looks like an identifier",
                Hint(
                    f"(leave it out with table.without({variable.name!r}))",
                    f"(leave it out with --drop {variable.name})",
                ),
            )
