"""What is learned from: columns left out or cut, as `unveil.table.prepare` does it for tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unveil.engines.ceiling import Ceiling
from unveil.engines.coding import coded, joined
from unveil.engines.columns import Columns, too_many_labels
from unveil.engines.protocol import Piece, Runner, Source
from unveil.engines.rows import SAMPLE_ROWS
from unveil.errors import DataError, Hint, did_you_mean
from unveil.seeds import generator_of
from unveil.table.core import Table
from unveil.table.cuts import CUTTERS
from unveil.table.discretize import cut_variables
from unveil.table.options import Reading
from unveil.table.places import tell
from unveil.table.roles import Role, labels_role, numbers_role
from unveil.table.variable import Variable
from unveil.table.weights import named_like_weights

__all__ = ["Opened", "prepared", "without"]


@dataclass(frozen=True)
class Opened:
    """A source with its pieces and what is known of its columns."""

    source: Source
    pieces: Sequence[Piece]
    runner: Runner
    ceiling: Ceiling
    columns: Columns
    part_rows: int


def without(ask: Reading, names: list[str], drop: Sequence[str], source: str) -> Reading:
    for name in drop:
        if name not in names:
            raise DataError(
                f"{source}: there is no column {name!r} to leave out; the columns are "
                f"{', '.join(map(repr, names[:12]))}." + did_you_mean(name, names)
            )
    if not drop:
        return ask
    kept = [n for n in ask.columns or names if n not in drop]
    if not kept:
        raise DataError("all columns are dropped, which leaves nothing to learn from")
    return replace(ask, columns=kept)


def prepared(
    found: Opened, keep: Collection[str], discretize: str | None, n_bins: int, seed: int
) -> Opened:
    """The same without identifiers and dates, continuous columns cut if that is asked for."""
    if discretize is not None and discretize not in CUTTERS:
        raise DataError(
            f"discretize is one of {', '.join(CUTTERS)}, not {discretize!r}."
            + did_you_mean(discretize, CUTTERS)
        )
    columns = found.columns
    away = dict.fromkeys(columns.identifiers, Role.IDENTIFIER)
    for name in columns.identifiers:
        if name in keep:
            raise too_many_labels(name)
    for variable in columns.variables:
        role = None if variable.name in keep else _role(columns, variable)
        if role is not None:
            away[variable.name] = role
    kept = [v for v in columns.variables if v.name not in away]
    if not kept:
        away, kept = dict.fromkeys(columns.identifiers, Role.IDENTIFIER), list(columns.variables)
    for name, role in away.items():
        tell(
            f"column {name!r} looks like {role} and is left out",
            Hint(f"(keep=[{name!r}] keeps it)", f"(--discrete {name} keeps it)"),
        )
    for v in kept:
        if named_like_weights(v.name) and v.name not in keep and columns.ask.weights is None:
            tell(
                f"column {v.name!r} has a name that often says how often each row counts; if so, "
                "read the rows with",
                Hint(f"weights={v.name!r}", f"--weights {v.name}"),
            )
    for v in kept:
        if columns.n_missing[v.name] == columns.n_rows:
            raise DataError(
                f"column {v.name!r} has no values, so nothing can be learned about it; leave it "
                "out with",
                hint=Hint(f"drop=[{v.name!r}]", f"--drop {v.name}"),
            )
    continuous = [v.name for v in kept if not v.is_discrete]
    if continuous and discretize is not None:
        cut = {v.name: v for v in _cut(found, continuous, discretize, n_bins, seed)}
        kept = [cut.get(v.name, v) for v in kept]
    ask = replace(columns.ask, variables={v.name: v for v in kept}, columns=None)
    return replace(found, columns=replace(columns, variables=tuple(kept), ask=ask))


def _role(columns: Columns, variable: Variable) -> Role | None:
    name = variable.name
    present = columns.n_rows - columns.n_missing[name]
    if variable.is_discrete:
        return labels_role(variable.labels, present)
    head = columns.head.column(name)
    role = numbers_role(name, head[~np.isnan(head)])
    low, high = columns.spans[name]
    if role is Role.ROW_NUMBER and high - low + 1 < present:
        return None  # only at the beginning
    return role


def _cut(
    found: Opened, names: list[str], method: str, n_bins: int, seed: int
) -> Iterator[Variable]:
    """The columns cut, by their numbers in all rows or in rows drawn from all pieces."""
    columns = found.columns
    share = min(1.0, SAMPLE_ROWS / columns.n_rows)
    if share < 1:
        tell(
            f"{found.source.name}: continuous columns are cut by about {SAMPLE_ROWS:,} rows drawn "
            f"from {columns.n_rows:,}"
        )
    weights = columns.ask.weights
    wanted = [*names, *([] if weights is None else [weights])]
    ask = replace(columns.ask, variables={n: columns.variable(n) for n in names})
    seeds = generator_of(seed).integers(2**63, size=len(found.pieces)).tolist()
    items = list(zip(found.pieces, seeds, strict=True))
    drawn = found.runner.each(_drawn, items, tuple(wanted), ask, found.part_rows, share)
    some = joined([table for tables in drawn for table in tables])
    if share < 1 and method == "equal_width":
        ends = [np.append(some.column(n), columns.spans[n]) for n in names]
        some = Table(some.variables, ends)
    return iter(cut_variables(some, names, method=method, n_bins=n_bins))


def _drawn(
    item: tuple[Piece, int], wanted: tuple[str, ...], ask: Reading, part_rows: int, share: float
) -> list[Table]:
    piece, seed = item
    generator = generator_of(seed)
    found = []
    for table in piece.tables(wanted, part_rows):
        rows = coded(table, ask)
        found.append(rows if share == 1 else rows.take(generator.random(rows.n_rows) < share))
    return found
