"""Candidates worked on side by side: in processes of their own, where that pays.

Most of the work is done by Python between short kernels, so threads would only wait for each other.
Processes take a second or two to start: the first item of every piece of work is done here, and
only if the rest would take long is it handed out. The results are the same either way.
"""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from os import cpu_count, getpid
from typing import Any

from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Refused
from unveil.progress import Ticker

__all__ = ["Work", "Workers"]

Found = list[Candidate | Refused]
Work = Callable[[Bench, Any, Ticker], Found]
"""What is done with one item; a function of a module, so that other processes know it."""

WORTH_STARTING = 5.0
"""Seconds of work ahead from which on processes are started for it."""
WORTH_SENDING = 1.0
"""The same, once they run."""


class Workers:
    """As many processes as there are cores, or `n_jobs`, started when there is enough to do."""

    def __init__(self, n_jobs: int | None = None, worth_starting: float = WORTH_STARTING) -> None:
        self.n_jobs = n_jobs or cpu_count() or 1
        self._worthwhile = worth_starting

    def in_turn(
        self, work: Work, bench: Bench, items: Sequence[Any], ticker: Ticker
    ) -> list[Found]:
        """What the work gives for every item, in their order, told as steps of the ticker.

        When that stops, the items not yet done are left out; all of them, if it had stopped before
        the work began.
        """
        if not ticker.keep_going():
            return []
        done: list[Found] = []
        best = 0.0
        with closing(self._results(work, bench, items, ticker)) as results:
            for found in results:
                done.append(found)
                best = max([best, *(c.gain for c in found if isinstance(c, Candidate))])
                words = f"{len(done)} of {len(items)} candidates, best gain {best:+.1f}"
                if not ticker.offer("", len(done), bench.score + best, detail=words):
                    break
        return done

    def _results(
        self, work: Work, bench: Bench, items: Sequence[Any], ticker: Ticker
    ) -> Generator[Found, None, None]:
        if not items:
            return
        started = time.monotonic()
        yield work(bench, items[0], ticker)
        rest = items[1:]
        ahead = (time.monotonic() - started) * len(rest)
        if self.n_jobs == 1 or len(rest) < 2 or ahead < self._worthwhile:
            for item in rest:
                yield work(bench, item, ticker)
            return
        from joblib import Parallel, delayed

        self._worthwhile = min(self._worthwhile, WORTH_SENDING)
        # A listener cannot go along; the time limit can.
        alone = Ticker(None, ticker.time_left())
        task = delayed(partial(_deaf_to_interrupts, work, bench, alone, getpid()))
        results = Parallel(n_jobs=self.n_jobs, return_as="generator")(task(item) for item in rest)
        try:
            # `yield from` would close them too early, outside of the filter below.
            for found in results:  # noqa: UP028
                yield found
        finally:
            with warnings.catch_warnings():
                # Stopped early, it says that tasks were cancelled: that is what was asked for.
                warnings.simplefilter("ignore")
                results.close()


def _deaf_to_interrupts(
    work: Work, bench: Bench, ticker: Ticker, asked_by: int, item: Any
) -> Found:
    """The work in another process: whoever asked for it decides what Ctrl-C means.

    Inside of someone else's parallel work there may be no other process.
    """
    if getpid() != asked_by:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return work(bench, item, ticker)
