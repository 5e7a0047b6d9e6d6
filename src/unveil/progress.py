"""The one record that every long algorithm offers to whoever listens.

Algorithms do not print. After each step they call `progress(Step(...))` if the caller gave a
listener. A listener that returns `False` asks the algorithm to stop with the best so far. A
listener that raises an ordinary exception is dropped with a warning: a broken progress bar must
not break a fit.

    >>> seen = []
    >>> ticker = Ticker(lambda step: seen.append(step.iteration))
    >>> ticker.offer("hill climbing", 1, objective=-10.5)
    True
    >>> seen
    [1]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from unveil.errors import UnveilWarning

__all__ = ["Listener", "Step", "StopReason", "Ticker"]

StopReason = Literal["converged", "iteration cap", "time limit", "asked to stop", "stalled"]


@dataclass(frozen=True)
class Step:
    """What a person wants to see of one step of a long algorithm."""

    phase: str
    iteration: int
    objective: float
    change: float = float("nan")
    temperature: float = float("nan")
    elapsed: float = 0.0
    detail: str = ""


Listener = Callable[[Step], object]


class Ticker:
    """Offers steps to a listener and knows whether the work should stop.

    `reason` stays `None` until the listener returns `False` ("asked to stop") or `time_limit`
    seconds have passed ("time limit").
    """

    def __init__(self, listener: Listener | None = None, time_limit: float | None = None) -> None:
        self._listener = listener
        self._started = time.monotonic()
        self._time_limit = time_limit
        self.reason: StopReason | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since this ticker was made."""
        return time.monotonic() - self._started

    def time_left(self) -> float | None:
        """Seconds until the time limit, or `None` without one."""
        return None if self._time_limit is None else max(0.0, self._time_limit - self.elapsed)

    def offer(
        self,
        phase: str,
        iteration: int,
        objective: float,
        change: float = float("nan"),
        temperature: float = float("nan"),
        detail: str = "",
    ) -> bool:
        """Tell the listener about a step; `True` if the work should go on."""
        if self._listener is not None:
            step = Step(phase, iteration, objective, change, temperature, self.elapsed, detail)
            self._tell(self._listener, step)
        return self.keep_going()

    def keep_going(self) -> bool:
        """`False` once the listener asked to stop or the time is up."""
        out_of_time = self._time_limit is not None and self.elapsed >= self._time_limit
        if self.reason is None and out_of_time:
            self.reason = "time limit"
        return self.reason is None

    def _tell(self, listener: Listener, step: Step) -> None:
        try:
            answer = listener(step)
        except Exception as error:
            self._listener = None
            warnings.warn(
                f"the progress listener failed with {type(error).__name__}: {error}. "
                "It will not be called again; the work goes on.",
                UnveilWarning,
                stacklevel=4,
            )
        else:
            if answer is False:
                self.reason = "asked to stop"
