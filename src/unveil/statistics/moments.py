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

BLOCK = 1 << 20
"""Rows are read once, in blocks of about this many numbers, which are centred and multiplied."""


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
        """The moments of rows of shape (n_rows, n_columns); see `in_blocks`."""
        return cls.in_blocks(list(values.T), weights)

    @classmethod
    def in_blocks(cls, columns: Sequence[Matrix], weights: Matrix) -> GaussianMoments:
        """The moments of columns of one length, read once, block by block.

        Numbers are taken from the first row of their column, and each block of them is centred on
        its own mean, so columns far from zero keep their digits.
        """
        found = cls.nothing(len(columns))
        origin = np.array([c[0] if len(c) else 0.0 for c in columns], np.float64)
        size = max(512, BLOCK // max(1, len(columns)))
        for start in range(0, len(weights), size):
            rows = slice(start, start + size)
            block = np.array([c[rows] for c in columns]).reshape(len(columns), -1)
            found = found + _of_block(block, origin, weights[rows])
        return cls(found.weight, found.mean + origin, found.scatter)

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
        masses, means, scatters = np.zeros(n), np.zeros((n, k)), np.zeros((n, k, k))
        # Rows of one configuration side by side: each run is then a small table of its own.
        order = np.argsort(configuration, kind="stable")
        sorted_by = configuration[order]
        ends = np.flatnonzero(np.diff(sorted_by, append=-1)) + 1
        values, weights = values[order], weights[order]
        for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            here = int(sorted_by[start])
            found = GaussianMoments.of_rows(values[start:end], weights[start:end])
            masses[here], means[here], scatters[here] = found.weight, found.mean, found.scatter
        where = tuple(shape)
        return cls(masses.reshape(where), means.reshape(*where, k), scatters.reshape(*where, k, k))

    def at(self, states: Sequence[int]) -> GaussianMoments:
        """The moments of one configuration."""
        where = tuple(states)
        return GaussianMoments(float(self.weights[where]), self.means[where], self.scatters[where])

    def of_columns(self, positions: Sequence[int]) -> ConditionalMoments:
        """The moments of some of the columns."""
        chosen = np.asarray(positions, dtype=np.intp)
        rows, columns = np.ix_(chosen, chosen)
        return ConditionalMoments(
            self.weights, self.means[..., chosen], self.scatters[..., rows, columns]
        )

    def pooled(self) -> GaussianMoments:
        """The moments of all configurations together."""
        total = GaussianMoments.nothing(self.means.shape[-1])
        for states in np.ndindex(self.weights.shape):
            total = total + self.at(states)
        return total

    def borrowing(self, rows: float) -> ConditionalMoments:
        """Every configuration with so many imagined rows of what all configurations have in common.

        They are at the configuration's own mean and vary about it as rows do within configurations,
        so that one that a row or two show has lines and variances like the others, and one that
        many show keeps its own. Where no row is, the mean is that of all rows.
        """
        by = tuple(range(self.weights.ndim))
        total = float(self.weights.sum())
        within = self.scatters.sum(axis=by) / total
        mean = np.tensordot(self.weights, self.means, axes=(by, by)) / total
        seen = self.weights[..., None] > 0
        return ConditionalMoments(
            self.weights + rows, np.where(seen, self.means, mean), self.scatters + rows * within
        )

    def __add__(self, other: ConditionalMoments) -> ConditionalMoments:
        shape = self.weights.shape
        sums = [self.at(states) + other.at(states) for states in np.ndindex(shape)]
        return ConditionalMoments(
            np.array([m.weight for m in sums]).reshape(shape),
            np.array([m.mean for m in sums]).reshape(self.means.shape),
            np.array([m.scatter for m in sums]).reshape(self.scatters.shape),
        )


def _of_block(values: Matrix, origin: Matrix, weights: Matrix) -> GaussianMoments:
    """The moments of a block of shape (n_columns, n_rows), the means taken from the origin.

    The block is spent on the way.
    """
    weight = float(weights.sum())
    if weight <= 0:
        return GaussianMoments.nothing(len(values))
    values -= origin[:, None]
    mean = values @ weights / weight
    values -= mean[:, None]
    values *= np.sqrt(weights)
    return GaussianMoments(weight, mean, values @ values.T)
