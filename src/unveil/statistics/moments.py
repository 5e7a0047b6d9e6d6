"""GaussianMoments of continuous columns: what a Gaussian family needs to know of weighted rows.

They add up, so that rows, batches of rows, imagined rows of a prior and the expectations of an EM
step are all the same to whoever fits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["ConditionalMoments", "GaussianMoments"]

Matrix = npt.NDArray[np.float64]

BLOCK = 1 << 13
"""Rows are read once, in blocks of this many that stay in the cache while they are centred."""


@dataclass(frozen=True, eq=False)
class GaussianMoments:
    """Weight, mean and scatter of weighted rows; two of them add up.

    `weight` is the sum of row weights, `mean` the weighted mean, shape (n_columns,), `scatter` the
    weighted sum of outer products of deviations from that mean, shape (n_columns, n_columns).
    """

    weight: float
    mean: Matrix
    scatter: Matrix

    @classmethod
    def of_rows(cls, values: Matrix, weights: Matrix) -> GaussianMoments:
        """The moments of rows of shape (n_rows, n_columns).

        Each block of rows is centred on its own mean, so columns far from zero keep their digits.
        """
        found = cls.nothing(values.shape[1])
        for start in range(0, len(values), BLOCK):
            found = found + _of_block(values[start : start + BLOCK], weights[start : start + BLOCK])
        return found

    @classmethod
    def nothing(cls, n_columns: int) -> GaussianMoments:
        """The moments of no rows."""
        return cls(0.0, np.zeros(n_columns), np.zeros((n_columns, n_columns)))

    def __add__(self, other: GaussianMoments) -> GaussianMoments:
        if self.weight == 0 or other.weight == 0:
            return other if self.weight == 0 else self
        weight = self.weight + other.weight
        share = other.weight / weight
        step = other.mean - self.mean
        between = np.outer(step, step) * self.weight * share
        return GaussianMoments(
            weight, self.mean + share * step, self.scatter + other.scatter + between
        )

    def of_columns(self, positions: Sequence[int]) -> GaussianMoments:
        """The moments of some of the columns."""
        chosen = np.asarray(positions, dtype=np.intp)
        return GaussianMoments(self.weight, self.mean[chosen], self.scatter[np.ix_(chosen, chosen)])

    def independent(self, strength: float) -> GaussianMoments:
        """`strength` imagined rows with these means and variances, the columns independent."""
        variances = np.diag(self.scatter) / self.weight
        return GaussianMoments(strength, self.mean, strength * np.diag(variances))


@dataclass(frozen=True, eq=False)
class ConditionalMoments:
    """GaussianMoments for every configuration of some discrete variables.

    `weights` has one axis per discrete variable, `means` one more for the columns, `scatters` two
    more. Configurations that no row shows have weight 0. With no discrete variables there is one
    configuration, `at(())`.
    """

    weights: Matrix
    means: Matrix
    scatters: Matrix

    @classmethod
    def of_rows(
        cls,
        values: Matrix,
        weights: Matrix,
        configuration: npt.NDArray[np.int64],
        shape: Sequence[int],
    ) -> ConditionalMoments:
        """Those of rows of shape (n_rows, n_columns), given the configuration of every row."""
        if not shape:
            whole = GaussianMoments.of_rows(values, weights)
            return cls(np.array(whole.weight), whole.mean, whole.scatter)
        n, k = math.prod(shape), values.shape[1]
        masses = np.bincount(configuration, weights, n).astype(np.float64)
        divisor = np.where(masses > 0, masses, 1.0)
        means, scatters = np.zeros((n, k)), np.zeros((n, k, k))
        for i in range(k):
            # A shift near the values first, so that columns far from zero keep their digits.
            shift = float(values[0, i]) if len(values) else 0.0
            sums = np.bincount(configuration, weights * (values[:, i] - shift), n)
            means[:, i] = np.where(masses > 0, shift + sums / divisor, 0.0)
        deviations = values - means[configuration]
        for i in range(k):
            for j in range(i + 1):
                products = weights * deviations[:, i] * deviations[:, j]
                scatters[:, i, j] = scatters[:, j, i] = np.bincount(configuration, products, n)
        where = tuple(shape)
        return cls(masses.reshape(where), means.reshape(*where, k), scatters.reshape(*where, k, k))

    def at(self, states: Sequence[int]) -> GaussianMoments:
        """The moments of one configuration."""
        where = tuple(states)
        return GaussianMoments(float(self.weights[where]), self.means[where], self.scatters[where])

    def pooled(self) -> GaussianMoments:
        """The moments of all configurations together."""
        total = GaussianMoments.nothing(self.means.shape[-1])
        for states in np.ndindex(self.weights.shape):
            total = total + self.at(states)
        return total

    def __add__(self, other: ConditionalMoments) -> ConditionalMoments:
        shape = self.weights.shape
        sums = [self.at(states) + other.at(states) for states in np.ndindex(shape)]
        return ConditionalMoments(
            np.array([m.weight for m in sums]).reshape(shape),
            np.array([m.mean for m in sums]).reshape(self.means.shape),
            np.array([m.scatter for m in sums]).reshape(self.scatters.shape),
        )


def _of_block(values: Matrix, weights: Matrix) -> GaussianMoments:
    weight = float(weights.sum())
    if weight <= 0:
        return GaussianMoments.nothing(values.shape[1])
    mean = weights @ values / weight
    deviations = values - mean
    return GaussianMoments(weight, mean, (deviations * weights[:, None]).T @ deviations)
