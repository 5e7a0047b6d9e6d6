"""`DefaultTableCPD`: rows for some configurations of the parents, one default for all others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.model.compact import (
    GroupedCPD,
    Numbers,
    checked_rows,
    listed,
    numbers_in,
    whole_number,
)
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.table.variable import Variable, label_text

__all__ = ["DefaultTableCPD"]


class DefaultTableCPD(GroupedCPD):
    """P(variable | parents) as a table that lists only what is special (thesis 2.1.3).

    `given` has the configurations of the parents with a distribution of their own, as places of
    their states, shape (n_listed, n_parents); `rows` has their distributions over the states of
    `variable`, and one more at the end, which all other configurations share (Friedman and
    Goldszmidt 1996). Without others, the last row is left out.

    >>> fuel, battery = Variable("fuel", ["empty", "full"]), Variable("battery", ["flat", "good"])
    >>> starts = Variable("starts", ["no", "yes"])
    >>> cpd = DefaultTableCPD(starts, [fuel, battery], [[1, 1]], [[0.02, 0.98], [1.0, 0.0]])
    >>> cpd.n_parameters, cpd.table.n_parameters
    (2, 4)
    >>> print(cpd)
    P(starts | fuel, battery): a default and 1 other row
    fuel = full, battery = good: no 0.02, yes 0.98
    otherwise: no 1, yes 0
    """

    kind: ClassVar[str] = "default_table"
    given: npt.NDArray[np.int64]

    def __init__(
        self,
        variable: Variable,
        parents: Sequence[Variable],
        given: npt.ArrayLike,
        rows: npt.ArrayLike,
    ) -> None:
        shape = self._take(variable, parents)
        listed_rows = np.array(given, np.int64)
        self.given = listed_rows.reshape(len(listed_rows), len(shape))
        if ((self.given < 0) | (self.given >= np.array(shape, np.int64))).any():
            raise ModelError(f"{self._name}: a listed configuration has a state that is not there")
        nowhere = np.zeros(len(self.given), np.int64)
        place = np.ravel_multi_index(tuple(self.given.T), shape) if shape else nowhere
        if np.unique(place).size < len(self.given):
            raise ModelError(f"{self._name}: a configuration of the parents is listed twice")
        groups = np.full(int(np.prod(shape, dtype=np.int64)), len(self.given), np.int64)
        groups[place] = np.arange(len(self.given))
        self.has_default = len(self.given) < groups.size
        n_rows = len(self.given) + self.has_default
        self.rows = checked_rows(variable, rows, n_rows, "the default table")
        self.groups = groups
        self.given.flags.writeable = self.groups.flags.writeable = False

    @classmethod
    def estimate(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        statistics: Numbers,
        prior: DirichletPrior | None = None,
    ) -> Self:
        """The default table chosen from the family's joint counts (BDe under `prior`).

        Without a prior, rows are chosen by BDeu with equivalent sample size 1, and distributions
        are those of maximum likelihood.
        """
        from unveil.model.local import chosen_rows, group_term

        alpha = prior or EquivalentSampleSize(1.0)
        given, _ = chosen_rows(variable, parents, statistics, *group_term(alpha, variable, parents))
        return cls.uniform(variable, parents, given).refitted(statistics, prior)

    @classmethod
    def uniform(
        cls, variable: Variable, parents: Sequence[Variable], given: npt.NDArray[np.int64]
    ) -> Self:
        """The default table with these configurations listed that knows nothing."""
        n_configurations = int(np.prod([p.n_states for p in parents], dtype=np.int64))
        n_rows = len(given) + (len(given) < n_configurations)
        rows = np.full((n_rows, variable.n_states), 1.0 / variable.n_states)
        return cls(variable, parents, given, rows)

    def _with_rows(self, rows: Numbers) -> Self:
        return type(self)(self.variable, self.parents, self.given, rows)

    @property
    def local_structure(self) -> list[list[int]]:
        """The configurations listed."""
        found: list[list[int]] = self.given.tolist()
        return sorted(found)

    @property
    def length(self) -> float:
        """What it takes to say which rows are listed, in nats: log(q choose k)."""
        q, k = self.groups.size, len(self.given)
        return math.lgamma(q + 1) - math.lgamma(k + 1) - math.lgamma(q - k + 1)

    def with_variables(self, variable: Variable, parents: Sequence[Variable]) -> Self:
        """The same numbers for renamed, relabelled or re-marked variables."""
        return type(self)(variable, parents, self.given, self.rows)

    def with_parents(self, parents: Sequence[Variable]) -> Self:
        """The same distribution for the parents in another order."""
        place = {v.name: i for i, v in enumerate(self.parents)}
        if sorted(place) != sorted(v.name for v in parents):
            raise ModelError(f"{self._name} has other parents than {[v.name for v in parents]}")
        given = self.given[:, [place[v.name] for v in parents]]
        return type(self)(self.variable, parents, given, self.rows)

    def permuted(self, axis: int, order: Sequence[int]) -> Self:
        """The same distribution with state i of a member being what was state order[i].

        `axis` is the place among the parents, or their number for the child.
        """
        if axis == len(self.parents):
            return self._with_rows(self.rows[:, list(order)])
        given = self.given.copy()
        given[:, axis] = np.argsort(order)[given[:, axis]]
        return type(self)(self.variable, self.parents, given, self.rows)

    def describe(self, max_rows: int = 50) -> str:
        """The listed rows as text, then the default."""
        n = len(self.given)
        rows = f"{n} other row{'' if n == 1 else 's'}"
        head = (
            f"{self._name}: a default and {rows}" if self.has_default else f"{self._name}: {rows}"
        )
        lines = [
            f"{self._condition(given)}: {self._line(row)}"
            for given, row in zip(self.given[:max_rows], self.rows, strict=False)
        ]
        more = [f"... {n - max_rows:,} more rows"] if n > max_rows else []
        last = [f"otherwise: {self._line(self.rows[-1])}"] if self.has_default else []
        return "\n".join([head, *lines, *more, *last])

    def _condition(self, given: npt.NDArray[np.int64]) -> str:
        pairs = zip(self.parents, given.tolist(), strict=True)
        return ", ".join(f"{v.name} = {label_text(v.labels[s])}" for v, s in pairs)

    def to_dict(self) -> dict[str, Any]:
        """The listed configurations, their distributions, and the default."""
        n = len(self.given)
        fields: dict[str, Any] = {"given": self.given.tolist(), "values": self.rows[:n].tolist()}
        return {**fields, "default": self.rows[n].tolist()} if self.has_default else fields

    @classmethod
    def from_dict(
        cls, variable: Variable, parents: Sequence[Variable], fields: Mapping[str, Any]
    ) -> Self:
        """The inverse of `to_dict`; refuses wrong shapes and numbers that are no probabilities."""
        where = f"the default table of {variable.name!r}"
        given, values = (listed(fields, key, where) for key in ("given", "values"))
        if len(given) != len(values):
            raise ModelError(f"{where} has {len(given)} configurations and {len(values)} rows")
        for states in given:
            if not isinstance(states, list) or len(states) != len(parents):
                raise ModelError(f"{where}: expected a state for each parent, got {states!r}")
            for s, parent in zip(states, parents, strict=True):
                whole_number(s, parent.n_states, f"{where}, {parent.name!r}")
        rows = [numbers_in(row, variable.n_states, where) for row in values]
        if "default" in fields:
            rows.append(numbers_in(fields["default"], variable.n_states, f"{where}, 'default'"))
        return cls(variable, parents, given, rows)
