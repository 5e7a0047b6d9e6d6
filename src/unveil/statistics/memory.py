"""`MemoryStatistics`: compiled counting over the coded columns of a table in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, Hint
from unveil.statistics.counting import (
    check_cells,
    counts_at,
    distinct_positions,
    joint_counts,
    positions,
)
from unveil.statistics.moments import ConditionalMoments, GaussianMoments
from unveil.statistics.protocol import Distinct, Family, Statistics
from unveil.table.core import Column, Table
from unveil.table.door import as_table
from unveil.table.variable import Variable

if TYPE_CHECKING:
    from unveil.kernels.scoring import DataTerm, Rows
    from unveil.statistics.score_terms import RowTerms

__all__ = ["MAX_STATES", "MemoryStatistics", "as_rows", "as_statistics"]

MAX_STATES = 65_535
Numbers = npt.NDArray[np.float64]


def as_statistics(data: Table | Statistics, n_jobs: int | None = None) -> Statistics:
    """The engine itself, or one that counts the rows of a table on `n_jobs` threads."""
    return MemoryStatistics(data, n_jobs) if isinstance(data, Table) else data


def as_rows(data: Table | Statistics) -> Table:
    """The table itself, or the distinct rows of an engine as a weighted table.

    For work that goes over rows, such as EM: nothing that counts by weight can tell them apart.
    """
    return as_table(data)


class MemoryStatistics:
    """Counts and moments over the rows of a table; weights may be fractional.

    >>> table = Table.from_frame({"x": ["a", "a", "b"], "y": [0, 1, 1]})
    >>> MemoryStatistics(table).counts([[0, 1]])
    [array([[1., 1.],
           [0., 1.]])]
    """

    def __init__(self, table: Table, n_jobs: int | None = None) -> None:
        self.table = table
        self.variables: tuple[Variable, ...] = table.variables
        self.total_weight: float = table.total_weight
        self.n_jobs = n_jobs
        self._countable: set[int] = set()

    # Statistics --------------------------------------------------------------------------------

    def counts(self, sets: Sequence[Sequence[int]]) -> list[Numbers]:
        """S[members] for every set: joint counts, one axis per member in its order (Eq. 2.7)."""
        self.check_countable({m for members in sets for m in members})
        weights = self.table.row_weights
        counted = []
        for members in sets:
            check_cells([self.variables[m] for m in members])
            counted.append(joint_counts(*self._coded(members), weights))
        return counted

    def distinct(self, members: Sequence[int]) -> Distinct:
        """The assignments of the members that occur, and which one every row has."""
        self.check_countable(members)
        columns, cards = self._coded(members)
        first, which = distinct_positions(columns, cards, self.table.n_rows)
        codes = np.array([c[first] for c in columns], np.int64).reshape(len(columns), len(first)).T
        return Distinct(codes, counts_at(which, self.table.row_weights, len(first)), which)

    def cells(self, members: Sequence[int]) -> npt.NDArray[np.int64]:
        """The cell of every row in the joint table of the members, shape (n_rows,)."""
        self.check_countable(members)
        return positions(*self._coded(members), self.table.n_rows)

    def moments(self, members: Sequence[int], by: Sequence[int] = ()) -> ConditionalMoments:
        """The moments of continuous members per configuration of the discrete variables in `by`."""
        numbers = [_complete_numbers(self.table, self.variables[m].name) for m in members]
        if not by:
            whole = GaussianMoments.in_blocks(numbers, self.table.row_weights)
            return ConditionalMoments(np.array(whole.weight), whole.mean, whole.scatter)
        for m in by:
            _refuse_gaps(self.table, self.variables[m].name, "least squares needs complete rows")
        check_cells([self.variables[m] for m in by])
        columns, cards = self._coded(by)
        configuration = positions(columns, cards, self.table.n_rows)
        values = np.array(numbers).reshape(len(members), -1).T
        return ConditionalMoments.of_rows(values, self.table.row_weights, configuration, cards)

    def with_weights(self, weights: npt.ArrayLike) -> MemoryStatistics:
        """The same rows with other weights."""
        return MemoryStatistics(self.table.with_weights(weights), self.n_jobs)

    def _coded(self, members: Sequence[int]) -> tuple[list[Column], list[int]]:
        variables = [self.variables[m] for m in members]
        return [self.table.column(v.name) for v in variables], [v.n_states for v in variables]

    # Score terms -------------------------------------------------------------------------------

    def family_terms(self, families: Sequence[Family], term: DataTerm) -> Numbers:
        """The data terms of many families."""
        return self._terms.families(families, term)

    def toggle_terms(
        self, child: int, parents: Sequence[int], largest: int, term: DataTerm
    ) -> Numbers:
        """The data terms of one family with each variable toggled among its parents."""
        return self._terms.toggles(child, parents, largest, term)

    @cached_property
    def rows(self) -> Rows:
        """What the compiled kernels see: codes, weights, and bitmaps where weights are ones."""
        from unveil.kernels.bits import state_bitmaps
        from unveil.kernels.numbers import fixed
        from unveil.kernels.scoring import Rows

        self.check_countable(range(len(self.variables)))
        codes = self.table.codes()
        given = self.table.weights
        ones = given is None or bool((given == 1.0).all())
        weights = np.zeros(0) if ones else np.ascontiguousarray(self.table.row_weights)
        cards = np.array([v.n_states for v in self.variables], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(cards)[:-1]]).astype(np.int64)
        words = -(-codes.shape[1] // 64) if ones else 0
        bits = np.zeros((int(cards.sum()), words), np.uint64)
        if words:
            state_bitmaps(codes, first, bits)
        return Rows(codes, fixed(weights), cards, bits, first)

    @cached_property
    def _terms(self) -> RowTerms:
        from unveil.statistics.score_terms import RowTerms

        return RowTerms(self.rows, self.n_jobs)

    # What is refused ---------------------------------------------------------------------------

    def check_learnable(self) -> None:
        """An error unless there are rows, of some weight, and all of them can be counted."""
        if self.table.n_rows == 0:
            raise DataError("the table has no rows to learn from")
        self.check_countable(range(len(self.variables)))
        if self.total_weight <= 0:
            raise DataError("the weights of all rows are zero; there is nothing to learn from")

    def check_countable(self, members: Iterable[int]) -> None:
        """An error unless all these columns are discrete and complete; each is looked at once."""
        for m in sorted(set(members) - self._countable):
            _check_column(self.table, self.variables[m])
            self._countable.add(m)


def _check_column(table: Table, variable: Variable) -> None:
    name = variable.name
    if not variable.is_discrete:
        raise DataError(
            f"column {name!r} is continuous; counting needs discrete columns. Leave it "
            "out or discretise it first, with",
            hint=Hint("unveil.Discretizer.", "--discretize."),
        )
    if variable.n_states > MAX_STATES:
        raise DataError(
            f"column {name!r} has {variable.n_states:,} states; at most {MAX_STATES:,} can be "
            "counted. It looks like an identifier: leave it out."
        )
    advice = "Fill them in, leave those rows out, or leave the column out."
    _refuse_gaps(table, name, f"counting needs complete rows. {advice}")


def _complete_numbers(table: Table, name: str) -> Column:
    """A continuous column without missing or infinite cells; an error otherwise."""
    if table.variable(name).is_discrete:
        raise DataError(f"column {name!r} is discrete; a linear Gaussian needs numbers")
    column = table.column(name)
    _refuse_gaps(table, name, "least squares needs complete rows")
    refuse_infinite(name, column)
    return column


def refuse_infinite(name: str, column: Column) -> None:
    """An error that names the first infinite cell."""
    infinite = np.isinf(column)
    if infinite.any():
        row = int(infinite.argmax())
        raise DataError(
            f"column {name!r}, row {row + 1}: {column[row]} is infinite; a Gaussian needs finite "
            "numbers. Mark the cell as missing, or transform the column."
        )


def _refuse_gaps(table: Table, name: str, need: str) -> None:
    missing = table.missing(name)
    if missing.any():
        raise DataError(
            f"column {name!r} has {int(missing.sum()):,} missing cells (the first in row "
            f"{int(missing.argmax()) + 1}); {need}"
        )
