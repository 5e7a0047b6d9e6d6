"""The one EM loop: every model supplies a step, this file loops, traces and stops.

A step takes parameters and gives better ones together with the objective *at the parameters it was
given*; so the trace is the exact objective of every iteration, and it may never fall.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from unveil.errors import UnveilWarning
from unveil.progress import StopReason, Ticker

__all__ = ["EMRun", "run_em"]

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
    ticker = ticker or Ticker()
    parameters = start
    trace: list[float] = []
    while True:
        better, objective = step(parameters)
        change = objective - trace[-1] if trace else float("inf")
        trace.append(objective)
        if change < -1e-7 * (1.0 + abs(objective)):
            warnings.warn(
                f"EM's objective fell from {trace[-2]:.10g} to {objective:.10g} in iteration "
                f"{len(trace)}; it must never fall, so please report this",
                UnveilWarning,
                stacklevel=2,
            )
        stopped: StopReason | None = None
        if not ticker.offer(phase, len(trace), objective, change):
            stopped = ticker.reason
        elif len(trace) > 1 and change <= tolerance * (1.0 + abs(objective)):
            stopped = "converged"
        elif len(trace) >= max_iterations:
            stopped = "iteration cap"
        if stopped is not None:
            return EMRun(parameters, objective, tuple(trace), stopped)
        parameters = better
