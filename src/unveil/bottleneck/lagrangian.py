"""The Lagrangian of the information bottleneck and its two steps, for what is hidden in a network.

Thesis 6.2: with Y the identity of a row, T what is hidden and gamma between 0 and 1,

    L = I_Q(T; Y) - gamma (E_Q[log P(X, T)] - E_Q[log Q(T)])

is made smaller by the E-step (Eq. 6.4) and by the M-step. Here it is -L times the number of cases
that grows, so that at gamma = 1 it is the objective of EM itself: the log-likelihood, and the log
of the prior if there is one.

At the Q(T | Y) of the E-step, -L is the mean of log Z(y, gamma).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.compression import Compression
from unveil.bottleneck.layout import HiddenRows
from unveil.em.steps import log_prior
from unveil.errors import ModelError
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.table.core import Table

__all__ = ["Bottleneck", "Completed", "Parameters"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]


class Parameters(NamedTuple):
    """What the E-step needs: all tables of P as one vector, and Q(t) over the hidden variables."""

    tables: Vector
    common: Vector


@dataclass(frozen=True)
class Completed:
    """What an E-step knows: expected counts, Q(t), -L in nats for all cases, and Q(t, m | y).

    `counts` is as `FlatTables` lays tables out; `posteriors` has a matrix for every part of the
    rows, empty unless asked for.
    """

    counts: Vector
    joint: Vector
    objective: float
    posteriors: list[Matrix] = field(repr=False)
    mass: Vector = field(repr=False)
    """The counts before those of unseen children were spread over their states."""


class Bottleneck:
    """IB-EM's two steps for a network of tables whose variables `hidden` no row shows.

    Q(T | Y) is exact: a number for every row and joint configuration of the hidden variables.
    `compression` says how Q(T) is taken apart (Eq. 6.11); without it, it is not.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> problem = Bottleneck(asia, asia.sample(200, seed=1).without("lung"), ["lung"])
    >>> first = problem.parameters(asia)
    >>> better, objective = problem.step(first, 0.5)
    >>> problem.step(better, 0.5)[1] >= objective
    True
    """

    def __init__(
        self,
        network: Network,
        table: Table,
        hidden: Sequence[str],
        prior: DirichletPrior | None = None,
        compression: Compression | None = None,
    ) -> None:
        self.layout = FlatTables(network)
        if self.layout.compact:
            names = ", ".join(self.layout.names[v] for v in self.layout.compact)
            raise ModelError(
                f"the bottleneck needs whole tables; those of {names} are compact. "
                "Use fit_em for this network."
            )
        self.table, self.prior = table, prior
        self.hidden = tuple(hidden)
        places = [self.layout.names.index(name) for name in self.hidden]
        self.rows = HiddenRows(self.layout, table, places)
        self.shape = tuple(self.rows.n_states[v] for v in places)
        self.compression = compression or Compression(self.hidden, self.shape)
        self.alpha = self.layout.pack_prior(prior)

    @property
    def n_cases(self) -> float:
        """How many cases the rows stand for."""
        return self.rows.total_weight

    def parameters(self, network: Network) -> Parameters:
        """The network's tables, and the Q(t) that its posterior (at gamma = 1) implies."""
        tables = self.layout.pack(network)
        flat = np.full(int(np.prod(self.shape)), 1.0 / np.prod(self.shape))
        return Parameters(tables, self.e_step(Parameters(tables, flat), 1.0).joint)

    def network(self, parameters: Parameters) -> Network:
        """The network with these tables."""
        return self.layout.unpack(parameters.tables)

    def e_step(self, parameters: Parameters, gamma: float, keep: bool = False) -> Completed:
        """Q(T | Y) by Eq. (6.4), and what it implies; the matrix itself if it is to be kept."""
        rows, (tables, common) = self.rows, parameters
        with np.errstate(divide="ignore"):
            logs, log_common = np.log(tables), np.log(common)
        longer = rows.longer(logs)
        counts = rows.shown.copy()
        objective = gamma * rows.shown_log_likelihood(logs)
        posteriors = []
        for part in rows.parts:
            log_z, own, posterior = part.expected(longer, log_common, gamma, keep)
            counts += own
            objective += float((log_z * part.weights).sum())
            posteriors.append(posterior)
        spread, joint = rows.spread(counts, tables), counts[rows.joint_first :]
        return Completed(spread, joint / self.n_cases, objective, posteriors, counts)

    def m_step(self, completed: Completed) -> Parameters:
        """The tables and the Q(t) that make -L largest while Q(T | Y) stays."""
        tables = self.layout.estimated(completed.counts, self.prior, self.alpha)
        return Parameters(tables, self.compression.projected(completed.joint))

    def step(self, parameters: Parameters, gamma: float) -> tuple[Parameters, float]:
        """Both steps, and -L with the prior's part at the parameters given."""
        completed = self.e_step(parameters, gamma)
        return self.m_step(completed), completed.objective + gamma * self.log_prior(parameters)

    def log_prior(self, parameters: Parameters) -> float:
        """Sum of alpha log theta."""
        return log_prior(parameters.tables, self.alpha)

    def log_likelihood(self, parameters: Parameters) -> float:
        """log P of what all rows show, in nats."""
        return self.e_step(parameters, 1.0).objective
