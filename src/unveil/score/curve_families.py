"""`CurveFamilies`: scores of non-linear families, each fitted to the rows (thesis 7.5).

There are no sufficient statistics: every family asked for is an optimisation over the rows. That is
what ideal parents (`unveil.ideal`) save.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from unveil.graph.dag import DAG
from unveil.model.curve_fit import Fitter
from unveil.model.curve_network import continuous_rows
from unveil.model.curves import Curve
from unveil.score.base import Number, Sample
from unveil.score.gaussian_families import families_of
from unveil.score.structure import StructurePrior
from unveil.statistics.protocol import Family
from unveil.table.core import Table

__all__ = ["CurveFamilies", "ParameterCost"]

Numbers = npt.NDArray[np.float64]


class ParameterCost(Protocol):
    """A score that is a log-likelihood less a cost of its parameters: BIC, AIC, MDL, ..."""

    @property
    def name(self) -> str:
        """What it is called."""

    def cost(self, n_parameters: Number, n_parents: Number, sample: Sample) -> Number:
        """What is subtracted from the log-likelihood."""


class CurveFamilies:
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
        self.structure_prior = structure_prior
        self.names = table.names
        self.n_variables = len(self.names)
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

    def family(self, child: int, parents: Iterable[int]) -> float:
        """The score of one family."""
        return float(self.many([(child, tuple(sorted(parents)))])[0])

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

    def toggles(self, child: int, parents: Iterable[int]) -> Numbers:
        """What the family gains when each variable is added to, or dropped from, its parents."""
        own = tuple(sorted(parents))
        changed = [
            (child, tuple(sorted({*own} ^ ({v} - {child})))) for v in range(self.n_variables)
        ]
        row = self.many(changed)
        row -= row[child]
        row[child] = -np.inf
        return row

    def all_toggles(self, families: Sequence[Family]) -> Iterator[Numbers]:
        """The toggles of each family, in order."""
        return (self.toggles(*family) for family in families)

    def total(self, dag: DAG) -> float:
        """The score of a graph: the sum over its families (Eq. 2.14)."""
        return math.fsum(self.per_family(dag).values())

    def per_family(self, dag: DAG) -> dict[str, float]:
        """The score of every family of a graph, by the name of the child."""
        scores = self.many(families_of(dag, self.names)).tolist()
        return dict(zip(dag.nodes, scores, strict=True))

    def _prior(self, child: int, parents: Sequence[int]) -> float:
        assert self.structure_prior is not None
        return self.structure_prior.family(self.names[child], [self.names[p] for p in parents])
