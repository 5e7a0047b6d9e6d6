"""`ConditionalGaussianCPD`: discrete parents choose which linear Gaussian holds (thesis 2.1.3)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, ModelError, UnveilWarning
from unveil.model.gaussian_cpd import (
    GaussianPrior,
    LinearGaussianCPD,
    family_name,
    finite,
    fit_linear_gaussian,
    linear_gaussian_from_moments,
    linear_text,
    moments_of,
    normal_log_density,
    numbers_in,
    positive,
    refuse_discrete_child,
)
from unveil.statistics.moments import ConditionalMoments, GaussianMoments
from unveil.statistics.protocol import Need
from unveil.table.core import Column, Table
from unveil.table.variable import Variable, label_text

__all__ = ["ConditionalGaussianCPD", "fit_conditional_gaussian", "fit_gaussian"]

Matrix = npt.NDArray[np.float64]


class ConditionalGaussianCPD:
    """X | d, u ~ Normal(intercepts[d] + coefficients[d] . u, variances[d]).

    d are the states of the discrete parents and u the values of the continuous ones, each in the
    order of `parents`. `intercepts` and `variances` have one axis per discrete parent;
    `coefficients` has one more at the end, for the continuous parents.

    >>> sex, height = Variable("sex", ["f", "m"]), Variable("height")
    >>> cpd = ConditionalGaussianCPD(
    ...     Variable("weight"), [sex, height], [-100, -90], [[1.0], [0.95]], [36, 49])
    >>> print(cpd.describe())
    P(weight | sex, height)
    sex=f: Normal(-100 + 1 height, variance 36)
    sex=m: Normal(-90 + 0.95 height, variance 49)
    """

    kind: ClassVar[str] = "conditional_gaussian"
    needs: ClassVar[Need] = Need.CONDITIONAL_MOMENTS
    __slots__ = ("coefficients", "intercepts", "parents", "variable", "variances")

    variable: Variable
    parents: tuple[Variable, ...]
    intercepts: Matrix
    coefficients: Matrix
    variances: Matrix

    def __init__(
        self,
        variable: Variable,
        parents: Sequence[Variable],
        intercepts: npt.ArrayLike,
        coefficients: npt.ArrayLike,
        variances: npt.ArrayLike,
    ) -> None:
        self.variable, self.parents = variable, tuple(parents)
        refuse_discrete_child(variable)
        name, shape = family_name(variable, self.parents), self._shape
        if not shape:
            raise ModelError(f"{name} has no discrete parent; use LinearGaussianCPD")
        k = len(self.continuous_parents)
        self.intercepts = finite(intercepts, shape, f"{name}: the intercepts")
        self.coefficients = finite(coefficients, (*shape, k), f"{name}: the coefficients")
        self.variances = positive(variances, shape, f"{name}: the variances")

    @classmethod
    def estimate(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        statistics: ConditionalMoments,
        prior: object = None,
    ) -> Self:
        """A least squares estimate for every configuration of the discrete parents.

        `statistics` are the moments of (continuous parents ..., child) per configuration of the
        discrete ones. The imagined rows of a `GaussianPrior` have the means and variances of all
        rows together. A configuration that no row shows gets the imagined rows alone or, without
        a prior, the fit of all rows together, with a warning.
        """
        believed = GaussianPrior.of(prior)
        discrete = [p for p in parents if p.is_discrete]
        continuous = [p for p in parents if not p.is_discrete]
        alone = not (believed.strength or believed.borrowed)
        _refuse_or_warn_unseen(variable, statistics.weights, alone)
        shape = statistics.weights.shape
        pooled = statistics.pooled()
        imagined = pooled.independent(believed.strength) if believed.strength else None
        if believed.borrowed:
            statistics = statistics.borrowing(believed.borrowed)
        fits = []
        for states in np.ndindex(shape):
            moments = statistics.at(states)
            if imagined is not None:
                moments = moments + imagined
            elif moments.weight <= 0:
                moments = pooled
            floor = believed.min_variance
            fits.append(_fit_at(variable, discrete, continuous, states, moments, floor))
        return cls(
            variable,
            parents,
            np.array([f.intercept for f in fits]).reshape(shape),
            np.array([f.coefficients for f in fits]).reshape(*shape, len(continuous)),
            np.array([f.variance for f in fits]).reshape(shape),
        )

    @property
    def discrete_parents(self) -> tuple[Variable, ...]:
        """The parents that choose among the linear Gaussians."""
        return tuple(p for p in self.parents if p.is_discrete)

    @property
    def continuous_parents(self) -> tuple[Variable, ...]:
        """The parents that enter the mean."""
        return tuple(p for p in self.parents if not p.is_discrete)

    @property
    def n_parameters(self) -> int:
        """Those of a linear Gaussian for every configuration of the discrete parents."""
        return self.intercepts.size * (len(self.continuous_parents) + 2)

    @property
    def lines(self) -> tuple[Matrix, Matrix, Matrix]:
        """Intercepts, coefficients and variances, as every Gaussian kind gives them."""
        return self.intercepts, self.coefficients, self.variances

    def with_lines(
        self,
        parents: Sequence[Variable],
        intercepts: Matrix,
        coefficients: Matrix,
        variances: Matrix,
    ) -> Self:
        """The same child with other parents and other lines."""
        return type(self)(self.variable, parents, intercepts, coefficients, variances)

    def at(self, states: Sequence[int]) -> LinearGaussianCPD:
        """The linear Gaussian that holds when the discrete parents are in these states."""
        where = tuple(states)
        return LinearGaussianCPD(
            self.variable,
            self.continuous_parents,
            float(self.intercepts[where]),
            self.coefficients[where],
            float(self.variances[where]),
        )

    def add_log_probability(self, total: Matrix, parents: Sequence[Column], child: Column) -> None:
        """Add the log-density of every row to `total`, in place."""
        means, variances = self._chosen(parents)
        total += normal_log_density(child - means, variances)

    def sample(
        self, parents: Sequence[Column], n_rows: int, generator: np.random.Generator
    ) -> Column:
        """A column of values, drawn row by row given the parents' columns."""
        means, variances = self._chosen(parents)
        return means + np.sqrt(variances) * generator.standard_normal(n_rows)

    def with_variables(self, variable: Variable, parents: Sequence[Variable]) -> Self:
        """The same numbers for renamed, relabelled or re-marked variables."""
        return type(self)(variable, parents, self.intercepts, self.coefficients, self.variances)

    def describe(self, max_rows: int = 50) -> str:
        """A formula for every configuration of the discrete parents."""
        lines = [family_name(self.variable, self.parents)]
        for row, states in enumerate(np.ndindex(self._shape)):
            if row == max_rows:
                lines.append(f"... {self.intercepts.size - max_rows:,} more configurations")
                break
            pairs = zip(self.discrete_parents, states, strict=True)
            when = ", ".join(f"{p.name}={label_text(p.labels[s])}" for p, s in pairs)
            mean = linear_text(
                float(self.intercepts[states]), self.coefficients[states], self.continuous_parents
            )
            lines.append(f"{when}: Normal({mean}, variance {self.variances[states]:.4g})")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Flat lists over the configurations of the discrete parents, the last varying fastest."""
        return {
            "intercepts": self.intercepts.ravel().tolist(),
            "coefficients": self.coefficients.reshape(self.intercepts.size, -1).tolist(),
            "variances": self.variances.ravel().tolist(),
        }

    @classmethod
    def from_dict(
        cls, variable: Variable, parents: Sequence[Variable], fields: Mapping[str, Any]
    ) -> Self:
        """The inverse of `to_dict`; refuses what is missing, misshapen or not a finite number."""
        where = f"the conditional Gaussian of {variable.name!r}"
        shape = tuple(p.n_states for p in parents if p.is_discrete)
        n, k = math.prod(shape), sum(not p.is_discrete for p in parents)
        intercepts = numbers_in(fields, "intercepts", (n,), where)
        coefficients = numbers_in(fields, "coefficients", (n, k), where)
        variances = numbers_in(fields, "variances", (n,), where)
        return cls(
            variable,
            parents,
            intercepts.reshape(shape),
            coefficients.reshape(*shape, k),
            variances.reshape(shape),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConditionalGaussianCPD):
            return NotImplemented
        return (
            (self.variable, self.parents) == (other.variable, other.parents)
            and np.array_equal(self.intercepts, other.intercepts)
            and np.array_equal(self.coefficients, other.coefficients)
            and np.array_equal(self.variances, other.variances)
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        name = family_name(self.variable, self.parents)
        return f"ConditionalGaussianCPD({name}, {self.intercepts.size} configurations)"

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(p.n_states for p in self.discrete_parents)

    def _chosen(self, columns: Sequence[Column]) -> tuple[Matrix, Matrix]:
        """The mean and the variance of the child in every row."""
        pairs = list(zip(self.parents, columns, strict=True))
        states = tuple(c.astype(np.intp) for p, c in pairs if p.is_discrete)
        means = self.intercepts[states]
        values = [column for parent, column in pairs if not parent.is_discrete]
        for place, column in enumerate(values):
            means = means + self.coefficients[(*states, place)] * column
        return means, self.variances[states]


def fit_gaussian(
    variable: Variable,
    parents: Sequence[Variable],
    table: Table,
    prior_strength: float = 0.0,
    min_variance: float = 0.0,
) -> LinearGaussianCPD | ConditionalGaussianCPD:
    """The Gaussian family of a continuous variable: conditional when a parent is discrete."""
    conditional = any(p.is_discrete for p in parents)
    fit = fit_conditional_gaussian if conditional else fit_linear_gaussian
    return fit(variable, parents, table, prior_strength, min_variance)


def fit_conditional_gaussian(
    variable: Variable,
    parents: Sequence[Variable],
    table: Table,
    prior_strength: float = 0.0,
    min_variance: float = 0.0,
) -> ConditionalGaussianCPD:
    """A linear Gaussian for every configuration of the discrete parents, from complete rows.

    Settings as in `fit_linear_gaussian`; the imagined rows of the prior have the means and
    variances of the whole table. A configuration that no row shows gets the imagined rows alone
    or, without a prior, the fit of all rows together, with a warning.
    """
    prior = GaussianPrior(prior_strength, min_variance)
    moments = moments_of(table, variable, parents)
    return ConditionalGaussianCPD.estimate(variable, parents, moments, prior)


def _refuse_or_warn_unseen(variable: Variable, weights: Matrix, alone: bool) -> None:
    unseen = int((weights <= 0).sum())
    if unseen == weights.size:
        raise DataError(f"{variable.name!r} cannot be fitted: its rows have a total weight of 0")
    if unseen and alone:
        warnings.warn(
            f"{variable.name!r}: {unseen} of {weights.size} configurations of its discrete "
            "parents are in no row; they get the fit of all rows together. A prior_strength "
            "avoids this.",
            UnveilWarning,
            stacklevel=3,
        )


def _fit_at(
    variable: Variable,
    discrete: Sequence[Variable],
    continuous: Sequence[Variable],
    states: tuple[int, ...],
    moments: GaussianMoments,
    min_variance: float,
) -> LinearGaussianCPD:
    try:
        return linear_gaussian_from_moments(variable, continuous, moments, min_variance)
    except DataError as error:
        pairs = zip(discrete, states, strict=True)
        when = ", ".join(f"{p.name}={label_text(p.labels[s])}" for p, s in pairs)
        raise DataError(f"given {when}: {error}") from None
