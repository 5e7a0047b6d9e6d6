"""What `ib_em` gives back: the network, and the course that led there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from unveil.bottleneck.course import Point
from unveil.model.network import Network
from unveil.progress import StopReason
from unveil.records import Record

__all__ = ["Bottlenecked", "RandomStarts"]


@dataclass(frozen=True)
class RandomStarts(Record):
    """How one run compares with EM from random starts, by the objective (nats for all cases).

    Ends within `tie` of the run's are equal.
    """

    told: ClassVar = ("n_better", "n_equal", "n_worse")

    objective: float
    objectives: tuple[float, ...]
    log_likelihoods: tuple[float, ...]
    tie: float
    seconds: float
    """CPU seconds of one random start, in the mean."""

    @property
    def n_better(self) -> int:
        """How many starts ended higher."""
        return sum(x > self.objective + self.tie for x in self.objectives)

    @property
    def n_worse(self) -> int:
        """How many starts ended lower."""
        return sum(x < self.objective - self.tie for x in self.objectives)

    @property
    def n_equal(self) -> int:
        """How many starts ended at the same height."""
        return len(self.objectives) - self.n_better - self.n_worse

    def __str__(self) -> str:
        return (
            f"beats {self.n_worse} of {len(self.objectives)} random starts, equals {self.n_equal}, "
            f"is beaten by {self.n_better}"
        )


@dataclass(frozen=True)
class Bottlenecked(Record):
    """The network at the end of the course, and the course.

    `objective` is -L in nats for all cases: at gamma = 1 what EM climbs, the log-likelihood plus
    the log prior. `course` has a point for every gamma visited. `posterior` says how Q(T | Y) was
    held: `exact`, through a `forest` or by `mean field`. `gamma` is where it ended: 1, unless
    held-out rows (`held_out` in the course, nats per case) asked for less or it was stopped.
    `random` is the comparison with random starts, if it was asked for.
    """

    told: ClassVar = ("n_states",)

    network: Network
    log_likelihood: float
    objective: float
    gamma: float
    course: tuple[Point, ...]
    hidden: tuple[str, ...]
    posterior: str
    stopped: StopReason
    seed: int | None
    random: RandomStarts | None = None
    seconds: float = field(default=0.0, compare=False)
    """CPU seconds of the run."""

    @property
    def n_states(self) -> dict[str, int]:
        """How many states each hidden variable has."""
        return {name: self.network.variable(name).n_states for name in self.hidden}

    def __str__(self) -> str:
        states = ", ".join(f"{name}: {n}" for name, n in self.n_states.items())
        lines = [
            f"log-likelihood {self.log_likelihood:,.4f} nats at gamma {self.gamma:.4g} after "
            f"{len(self.course)} steps ({self.stopped}); states: {states}"
        ]
        if self.random is not None:
            lines.append(str(self.random))
        return "\n".join(lines)
