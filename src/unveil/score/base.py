"""What a score is: a number per family, computed from its counts; higher is better.

A score of a graph is the sum over its families (Eq. 2.14), in nats. Most scores are a data term
that a compiled kernel computes (`unveil.kernels.scoring`) less a penalty that depends only on the
shape of the family: they fill in `term` and `penalty` of `CountScore` and are done. A score also
says which prior it implies for parameters, and how it judges incomplete data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from unveil.kernels.scoring import DIRICHLET, LIKELIHOOD, DataTerm, data_term_plain
from unveil.model.prior import DirichletPrior, EquivalentSampleSize, PseudoCount
from unveil.score.incomplete import ExpectedFamilies, cheeseman_stutz, penalised_likelihood
from unveil.table.variable import Variable

__all__ = ["CountScore", "Number", "Sample", "Score"]

Number = float | npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """What a score may know of the table besides a family's counts."""

    total_weight: float
    n_variables: int


class Score(Protocol):
    """The score of a family given its counts."""

    name: ClassVar[str]

    @property
    def equivalent(self) -> bool:
        """Whether equivalent graphs are promised equal scores."""

    @property
    def term(self) -> DataTerm | None:
        """The compiled data term, or `None` if only `family` can compute this score."""

    def penalty(
        self, n_configurations: Number, n_states: Number, n_parents: Number, sample: Sample
    ) -> Number:
        """What is subtracted from the data term, given the shape of the family."""

    def family(
        self,
        variable: Variable,
        parents: Sequence[Variable],
        counts: npt.NDArray[np.float64],
        sample: Sample,
    ) -> float:
        """The score of a family from its counts, parents first, child last."""

    @property
    def prior(self) -> DirichletPrior:
        """The prior that parameters have under this score."""

    def judge(self, expected: ExpectedFamilies, sample: Sample) -> float:
        """The score of a network on incomplete rows, given its expected counts."""


class CountScore:
    """A score made of a compiled data term less a penalty."""

    name: ClassVar[str]
    equivalent: ClassVar[bool] = True

    @property
    def term(self) -> DataTerm:
        """The compiled data term."""
        raise NotImplementedError

    def penalty(
        self, n_configurations: Number, n_states: Number, n_parents: Number, sample: Sample
    ) -> Number:
        """Nothing, unless a score says otherwise."""
        return 0.0

    def family(
        self,
        variable: Variable,
        parents: Sequence[Variable],
        counts: npt.NDArray[np.float64],
        sample: Sample,
    ) -> float:
        """The score of a family from its counts, parents first, child last."""
        r = variable.n_states
        q = counts.size // r
        data = data_term_plain(counts.reshape(-1), q, r, 1, float(counts.size), self.term)
        return data - float(self.penalty(float(q), float(r), float(len(parents)), sample))

    @property
    def prior(self) -> DirichletPrior:
        """The pseudo-counts of the data term; one imagined case for scores without any."""
        term = self.term
        if term.mode == DIRICHLET:
            return EquivalentSampleSize(term.alpha) if term.spread else PseudoCount(term.alpha)
        return EquivalentSampleSize(1.0)

    def judge(self, expected: ExpectedFamilies, sample: Sample) -> float:
        """Less its penalties for a likelihood; Cheeseman and Stutz for all other data terms."""
        likelihood = self.term.mode == LIKELIHOOD
        return (penalised_likelihood if likelihood else cheeseman_stutz)(self, expected, sample)
