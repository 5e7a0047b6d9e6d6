"""A table recoded to the variables of a model, or of another table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil.errors import DataError
from unveil.table.coding import code_known, cut, first_row
from unveil.table.core import Column, Table
from unveil.table.options import Unknown, check_present, check_unknown, known_variables
from unveil.table.places import at
from unveil.table.variable import Variable

__all__ = ["conform", "like"]


def conform(table: Table, variables: Sequence[Variable], unknown: Unknown = "error") -> Table:
    """The columns of `variables` in that order, coded by their states.

    Labels are matched as `label_finder` tells; one that no state fits is an error or, with
    `unknown="missing"`, a missing cell and a warning. Hidden variables without a column are left
    out, other columns of the table too. The table itself comes back when nothing has to change.

    >>> table = Table.from_frame({"x": ["b", "a"], "y": [1, 2]})
    >>> conform(table, [Variable("x", ["c", "b", "a"])]).column("x").tolist()
    [1, 2]
    """
    check_unknown(unknown)
    if table.variables == tuple(variables):
        return table
    check_present(variables, table.names)
    return _coded(table, [v for v in variables if v.name in table], unknown)


def like(table: Table, other: Any, unknown: Unknown = "error") -> Table:
    """The same columns, those that `other` has too coded by its states.

    `other` is a table, a network or a list of variables. Unknown labels are treated as in
    `conform`. The table itself comes back when nothing has to change.

    >>> test = Table.from_frame({"x": ["b"], "note": ["new"]})
    >>> like(test, Table.from_frame({"x": ["a", "b"]})).variables
    (Variable('x', states=['a', 'b']), Variable('note', states=['new']))
    """
    check_unknown(unknown)
    known = known_variables(other)
    variables = [known.get(v.name, v) for v in table.variables]
    return table if table.variables == tuple(variables) else _coded(table, variables, unknown)


def _coded(table: Table, variables: Sequence[Variable], unknown: Unknown) -> Table:
    return Table(variables, [_column(table, v, unknown) for v in variables], table.weights)


def _column(table: Table, variable: Variable, unknown: Unknown) -> Column:
    have, column = table.variable(variable.name), table.column(variable.name)
    if have.states is None and variable.states is None:
        return column
    if have.states is not None and variable.states is not None:
        if have.state_keys == variable.state_keys:
            return column
        codes = np.where(table.missing(have.name), -1, column.astype(np.int64))
        return code_known(variable, codes, have.labels, unknown=unknown)
    if have.states is None and variable.is_cut:
        return cut(column, variable)
    if have.states is None:
        values, codes = np.unique(column, return_inverse=True)
        labels = [None if x != x else float(x) for x in values]
        return code_known(variable, codes, labels, unknown=unknown)
    return _numbers(table, have, column)


def _numbers(table: Table, have: Variable, column: Column) -> Column:
    """A discrete column with numbers for labels, as the numbers."""
    for code, label in enumerate(have.labels):
        if isinstance(label, (str, bool)) and (column == code).any():
            raise DataError(
                f"{at('', first_row(column, code), have.name)}: the label {label!r} is not a "
                "number, and the model has a continuous variable of this name"
            )
    values = [np.nan if isinstance(x, (str, bool)) else float(x) for x in have.labels]
    return np.where(
        table.missing(have.name),
        np.nan,
        np.array([*values, np.nan])[np.minimum(column, len(values))],
    )
