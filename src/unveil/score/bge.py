"""BGe: the Bayesian Gaussian score that treats equivalent graphs alike (Geiger and Heckerman).

The formula is that of Geiger and Heckerman (1994, 2002) as corrected by Kuipers, Moffa and
Heckerman (2014). The means of all n columns are normal and their precision matrix is Wishart; for a
set of l columns Y with the scatter S of N rows,

    p(Y) = (a_m / (N + a_m))^(l/2) pi^(-l N / 2)  Gamma_l((N + a_w - n + l) / 2)
           |T[Y, Y]|^((a_w - n + l) / 2)          -----------------------------,
           |R[Y, Y]|^(-(N + a_w - n + l) / 2)     Gamma_l((a_w - n + l) / 2)

with R = T + S, and the score of a family is log p(P + y) - log p(P).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unveil.errors import ModelError
from unveil.score.base import Sample
from unveil.score.gaussian import GaussianTerm, spreads
from unveil.statistics.moments import GaussianMoments

__all__ = ["BGe"]


@dataclass(frozen=True)
class BGe:
    """The log marginal likelihood of linear Gaussian families.

    What is believed beforehand: columns are centred where the table centres them, have about the
    variance that they have in the table, and are independent. `imagined_rows` (a_m, and with it
    a_w = n + a_m + 1) say how strongly. So the prior knows the units of the columns, and a change
    of units changes no graph's score but by a constant; with 1 it is as weak as it can sensibly be.

    With `unit_variance`, the columns are believed to have the variance 1 instead: then T is
    a_m (a_w - n - 1) / (a_m + 1) times the identity, as other programs have it.
    """

    imagined_rows: float = 1.0
    unit_variance: bool = False
    name: ClassVar[str] = "bge"
    equivalent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        rows = self.imagined_rows
        if not (math.isfinite(rows) and rows > 0):
            raise ModelError(f"the imagined rows must be a positive number, got {rows}")

    def gaussian(self, moments: GaussianMoments, sample: Sample) -> GaussianTerm:
        """M = T^-1/2 R T^-1/2; the rest depends on the number of parents only."""
        from scipy.special import gammaln

        n, rows = len(moments.mean), moments.weight
        a_m = self.imagined_rows
        a_w = n + a_m + 1.0
        t = a_m * (a_w - n - 1) / (a_m + 1)
        prior = np.full(n, t) if self.unit_variance else t * spreads(moments) ** 2
        matrix = moments.scatter / np.sqrt(np.outer(prior, prior)) + np.eye(n)
        p = np.arange(n, dtype=np.float64)
        free = a_w - n + p + 1
        constant = 0.5 * math.log(a_m / (rows + a_m)) - 0.5 * rows * math.log(math.pi)
        constant = constant + gammaln((rows + free) / 2) - gammaln(free / 2)
        return GaussianTerm(matrix, -0.5 * rows * np.log(prior), constant, (rows + free) / 2, 0.5)
