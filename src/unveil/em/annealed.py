"""Parametric EM with weight annealing (thesis 3.5.2): few iterations under every reweighting.

The maximum of the expected score is biased towards the parameters that the expectations were
computed with, so EM is not run to its end before the weights change again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.anneal import Adversary, Annealed, Annealing, Geometric, Random, anneal
from unveil.em.loop import run_em
from unveil.em.steps import Problem
from unveil.progress import Ticker

__all__ = ["ANNEALINGS", "ParameterLearner", "annealed_em"]

Vector = npt.NDArray[np.float64]

ANNEALINGS = {
    "adversary": Annealing(Adversary(noise=2.0), Geometric(2.0, 0.7, 0.1), 12),
    "random": Annealing(Random(), Geometric(4.0, 0.7, 0.1), 12),
}
"""What `anneal="adversary"` and `"random"` mean for EM."""

ITERATIONS = 5
"""So many iterations of EM under every reweighting."""


def annealed_em(
    problem: Problem[Any],
    parameters: Any,
    annealing: Annealing,
    max_iterations: int = 500,
    tolerance: float = 1e-8,
    seed: int | None = None,
    ticker: Ticker | None = None,
) -> Annealed[Any]:
    """The best parameters on a course of annealed weights that begins at `parameters`.

    They should be where EM ended, and those found are no worse.
    """
    learner = ParameterLearner(problem, ITERATIONS, max_iterations, tolerance)
    return anneal(
        learner, parameters, annealing.reweighting, annealing.cooling, cycles=annealing.cycles,
        seed=seed, progress=ticker,
    )  # fmt: skip


@dataclass
class ParameterLearner:
    """EM as annealing sees it: hypotheses are the parameters of one structure.

    `iterations` of EM are made under every reweighting; at the end, and with the rows' own weights,
    at most `max_iterations`, until it gains less than the part `tolerance` of its objective.
    """

    problem: Problem[Any]
    iterations: int = 1
    max_iterations: int = 500
    tolerance: float = 1e-8
    _judged: tuple[Any, Vector] | None = field(default=None, repr=False)

    @property
    def weights(self) -> Vector:
        """The rows' own weights, equal rows as one."""
        return self.problem.row_weights

    def optimise(self, hypothesis: Any, weights: Vector, ticker: Ticker) -> Any:
        """A few iterations under these weights."""
        problem = self.problem.with_row_weights(weights)
        for _ in range(self.iterations):
            hypothesis, _ = problem.step(hypothesis)
        return hypothesis

    def finish(self, hypothesis: Any, ticker: Ticker) -> Any:
        """EM to its end."""
        most, tolerance = self.max_iterations, self.tolerance
        return run_em(self.problem.step, hypothesis, most, tolerance, ticker).parameters

    def score(self, hypothesis: Any, weights: Vector) -> float:
        """What EM climbs: the log-likelihood, and the log-prior if there is a prior."""
        return float(weights @ self.slopes(hypothesis)) + self.problem.log_prior(hypothesis)

    def slopes(self, hypothesis: Any, weights: Vector | None = None) -> Vector:
        """The log-probability of what each row shows: the objective is additive (Eq. 3.1)."""
        if self._judged is None or self._judged[0] is not hypothesis:
            self._judged = hypothesis, self.problem.row_scores(hypothesis)
        return self._judged[1]
