"""Ideal parents: where a further parent would have to be for the child to be predicted exactly.

For additive noise y[m] solves x[m] = g(u[m], y[m]) (thesis Eq. 7.5; Eq. 7.9 to replace a parent);
for other noise it is where the likelihood of the row is largest (`002` Definition 8.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.ideal.similarity import explained
from unveil.model.curves import Curve, log_density, squash, unsquash

__all__ = ["Profile", "curve_profile", "linear_profile"]

Matrix = npt.NDArray[np.float64]

EDGE = 0.02
"""A child outside of what the curve can reach is taken as this share of its range inside: "the
point in g's image closest to x" (7.1.1) would have its parent at infinity."""


@dataclass(frozen=True, eq=False)
class Profile:
    """An ideal parent and the geometry in which others are compared with it.

    - `y`: its value in every row
    - `metric`: the diagonal of K (Theorem 7.5.1; `002` Theorem 8.2), row weights included
    - `given`: vectors that are fitted along (the offset, and the present parents if wished)
    - `constant`: log P(x | u, y) - K(y, y) / 2 - log P(x | u), which no candidate changes
    - `rest`: with additive noise, (k1, k2) of Theorem 7.5.1 and the total weight
    """

    y: Matrix
    metric: Matrix
    given: Matrix
    constant: float
    rest: tuple[float, float, float] | None

    def c1(self, candidates: Matrix, squares: Matrix | None = None) -> Matrix:
        """The approximate gain of every candidate, its weight fitted (Eq. 7.13; `002` Eq. 19)."""
        return self.constant + 0.5 * explained(self.y, candidates, self.metric, self.given, squares)

    def c2(self, candidates: Matrix, squares: Matrix | None = None) -> Matrix:
        """The same with the variance fitted, too (Eq. 7.14); C1 where noise is not additive."""
        if self.rest is None:
            return self.c1(candidates, squares)
        k1, k2, total = self.rest
        taken = explained(self.y, candidates, self.metric, self.given, squares)
        scale = k1 / max(float(self.metric @ np.square(self.y)), np.finfo(float).tiny)
        left = np.maximum(k1 - scale * taken, 1e-12 * max(k1, k2))
        return np.asarray(0.5 * total * (math.log(k2) - np.log(left)))


def linear_profile(
    x: Matrix, mean: Matrix, variance: float, weights: Matrix, given: Matrix | None = None
) -> Profile:
    """The ideal parent of a linear Gaussian child: its residual x - mean (Eq. 7.6).

    To replace a parent, leave its part out of `mean` (Eq. 7.9).
    """
    y = x - mean
    squares = float(weights @ np.square(y))
    own = np.ones((1, len(x))) if given is None else given
    return Profile(y, weights / variance, own, 0.0, (squares, squares, float(weights.sum())))


def curve_profile(
    curve: Curve,
    x: Matrix,
    low: float,
    high: float,
    present: Matrix,
    variance: float,
    weights: Matrix,
    given: Matrix,
    tangent: bool = False,
) -> Profile:
    """The ideal parent of a child that follows a curve.

    `present` is what the parents bring: the sum of their inputs and the offset or, for a reaction,
    the product of their factors. `given` are the vectors fitted along. With `tangent`, the curve is
    replaced by its tangent where the child is predicted now, not where the ideal parent would take
    it: rows that lie beyond the curve's ends then still count.
    """
    span = high - low
    reached = _best_mean(curve, x, variance)
    f = np.clip((reached - low) / span, EDGE, 1.0 - EDGE)
    if curve.link == "reaction":
        before = low + span * present
        y = unsquash("sigmoid", np.clip(f / present, EDGE, 1.0 - EDGE))
        one, steep = squash("sigmoid", y)
        g, slope = low + span * present * one, span * present * steep
    else:
        now, steep_now = squash(curve.link, present)
        before = low + span * now
        y = unsquash(curve.link, f) - present
        one, steep = squash(curve.link, y + present)
        g, slope = low + span * one, span * steep
        if tangent and curve.noise == "additive":
            slope = span * np.maximum(steep_now, 1e-3)
            y = (x - before) / slope
            squares = float(weights @ np.square(x - before))
            total = float(weights.sum())
            return Profile(
                y, weights * np.square(slope) / variance, given, 0.0, (squares, squares, total)
            )
    metric = weights * np.square(slope) * _sensitivity(curve, x, g, variance)
    if curve.noise == "additive":
        k1, k2 = weights @ np.square(y * slope), weights @ np.square(x - before)
        constant = -0.5 / variance * float(k1 - k2)  # Eq. 7.13
        return Profile(y, metric, given, constant, (float(k1), float(k2), float(weights.sum())))
    ideal = weights @ log_density(curve.noise, x, g, variance)
    current = weights @ log_density(curve.noise, x, before, variance)
    constant = float(ideal - 0.5 * (metric @ np.square(y)) - current)
    return Profile(y, metric, given, constant, None)


def _best_mean(curve: Curve, x: Matrix, variance: float) -> Matrix:
    """The mean under which each row is most likely: x itself but for multiplicative noise."""
    if curve.noise != "multiplicative":
        return x
    return x * (math.sqrt(1 + 4 * variance) - 1) / (2 * variance)  # `002` Eq. 22


def _sensitivity(curve: Curve, x: Matrix, g: Matrix, variance: float) -> Matrix:
    """-1/q d^2 q / d g^2 at the best mean: how sharply the likelihood of a row falls off."""
    if curve.noise == "additive":
        return np.full(len(x), 1.0 / variance)
    if curve.noise == "log-normal":
        return 1.0 / (variance * np.square(g))
    ratio = 2 * variance / (math.sqrt(1 + 4 * variance) - 1)  # x / g there
    return (1 + ratio**2 / variance) / np.square(g)
