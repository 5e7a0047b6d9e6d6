"""Rows keep their names: columns that nothing was learned from, beside what was found.

Identifiers, columns that were left out, columns to compare with, and the numbers of columns that
were cut: `beside` collects them from the table as it was read, `posterior_columns` puts them and
the hidden states next to the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unveil.discovery.meaning import Meaning
from unveil.errors import DataError
from unveil.model.network import Network
from unveil.table.core import Table
from unveil.table.variable import Variable, label_text

__all__ = ["Beside", "beside", "rows_with_states"]


@dataclass(frozen=True)
class Beside:
    """The columns of the table as read that were not learned from, or not as they were read.

    `id` names the column that says who a row is.
    """

    columns: Table | None = None
    id: str | None = None

    def name_of(self, row: int) -> str:
        """What a row is called: its identifier, or its number (from 1)."""
        if self.columns is None or self.id is None:
            return str(row + 1)
        return _text(self.columns, row, self.id)

    def number(self, row: int, name: str) -> str | None:
        """The number of a cell that was cut into bins; `None` if it was not cut."""
        if self.columns is None or name not in self.columns or name == self.id:
            return None
        return _text(self.columns, row, name)


def beside(read: Table, learned: Table, id: str | None = None) -> Beside:
    """What of the table as read is not in the table that was learned from, row by row.

    >>> read = Table.from_frame({"who": ["Ann", "Bo"], "age": [31.5, 64.0], "ill": ["no", "yes"]})
    >>> learned = Table.from_frame({"age": ["< 40", ">= 40"], "ill": ["no", "yes"]})
    >>> beside(read, learned, "who").columns.names
    ('who', 'age')
    """
    if read.n_rows != learned.n_rows:
        raise DataError(
            f"the table as read has {read.n_rows:,} rows, the one learned from {learned.n_rows:,}; "
            "give the same rows in the same order"
        )
    if id is not None:
        read.variable(id)  # refuses a column that is not there
    others = [n for n in read.names if n != id and _differs(read, learned, n)]
    names = [*([] if id is None else [id]), *others]
    return Beside(read.select(names) if names else None, id)


def _differs(read: Table, learned: Table, name: str) -> bool:
    """Whether a column was left out, cut into bins, or holds other numbers."""
    if name not in learned:
        return True
    if read.variable(name).is_discrete:
        return False
    if learned.variable(name).is_discrete:
        return True
    return not np.array_equal(read.column(name), learned.column(name), equal_nan=True)


def rows_with_states(
    table: Table, kept: Beside, network: Network, meaning: dict[str, Meaning]
) -> Table:
    """The identifier, the rows (numbers beside their bins), the rest, and every hidden state.

    Of a hidden variable there is the most probable state, and the posterior of each as `P(H1=0)`.
    A name that is taken gets a stroke.
    """
    variables, columns, taken = list[Variable](), [], {*table.names, *meaning}

    def add(variable: Variable, column: np.ndarray, name: str) -> None:
        while name in taken:
            name += "'"
        taken.add(name)
        variables.append(Variable(name, variable.states))
        columns.append(column)

    def add_kept(names: Iterable[str], ending: str = "") -> None:
        for name in names:
            if kept.columns is not None and name in kept.columns:
                variable = kept.columns.variable(name)
                add(variable, kept.columns.column(name), name + ending)

    if kept.id is not None and kept.id not in table:
        add_kept([kept.id])
    for variable in table.variables:
        variables.append(variable)
        columns.append(table.column(variable.name))
        if variable.name != kept.id:
            add_kept([variable.name], " (number)")
    rest = () if kept.columns is None else kept.columns.names
    add_kept(n for n in rest if n not in table and n != kept.id)
    for name, found in meaning.items():
        labels = network.variable(name).labels
        variables.append(Variable(name, labels))
        columns.append(found.posterior.argmax(axis=1).astype(np.int64))
        for s, label in enumerate(labels):
            add(Variable("p"), found.posterior[:, s], f"P({name}={label})")
    return Table(variables, columns, table.weights)


def _text(table: Table, row: int, name: str) -> str:
    cell = table.select([name]).row(row)[name]
    return "" if cell is None else label_text(cell)
