"""How a score judges incomplete data: from the expected counts of every family.

Penalised likelihoods take the likelihood of what was observed, less their penalties. Scores whose
data term is a marginal likelihood have no closed form any more; Cheeseman and Stutz (1996) take it
for the expected counts as if they had been seen and correct by the ratio of likelihoods:

    log P(D | G) ~ log P(D* | G) - log P(D* | theta, G) + log P(D | theta, G),

where D* has the expected counts at theta as its counts (thesis Ch. 4, 5; Chickering and Heckerman
1997). For complete data it is the score itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.table.variable import Variable

if TYPE_CHECKING:
    from unveil.score.base import Sample, Score

__all__ = ["ExpectedFamilies", "ExpectedFamily", "cheeseman_stutz", "penalised_likelihood"]

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExpectedFamily:
    """The expected counts of a family and the table they were expected under, parents first."""

    variable: Variable
    parents: Sequence[Variable]
    counts: Numbers
    table: Numbers

    @property
    def log_likelihood(self) -> float:
        """The log-probability of the expected counts at the table, in nats."""
        used = self.counts > 0
        return float(self.counts[used] @ np.log(self.table[used]))


@dataclass(frozen=True, eq=False)
class ExpectedFamilies:
    """A network on incomplete rows: the log-likelihood of what they show, and its families."""

    log_likelihood: float
    families: Sequence[ExpectedFamily]


def penalised_likelihood(score: Score, expected: ExpectedFamilies, sample: Sample) -> float:
    """The log-likelihood of what was observed, less the score's penalty for every family."""
    penalties = (
        score.penalty(
            float(f.counts.size // f.variable.n_states),
            float(f.variable.n_states),
            float(len(f.parents)),
            sample,
        )
        for f in expected.families
    )
    return expected.log_likelihood - sum(float(penalty) for penalty in penalties)


def cheeseman_stutz(score: Score, expected: ExpectedFamilies, sample: Sample) -> float:
    """The score of the expected counts, corrected by the ratio of likelihoods."""
    complete = sum(score.family(f.variable, f.parents, f.counts, sample) for f in expected.families)
    return complete - sum(f.log_likelihood for f in expected.families) + expected.log_likelihood
