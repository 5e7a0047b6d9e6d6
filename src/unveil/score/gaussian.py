"""What a score is for linear Gaussian families: four small arrays and one matrix.

The score of a child y with p parents P is

    offset[y] + constant[p] - slope[p] log v(y | P) - half log |M[P, P]|,

where v(y | P) is what P leaves unexplained of y in the matrix M (`unveil.kernels.gaussian`). So
whatever is asked for comes from M, and no question goes back to the rows.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from unveil.score.base import Number, Sample
from unveil.statistics.moments import GaussianMoments

__all__ = ["GaussianScore", "GaussianTerm", "penalised_gaussian", "spreads"]

Numbers = npt.NDArray[np.float64]


class GaussianTerm(NamedTuple):
    """A score of Gaussian families: see above. `constant` ends at the most parents allowed."""

    matrix: Numbers
    offset: Numbers
    constant: Numbers
    slope: Numbers
    half: float


@runtime_checkable
class GaussianScore(Protocol):
    """A score that linear Gaussian families can have."""

    name: ClassVar[str]

    @property
    def equivalent(self) -> bool:
        """Whether equivalent graphs are promised equal scores."""

    def gaussian(self, moments: GaussianMoments, sample: Sample) -> GaussianTerm:
        """The score of all families over the columns that these are the moments of."""


class Penalised(Protocol):
    """A log-likelihood less a cost per free parameter."""

    def cost(self, n_parameters: Number, n_parents: Number, sample: Sample) -> Number:
        """What is subtracted from the log-likelihood."""


def penalised_gaussian(score: Penalised, moments: GaussianMoments, sample: Sample) -> GaussianTerm:
    """The maximised log-likelihood less the cost of p + 2 parameters.

    With W rows, s the standard deviation of y and v the share of its variance that is left,

        -W / 2 (log(2 pi s^2 v) + 1) - cost(p + 2).

    With as many parents as rows anything is explained, and the likelihood has no bound: a family
    has at most as many parents as leave each of its p + 2 parameters two rows.
    """
    weight = moments.weight
    spread = spreads(moments)
    correlation = moments.scatter / moments.weight / np.outer(spread, spread)
    np.fill_diagonal(correlation, 1.0)
    most = max(0, min(len(spread) - 1, int(weight / 2) - 2))
    p = np.arange(most + 1, dtype=np.float64)
    costs = np.broadcast_to(np.asarray(score.cost(p + 2, p, sample), np.float64), p.shape)
    offset = -0.5 * weight * (math.log(2 * math.pi * math.e) + 2 * np.log(spread))
    return GaussianTerm(correlation, offset, -costs, np.full(most + 1, 0.5 * weight), 0.0)


def spreads(moments: GaussianMoments) -> Numbers:
    """The standard deviation of every column; exactly zero where only rounding varies."""
    spread = np.sqrt(np.diag(moments.scatter) / moments.weight)
    varies = spread > 4 * np.finfo(float).eps * np.abs(moments.mean)
    return np.where(varies, spread, 0.0)
