"""The Bayesian information criterion (Schwarz 1978; thesis 2.3.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from unveil.score.base import Number, Sample
from unveil.score.likelihood import LogLikelihood

__all__ = ["BIC"]


@dataclass(frozen=True)
class BIC(LogLikelihood):
    """log-likelihood - (log M / 2) Dim, with M the total weight and Dim the free parameters."""

    name: ClassVar[str] = "bic"

    def cost(self, n_parameters: Number, n_parents: Number, sample: Sample) -> Number:
        """Half of log M for every free parameter."""
        return 0.5 * math.log(sample.total_weight) * n_parameters
