"""Work of many small steps, told and stopped: a listener hears of one of them in a while.

Candidates are made by thousands of searches and EM runs. Each asks before every step whether the
whole should stop, so limits bind inside of it; the listener itself is called a few times a second.
"""

from __future__ import annotations

import time
from typing import TypedDict

from unveil.progress import Listener, Step, Ticker

__all__ = ["Limits", "graced", "inside", "steps_of"]

SECONDS = 0.2
"""So long nothing is told of small steps."""
GRACE = 1.0, 0.05
"""Seconds, or this share of the time taken so far, for a last look once the work was stopped."""


class Limits(TypedDict):
    """Arguments that every search and every EM takes."""

    progress: Listener
    time_limit: float | None


def inside(ticker: Ticker) -> Limits:
    """Arguments by which a long call stops when the ticker does.

    >>> heard = []
    >>> limits = inside(Ticker(heard.append, time_limit=60))
    >>> limits["progress"](Step("EM", 1, -10.5)), heard
    (True, [])
    """
    last = time.monotonic()

    def listener(step: Step) -> bool:
        nonlocal last
        if not ticker.keep_going() or time.monotonic() - last < SECONDS:
            return ticker.keep_going()
        last = time.monotonic()
        return ticker.tell(step)

    return Limits(progress=listener, time_limit=ticker.time_left())


def steps_of(ticker: Ticker) -> Listener:
    """The same for a call that takes a listener only."""
    return inside(ticker)["progress"]


def graced(ticker: Ticker) -> Ticker:
    """The ticker while it goes on; afterwards one that allows for a last look.

    What is best so far can only be given if it was looked at. Where that takes longer than a
    moment, there is none. All last looks of one work share that moment.

    >>> stopped = Ticker(time_limit=0)
    >>> graced(stopped).time_left() > 0.9
    True
    """
    if ticker.keep_going():
        return ticker
    least, share = GRACE
    return ticker.last_look(max(least, share * ticker.elapsed_in_all))
