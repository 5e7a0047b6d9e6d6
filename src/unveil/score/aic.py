"""Akaike's information criterion (1974), on the scale of a log-likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unveil.score.base import Number, Sample
from unveil.score.likelihood import LogLikelihood

__all__ = ["AIC"]


@dataclass(frozen=True)
class AIC(LogLikelihood):
    """log-likelihood - Dim; lenient, it suits prediction more than finding structure."""

    name: ClassVar[str] = "aic"

    def cost(self, n_parameters: Number, n_parents: Number, sample: Sample) -> Number:
        """One nat for every free parameter."""
        return n_parameters
