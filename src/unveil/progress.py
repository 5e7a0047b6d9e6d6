"""The one record that every long algorithm offers, and the one loop that drives them.

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

Long work is divided by giving each part a ticker of its own (`Ticker.part`): it tells the same
listener, stops when the whole stops, and has a share of the time that is left. A long call takes
either a listener or such a part as its `progress`.

An algorithm is settings, a first state, and `step(state) -> (state, info)`; `run` loops, traces,
stops and ticks. So each can be paused (keep the state), taken up again (run from it) and shown.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

from unveil.errors import UnveilWarning

__all__ = ["Listener", "Progress", "Run", "Step", "StopReason", "Ticker", "run"]

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
        self._whole: Ticker | None = None
        self._phase = ""
        self._last_look: Ticker | None = None
        self.reason: StopReason | None = None

    @classmethod
    def of(cls, progress: Progress | None, time_limit: float | None = None) -> Ticker:
        """The ticker of a call: its own for a listener, a part of the one it was given."""
        if isinstance(progress, Ticker):
            return progress.part(time_limit=time_limit)
        return cls(progress, time_limit)

    def part(self, phase: str = "", share: float = 1.0, time_limit: float | None = None) -> Ticker:
        """A ticker for one part of the work.

        It may take `share` of the time that is left, and at most `time_limit` seconds. Its steps go
        to the same listener, their phases behind `phase`. When the whole stops, so does the part;
        a part whose time is up stops alone.

        >>> whole = Ticker(lambda step: print(step.phase), time_limit=100)
        >>> whole.part("round 1", share=0.5).offer("EM", 1, -10.5)
        round 1: EM
        True
        """
        left = self.time_left()
        limits = [x for x in (time_limit, None if left is None else share * left) if x is not None]
        made = Ticker(None, min(limits, default=None))
        made._whole, made._phase = self, phase
        return made

    def last_look(self, seconds: float) -> Ticker:
        """A ticker of its own for what is done once the work was stopped; one for the whole of it.

        The seconds are those asked for first: whoever comes later has what is left of them.
        """
        if self._whole is not None:
            return self._whole.last_look(seconds)
        if self._last_look is None:
            self._last_look = Ticker(None, seconds)
        return self._last_look

    @property
    def elapsed(self) -> float:
        """Seconds since this ticker was made."""
        return time.monotonic() - self._started

    @property
    def elapsed_in_all(self) -> float:
        """Seconds since the ticker of the whole work was made."""
        return self.elapsed if self._whole is None else self._whole.elapsed_in_all

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
        return self.tell(Step(phase, iteration, objective, change, temperature, detail=detail))

    def tell(self, step: Step) -> bool:
        """The same with a step at hand; the listener hears how long the whole has taken so far."""
        if not self._is_heard:
            return self.keep_going()
        if self._whole is not None:
            words = [w for w in (self._phase, step.phase) if w]
            self._whole.tell(replace(step, phase=": ".join(words)))
        elif self._listener is not None:
            self._ask(self._listener, replace(step, elapsed=self.elapsed))
        return self.keep_going()

    @property
    def _is_heard(self) -> bool:
        """Whether anybody listens: to this ticker, or to the whole it is part of."""
        return self._listener is not None or (self._whole is not None and self._whole._is_heard)

    def keep_going(self) -> bool:
        """`False` once the listener asked to stop or the time is up."""
        if self.reason is None and self._whole is not None and not self._whole.keep_going():
            self.reason = self._whole.reason
        if self.reason is None and self._time_limit is not None:
            self.reason = "time limit" if self.elapsed >= self._time_limit else None
        return self.reason is None

    def _ask(self, listener: Listener, step: Step) -> None:
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
            if answer is False and self.reason is None:
                self.reason = "asked to stop"


Progress = Listener | Ticker
"""What a long call takes as `progress`: somebody who listens, or a part of a larger work."""

S = TypeVar("S")


@dataclass(frozen=True)
class Run(Generic[S]):
    """Where an algorithm ended: its last state, every step on the way, and why it stopped."""

    state: S
    trace: tuple[Step, ...]
    stopped: StopReason


def run(
    step: Callable[[S], tuple[S, Step]],
    state: S,
    done: Callable[[S, Step], StopReason | None],
    ticker: Ticker | None = None,
    max_steps: int | None = None,
) -> Run[S]:
    """The state after as many steps as it takes until `done` gives a reason or the ticker stops.

    `step` gives the next state and what a person wants to see of it; it is called at least once.
    After `max_steps` the reason is "iteration cap", unless another one came first.

    >>> halve = lambda x: (x / 2, Step("halving", 0, x / 2, change=-x / 2))
    >>> small = lambda x, info: "converged" if x < 0.1 else None
    >>> run(halve, 1.0, small).state
    0.0625
    """
    ticker = ticker or Ticker()
    trace: list[Step] = []
    while True:
        state, info = step(state)
        trace.append(replace(info, elapsed=ticker.elapsed))
        stopped = None if ticker.tell(info) else ticker.reason
        stopped = stopped or done(state, info)
        if stopped is None and max_steps is not None and len(trace) >= max_steps:
            stopped = "iteration cap"
        if stopped is not None:
            return Run(state, tuple(trace), stopped)
