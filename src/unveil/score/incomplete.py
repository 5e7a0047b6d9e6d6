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
    from unveil.model.compact import CompactCPD
    from unveil.score.base import Sample, Score

__all__ = ["ExpectedFamilies", "ExpectedFamily", "cheeseman_stutz", "penalised_likelihood"]

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExpectedFamily:
    """The expected counts of a family and the table they were expected under, parents first.

    `local` is the distribution itself if it is compact.
    """

    variable: Variable
    parents: Sequence[Variable]
    counts: Numbers
    table: Numbers
    local: CompactCPD | None = None

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
    penalties = (_penalty(score, f, sample) for f in expected.families)
    return expected.log_likelihood - sum(penalties)


def _penalty(score: Score, family: ExpectedFamily, sample: Sample) -> float:
    if family.local is not None:
        from unveil.score.local import local_penalty

        return local_penalty(family.local, score, sample)
    n_states = family.variable.n_states
    n_configurations, n_parents = family.counts.size // n_states, len(family.parents)
    return float(score.penalty(float(n_configurations), float(n_states), float(n_parents), sample))


def _complete(score: Score, family: ExpectedFamily, sample: Sample) -> float:
    if family.local is not None:
        from unveil.score.local import local_score

        return local_score(family.local, family.counts, score, sample)
    return score.family(family.variable, family.parents, family.counts, sample)


def cheeseman_stutz(score: Score, expected: ExpectedFamilies, sample: Sample) -> float:
    """The score of the expected counts, corrected by the ratio of likelihoods."""
    complete = sum(_complete(score, f, sample) for f in expected.families)
    return complete - sum(f.log_likelihood for f in expected.families) + expected.log_likelihood
