"""Prior-free scores by normalised maximum likelihood: factorised and quotient NML.

Both subtract from the likelihood the parametric complexity log C(n, k) of multinomials, exactly, by
the recurrence of Kontkanen and Myllymaki (see `unveil.kernels.scoring.log_complexity`), which is
carried on to fractional counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unveil.kernels.scoring import FACTORISED_NML, LIKELIHOOD, DataTerm, log_complexity
from unveil.score.base import CountScore, Number, Sample

__all__ = ["FactorisedNML", "QuotientNML"]


@dataclass(frozen=True)
class FactorisedNML(CountScore):
    """log-likelihood - sum over u of log C(S[u], r) (Silander, Roos, Kontkanen, Myllymaki 2008)."""

    name: ClassVar[str] = "fnml"
    equivalent: ClassVar[bool] = False

    @property
    def term(self) -> DataTerm:
        """The likelihood less the complexity of every parent row."""
        return DataTerm(FACTORISED_NML, 0.0, False)


@dataclass(frozen=True)
class QuotientNML(CountScore):
    """log-likelihood - log C(M, q r) + log C(M, q) (Silander, Leppa-aho, Jaasaari, Roos 2018)."""

    name: ClassVar[str] = "qnml"

    @property
    def term(self) -> DataTerm:
        """The log-likelihood."""
        return DataTerm(LIKELIHOOD, 0.0, False)

    def penalty(
        self, n_configurations: Number, n_states: Number, n_parents: Number, sample: Sample
    ) -> Number:
        """The complexity of the joint table less that of the parents' table."""
        complexity = np.vectorize(log_complexity, otypes=[np.float64])
        q, r = np.broadcast_arrays(n_configurations, n_states)
        joint = complexity(sample.total_weight, q * r)
        return np.asarray(joint - complexity(sample.total_weight, q * 1.0))[()]
