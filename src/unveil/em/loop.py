"""The one EM loop: every model supplies a step, this file traces and stops.

A step takes parameters and gives better ones together with the objective *at the parameters it was
given*; so the trace is the exact objective of every iteration, and it may never fall.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from unveil.errors import UnveilWarning
from unveil.progress import Step, StopReason, Ticker, run

__all__ = ["EMRun", "run_em", "warn_of_fall"]

P = TypeVar("P")


@dataclass(frozen=True)
class EMRun(Generic[P]):
    """Where EM ended: parameters, the objective there, its trace, and why it stopped."""

    parameters: P
    objective: float
    trace: tuple[float, ...]
    stopped: StopReason

    @property
    def n_iterations(self) -> int:
        """How many times the expectations were computed."""
        return len(self.trace)


@dataclass(frozen=True)
class EMState(Generic[P]):
    """Parameters that were judged, better ones, the objective of the first, and how many so far."""

    parameters: P
    better: P
    objective: float
    iteration: int


def run_em(
    step: Callable[[P], tuple[P, float]],
    start: P,
    max_iterations: int = 500,
    tolerance: float = 1e-8,
    ticker: Ticker | None = None,
    phase: str = "EM",
) -> EMRun[P]:
    """Iterate `step` from `start` until the objective gains less than `tolerance` of itself.

    The parameters returned are those the last objective belongs to. A fall of the objective
    beyond rounding is a bug or a numerical breakdown, and warned about.

    >>> run_em(lambda x: (x / 2, -x * x), 1.0, tolerance=1e-3).stopped
    'converged'
    """

    def iteration(state: EMState[P]) -> tuple[EMState[P], Step]:
        better, objective = step(state.better)
        change = objective - state.objective if state.iteration else float("inf")
        number = state.iteration + 1
        warn_of_fall(change, objective, number)
        return EMState(state.better, better, objective, number), Step(
            phase, number, objective, change
        )

    def settled(state: EMState[P], info: Step) -> StopReason | None:
        gained = info.change > tolerance * (1.0 + abs(info.objective))
        return None if gained or state.iteration == 1 else "converged"

    first = EMState(start, start, float("-inf"), 0)
    found = run(iteration, first, settled, ticker, max_iterations)
    trace = tuple(info.objective for info in found.trace)
    return EMRun(found.state.parameters, found.state.objective, trace, found.stopped)


def warn_of_fall(change: float, objective: float, iteration: int) -> None:
    """Warn if the objective fell by more than rounding when it came to this value."""
    if change < -1e-7 * (1.0 + abs(objective)):
        warnings.warn(
            f"EM's objective fell from {objective - change:.10g} to {objective:.10g} in iteration "
            f"{iteration}; it must never fall, so please report this",
            UnveilWarning,
            stacklevel=3,
        )
