"""The course of a continuation: how gamma is to grow, where it is, and what was seen on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.exact import Look
from unveil.errors import DataError
from unveil.records import Record

__all__ = ["Continuation", "Place", "Point"]

Vector = npt.NDArray[np.float64]

DIRECTIONS = ("whole", "diagonal", "none")
SPLITS = ("eigenvalue", "noise")
STEPS = ("information", "fixed")


@dataclass(frozen=True)
class Continuation:
    """How gamma goes from 0 to 1.

    `direction`: the path is foreseen by the `whole` derivative, by its `diagonal` (the thesis), or
    not at all (`none`: steps are judged by the last one). `splits`: states split where an
    `eigenvalue` crosses, or all are there from the start and told apart by `noise`. `steps`:
    calibrated by `information`, or of a `fixed` length, 1 / `n_steps`.

    `information_step` is the part of log |T| by which I(T; Y) may grow in one step; gamma grows by
    at least `least_step` and at most `most_step` of itself. A state splits when its eigenvalue is
    beyond 1 + `margin`, into two that are `kick` apart. Before the end EM settles to `tolerance`.
    At the end, up to `exchanges` exchanges of states are tried in each of at most `rounds` rounds.
    """

    direction: Literal["whole", "diagonal", "none"] = "none"
    splits: Literal["eigenvalue", "noise"] = "eigenvalue"
    steps: Literal["information", "fixed"] = "information"
    information_step: float = 0.1
    least_step: float = 0.02
    most_step: float = 0.25
    n_steps: int = 100
    margin: float = 0.1
    kick: float = 0.3
    noise: float = 0.02
    tolerance: float = 1e-5
    exchanges: int = 20
    rounds: int = 5

    def __post_init__(self) -> None:
        words = (("direction", DIRECTIONS), ("splits", SPLITS), ("steps", STEPS))
        for name, known in words:
            if getattr(self, name) not in known:
                raise DataError(f"{name} is one of {', '.join(known)}, not {getattr(self, name)!r}")
        for name in ("information_step", "least_step", "most_step", "tolerance", "kick"):
            if not getattr(self, name) > 0:
                raise DataError(f"{name} must be above 0, got {getattr(self, name)}")
        if self.n_steps < 1:
            raise DataError(f"n_steps is at least 1, got {self.n_steps}")
        for name in ("exchanges", "rounds", "margin", "noise"):
            if not getattr(self, name) >= 0:
                raise DataError(f"{name} is at least 0, got {getattr(self, name)}")


@dataclass(frozen=True)
class Point(Record):
    """One step of the course: where gamma was and what the solution was like there.

    `log_likelihood` is that of all rows (nats), `information` I(T_i; Y) of every hidden variable
    (nats), `n_states` how many states each has, `effective` how many of them the score tells apart.
    """

    gamma: float
    log_likelihood: float
    information: tuple[float, ...]
    n_states: tuple[int, ...]
    effective: tuple[int, ...]
    n_iterations: int
    what: str = ""
    held_out: float | None = None


@dataclass(frozen=True)
class Place:
    """Where the continuation is: the problem (its states may grow in number) and its solution.

    `vectors` are the eigenvectors found last, `slope` d I(T; Y) / d gamma of the last step.
    """

    problem: Any
    parameters: Any
    gamma: float
    objective: float
    vectors: tuple[Vector, ...]
    slope: float
    course: tuple[Point, ...]
    look: Look = field(repr=False)
    n_iterations: int = 0
    largest: float = 0.0
    """The largest eigenvalue of all hidden variables that may get another state."""
