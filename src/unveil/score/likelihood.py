"""The maximised log-likelihood: never worse for more parents, so of use inside other scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unveil.kernels.scoring import LIKELIHOOD, DataTerm
from unveil.score.base import CountScore

__all__ = ["LogLikelihood"]


@dataclass(frozen=True)
class LogLikelihood(CountScore):
    """sum over x, u of S[x, u] log(S[x, u] / S[u]) (Eq. 2.6 at the estimate of Eq. 2.8)."""

    name: ClassVar[str] = "likelihood"

    @property
    def term(self) -> DataTerm:
        """The log-likelihood itself."""
        return DataTerm(LIKELIHOOD, 0.0, False)
