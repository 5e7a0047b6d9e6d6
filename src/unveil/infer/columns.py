"""What a network says about every row of a table, as columns of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unveil.errors import DataError, Hint
from unveil.infer.answer import Posterior
from unveil.infer.explain import draw_missing, most_probable
from unveil.infer.posterior import posterior
from unveil.model.network import Network
from unveil.table.core import Column, Table
from unveil.table.door import Data, as_table
from unveil.table.missingness import empty_as_state
from unveil.table.options import Unknown
from unveil.table.variable import Variable

__all__ = ["fill_in", "with_posteriors"]


def with_posteriors(
    network: Network, data: Data, of: Sequence[str] | None = None, unknown: Unknown = "error"
) -> Table:
    """The table with the best state and the posterior of some variables beside every row.

    They are those of `of`, by default the ones that are hidden or have no column. A variable's own
    column is not used to predict it. `unknown` says what a label is that the network does not know.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> with_posteriors(asia, asia.sample(2, seed=1).without("lung")).names[-3:]
    ('predicted lung', 'P(lung=yes)', 'P(lung=no)')
    """
    table = as_table(data)
    _shared(network, table)
    targets = list(of) if of else default_targets(network, table)
    aside = targets if len(targets) == 1 else []  # nothing asks for the labels of this column
    known = table.like([v for v in network.variables if v.name not in aside], unknown=unknown)
    known = empty_as_state(known)
    for target in targets:
        variable = network.variable(target)
        if known.names == (target,):
            raise DataError(
                f"the table has no column to predict {target!r} from: a variable's own column is "
                "not used to predict it"
            )
        given = known.without(target) if target in known else known
        for column, values in _columns(posterior(network, given, of=target), variable):
            table = table.with_column(column, values)
    return table


def _columns(found: Posterior, variable: Variable) -> Iterator[tuple[Variable, Any]]:
    """The best state and every state's probability; of a number its mean and deviation."""
    name = variable.name
    if not variable.is_discrete:
        yield Variable(f"predicted {name}"), found.means[name]
        yield Variable(f"deviation of {name}"), np.sqrt(found.variances[name])
        return
    shares = found[name]
    yield Variable(f"predicted {name}", variable.labels), shares.argmax(axis=1).astype(np.int64)
    for s, label in enumerate(variable.labels):
        yield Variable(f"P({name}={label})"), shares[:, s]


def default_targets(network: Network, table: Table) -> list[str]:
    """The variables that are hidden or have no column; an error if there is none."""
    found = [n for n in network.names if n not in table or network.variable(n).hidden]
    if not found:
        raise DataError(
            "all variables have a column; say which variable to predict:",
            hint=Hint("of=[...]", "--of NAME"),
        )
    return found


def fill_in(
    network: Network,
    data: Data,
    draw: bool = False,
    seed: int | None = None,
    unknown: Unknown = "error",
) -> Table:
    """The table with the empty cells of the network's variables filled in.

    Each row gets its most probable filling or, with `draw`, one drawn from the posterior. Where a
    variable has cuts, numbers stay as they are and empty cells get the label of an interval.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> fill_in(asia, asia.sample(50, seed=1).knock_out(0.2, seed=2)).n_missing
    0
    """
    table = as_table(data)
    inside = _shared(network, table)
    known = table.select(inside).like(network, unknown=unknown)
    filled = draw_missing(network, known, seed) if draw else most_probable(network, known).table
    for name in inside:
        table = table.with_column(*_filled(table, filled, name))
    return table


def _filled(table: Table, filled: Table, name: str) -> tuple[Variable, Column]:
    """The column with its gaps filled; numbers that were cut are kept beside the labels."""
    have, column, gaps = table.variable(name), table.column(name), table.missing(name)
    new, codes = filled.variable(name), filled.column(name)
    if new.cuts is None or have.states == new.states:
        return new, codes
    if not gaps.any():
        return have, column
    numbers, places = np.unique(column[~gaps], return_inverse=True)
    kept = [float(x) if have.states is None else have.labels[int(x)] for x in numbers]
    mixed = codes.astype(np.int64) + len(kept)
    mixed[~gaps] = places
    return Variable(name, [*kept, *new.labels]), mixed


def _shared(network: Network, table: Table) -> list[str]:
    """The columns that the network knows; an error if there is none."""
    shared = [n for n in table.names if n in network.names]
    if not shared:
        raise DataError(
            f"the table has none of the network's variables; it has {list(table.names)[:8]}, "
            f"the network {list(network.names)[:8]}"
        )
    return shared
