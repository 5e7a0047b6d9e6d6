"""`prepare`: a table made ready to learn from, the same way at every door."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from unveil.errors import DataError, Hint, did_you_mean
from unveil.table.core import Table
from unveil.table.cuts import CUTTERS
from unveil.table.discretize import cut_variables
from unveil.table.places import tell
from unveil.table.roles import FEW_ROWS, Role, role_of

__all__ = ["Prepared", "prepare", "undecided", "without_identifiers"]

ALL_DIFFERENT = 10
"""From so many rows on, a column of states that is different in every one of them is told."""


@dataclass(frozen=True)
class Prepared:
    """A table to learn from; the columns that were cut know their cuts.

    `left_out` names the columns that are no variables.
    """

    table: Table
    left_out: tuple[str, ...] = ()

    @property
    def cuts(self) -> dict[str, tuple[float, ...]]:
        """The cuts of the columns that have some, by name."""
        return {v.name: v.cuts for v in self.table.variables if v.cuts is not None}


def prepare(
    table: Table,
    *,
    drop: Sequence[str] = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
    numbers: bool = False,
) -> Prepared:
    """The table without the columns of `drop`, its continuous columns cut into `n_bins` states.

    `discretize` is a method of `cut_variables`; without one, continuous columns are refused, or,
    with `numbers`, left as they are.
    Columns that look like identifiers, row numbers or dates are left out, too, with a warning,
    unless `keep` names them. A column that looks like weights is told.

    >>> table = Table.from_frame({"id": [7, 8, 9], "x": [0.5, 1.0, 9.5]})
    >>> prepare(table, drop=["id"], discretize="equal_width", n_bins=2).table.labels("x")
    ['< 5', '< 5', '>= 5']
    """
    if discretize is not None and discretize not in CUTTERS:
        raise DataError(
            f"discretize is one of {', '.join(CUTTERS)}, not {discretize!r}."
            + did_you_mean(discretize, CUTTERS)
        )
    if drop:
        if set(drop) >= set(table.names):
            raise DataError("all columns are dropped, which leaves nothing to learn from")
        table = table.without(drop)
    table, left_out = without_identifiers(table, keep)
    _tell_of_weights(table, keep)
    continuous = [v.name for v in table.variables if not v.is_discrete]
    _refuse_empty(table, continuous)
    if continuous and not (numbers and discretize is None):
        if discretize is None:
            raise undecided(continuous)
        table = table.like(cut_variables(table, continuous, method=discretize, n_bins=n_bins))
    _tell_of_identifiers(table)
    return Prepared(table, left_out)


def without_identifiers(table: Table, keep: Collection[str] = ()) -> tuple[Table, tuple[str, ...]]:
    """The table without identifiers, row numbers and dates, and their names; `keep` stays.

    Each of them is told by a warning.

    >>> rows = Table.from_frame({"x": ["a", "b"] * 30, "id": [f"p{i}" for i in range(60)]})
    >>> without_identifiers(rows, keep=["id"])[1]
    ()
    """
    left_out = _leave_out(table, keep)
    return (table.without(left_out) if left_out else table), left_out


def _leave_out(table: Table, keep: Collection[str]) -> tuple[str, ...]:
    """The columns that are no variables; none when they are all there is."""
    no_variables = (Role.IDENTIFIER, Role.ROW_NUMBER, Role.DATE)
    roles = {name: role_of(table, name) for name in table.names if name not in keep}
    out = {name: role for name, role in roles.items() if role in no_variables}
    if len(out) == table.n_columns:
        return ()
    for name, role in out.items():
        option = f"--{'discrete' if table.variable(name).is_discrete else 'continuous'} "
        tell(
            f"column {name!r} looks like {role} and is left out",
            Hint(f"(keep=[{name!r}] keeps it)", f"({option}{shlex.quote(name)} keeps it)"),
        )
    return tuple(out)


def _tell_of_weights(table: Table, keep: Collection[str]) -> None:
    for name in table.names:
        if name not in keep and role_of(table, name) is Role.COUNT:
            tell(
                f"column {name!r} looks like {Role.COUNT}; if so, read the table with",
                Hint(f"weights={name!r}", f"--weights {shlex.quote(name)}"),
            )


def _refuse_empty(table: Table, names: Sequence[str]) -> None:
    empty = [name for name in names if table.missing(name).all()][:6]
    if empty:
        raise DataError(
            f"column {empty[0]!r} has no values, so nothing can be learned about it; leave it out "
            "with",
            hint=Hint(f"table.without({empty!r})", " ".join(f"--drop {name}" for name in empty)),
        )


def undecided(continuous: Sequence[str], states: Sequence[str] = ()) -> DataError:
    """The error for continuous columns that nothing was said about.

    `states` are columns without which the table would be one of numbers only.
    """
    alone = f" Or leave out what is no number ({', '.join(states[:6])}) with" if states else ""
    python = f"{alone} table.without({list(states[:6])!r})." if states else ""
    options = " ".join(f"--drop {shlex.quote(name)}" for name in states[:6])
    command = f"{alone} {options}." if states else ""
    how_many = "1 column is" if len(continuous) == 1 else f"{len(continuous)} columns are"
    named = ", ".join(continuous[:6]) + (", ..." if len(continuous) > 6 else "")
    others = ", ".join(method for method in CUTTERS if method != "equal_frequency")
    return DataError(
        f"{how_many} continuous ({named}).",
        hint=Hint(
            f"Make them discrete with discretize='equal_frequency' (or {others}), read them as "
            f'they are with kinds={{{continuous[0]!r}: "discrete"}}, or leave them out.' + python,
            f"Make them discrete with --discretize equal_frequency (or {others}), read them as "
            f"they are with --discrete NAME, or leave them out with --drop NAME." + command,
            "Choose on this page how numbers are cut; or, on the page Table, take them as states "
            "or leave them out.",
        ),
    )


def _tell_of_identifiers(table: Table) -> None:
    for variable in table.variables:
        if not variable.is_discrete:
            continue
        many = variable.n_states > max(FEW_ROWS, table.n_rows // 2) and table.n_rows > FEW_ROWS
        if many or variable.n_states == table.n_rows >= ALL_DIFFERENT:
            tell(
                f"column {variable.name!r} has {variable.n_states:,} states in {table.n_rows:,} "
                "rows; it looks like an identifier",
                Hint(
                    f"(leave it out with table.without({variable.name!r}))",
                    f"(leave it out with --drop {variable.name})",
                ),
            )
