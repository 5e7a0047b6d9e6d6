"""`CurveFamilies`: scores of non-linear families, each fitted to the rows (thesis 7.5).

There are no sufficient statistics: every family asked for is an optimisation over the rows. That is
what ideal parents (`unveil.ideal`) save.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from unveil.model.curve_fit import Fitter
from unveil.model.curve_network import continuous_rows
from unveil.model.curves import Curve
from unveil.score.base import Number, Sample
from unveil.score.remembered import RememberedFamilies
from unveil.score.structure import StructurePrior
from unveil.statistics.protocol import Family
from unveil.table.core import Table

__all__ = ["CurveFamilies", "ParameterCost"]

Numbers = npt.NDArray[np.float64]

ROW_BYTES = 64 << 20
"""So much memory is for rows of toggles."""


class ParameterCost(Protocol):
    """A score that is a log-likelihood less a cost of its parameters: BIC, AIC, MDL, ..."""

    @property
    def name(self) -> str:
        """What it is called."""

    def cost(self, n_parameters: Number, n_parents: Number, sample: Sample) -> Number:
        """What is subtracted from the log-likelihood."""


class CurveFamilies(RememberedFamilies):
    """The score of any family or graph over continuous columns, each a curve of its parents.

    `table` has continuous columns without gaps; `score` is `BIC`, `AIC`, `MDL` or `LogLikelihood`;
    `structure_prior` is added to it. Equivalent graphs have different scores: a curve has a
    direction.

    >>> from unveil.score import BIC
    >>> generator = np.random.default_rng(1)
    >>> u = generator.normal(size=200)
    >>> x = np.tanh(3 * u) + 0.1 * generator.normal(size=200)
    >>> scores = CurveFamilies(Table.from_frame({"u": u, "x": x}), BIC(), Curve("sigmoid"))
    >>> from unveil.search import hill_climbing
    >>> hill_climbing(scores).dag.arcs
    (('u', 'x'),)
    """

    equivalent = False

    def __init__(
        self,
        table: Table,
        score: ParameterCost,
        curve: Curve,
        structure_prior: StructurePrior | None = None,
    ) -> None:
        values, weights = continuous_rows(table)
        self.table, self.score, self.curve = table, score, curve
        self._hold_names(table.names, structure_prior, ROW_BYTES)
        self.fitter = Fitter(values, weights, curve, self.names)
        self.sample = Sample(self.fitter.total, self.n_variables)
        self.most_parents = min(self.n_variables - 1, self.fitter.most_parents())
        """How many parents a family may have at most, whatever the constraints say."""
        self.n_scored = 0
        """How many families were fitted rather than remembered."""
        self._known: dict[Family, float] = {}

    @property
    def score_name(self) -> str:
        """What the score is called, and of which curves."""
        return f"{self.score.name} of {self.curve.link} curves"

    def many(self, families: Sequence[Family]) -> Numbers:
        """The scores of several families; `-inf` for those with more than `most_parents`."""
        unknown = list(dict.fromkeys(f for f in families if f not in self._known))
        small = [f for f in unknown if len(f[1]) <= self.most_parents]
        self._known |= {f: -math.inf for f in unknown if len(f[1]) > self.most_parents}
        if small:
            self.n_scored += len(small)
            sizes = np.array([len(parents) for _, parents in small], np.float64)
            numbers = np.array([self.curve.n_parameters(len(parents)) for _, parents in small])
            found = self.fitter.log_likelihoods(small)
            found -= self.score.cost(numbers.astype(np.float64), sizes, self.sample)
            if self.structure_prior is not None:
                found += [self._prior(*family) for family in small]
            self._known |= dict(zip(small, found.tolist(), strict=True))
        return np.array([self._known[f] for f in families])

    def _compute_toggles(self, child: int, parents: tuple[int, ...]) -> Numbers:
        changed = [
            (child, tuple(sorted({*parents} ^ ({v} - {child})))) for v in range(self.n_variables)
        ]
        row = self.many(changed)
        row -= row[child]
        row[child] = -np.inf
        return row
