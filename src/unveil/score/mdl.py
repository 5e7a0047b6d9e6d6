"""Minimum description length with the graph's own length (Lam and Bacchus 1994; Eq. 2.13)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from unveil.score.base import Number, Sample
from unveil.score.bic import BIC

__all__ = ["MDL"]


@dataclass(frozen=True)
class MDL(BIC):
    """BIC - DL(G): each variable lists its parents, log n nats each among n variables.

    DL(G) counts arcs only, so equivalent graphs keep equal scores.
    """

    name: ClassVar[str] = "mdl"

    def cost(self, n_parameters: Number, n_parents: Number, sample: Sample) -> Number:
        """The cost of BIC and the length of the list of parents."""
        parameters = super().cost(n_parameters, n_parents, sample)
        return parameters + n_parents * math.log(sample.n_variables)
