"""Fitting curves to weighted rows, with exact gradients (thesis 7.5).

Additive and log-normal noise are least squares, fitted by Levenberg and Marquardt in a kernel;
multiplicative noise goes on from the log-normal fit by L-BFGS. Everything starts at the ideal
profile of the child (`unveil.kernels.curves.start_curve`) and is done in standard units, so units
do not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from unveil.errors import DataError
from unveil.kernels.curves import curve, fit_curve, fit_families
from unveil.model.curves import LINKS, Curve

__all__ = ["CurveRows", "Fitted", "Fitter", "multiplicative_loss"]

Matrix = npt.NDArray[np.float64]

MARGINS = np.array([0.1])
"""Where fits start: low and high lie this share of the child's range outside of it."""
LIMITS = np.array([20.0, 60.0, 40.0])
"""Bounds of (low and high, offsets, weights) in standard units: beyond them a curve is a straight
line, or a step, to many digits, and a likelihood that still grows does so by rounding."""
MAX_STEPS, TOLERANCE = 100, 1e-7
MOST_KEPT = 200_000
"""So many fits are remembered, each some 300 bytes."""
LEAST_VARIANCE = 1e-6
"""The least share of a child's variance that a curve may leave unexplained. Below it, rows that are
few or copied would make a density that no row left out can have."""


@dataclass(frozen=True, eq=False)
class CurveRows:
    """The rows that one family is fitted to: `values` of (parents ..., child), and their weights.

    `values` has shape (n_columns, n_rows).
    """

    values: Matrix
    weights: Matrix
    curve: Curve


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted curve in the units of the data, and its log-likelihood."""

    low: float
    high: float
    offsets: Matrix
    weights: Matrix
    variance: float
    log_likelihood: float


class Fitter:
    """Fits families over the same columns, shape (n_columns, n_rows), as often as asked.

    Columns are brought to standard units once. A child of positive noise keeps its zero.
    """

    def __init__(
        self, columns: Matrix, weights: Matrix, curve: Curve, names: Sequence[str] | None = None
    ) -> None:
        self.curve, self.weights = curve, np.ascontiguousarray(weights, np.float64)
        self.total = float(self.weights.sum())
        self._kept: dict[tuple[int, tuple[int, ...]], tuple[Matrix, float]] = {}
        self.mean = columns @ self.weights / self.total
        self.spread = np.sqrt(np.square(columns - self.mean[:, None]) @ self.weights / self.total)
        shown = names or [str(i + 1) for i in range(len(columns))]
        least = 4 * np.finfo(float).eps * np.abs(self.mean)
        for name, spread, low in zip(shown, self.spread, least, strict=True):
            if not spread > low:
                raise DataError(
                    f"column {name!r} has the same value in every row, so no curve can follow it. "
                    "Leave it out."
                )
        self.columns = np.ascontiguousarray((columns - self.mean[:, None]) / self.spread[:, None])
        self.raw = np.ascontiguousarray(columns, np.float64)
        if curve.positive:
            for name, column in zip(shown, columns, strict=True):
                if not (column > 0).all():
                    raise DataError(
                        f"column {name!r} has values that are not positive; {curve.noise} noise "
                        "needs positive columns. Take additive noise, or shift the column."
                    )

    def most_parents(self) -> int:
        """How many parents leave each parameter two rows."""
        p = 0
        while 2 * self.curve.n_parameters(p + 1) <= self.total:
            p += 1
        return p

    def standard(
        self, child: int, parents: Sequence[int]
    ) -> tuple[Matrix, float, float, Matrix, Matrix, float]:
        """In standard units: the child's column, low, high, offsets, weights and variance.

        Without parents, low and high are where a first fit would start, the offset is the mean
        ideal profile's and the variance that of the child.
        """
        x = self.raw[child] / self.mean[child] if self.curve.positive else self.columns[child]
        if not len(parents):
            ends = x.min(), x.max()
            low, high = (
                ends[0] - MARGINS[0] * (ends[1] - ends[0]),
                ends[1] + MARGINS[0] * (ends[1] - ends[0]),
            )
            if self.curve.positive:
                low, high = ends[0] / (1 + MARGINS[0]), ends[1] * (1 + MARGINS[0])
            none = np.zeros(0)
            found = self._without_parents(child)
            variance = found.variance if self.curve.positive else 1.0
            return x, float(low), float(high), none, none, variance
        p, left = self._fitted(child, tuple(parents))
        n_offsets = self.curve.n_offsets(len(parents))
        low, high = np.exp(p[:2]) if self.curve.positive else p[:2]
        weights = p[2 + n_offsets : 2 + n_offsets + len(parents)]
        variance = float(self._variance(np.array(left)))
        return x, float(low), float(high), p[2 : 2 + n_offsets], weights, variance

    def _fitted(self, child: int, parents: tuple[int, ...]) -> tuple[Matrix, float]:
        """The kernel's answer for one family, remembered from the last question."""
        key = (child, parents)
        if key not in self._kept:
            p, left = self._kernel(np.array([child], np.int64), [parents])
            self._keep([key], p, left)
        return self._kept[key]

    def _keep(self, keys: Sequence[tuple[int, tuple[int, ...]]], p: Matrix, left: Matrix) -> None:
        if len(self._kept) + len(keys) > MOST_KEPT:
            self._kept.clear()
        self._kept |= {key: (p[i], float(left[i])) for i, key in enumerate(keys)}

    def log_likelihoods(self, families: Sequence[tuple[int, Sequence[int]]]) -> Matrix:
        """The maximised log-likelihood of every family, all parents known to vary."""
        out = np.empty(len(families))
        bare = [i for i, (_, parents) in enumerate(families) if not len(parents)]
        for i in bare:
            out[i] = self._without_parents(families[i][0]).log_likelihood
        rest = [i for i, (_, parents) in enumerate(families) if len(parents)]
        if not rest:
            return out
        if self.curve.noise == "multiplicative":
            out[rest] = [self.fit(*families[i]).log_likelihood for i in rest]
            return out
        children = np.array([families[i][0] for i in rest], np.int64)
        p, left = self._kernel(children, [families[i][1] for i in rest])
        self._keep([(families[i][0], tuple(families[i][1])) for i in rest], p, left)
        out[rest] = self._likelihood(children, left)
        return out

    def fit(self, child: int, parents: Sequence[int]) -> Fitted:
        """One family's curve."""
        if not len(parents):
            return self._without_parents(child)
        children = np.array([child], np.int64)
        p, left = self._kernel(children, [parents])
        size = 2 + self.curve.n_offsets(len(parents)) + len(parents)
        own = p[0, :size]
        if self.curve.noise == "multiplicative":
            return self._multiplicative(child, parents, own)
        return self._in_units(
            child, parents, own, self._variance(left)[0], float(self._likelihood(children, left)[0])
        )

    def fit_from(
        self, child: int, parents: Sequence[int], low: float, high: float, offsets: Matrix,
        weights: Matrix,
    ) -> Fitted:  # fmt: skip
        """One family's curve, fitted on from parameters in the units of the data.

        For additive noise.
        """
        own, mean, spread = list(parents), self.mean[child], self.spread[child]
        scaled = weights * self.spread[own]
        shifts = weights * self.mean[own]
        moved = offsets + (shifts if self.curve.link == "reaction" else shifts.sum())
        p = np.concatenate([[(low - mean) / spread, (high - mean) / spread], moved, scaled])
        sizes = (2, len(offsets), len(own))
        limits = np.repeat(LIMITS, sizes)
        p = np.clip(p, -limits, limits)
        left = fit_curve(
            LINKS[self.curve.link], np.ascontiguousarray(self.columns[own]),
            np.ascontiguousarray(self.columns[child]), self.weights, False, p, limits, MAX_STEPS,
            TOLERANCE,
        )  # fmt: skip
        found = np.array([left])
        likelihood = float(self._likelihood(np.array([child]), found)[0])
        return self._in_units(child, parents, p, float(self._variance(found)[0]), likelihood)

    def _kernel(
        self, children: npt.NDArray[np.int64], parents: Sequence[Sequence[int]]
    ) -> tuple[Matrix, Matrix]:
        """Parameters in standard units and sums of squares left."""
        most = max(len(p) for p in parents)
        padded = np.full((len(children), most), -1, np.int64)
        for row, own in zip(padded, parents, strict=True):
            row[: len(own)] = own
        columns = self.columns
        if self.curve.positive:  # the child keeps its zero; a column is child or parent, not both
            return self._kernel_one_by_one(children, padded)
        p, left = np.zeros((len(children), 2 + 2 * most + 1)), np.zeros(len(children))
        kind = LINKS[self.curve.link]
        fit_families(
            kind, columns, self.weights, children, padded, MARGINS, False, LIMITS, MAX_STEPS,
            TOLERANCE, p, left,
        )  # fmt: skip
        return p, left

    def _kernel_one_by_one(
        self, children: npt.NDArray[np.int64], padded: npt.NDArray[np.int64]
    ) -> tuple[Matrix, Matrix]:
        p, left = np.zeros((len(children), 3 + 2 * padded.shape[1])), np.zeros(len(children))
        kind, columns = LINKS[self.curve.link], self.columns.copy()
        for i, child in enumerate(children):
            columns[child] = self.raw[child] / self.mean[child]
            fit_families(
                kind, columns, self.weights, children[i : i + 1], padded[i : i + 1], MARGINS, True,
                LIMITS, MAX_STEPS, TOLERANCE, p[i : i + 1], left[i : i + 1],
            )  # fmt: skip
            columns[child] = self.columns[child]
        return p, left

    def _variance(self, left: Matrix) -> Matrix:
        return np.maximum(left / self.total, LEAST_VARIANCE)

    def _likelihood(self, children: npt.NDArray[np.int64], left: Matrix) -> Matrix:
        """-W/2 (log(2 pi v) + left / (W v)), less the logs of the units."""
        variance = self._variance(left)
        own = -0.5 * (self.total * np.log(2 * np.pi * variance) + left / variance)
        if self.curve.noise == "log-normal":
            return np.asarray(own - np.log(self.raw[children]) @ self.weights)
        return np.asarray(own - self.total * np.log(self.spread[children]))

    def _without_parents(self, child: int) -> Fitted:
        none = np.zeros(0)
        x, weights, total = self.raw[child], self.weights, self.total
        if self.curve.noise == "log-normal":
            logs = np.log(x)
            middle = float(logs @ weights / total)
            left = float(np.square(logs - middle) @ weights)
            level = math.exp(middle)
            likelihood = self._likelihood(np.array([child]), np.array([left]))[0]
            variance = float(self._variance(np.array(left)))
            return Fitted(level, level, none, none, variance, float(likelihood))
        level, spread = float(self.mean[child]), float(self.spread[child])
        likelihood = -0.5 * total * (math.log(2 * math.pi * spread**2) + 1)
        # With one level for all rows, g cancels from the multiplicative likelihood.
        variance = (spread / level) ** 2 if self.curve.positive else spread**2
        return Fitted(level, level, none, none, variance, likelihood)

    def _in_units(
        self, child: int, parents: Sequence[int], p: Matrix, variance: float, likelihood: float
    ) -> Fitted:
        """Parameters of standard units in those of the data."""
        own = list(parents)
        n_offsets = self.curve.n_offsets(len(own))
        weights = p[2 + n_offsets :] / self.spread[own]
        shifts = weights * self.mean[own]
        offsets = p[2 : 2 + n_offsets] - (shifts if self.curve.link == "reaction" else shifts.sum())
        if self.curve.positive:
            low, high = (np.exp(p[:2]) * self.mean[child]).tolist()
        else:
            low, high = (p[:2] * self.spread[child] + self.mean[child]).tolist()
            variance *= float(self.spread[child]) ** 2
        return Fitted(low, high, offsets, weights, float(variance), likelihood)

    def _multiplicative(self, child: int, parents: Sequence[int], start: Matrix) -> Fitted:
        inputs = np.ascontiguousarray(self.columns[list(parents)])
        x = self.raw[child] / self.mean[child]
        n_offsets = self.curve.n_offsets(len(parents))
        limits = [LIMITS[0]] * 2 + [LIMITS[1]] * n_offsets + [LIMITS[2]] * len(parents)
        found = minimize(
            lambda p: multiplicative_loss(self.curve.link, inputs, x, self.weights, p),
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-limit, limit) for limit in limits],
            options={"maxiter": 300},
        )
        g, _ = _positive_curve(self.curve.link, inputs, found.x)
        share = float(np.square(x / g - 1.0) @ self.weights / self.total)
        variance = max(share, LEAST_VARIANCE)
        scale = math.log(self.mean[child]) * self.total
        likelihood = -0.5 * self.total * math.log(2 * math.pi * variance)
        likelihood -= 0.5 * share * self.total / variance + float(np.log(g) @ self.weights) + scale
        return self._in_units(child, parents, found.x, variance, likelihood)


def multiplicative_loss(
    link: str, inputs: Matrix, x: Matrix, weights: Matrix, p: Matrix
) -> tuple[float, Matrix]:
    """Minus the log-likelihood of X = g (1 + e), the variance at its best, and its gradient by p.

    With r = x / g - 1 and W the total weight (`002` Eq. 16, 8.3; constants left out):

        W / 2 log(sum w r^2 / W) + sum w log g.

    p's first two are the logs of low and high. `inputs` has shape (n_parents, n_rows).
    """
    g, jacobian = _positive_curve(link, inputs, p)
    r = x / g - 1.0
    total, squares = float(weights.sum()), float(weights @ np.square(r))
    value = 0.5 * total * math.log(squares / total) + float(weights @ np.log(g))
    by_g = weights / g - total / squares * weights * r * x / np.square(g)
    return value, by_g @ jacobian


def _positive_curve(link: str, inputs: Matrix, p: Matrix) -> tuple[Matrix, Matrix]:
    """g and its derivatives by p, the first two of which are logs."""
    own = p.copy()
    own[:2] = np.exp(p[:2])
    g, jacobian = np.empty(inputs.shape[1]), np.empty((inputs.shape[1], len(p)))
    curve(LINKS[link], inputs, own, g, jacobian)
    jacobian[:, :2] *= own[:2]
    return g, jacobian
