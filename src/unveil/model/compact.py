"""Compact conditional distributions: fewer parameters than a table, and a table where it is needed.

A table has a row for every configuration of the parents. Often many rows are the same: a parent
matters only where another has a certain value (`TreeCPD`), or only a few configurations are special
(`DefaultTableCPD`); or causes act one by one (`NoisyOrCPD`). Thesis 2.1.3. Whoever needs a table
gets one (`table_of`); who estimates or counts parameters asks the distribution itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.model.prior import DirichletPrior, PseudoCount
from unveil.model.table_cpd import TableCPD, n_cells
from unveil.statistics.protocol import Need
from unveil.table.core import Column
from unveil.table.variable import Variable, label_text

if TYPE_CHECKING:
    from unveil.model.cpd import CPD
    from unveil.model.network import Network

__all__ = ["CompactCPD", "GroupedCPD", "group_counts", "group_pseudo_counts", "same_structure"]

Numbers = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]


class CompactCPD:
    """What compact kinds share: `table`, the same distribution with a row per configuration."""

    kind: ClassVar[str]
    needs: ClassVar[Need] = Need.COUNTS
    variable: Variable
    parents: tuple[Variable, ...]

    def _expanded(self) -> Numbers:
        """P(variable | parents), shape (states of parent 1, ..., states of variable)."""
        raise NotImplementedError

    @property
    def n_parameters(self) -> int:
        """The number of free parameters, counted compactly."""
        raise NotImplementedError

    @property
    def local_structure(self) -> Any:
        """What stays when only parameters change."""
        raise NotImplementedError

    @property
    def length(self) -> float:
        """What it takes to say which local structure of its kind this is, in nats."""
        raise NotImplementedError

    def permuted(self, axis: int, order: Sequence[int]) -> Self:
        """The same distribution with state i of a member being what was state order[i].

        `axis` is the place among the parents, or their number for the child.
        """
        raise NotImplementedError

    def refitted(self, counts: Numbers, prior: DirichletPrior | None = None) -> Self:
        """The same local structure with parameters from the family's counts, parents first."""
        raise NotImplementedError

    def with_values(self, values: Numbers) -> Self:
        """The same local structure with the parameters behind this table, which must have it."""
        raise NotImplementedError

    def log_prior(self, prior: DirichletPrior | None) -> float:
        """The log of the prior's density at the parameters, but for a constant."""
        raise NotImplementedError

    @cached_property
    def table(self) -> TableCPD:
        """The distribution as a table."""
        return TableCPD(self.variable, self.parents, self._expanded())

    @property
    def values(self) -> Numbers:
        """The probabilities as those of a table: parents first, child last."""
        return self.table.values

    def add_log_probability(self, total: Numbers, parents: Sequence[Column], child: Column) -> None:
        """Add log P(child | parents) of every row to `total`, in place."""
        self.table.add_log_probability(total, parents, child)

    def sample(
        self, parents: Sequence[Column], n_rows: int, generator: np.random.Generator
    ) -> Column:
        """A column of states, drawn row by row given the parents' columns."""
        return self.table.sample(parents, n_rows, generator)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.describe())}</pre>"

    @classmethod
    def estimate(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        statistics: Numbers,
        prior: DirichletPrior | None = None,
    ) -> Self:
        """The local structure found from the family's joint counts, and its parameters."""
        raise NotImplementedError

    def with_variables(self, variable: Variable, parents: Sequence[Variable]) -> Self:
        """The same numbers for renamed, relabelled or re-marked variables."""
        raise NotImplementedError

    @classmethod
    def from_dict(
        cls, variable: Variable, parents: Sequence[Variable], fields: Mapping[str, Any]
    ) -> Self:
        """The inverse of `to_dict`; checks everything."""
        raise NotImplementedError

    def describe(self) -> str:
        """The distribution as text for people."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The parameters as plain JSON values."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.describe()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompactCPD) or type(self) is not type(other):
            return NotImplemented
        same = self.variable == other.variable and self.parents == other.parents
        return same and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    @property
    def _name(self) -> str:
        given = ", ".join(v.name for v in self.parents)
        return f"P({self.variable.name}" + (f" | {given})" if given else ")")

    def _line(self, row: Numbers) -> str:
        """A distribution over the child's states in words."""
        labels = map(label_text, self.variable.labels)
        return ", ".join(f"{label} {p:.4g}" for label, p in zip(labels, row, strict=True))


class GroupedCPD(CompactCPD):
    """A table whose rows fall into groups: one distribution for all configurations of a group.

    `groups` says which group every configuration of the parents is in (the last parent varies
    fastest), `rows` has a distribution per group.
    """

    groups: Groups
    rows: Numbers

    def _take(self, variable: Variable, parents: Sequence[Variable]) -> tuple[int, ...]:
        self.variable, self.parents = variable, tuple(parents)
        n_cells(variable, self.parents)
        return tuple(p.n_states for p in self.parents)

    def _with_rows(self, rows: Numbers) -> Self:
        """The same groups with other distributions."""
        raise NotImplementedError

    @property
    def n_groups(self) -> int:
        """How many distributions there are."""
        return len(self.rows)

    @property
    def n_parameters(self) -> int:
        """(states - 1) for every group of configurations."""
        return self.n_groups * (self.variable.n_states - 1)

    def _expanded(self) -> Numbers:
        shape = tuple(v.n_states for v in (*self.parents, self.variable))
        return self.rows[self.groups].reshape(shape)

    def refitted(self, counts: Numbers, prior: DirichletPrior | None = None) -> Self:
        """The same groups, with the estimate from the counts that fall into each (Eq. 2.8, 2.12).

        Pseudo-counts are those of the group's configurations together, so imagined rows are spread
        as over a table (`group_pseudo_counts`). A group that nothing is known of gets the uniform
        distribution.
        """
        known = group_counts(counts, self.groups, self.n_groups)
        known += self._pseudo_counts(prior)
        totals = known.sum(axis=1, keepdims=True)
        seen = totals > 0
        uniform = 1.0 / self.variable.n_states
        return self._with_rows(np.where(seen, known / np.where(seen, totals, 1), uniform))

    def with_values(self, values: Numbers) -> Self:
        """The same groups with the distributions of this table, which must have these groups."""
        rows = np.empty_like(self.rows)
        rows[self.groups] = values.reshape(-1, self.variable.n_states)
        return self._with_rows(rows)

    def log_prior(self, prior: DirichletPrior | None) -> float:
        """Sum of alpha log theta over the groups."""
        alpha = self._pseudo_counts(prior)
        used = alpha > 0
        with np.errstate(divide="ignore"):
            return float(alpha[used] @ np.log(self.rows[used]))

    def _pseudo_counts(self, prior: DirichletPrior | None) -> Numbers:
        if prior is None:
            return np.zeros_like(self.rows)
        return group_pseudo_counts(prior, self.variable, self.parents, self.groups, self.n_groups)

    def __repr__(self) -> str:
        size = f"{self.n_groups} x {self.variable.n_states}"
        return f"{type(self).__name__}({self._name}, {size})"


def same_structure(one: Network, other: Network) -> bool:
    """Whether two networks have the same graph and the same local structures inside of it."""
    if one.dag != other.dag:
        return False
    pairs = ((one.cpd(name), other.cpd(name)) for name in one.names)
    return all(_alike(a, b) for a, b in pairs)


def _alike(one: CPD, other: CPD) -> bool:
    if not (isinstance(one, CompactCPD) and isinstance(other, CompactCPD)):
        return one.kind == other.kind
    own, others = ((c.kind, [p.name for p in c.parents], c.local_structure) for c in (one, other))
    return own == others


def group_counts(counts: Numbers, groups: Groups, n_groups: int) -> Numbers:
    """The counts of the child's states in every group, shape (n_groups, n_states)."""
    cells = counts.reshape(groups.size, -1)
    return np.array([np.bincount(groups, column, n_groups) for column in cells.T]).T


def group_pseudo_counts(
    prior: DirichletPrior,
    variable: Variable,
    parents: Sequence[Variable],
    groups: Groups,
    n_groups: int,
) -> Numbers:
    """The pseudo-counts of every group, shape (n_groups, n_states).

    Imagined rows add up: a group has those of its configurations together, so that one group for
    all is the family without parents, and a group for each is the table (Friedman and Goldszmidt
    1996). The same pseudo-count for every parameter (`PseudoCount`) is one for every group.
    """
    alpha = prior.pseudo_counts(variable, parents)
    if isinstance(prior, PseudoCount):
        return np.full((n_groups, variable.n_states), prior.count)
    shape = tuple(v.n_states for v in (*parents, variable))
    return group_counts(np.ascontiguousarray(np.broadcast_to(alpha, shape)), groups, n_groups)


def checked_rows(variable: Variable, rows: Any, n_rows: int, what: str) -> Numbers:
    """Distributions over the child's states, one per row, read-only; or an error."""
    place = Variable("row", range(n_rows)) if n_rows else None
    if place is None:
        return np.empty((0, variable.n_states))
    try:
        return TableCPD(variable, [place], rows).values
    except ModelError as error:
        raise ModelError(f"{what} of {variable.name!r}: {error}") from None


def listed(fields: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """The list that a file has under a key; an error if there is none."""
    found = fields.get(key)
    if not isinstance(found, list):
        raise ModelError(f"{where} needs a list in {key!r}, got {type(found).__name__}")
    return found


def whole_number(value: Any, most: int, where: str) -> int:
    """A number from 0 to `most` - 1; an error if it is something else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < most:
        raise ModelError(f"{where}: expected a whole number from 0 to {most - 1}, got {value!r}")
    return value


def numbers_in(value: Any, n: int, where: str) -> list[float]:
    """A list of so many numbers; an error if it is something else."""
    came = f"{len(value)}" if isinstance(value, list) else type(value).__name__
    if not isinstance(value, list) or len(value) != n:
        raise ModelError(f"{where}: expected {n} numbers, got {came}")
    for p in value:
        if isinstance(p, bool) or not isinstance(p, (int, float)) or abs(p) > 1e300:
            raise ModelError(f"{where}: expected probabilities, got {str(p)[:40]}")
    return value
