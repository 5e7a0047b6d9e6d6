"""What the continuation follows, with Q(T | Y) exact over the joint of the hidden variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.cardinality import effective_states, merge_losses, merge_scores
from unveil.bottleneck.compression import Compression
from unveil.bottleneck.derivative import Direction, Tangent, diagonal_direction, whole_direction
from unveil.bottleneck.exchange import split_gains
from unveil.bottleneck.lagrangian import Bottleneck, Parameters
from unveil.bottleneck.splits import (
    Growth,
    Pair,
    Twins,
    exchanged_states,
    merged_states,
    split_state,
)
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.table.core import Table

__all__ = ["Exact", "Followed", "Look"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Look:
    """A closer look at one point: I(T; Y) of every hidden variable, and what derivatives need."""

    parameters: Any
    gamma: float
    information: tuple[float, ...]
    log_likelihood: float
    tangent: Any


class Followed(Protocol):
    """What the continuation needs of a problem; P are its parameters."""

    hidden: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def n_cases(self) -> float:
        """How many cases the rows stand for."""

    def step(self, parameters: Any, gamma: float) -> tuple[Any, float]:
        """One E-step and M-step, and -L at the parameters given."""

    def network(self, parameters: Any) -> Network:
        """The network with these parameters."""

    def parameters(self, network: Network) -> Any:
        """The parameters of a network."""

    def look(self, parameters: Any, gamma: float) -> Look:
        """Information, likelihood and the linear part of the two steps."""

    def begin(self, i: int, generator: np.random.Generator) -> Vector:
        """A vector from which eigenvectors of hidden variable i are looked for."""

    def growth(self, look: Look, i: int, start: Vector, rounds: int, still: float = 0.0) -> Growth:
        """How much twins of its states part in one step."""

    def split(
        self, look: Look, i: int, state: int, growth: Growth, kick: float
    ) -> tuple[Followed, Any]:
        """The problem with a state split along its vector, and the parameters there."""

    def gains(self, look: Look, i: int, growth: Growth) -> tuple[Vector, Any]:
        """What every state's split gains, and the twins."""

    def split_by(self, look: Look, i: int, state: int, pair: Any) -> tuple[Followed, Any]:
        """The problem with a state split as these twins say."""

    def losses(self, look: Look, i: int) -> Matrix:
        """What every merge of two states loses."""

    def merge(self, look: Look, i: int, one: int, other: int) -> tuple[Followed, Any]:
        """The problem with two states made one."""

    def exchange(self, look: Look, i: int, state: int, merged: tuple[int, int], pair: Any) -> Any:
        """The parameters with two states made one and another split into two."""

    def scores(self, look: Look, i: int) -> Matrix:
        """The score differences of all merges (6.8)."""

    def effective(self, look: Look, i: int) -> int:
        """The number of states that the score tells apart."""

    def sizes(self, look: Look) -> list[Vector]:
        """The share of the cases that each state of every hidden variable has."""

    def direction(self, look: Look, kind: str) -> Direction | None:
        """How the fixed point moves with gamma."""


class Exact(Bottleneck):
    """`Bottleneck` with all that the continuation asks for; `graph` is G_in (Eq. 6.11)."""

    def __init__(
        self,
        network: Network,
        table: Table,
        hidden: Sequence[str],
        prior: DirichletPrior | None = None,
        graph: DAG | None = None,
    ) -> None:
        shape = [network.variable(name).n_states for name in hidden]
        super().__init__(network, table, hidden, prior, Compression(hidden, shape, graph))
        self.graph = graph
        self._twins = [Twins(self, i) for i in range(len(hidden))]

    def look(self, parameters: Parameters, gamma: float) -> Look:
        completed = self.e_step(parameters, gamma, keep=True)
        tangent = Tangent(self, parameters, completed, gamma)
        own = self.log_likelihood(parameters) if gamma < 1 else completed.objective
        return Look(parameters, gamma, self._information(tangent), own, tangent)

    def _information(self, tangent: Tangent) -> tuple[float, ...]:
        """I(T_i; Y) for every hidden variable (nats): the mean of log [Q(t | y) / Q(t)]."""
        total = np.zeros(len(self.shape))
        for part, q in zip(self.rows.parts, tangent.completed.posteriors, strict=True):
            joint = q.reshape(len(q), *self.shape, -1).sum(axis=-1)
            for i in range(len(self.shape)):
                away = tuple(1 + j for j in range(len(self.shape)) if j != i)
                own = joint.sum(axis=away)
                total[i] -= part.weights @ _entropies(own)
        joint = tangent.completed.joint.reshape(self.shape)
        for i in range(len(self.shape)):
            away = tuple(j for j in range(len(self.shape)) if j != i)
            total[i] += self.n_cases * _entropies(joint.sum(axis=away)[None])[0]
        return tuple(float(x) for x in np.maximum(total / self.n_cases, 0.0))

    def begin(self, i: int, generator: np.random.Generator) -> Vector:
        return self._twins[i].random(generator)

    def growth(self, look: Look, i: int, start: Vector, rounds: int, still: float = 0.0) -> Growth:
        return self._twins[i].growth(look.tangent, start, rounds, still)

    def split(
        self, look: Look, i: int, state: int, growth: Growth, kick: float
    ) -> tuple[Exact, Parameters]:
        return self.split_by(look, i, state, self._twins[i].pair(growth.vectors, kick))

    def split_by(self, look: Look, i: int, state: int, pair: Pair) -> tuple[Exact, Parameters]:
        return self._rebuilt(*split_state(self, look.parameters, i, state, pair))

    def gains(self, look: Look, i: int, growth: Growth) -> tuple[Vector, Pair]:
        return split_gains(look.tangent, self._twins[i], growth)

    def losses(self, look: Look, i: int) -> Matrix:
        return merge_losses(self, look.tangent.completed, i, look.gamma)

    def merge(self, look: Look, i: int, one: int, other: int) -> tuple[Exact, Parameters]:
        counts = look.tangent.completed.counts
        return self._rebuilt(*merged_states(self, look.parameters, counts, i, one, other))

    def exchange(
        self, look: Look, i: int, state: int, merged: tuple[int, int], pair: Pair
    ) -> Parameters:
        counts = look.tangent.completed.counts
        return exchanged_states(self, look.parameters, counts, i, state, merged, pair)

    def scores(self, look: Look, i: int) -> Matrix:
        return merge_scores(self, look.tangent.completed, i)

    def effective(self, look: Look, i: int) -> int:
        return effective_states(self, look.tangent.completed, i)

    def sizes(self, look: Look) -> list[Vector]:
        joint = look.tangent.completed.joint.reshape(self.shape)
        every = range(len(self.shape))
        return [joint.sum(axis=tuple(j for j in every if j != i)) for i in every]

    def direction(self, look: Look, kind: str) -> Direction | None:
        if kind == "none":
            return None
        return (whole_direction if kind == "whole" else diagonal_direction)(look.tangent)

    def _rebuilt(self, network: Network, common: Vector) -> tuple[Exact, Parameters]:
        made = Exact(network, self.table, self.hidden, self.prior, self.graph)
        return made, Parameters(made.layout.pack(network), made.compression.projected(common))


def _entropies(q: Matrix) -> Vector:
    """The entropy of every row, in nats."""
    return -(q * np.log(np.where(q > 0, q, 1.0))).sum(axis=1)
