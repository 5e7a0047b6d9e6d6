"""The maximised log-likelihood: never worse for more parents, so of use inside other scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unveil.kernels.scoring import LIKELIHOOD, DataTerm
from unveil.score.base import CountScore, Number, Sample
from unveil.score.gaussian import GaussianTerm, penalised_gaussian
from unveil.statistics.moments import GaussianMoments

__all__ = ["LogLikelihood"]


@dataclass(frozen=True)
class LogLikelihood(CountScore):
    """sum over x, u of S[x, u] log(S[x, u] / S[u]) (Eq. 2.6 at the estimate of Eq. 2.8).

    Of linear Gaussian families, -W / 2 (log(2 pi v) + 1) with v the variance that is left.
    """

    name: ClassVar[str] = "likelihood"

    @property
    def term(self) -> DataTerm:
        """The log-likelihood itself."""
        return DataTerm(LIKELIHOOD, 0.0, False)

    def cost(self, n_parameters: Number, n_parents: Number, sample: Sample) -> Number:
        """What free parameters and parents cost: nothing, unless a score says otherwise."""
        return 0.0

    def penalty(
        self, n_configurations: Number, n_states: Number, n_parents: Number, sample: Sample
    ) -> Number:
        """The cost of a table's free parameters."""
        return self.cost(n_configurations * (n_states - 1), n_parents, sample)

    def gaussian(self, moments: GaussianMoments, sample: Sample) -> GaussianTerm:
        """The log-likelihood of linear Gaussian families less the cost of their parameters."""
        return penalised_gaussian(self, moments, sample)
