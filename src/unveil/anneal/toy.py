"""The toy problem of thesis 3.4: a bump of score around every sample, so many local maxima.

Small enough to see what reweighting does: which maxima vanish, and where a climb then ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.progress import Ticker

__all__ = ["Bumps"]

Vector = npt.NDArray[np.float64]


class Bumps:
    """Score(theta) = sum of w_i exp(-(x_i - theta)^2 / (2 v_i)), climbed by its gradient.

    Eq. 3.6 has variances v of one, Eq. 3.7 those of the samples' own size.

    >>> bumps = Bumps([1.0, 5.0], [0.8, 0.2])
    >>> [round(x, 2) for x in bumps.maxima()]
    [1.0, 4.99]
    """

    def __init__(
        self, x: Sequence[float], weights: Sequence[float], variances: Sequence[float] | None = None
    ) -> None:
        self.x = np.asarray(x, np.float64)
        self.weights = np.asarray(weights, np.float64)
        self.variances = np.ones(len(self.x)) if variances is None else np.asarray(variances)

    def score(self, hypothesis: float, weights: Vector | None = None) -> float:
        """The score of theta under weights, the samples' own if not given."""
        return float(self._own(weights) @ self.slopes(hypothesis))

    def slopes(self, hypothesis: float, weights: Vector | None = None) -> Vector:
        """The score of every sample: the score is additive."""
        return np.asarray(np.exp(-((self.x - hypothesis) ** 2) / (2 * self.variances)))

    def climb(self, hypothesis: float, weights: Vector | None = None) -> float:
        """Where gradient ascent ends: small steps, which shrink whenever one would overshoot."""
        theta, step = float(hypothesis), 0.02
        while step > 1e-9:
            uphill = self._derivative(theta, weights)
            there = theta + (step if uphill > 0 else -step)
            if uphill == 0 or self._derivative(there, weights) * uphill < 0:
                step /= 2
            else:
                theta = there
        return theta

    def maxima(self, weights: Vector | None = None) -> list[float]:
        """All local maxima, from the left."""
        grid = np.linspace(self.x.min() - 1, self.x.max() + 1, 4001)
        slope = np.array([self._derivative(theta, weights) for theta in grid])
        tops = np.flatnonzero((slope[:-1] > 0) & (slope[1:] <= 0))
        return [self.climb(float(grid[i]), weights) for i in tops]

    def optimise(self, hypothesis: float, weights: Vector, ticker: Ticker) -> float:
        """A climb under these weights."""
        return self.climb(hypothesis, weights)

    def finish(self, hypothesis: float, ticker: Ticker) -> float:
        """A climb under the samples' own."""
        return self.climb(hypothesis)

    def _own(self, weights: Vector | None) -> Vector:
        return self.weights if weights is None else np.asarray(weights)

    def _derivative(self, theta: float, weights: Vector | None) -> float:
        pull = (self.x - theta) / self.variances
        return float(self._own(weights) @ (pull * self.slopes(theta)))
