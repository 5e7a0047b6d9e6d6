"""`NonlinearCPD`: a continuous variable whose mean is a bounded curve of its parents (thesis 7.5).

Sigmoid (Eq. 7.3), hyperbolic and reaction curves (7.7), with additive, multiplicative or log-normal
noise (`002` Section 8).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.model.curve_fit import CurveRows, Fitter
from unveil.model.curves import Curve, log_density, noisy, response
from unveil.model.gaussian_cpd import (
    family_name,
    finite,
    linear_text,
    numbers_in,
    positive,
    refuse_discrete_child,
)
from unveil.statistics.protocol import Need
from unveil.table.core import Column
from unveil.table.variable import Variable

__all__ = ["NonlinearCPD"]

Matrix = npt.NDArray[np.float64]


class NonlinearCPD:
    """X = low + (high - low) f(u) with noise, all parents continuous.

    `curve` names the response f and the noise. `offsets` and `weights` are inside of f: for a
    sigmoid, f = 1 / (1 + exp(-(offset + weights . u))) (Eq. 7.3). Without parents the mean is
    `low`, which then equals `high`. `variance` is that of the noise e, see
    `unveil.model.curves.NOISES`.

    >>> cpd = NonlinearCPD(Variable("x"), [Variable("u")], Curve(), -1, 1, [0], [4], 0.25)
    >>> cpd.n_parameters
    5
    >>> print(cpd.describe())
    P(x | u) = Normal(-1 + 2 sigmoid(0 + 4 u), variance 0.25)
    """

    kind: ClassVar[str] = "nonlinear"
    needs: ClassVar[Need] = Need.ROWS
    __slots__ = ("curve", "high", "low", "offsets", "parents", "variable", "variance", "weights")

    variable: Variable
    parents: tuple[Variable, ...]

    def __init__(
        self,
        variable: Variable,
        parents: Sequence[Variable],
        curve: Curve,
        low: float,
        high: float,
        offsets: npt.ArrayLike,
        weights: npt.ArrayLike,
        variance: float,
    ) -> None:
        self.variable, self.parents, self.curve = variable, tuple(parents), curve
        refuse_discrete_child(variable)
        name = self._name
        for parent in self.parents:
            if parent.is_discrete:
                raise ModelError(
                    f"{name}: the parent {parent.name!r} is discrete; a {curve.link} curve needs "
                    "continuous parents"
                )
        check = positive if curve.positive else finite
        self.low, self.high = (
            float(check(end, (), f"{name}: {what}")) for what, end in (("low", low), ("high", high))
        )
        k = len(self.parents)
        self.offsets = finite(offsets, (curve.n_offsets(k),), f"{name}: the offsets")
        self.weights = finite(weights, (k,), f"{name}: the weights")
        self.variance = float(positive(variance, (), f"{name}: the variance"))

    @classmethod
    def estimate(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        statistics: CurveRows,
        prior: object = None,
    ) -> Self:
        """The maximum likelihood estimate from the rows of (parents ..., child).

        Priors say nothing about curves.
        """
        names = [v.name for v in (*parents, variable)]
        fitter = Fitter(statistics.values, statistics.weights, statistics.curve, names)
        found = fitter.fit(len(parents), range(len(parents)))
        return cls(
            variable, parents, statistics.curve, found.low, found.high, found.offsets,
            found.weights, found.variance,
        )  # fmt: skip

    @property
    def n_parameters(self) -> int:
        """low, high, offsets, weights and variance; without parents, level and variance."""
        return self.curve.n_parameters(len(self.parents))

    def means(self, parents: Sequence[Column], n_rows: int) -> Matrix:
        """g(u) in every row, shape (n_rows,)."""
        if not self.parents:
            return np.full(n_rows, self.low)
        inputs = np.array([np.asarray(p, np.float64) for p in parents]).reshape(
            len(self.parents), n_rows
        )
        f, _ = response(self.curve.link, inputs, self.offsets, self.weights)
        return self.low + (self.high - self.low) * f

    def add_log_probability(self, total: Matrix, parents: Sequence[Column], child: Column) -> None:
        """Add the log-density of every row to `total`, in place."""
        g = self.means(parents, total.size)
        total += log_density(self.curve.noise, np.asarray(child, np.float64), g, self.variance)

    def sample(
        self, parents: Sequence[Column], n_rows: int, generator: np.random.Generator
    ) -> Column:
        """A column of values, drawn row by row given the parents' columns."""
        e = math.sqrt(self.variance) * generator.standard_normal(n_rows)
        return noisy(self.curve.noise, self.means(parents, n_rows), e)

    def with_variables(self, variable: Variable, parents: Sequence[Variable]) -> Self:
        """The same numbers for renamed or re-marked variables."""
        return type(self)(
            variable, parents, self.curve, self.low, self.high, self.offsets, self.weights,
            self.variance,
        )  # fmt: skip

    def describe(self) -> str:
        """The distribution as a formula."""
        words = {"additive": "Normal({}, variance {})",
                 "multiplicative": "({}) (1 + e), e of variance {}",
                 "log-normal": "({}) exp(e), e of variance {}"}  # fmt: skip
        mean = self._mean_text()
        return f"{self._name} = {words[self.curve.noise].format(mean, f'{self.variance:.4g}')}"

    def _mean_text(self) -> str:
        if not self.parents:
            return f"{self.low:.4g}"
        span = self.high - self.low
        if self.curve.link == "reaction":
            parts = [
                f"sigmoid({linear_text(o, self.weights[i : i + 1], self.parents[i : i + 1])})"
                for i, o in enumerate(self.offsets)
            ]
            return f"{self.low:.4g} {'-' if span < 0 else '+'} {abs(span):.4g} " + " ".join(parts)
        inner = linear_text(float(self.offsets[0]), self.weights, self.parents)
        sign = "-" if span < 0 else "+"
        return f"{self.low:.4g} {sign} {abs(span):.4g} {self.curve.link}({inner})"

    def to_dict(self) -> dict[str, Any]:
        """Link, noise, low, high, offsets, weights in the order of the parents, and variance."""
        return {
            "link": self.curve.link,
            "noise": self.curve.noise,
            "low": self.low,
            "high": self.high,
            "offsets": self.offsets.tolist(),
            "weights": self.weights.tolist(),
            "variance": self.variance,
        }

    @classmethod
    def from_dict(
        cls, variable: Variable, parents: Sequence[Variable], fields: Mapping[str, Any]
    ) -> Self:
        """The inverse of `to_dict`; checks everything."""
        where = family_name(variable, parents)
        for key in ("link", "noise"):
            if not isinstance(fields.get(key), str):
                raise ModelError(f"{where}, {key}: expected a text, got {fields.get(key)!r}")
        curve, k = Curve(fields["link"], fields["noise"]), len(parents)
        low, high, variance = (
            float(numbers_in(fields, key, (), where)) for key in ("low", "high", "variance")
        )
        offsets = numbers_in(fields, "offsets", (curve.n_offsets(k),), where)
        weights = numbers_in(fields, "weights", (k,), where)
        return cls(variable, parents, curve, low, high, offsets, weights, variance)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NonlinearCPD):
            return NotImplemented
        same = self.variable == other.variable and self.parents == other.parents
        return same and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"NonlinearCPD({self.describe()})"

    @property
    def _name(self) -> str:
        return family_name(self.variable, self.parents)
