"""The two steps of EM, for networks of tables and for networks with Gaussian variables.

The E-step turns rows and parameters into expected statistics, the M-step turns these into
parameters (thesis 2.4.1). With a prior the M-step is the posterior mean (S + alpha) / (S[u] +
alpha[u]), which maximises log P(D | theta) + sum alpha log theta: MAP in the natural parameters,
so the objective never falls even for pseudo-counts below one.
"""

from __future__ import annotations

import copy
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from unveil.engines.rows import PartedRows
from unveil.errors import Hint, ModelError
from unveil.infer.parts import LightPasses, ReducedRows
from unveil.infer.unseen import Expected, UnseenCells
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.table.core import Table

__all__ = ["Problem", "TableEM", "em_problem", "impossible_rows", "log_prior"]

Vector = npt.NDArray[np.float64]
P = TypeVar("P")


class Problem(Protocol, Generic[P]):
    """What the loop climbs: parameters P of one structure, on one table."""

    def pack(self, network: Network) -> P:
        """The network's parameters."""

    def unpack(self, parameters: P) -> Network:
        """The network with these parameters."""

    def step(self, parameters: P) -> tuple[P, float]:
        """Better parameters, and the objective at those given."""

    def log_prior(self, parameters: P) -> float:
        """The prior's part of the objective."""

    @property
    def row_weights(self) -> Vector:
        """How often each row counts; equal rows may be one."""

    def with_row_weights(self, weights: Vector) -> Problem[P]:
        """The same with other weights of the same rows."""

    def row_scores(self, parameters: P) -> Vector:
        """What each row adds to the objective, once: the log-probability of what it shows."""


class TableEM:
    """EM for a network of tables: parameters are all its tables as one vector.

    `hard` completes every row by its most probable explanation. At a `temperature` other than one
    the objective is the free energy there; see `UnseenCells.expected`.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> em = TableEM(asia, asia.sample(100, seed=1).without("lung"))
    >>> tables = em.pack(asia)
    >>> better = em.m_step(em.e_step(tables))
    >>> em.step(better)[1] >= em.step(tables)[1]
    True
    """

    def __init__(
        self,
        network: Network,
        table: Table,
        prior: DirichletPrior | None = None,
        hard: bool = False,
        temperature: float = 1.0,
    ) -> None:
        self.cells = UnseenCells.to_learn_from(network, table)
        self._hold(FlatTables(network), prior, hard, temperature)

    def _hold(
        self,
        layout: FlatTables,
        prior: DirichletPrior | None,
        hard: bool,
        temperature: float = 1.0,
    ) -> None:
        self.layout, self.prior = layout, prior
        self.alpha = layout.pack_prior(prior)
        self._used = np.flatnonzero(self.alpha)
        self.hard = hard
        self.temperature = temperature

    def pack(self, network: Network) -> Vector:
        """The network's tables."""
        return self.layout.pack(network)

    def unpack(self, parameters: Vector) -> Network:
        """The network with these tables."""
        return self.layout.unpack(parameters)

    def e_step(self, tables: Vector) -> Expected:
        """Expected counts under the posterior of the unseen cells, and the log-likelihood."""
        if self.hard:
            return self.cells.completed(tables)
        return self.cells.expected(tables, self.temperature)

    def m_step(self, expected: Expected) -> Vector:
        """The tables that maximise the expected log-likelihood of the completed rows."""
        return self.layout.estimated(expected.counts, self.prior, self.alpha)

    def step(self, parameters: Vector) -> tuple[Vector, float]:
        """Both steps, and the objective at the tables given."""
        expected = self.e_step(parameters)
        if expected.log_likelihood == -np.inf:
            raise impossible_rows()
        return self.m_step(expected), expected.log_likelihood + self.log_prior(parameters)

    def log_prior(self, parameters: Vector) -> float:
        """Sum of alpha log theta; compact distributions have a sum of their own."""
        compact = self.layout.log_prior_of_compact(parameters, self.prior)
        if not self._used.size:
            return compact
        with np.errstate(divide="ignore"):
            return compact + float(self.alpha[self._used] @ np.log(parameters[self._used]))

    @property
    def light_passes(self) -> LightPasses | None:
        """The rows of which a kernel can take many steps in one go, if that is all there is to do.

        That is so where all rows lack the same variables and nothing but counts makes the tables.
        """
        if self.hard or self.temperature != 1.0 or self.layout.compact:
            return None
        (part, *others) = self.cells.parts
        return None if others or not isinstance(part, ReducedRows) else part.light_passes

    @property
    def row_weights(self) -> Vector:
        """How often each row counts; equal rows are one."""
        return self.cells.rows.weights

    def with_row_weights(self, weights: Vector) -> TableEM:
        """The same with other weights of the same rows."""
        other = copy.copy(self)
        other.cells = self.cells.with_folded_weights(weights)
        return other

    def row_scores(self, parameters: Vector) -> Vector:
        """log P(what the row shows), or that of its completion if `hard`."""
        if self.hard:
            return self.cells.most_probable(parameters)[0]
        return self.cells.log_probabilities(parameters)


def impossible_rows() -> ModelError:
    """What is said of a start that cannot explain some rows."""
    return ModelError(
        "some rows have probability zero under the network that EM starts from. Give it "
        "tables without zeros (fit them with a prior).",
        hint=Hint("Or take start='random'."),
    )


def em_problem(
    network: Network,
    table: Table | PartedRows,
    prior: DirichletPrior | None = None,
    hard: bool = False,
) -> Problem[Any]:
    """The two steps for this network, whatever the kinds of its distributions."""
    if not isinstance(table, Table):
        from unveil.em.parted import parted_problem

        return parted_problem(network, table, prior, hard)
    if network.is_discrete:
        return TableEM(network, table, prior, hard)
    from unveil.em.curves import CurveEM
    from unveil.em.families import FamilyEM
    from unveil.infer.gaussian.curves import has_curves

    if has_curves(network) and not hard:
        return CurveEM(network, table)
    return FamilyEM(network, table, prior, hard)


def log_prior(tables: Vector, alpha: Vector) -> float:
    """Sum of alpha log theta, the prior's part of the objective (0 where alpha is 0)."""
    used = alpha > 0
    with np.errstate(divide="ignore"):
        return float(alpha[used] @ np.log(tables[used]))
