"""`LinearGaussianCPD`: a continuous variable whose mean is linear in its parents (thesis 2.1.3).

Fitting goes through `GaussianMoments` (weight, mean, scatter), which add up, so that rows, batches
of rows, imagined rows of a prior and the expectations of an EM step are fitted by one function.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, ModelError, UnveilWarning
from unveil.statistics.memory import MemoryStatistics
from unveil.statistics.moments import ConditionalMoments, GaussianMoments
from unveil.statistics.protocol import Need
from unveil.table.core import Column, Table
from unveil.table.variable import Variable

__all__ = [
    "GaussianPrior",
    "LinearGaussianCPD",
    "fit_linear_gaussian",
    "linear_gaussian_from_moments",
    "moments_of",
]

Matrix = npt.NDArray[np.float64]

COLLINEAR = 1e-12
"""Parents are collinear when their correlation matrix has an eigenvalue of at most this."""
EXPLAINED = 1e-12
"""A child is an exact function of its parents when at most this share of its variance remains:
moments in double precision cannot tell less from nothing."""


class LinearGaussianCPD:
    """X | u ~ Normal(intercept + coefficients . u, variance), all parents continuous (7.1.2).

    The variance must be positive. A variable that is an exact function of others (variance zero)
    has no density, so no likelihood; give it a small variance or leave it out of the network.

    >>> cpd = LinearGaussianCPD(Variable("weight"), [Variable("height")], -110, [1.1], 25)
    >>> cpd.n_parameters
    3
    >>> print(cpd.describe())
    P(weight | height) = Normal(-110 + 1.1 height, variance 25)
    """

    kind: ClassVar[str] = "linear_gaussian"
    needs: ClassVar[Need] = Need.MOMENTS
    __slots__ = ("coefficients", "intercept", "parents", "variable", "variance")

    variable: Variable
    parents: tuple[Variable, ...]
    intercept: float
    coefficients: Matrix
    variance: float

    def __init__(
        self,
        variable: Variable,
        parents: Sequence[Variable],
        intercept: float,
        coefficients: npt.ArrayLike,
        variance: float,
    ) -> None:
        self.variable, self.parents = variable, tuple(parents)
        refuse_discrete_child(variable)
        for parent in self.parents:
            if parent.is_discrete:
                raise ModelError(
                    f"{self._name}: the parent {parent.name!r} is discrete; a linear Gaussian "
                    "needs continuous parents. Use ConditionalGaussianCPD, which has a linear "
                    "Gaussian for every state."
                )
        name = self._name
        self.intercept = float(finite(intercept, (), f"{name}: the intercept"))
        self.coefficients = finite(coefficients, (len(self.parents),), f"{name}: the coefficients")
        self.variance = float(positive(variance, (), f"{name}: the variance"))

    @classmethod
    def estimate(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        statistics: GaussianMoments,
        prior: object = None,
    ) -> Self:
        """The least squares estimate from the moments of (parents ..., child).

        A `GaussianPrior` adds imagined rows and a floor under the variance; any other prior is one
        about tables and says nothing here.
        """
        believed = GaussianPrior.of(prior)
        if statistics.weight <= 0:
            raise DataError(f"{variable.name!r} cannot be fitted: its rows weigh nothing")
        if believed.strength:
            statistics = statistics + statistics.independent(believed.strength)
        found = linear_gaussian_from_moments(variable, parents, statistics, believed.min_variance)
        return cls(variable, parents, found.intercept, found.coefficients, found.variance)

    @property
    def n_parameters(self) -> int:
        """The intercept, the variance, and a coefficient for every parent."""
        return len(self.parents) + 2

    @property
    def continuous_parents(self) -> tuple[Variable, ...]:
        """The parents that enter the mean: all."""
        return self.parents

    @property
    def lines(self) -> tuple[Matrix, Matrix, Matrix]:
        """Intercept, coefficients and variance as arrays, as every Gaussian kind gives them."""
        return np.array(self.intercept), self.coefficients, np.array(self.variance)

    def with_lines(
        self, parents: Sequence[Variable], intercept: Matrix, coefficients: Matrix, variance: Matrix
    ) -> Self:
        """The same child with other parents and another line."""
        return type(self)(self.variable, parents, float(intercept), coefficients, float(variance))

    def means(self, parents: Sequence[Column], n_rows: int) -> Matrix:
        """The mean of the child in every row, shape (n_rows,)."""
        mean = np.full(n_rows, self.intercept)
        for coefficient, column in zip(self.coefficients, parents, strict=True):
            mean += coefficient * column
        return mean

    def add_log_probability(self, total: Matrix, parents: Sequence[Column], child: Column) -> None:
        """Add the log-density of every row to `total`, in place."""
        total += normal_log_density(child - self.means(parents, total.size), self.variance)

    def sample(
        self, parents: Sequence[Column], n_rows: int, generator: np.random.Generator
    ) -> Column:
        """A column of values, drawn row by row given the parents' columns."""
        noise = generator.standard_normal(n_rows)
        return self.means(parents, n_rows) + math.sqrt(self.variance) * noise

    def with_variables(self, variable: Variable, parents: Sequence[Variable]) -> Self:
        """The same numbers for renamed or re-marked variables."""
        return type(self)(variable, parents, self.intercept, self.coefficients, self.variance)

    def describe(self) -> str:
        """The distribution as a formula."""
        mean = linear_text(self.intercept, self.coefficients, self.parents)
        return f"{self._name} = Normal({mean}, variance {self.variance:.4g})"

    def to_dict(self) -> dict[str, Any]:
        """Intercept, coefficients in the order of the parents, and variance."""
        return {
            "intercept": self.intercept,
            "coefficients": self.coefficients.tolist(),
            "variance": self.variance,
        }

    @classmethod
    def from_dict(
        cls, variable: Variable, parents: Sequence[Variable], fields: Mapping[str, Any]
    ) -> Self:
        """The inverse of `to_dict`; refuses what is missing, misshapen or not a finite number."""
        where = f"the linear Gaussian of {variable.name!r}"
        intercept = numbers_in(fields, "intercept", (), where)
        coefficients = numbers_in(fields, "coefficients", (len(parents),), where)
        variance = numbers_in(fields, "variance", (), where)
        return cls(variable, parents, float(intercept), coefficients, float(variance))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearGaussianCPD):
            return NotImplemented
        same = self.variable == other.variable and self.parents == other.parents
        numbers = (self.intercept, self.variance) == (other.intercept, other.variance)
        return same and numbers and np.array_equal(self.coefficients, other.coefficients)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"LinearGaussianCPD({self.describe()})"

    @property
    def _name(self) -> str:
        return family_name(self.variable, self.parents)


# Fitting ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GaussianPrior:
    """What is believed of a Gaussian family beforehand.

    `strength` imagined rows in which every column has the mean and variance it has in the data and
    no column depends on another: coefficients shrink towards zero. `min_variance` is a floor under
    the variance; without it a child that its parents explain exactly is an error. `borrowed` rows
    are for families with discrete parents: every configuration of these, be it in a row or two,
    borrows so many of what all configurations have in common (`ConditionalMoments.borrowing`).
    """

    strength: float = 0.0
    min_variance: float = 0.0
    borrowed: float = 0.0

    def __post_init__(self) -> None:
        settings = (
            ("prior_strength", self.strength), ("min_variance", self.min_variance),
            ("borrowed", self.borrowed),
        )  # fmt: skip
        for what, number in settings:
            if not (math.isfinite(number) and number >= 0):
                raise ModelError(f"{what} must be finite and not negative, got {number}")

    @classmethod
    def of(cls, prior: object) -> GaussianPrior:
        """The prior itself, or none: a prior that speaks of tables says nothing about numbers."""
        prior = getattr(prior, "numbers", prior)
        return prior if isinstance(prior, cls) else cls()


def fit_linear_gaussian(
    variable: Variable,
    parents: Sequence[Variable],
    table: Table,
    prior_strength: float = 0.0,
    min_variance: float = 0.0,
) -> LinearGaussianCPD:
    """The linear Gaussian estimated from complete weighted rows by (weighted) least squares.

    By default the maximum likelihood estimate, so the variance is the mean squared residual.
    `prior_strength` adds that many imagined rows in which every column has the mean and variance
    it has in the table and no column depends on another: coefficients shrink towards zero.
    `min_variance` is a floor under the variance; without it a child that its parents explain
    exactly is an error. Collinear parents share their effect (the solution that is smallest in
    standardised units) with a warning.

    >>> table = Table.from_frame({"u": [0.5, 1.5, 2.5], "x": [1.25, 2.75, 5.75]})
    >>> print(fit_linear_gaussian(table.variable("x"), [table.variable("u")], table).describe())
    P(x | u) = Normal(-0.125 + 2.25 u, variance 0.125)
    """
    prior = GaussianPrior(prior_strength, min_variance)
    moments = moments_of(table, variable, parents).at(())
    return LinearGaussianCPD.estimate(variable, parents, moments, prior)


def linear_gaussian_from_moments(
    variable: Variable,
    parents: Sequence[Variable],
    moments: GaussianMoments,
    min_variance: float = 0.0,
) -> LinearGaussianCPD:
    """The maximum likelihood estimate from the moments of the parents and, last, the child.

    With S the scatter: coefficients = S[u, u]^-1 S[u, x], intercept = mean(x) - coefficients .
    mean(u), variance = (S[x, x] - coefficients . S[u, x]) / weight.
    """
    spread = _spreads(moments)
    scale = np.where(spread > 0, spread, 1.0)
    correlation = moments.scatter / moments.weight / np.outer(scale, scale)
    slopes = _least_squares(correlation, spread, [p.name for p in parents], variable.name)
    left = 1.0 - float(slopes @ correlation[:-1, -1]) if spread[-1] > 0 else 0.0
    variance = max(left, 0.0) * float(scale[-1]) ** 2
    if left <= EXPLAINED and min_variance == 0:
        raise DataError(_no_variance(variable.name, parents, moments.weight, bool(spread[-1] > 0)))
    coefficients = slopes * scale[-1] / scale[:-1]
    intercept = float(moments.mean[-1] - coefficients @ moments.mean[:-1])
    return LinearGaussianCPD(
        variable, parents, intercept, coefficients, max(variance, min_variance)
    )


def moments_of(table: Table, variable: Variable, parents: Sequence[Variable]) -> ConditionalMoments:
    """The moments of (continuous parents, child) given the discrete parents, from all rows."""
    members = [*(p.name for p in parents if not p.is_discrete), variable.name]
    by = [p.name for p in parents if p.is_discrete]
    places = [table.position(n) for n in members], [table.position(n) for n in by]
    moments = MemoryStatistics(table).moments(*places)
    if table.total_weight <= 0:
        raise DataError(
            f"{variable.name!r} cannot be fitted: the table has {table.n_rows} rows of total "
            "weight 0"
        )
    return moments


def _spreads(moments: GaussianMoments) -> Matrix:
    """The standard deviation of every column; exactly zero where only rounding varies."""
    spread = np.sqrt(np.diag(moments.scatter) / moments.weight)
    return np.where(spread > 4 * np.finfo(float).eps * np.abs(moments.mean), spread, 0.0)


def _least_squares(
    correlation: Matrix, spread: Matrix, parents: Sequence[str], child: str
) -> Matrix:
    """The smallest standardised slopes among those that explain the last column best."""
    varying = spread[:-1] > 0
    slopes = np.zeros(len(parents))
    constant = [name for name, varies in zip(parents, varying, strict=True) if not varies]
    among = correlation[:-1, :-1][np.ix_(varying, varying)]
    size, direction = np.linalg.eigh(among)
    kept = size > COLLINEAR
    with_child = correlation[:-1, -1][varying]
    slopes[varying] = direction[:, kept] @ (direction[:, kept].T @ with_child / size[kept])
    if constant:
        warnings.warn(
            f"{child!r}: the parents {', '.join(map(repr, constant))} do not vary in these rows; "
            "their coefficients are set to 0",
            UnveilWarning,
            stacklevel=4,
        )
    if not kept.all():
        moving = [name for name, varies in zip(parents, varying, strict=True) if varies]
        involved = (np.abs(direction[:, ~kept]) > 1e-3).any(axis=1)
        names = [name for name, is_in in zip(moving, involved, strict=True) if is_in]
        warnings.warn(
            f"{child!r}: the parents {', '.join(map(repr, names))} are collinear, so their "
            "coefficients are not determined; the smallest were taken. Drop one of them, or give "
            "a prior_strength.",
            UnveilWarning,
            stacklevel=4,
        )
    return slopes


def _no_variance(child: str, parents: Sequence[Variable], weight: float, varies: bool) -> str:
    rows = f"rows of total weight {weight:.6g}"
    if not varies:
        return (
            f"{child!r} has the same value in all rows ({rows}), so its variance is 0 and it has "
            "no density. Leave the column out, or set min_variance."
        )
    names = ", ".join(repr(p.name) for p in parents)
    return (
        f"{child!r} is an exact linear function of its parents {names} ({rows}), so the variance "
        f"is 0 and it has no density. Are there more than {len(parents) + 1} different rows, and "
        "was the column computed from the others? Drop a parent, or set min_variance or "
        "prior_strength."
    )


# Shared with the conditional Gaussian ----------------------------------------------------------


def normal_log_density(deviation: Matrix, variance: npt.ArrayLike) -> Matrix:
    """The log of Normal(deviation; 0, variance); `-inf` for a deviation too large for a float."""
    spread = np.asarray(variance, dtype=np.float64)
    with np.errstate(over="ignore"):
        return -0.5 * (np.log(2 * np.pi * spread) + np.square(deviation / np.sqrt(spread)))


def family_name(variable: Variable, parents: Sequence[Variable]) -> str:
    """`P(x | u, v)`."""
    given = ", ".join(v.name for v in parents)
    return f"P({variable.name}" + (f" | {given})" if given else ")")


def linear_text(intercept: float, coefficients: Matrix, parents: Sequence[Variable]) -> str:
    """`1.5 + 2 a - 0.3 b`."""
    terms = (
        f"{'-' if c < 0 else '+'} {abs(c):.4g} {p.name}"
        for c, p in zip(coefficients, parents, strict=True)
    )
    return " ".join([f"{intercept:.4g}", *terms])


def refuse_discrete_child(variable: Variable) -> None:
    """An error when the child has states."""
    if variable.is_discrete:
        raise ModelError(
            f"{variable.name!r} is discrete; a Gaussian distribution needs a continuous variable. "
            "Use TableCPD, with discrete parents only (discretise continuous ones first)."
        )


def finite(values: npt.ArrayLike, shape: tuple[int, ...], what: str) -> Matrix:
    """The numbers, read-only, after checking that they are finite and have this shape."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} must be numbers in an array of shape {shape}") from None
    if array.shape != shape:
        raise ModelError(f"{what} must have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        odd = array[~np.isfinite(array)].flat[0]
        raise ModelError(f"{what} must be finite, got {odd}")
    array.flags.writeable = False
    return array


def positive(values: npt.ArrayLike, shape: tuple[int, ...], what: str) -> Matrix:
    """The numbers, read-only, after checking that they are finite and greater than zero."""
    array = finite(values, shape, what)
    if (array <= 0).any():
        raise ModelError(
            f"{what} must be greater than 0, got {array[array <= 0].flat[0]}. A variable that is "
            "an exact function of its parents has no density: give it a small variance, or leave "
            "it out."
        )
    return array


def numbers_in(fields: Mapping[str, Any], key: str, shape: tuple[int, ...], where: str) -> Matrix:
    """The JSON numbers under a key, as an array of this shape; or an error that says where."""
    if key not in fields:
        raise ModelError(f"{where} has no {key!r}")

    def check(value: Any, shape: tuple[int, ...], path: str) -> None:
        if not shape:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ModelError(f"{where}, {path}: expected a number, got {value!r}")
            return
        if not isinstance(value, list) or len(value) != shape[0]:
            came = f"{len(value)}" if isinstance(value, list) else type(value).__name__
            raise ModelError(f"{where}, {path}: expected a list of {shape[0]}, got {came}")
        for i, item in enumerate(value):
            check(item, shape[1:], f"{path}[{i}]")

    check(fields[key], shape, key)
    return finite(fields[key], shape, f"{where}, {key}").reshape(shape)
