"""Adversarial reweighting (thesis 3.3.2): rows that the present hypothesis likes count less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.anneal.weights import normalised, spread
from unveil.errors import DataError

__all__ = ["Adversary"]

Vector = npt.NDArray[np.float64]

UNDERFLOW = 700.0
"""exp(-700) is nearly the smallest number."""
STEEPEST = 5.0
"""Slopes count as no further from their mean than so many spreads, where eta is taken from them.

Those of Bayesian scores grow without bound as a weight goes to zero, and would throw it back and
forth for ever."""


@dataclass(frozen=True)
class Adversary:
    """Weights that lower the score of the present hypothesis, held to the rows' own as it cools.

    The exponentiated-gradient step of Eq. 3.5, with beta and gamma over the temperature T:

        w' ~ w0^(beta / (beta + gamma)) w^(gamma / (beta + gamma)) exp(-T eta slope / (beta + gamma))

    `beta` ties the weights to the rows' own, `gamma` to those before. `eta` is the learning rate;
    `None` takes one over the spread (standard deviation) of the first hypothesis' slopes, so that
    a temperature means the same for any score, in whatever unit, and about the same as for
    `Random`. The thesis has beta = gamma and eta = 1.

    `noise` puts chance into it, which 3.8 wishes for: normal draws, of that many spreads of the
    slopes, are added to the slopes (a row that stands for k cases gets the mean of k draws).

    >>> own, slope = np.ones(2), np.array([0.0, np.log(4.0)])
    >>> step = Adversary(eta=1.0)
    >>> ratio = step.ratio(own, 0 * own, lambda: slope, 0.5, np.random.default_rng())
    >>> (own * np.exp(ratio)).round(3).tolist()
    [1.333, 0.667]
    """  # noqa: E501

    name: ClassVar[str] = "adversary"
    beta: float = 0.5
    gamma: float = 0.5
    eta: float | None = None
    noise: float = 0.0
    steepest: float = float("inf")

    def __post_init__(self) -> None:
        if not (self.beta > 0 and self.gamma >= 0 and self.noise >= 0 and self.steepest > 0):
            raise DataError(
                "the adversary needs beta > 0, gamma >= 0, noise >= 0 and steepest > 0, got "
                f"{self.beta}, {self.gamma}, {self.noise} and {self.steepest}"
            )
        if self.eta is not None and not self.eta > 0:
            raise DataError(f"the adversary's learning rate eta must be positive, got {self.eta}")

    def first(self, own: Vector, slopes: Callable[[], Vector]) -> Adversary:
        """The same with a learning rate."""
        if self.eta is not None:
            return self
        found = slopes()
        width = spread(found, np.where(np.isfinite(found), own, 0.0))
        eta = 1.0 / width if width > 0 else 1.0
        return replace(self, eta=eta, steepest=min(self.steepest, STEEPEST / eta))

    def ratio(
        self,
        own: Vector,
        before: Vector,
        slopes: Callable[[], Vector],
        temperature: float,
        generator: np.random.Generator,
    ) -> Vector:
        """log(w' / w0): half the one before (if beta = gamma) less the slope at this temperature.

        Dividing Eq. 3.5 by w0 = w0^(beta / (beta + gamma)) w0^(gamma / (beta + gamma)) leaves the
        ratio of the weights before, so that only ratios have to be kept.
        """
        if temperature <= 0:
            return np.zeros(len(own))
        eta = 1.0 if self.eta is None else self.eta
        both = self.beta + self.gamma
        steep = _centred(slopes(), own, min(self.steepest, UNDERFLOW / eta))
        if self.noise:
            cases = np.where(own > 0, own, 1.0)
            steep = steep + (self.noise / eta) * generator.normal(size=len(own)) / np.sqrt(cases)
        step = (temperature * eta / both) * steep
        return normalised(own, (self.gamma / both) * before - step)


def _centred(slopes: Vector, own: Vector, most: float) -> Vector:
    """Slopes less their mean, which the scaling of weights takes out anyhow, as finite numbers."""
    finite = np.isfinite(slopes) & (own > 0)
    if not finite.any():
        return np.zeros(len(own))
    mean = float(own[finite] @ slopes[finite]) / float(own[finite].sum())
    inside = np.where(own > 0, slopes - mean, 0.0)
    return np.clip(np.nan_to_num(inside, nan=0.0), -most, most)
