"""`Columns`: the rows of a table as the learners of classifiers see them.

The class has a code in every row. A discrete predictor has no gaps: where the table had some, an
empty cell is a state of its own, because that a cell is empty may tell something about the class.
Numbers stay numbers (empty ones say nothing) or are cut where the class changes (`cuts.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unveil.classify.cuts import class_cuts
from unveil.errors import DataError
from unveil.table.core import Table
from unveil.table.discretize import interval_variable
from unveil.table.missingness import EMPTY_STATE, empty_as_state, missing_as_state
from unveil.table.variable import Variable

__all__ = ["Columns", "columns_of", "with_cuts"]

Codes = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """Class codes, weights and predictors of the rows; `table` has them all, the class last."""

    table: Table
    target: Variable

    @property
    def names(self) -> tuple[str, ...]:
        """The predictors."""
        return self.table.names[:-1]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the predictors."""
        return self.table.variables[:-1]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows

    @property
    def n_classes(self) -> int:
        """How many states the class has."""
        return self.target.n_states

    @cached_property
    def classes(self) -> Codes:
        """The code of the class in every row."""
        return self.table.column(self.target.name).astype(np.int64)

    @cached_property
    def weights(self) -> Vector:
        """How often each row counts."""
        return np.ascontiguousarray(self.table.row_weights, dtype=np.float64)

    @cached_property
    def taken(self) -> Vector:
        """What leaving one case out takes of a row's weight: one, or all that it has."""
        return np.minimum(self.weights, 1.0)

    def codes(self, name: str) -> Codes:
        """The codes of a discrete predictor."""
        return self._codes[name]

    def values(self, name: str) -> Vector:
        """The values of a continuous predictor, NaN where missing."""
        return self._values[name]

    @cached_property
    def _codes(self) -> Mapping[str, Codes]:
        names = [v.name for v in self.variables if v.is_discrete]
        return {name: self.table.column(name).astype(np.int64) for name in names}

    @cached_property
    def _values(self) -> Mapping[str, Vector]:
        names = [v.name for v in self.variables if not v.is_discrete]
        return {name: self.table.column(name).astype(np.float64) for name in names}

    def is_number(self, name: str) -> bool:
        """Whether a predictor is continuous."""
        return name in self._values

    @cached_property
    def discrete(self) -> tuple[str, ...]:
        """The predictors that have states."""
        return tuple(v.name for v in self.variables if v.is_discrete)

    def size(self, name: str) -> int:
        """How many states a predictor has."""
        return self.table.variable(name).n_states

    def take(self, table: Table) -> Columns:
        """Other rows of the same columns."""
        return Columns(table, self.target)

    def at_most(self, n_rows: int, seed: int = 0) -> Columns:
        """These rows, or so many of them, drawn at random."""
        if self.n_rows <= n_rows:
            return self
        chosen = np.random.default_rng(seed).choice(self.n_rows, n_rows, replace=False)
        return self.take(self.table.take(np.sort(chosen)))


def columns_of(table: Table, target: str) -> Columns:
    """The rows whose class is known, empty cells of discrete predictors made a state.

    >>> table = Table.from_frame({"x": ["a", None, "b"], "y": ["no", "yes", None]})
    >>> columns = columns_of(table, "y")
    >>> columns.n_rows, columns.variables[0].states
    (2, ('a', 'b', '(empty)'))
    """
    variable = table.variable(target)
    if table.total_weight <= 0:
        raise DataError("the weights of all rows are zero: there is nothing to learn from")
    known = ~table.missing(target) & (table.row_weights > 0)
    if not known.any():
        raise DataError(f"no row has a value of the class {target!r}: there is nothing to learn")
    if not variable.is_discrete:
        raise DataError(
            f"the class {target!r} is continuous; a class has a few states. Cut it into intervals "
            "first, or choose another column."
        )
    names = [name for name in table.names if name != target]
    if not names:
        raise DataError(f"there is no column beside the class {target!r} to predict it from")
    rows = table.select([*names, target]).take(known)
    seen = np.unique(rows.column(target))
    if len(seen) < 2:
        label = variable.labels[int(seen[0])]
        raise DataError(
            f"the rows have one class only: {target!r} is {label!r} in all that count, so there "
            "is nothing to predict; a classifier needs two classes or more"
        )
    return Columns(_without_gaps(rows), variable)


def _without_gaps(rows: Table) -> Table:
    """The rows with a state for empty cells in every discrete column that has some."""
    filled = empty_as_state(rows)
    return missing_as_state(filled, label=EMPTY_STATE)


def with_cuts(columns: Columns) -> Columns:
    """The same rows with continuous predictors cut where the class changes.

    A predictor without a cut that pays is left out.
    """
    variables: list[Variable] = []
    for variable in columns.variables:
        if variable.is_discrete:
            variables.append(variable)
            continue
        values = columns.values(variable.name)
        cuts = class_cuts(values, columns.classes, columns.weights, columns.n_classes)
        made = interval_variable(variable.name, cuts)
        if np.isnan(values).any():
            made = Variable(made.name, [*made.labels, EMPTY_STATE], cuts=made.cuts)
        if made.n_states > 1:
            variables.append(made)
    return columns.take(empty_as_state(columns.table.conform([*variables, columns.target])))
