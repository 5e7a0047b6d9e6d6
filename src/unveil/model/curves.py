"""Curves that a child's mean may follow, and the noise around them, as records and plain functions.

A family is X = g(u) with noise, g(u) = low + (high - low) f(u) with a response f between 0 and 1
(`unveil.kernels.curves`). The thesis writes Eq. 7.3 with theta_0 = low, theta_1 = high - low and no
offset; the offset is there so that no unit of the parents is special.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError, did_you_mean
from unveil.kernels.curves import HYPERBOLIC, REACTION, SIGMOID

__all__ = ["FAMILIES", "LINKS", "NOISES", "Curve", "curve_named", "response"]

Matrix = npt.NDArray[np.float64]

LINKS: dict[str, int] = {"sigmoid": SIGMOID, "hyperbolic": HYPERBOLIC, "reaction": REACTION}
"""The shapes of the mean, by name, as the kernels number them."""

NOISES = ("additive", "multiplicative", "log-normal")
"""How the child scatters around its mean (`002` Section 8).

- `additive`: X = g + e
- `multiplicative`: X = g (1 + e), with g > 0 (Eq. 16)
- `log-normal`: log X = log g + e, with g > 0 and X > 0

e is Normal(0, variance) throughout.
"""


@dataclass(frozen=True)
class Curve:
    """What a non-linear family looks like: the shape of its mean and its noise.

    >>> Curve("sigmoid").n_parameters(2)
    6
    """

    link: str = "sigmoid"
    noise: str = "additive"

    def __post_init__(self) -> None:
        for what, word, known in (("link", self.link, LINKS), ("noise", self.noise, NOISES)):
            if word not in known:
                raise ModelError(
                    f"there is no {what} {word!r}; choose one of {', '.join(known)}."
                    + did_you_mean(word, known)
                )

    @property
    def positive(self) -> bool:
        """Whether the mean must be positive."""
        return self.noise != "additive"

    def n_offsets(self, n_parents: int) -> int:
        """How many offsets there are: one for every factor of a reaction, one for a sum."""
        return n_parents if self.link == "reaction" else min(n_parents, 1)

    def n_parameters(self, n_parents: int) -> int:
        """Free parameters: low, high, offsets, weights and variance; without parents, two."""
        if not n_parents:
            return 2
        return 3 + self.n_offsets(n_parents) + n_parents


FAMILIES: dict[str, Curve | None] = {
    "linear": None,
    "sigmoid": Curve("sigmoid"),
    "hyperbolic": Curve("hyperbolic"),
    "reaction": Curve("reaction"),
    "sigmoid-multiplicative": Curve("sigmoid", "multiplicative"),
    "sigmoid-log-normal": Curve("sigmoid", "log-normal"),
    "hyperbolic-multiplicative": Curve("hyperbolic", "multiplicative"),
    "hyperbolic-log-normal": Curve("hyperbolic", "log-normal"),
    "reaction-multiplicative": Curve("reaction", "multiplicative"),
    "reaction-log-normal": Curve("reaction", "log-normal"),
}
"""The families that continuous tables can be learned with, by name; `None` is linear Gaussian."""


def curve_named(family: str | Curve | None) -> Curve | None:
    """The curve behind a name of `FAMILIES`; a curve is itself, nothing is linear.

    >>> curve_named("sigmoid-log-normal")
    Curve(link='sigmoid', noise='log-normal')
    """
    if isinstance(family, Curve) or family is None:
        return family
    if family not in FAMILIES:
        raise ModelError(
            f"there is no family {family!r}; choose one of {', '.join(FAMILIES)}."
            + did_you_mean(family, FAMILIES)
        )
    return FAMILIES[family]


def response(link: str, inputs: Matrix, offsets: Matrix, weights: Matrix) -> tuple[Matrix, Matrix]:
    """f(u), shape (n_rows,), and its derivatives by every parent's input, (n_parents, n_rows).

    `inputs` has shape (n_parents, n_rows). A parent's input is its weight times its value.
    """
    k, n = inputs.shape
    if link == "reaction":
        factors, _ = squash("sigmoid", offsets[:, None] + weights[:, None] * inputs)
        whole = factors.prod(axis=0)
        return whole, whole * (1.0 - factors)
    total = np.full(n, offsets[0])
    for weight, column in zip(weights, inputs, strict=True):  # row by row the same, whatever BLAS
        total += weight * column
    f, steep = squash(link, total)
    return f, np.broadcast_to(steep, (k, n))


def squash(link: str, s: Matrix) -> tuple[Matrix, Matrix]:
    """The response to a sum (or to one factor's exponent), and its derivative."""
    if link == "hyperbolic":
        size = 1.0 + np.abs(s)
        return 0.5 * (1.0 + s / size), 0.5 / np.square(size)
    e = np.exp(-np.abs(s))
    f = np.where(s >= 0, 1.0, e) / (1.0 + e)
    return f, f * (1.0 - f)


def unsquash(link: str, f: Matrix) -> Matrix:
    """The sum whose response is f, 0 < f < 1."""
    if link == "hyperbolic":
        t = 2.0 * f - 1.0
        return np.asarray(t / (1.0 - np.abs(t)))
    return np.asarray(np.log(f) - np.log1p(-f))


def noisy(noise: str, g: Matrix, e: Matrix) -> Matrix:
    """Values whose mean curve is `g`, with the noise `e` (`002` Section 8)."""
    if noise == "additive":
        return np.asarray(g + e)
    return np.asarray(g * (1.0 + e) if noise == "multiplicative" else g * np.exp(e))


def noisy_moments(noise: str, g: Matrix, variance: float) -> tuple[Matrix, Matrix]:
    """Mean and variance of such values, `variance` being that of the noise."""
    if noise == "additive":
        return g, np.full(g.shape, variance)
    if noise == "multiplicative":
        return g, np.square(g) * variance
    mean = np.asarray(g * np.exp(variance / 2))
    return mean, np.square(mean) * np.expm1(variance)


def log_density(noise: str, child: Matrix, g: Matrix, variance: float) -> Matrix:
    """log q(x : g, variance) of every row (`002` Section 8); -inf for x <= 0 if log-normal."""
    spread: Any = np.sqrt(variance)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if noise == "additive":
            e, scale = (child - g) / spread, spread
        elif noise == "multiplicative":
            e, scale = (child / g - 1.0) / spread, spread * g
        else:
            inside = child > 0
            e = np.where(inside, np.log(np.where(inside, child, 1.0) / g) / spread, np.inf)
            scale = spread * np.where(inside, child, 1.0)
        return np.asarray(-0.5 * np.square(e) - np.log(scale) - 0.5 * np.log(2 * np.pi))
