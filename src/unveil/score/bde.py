"""BDe: the Bayesian Dirichlet score with any Dirichlet prior, such as a prior network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.kernels.scoring import DataTerm
from unveil.model.prior import DirichletPrior, EquivalentSampleSize, PriorNetwork
from unveil.score.base import Number, Sample
from unveil.score.incomplete import ExpectedFamilies, cheeseman_stutz
from unveil.table.variable import Variable

__all__ = ["BDe"]


@dataclass(frozen=True)
class BDe:
    """Eq. 2.15 with alpha from `prior`; `PriorNetwork` gives the BDe prior of Theorem 2.3.5.

    Slower than `BDeu`, since every family has pseudo-counts of its own.
    """

    prior: DirichletPrior
    name: ClassVar[str] = "bde"

    @property
    def equivalent(self) -> bool:
        """Whether the prior treats equivalent graphs alike, as imagined rows do (Theorem 2.3.5)."""
        return isinstance(self.prior, PriorNetwork | EquivalentSampleSize)

    @property
    def term(self) -> DataTerm | None:
        """None: the pseudo-counts differ from cell to cell."""
        return None

    def penalty(
        self, n_configurations: Number, n_states: Number, n_parents: Number, sample: Sample
    ) -> Number:
        """Nothing: the marginal likelihood punishes complexity by itself."""
        return 0.0

    def family(
        self,
        variable: Variable,
        parents: Sequence[Variable],
        counts: npt.NDArray[np.float64],
        sample: Sample,
    ) -> float:
        """The log marginal likelihood of a family from its counts, parents first."""
        from scipy.special import gammaln

        alpha = np.broadcast_to(self.prior.pseudo_counts(variable, parents), counts.shape)
        counts = np.where(alpha > 0, counts, 0.0)
        cells = alpha > 0
        inner = gammaln(alpha[cells] + counts[cells]) - gammaln(alpha[cells])
        alpha_rows, rows = alpha.sum(axis=-1), counts.sum(axis=-1)
        seen = alpha_rows > 0
        outer = gammaln(alpha_rows[seen] + rows[seen]) - gammaln(alpha_rows[seen])
        return float(inner.sum() - outer.sum())

    def judge(self, expected: ExpectedFamilies, sample: Sample) -> float:
        """By Cheeseman and Stutz."""
        return cheeseman_stutz(self, expected, sample)
