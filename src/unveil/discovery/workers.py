"""Candidates worked on side by side: in processes of their own, where that pays.

Most of the work is done by Python between short kernels, so threads would only wait for each other.
Processes take a second or two to start: the first item of every piece of work is done here, and
only if the rest would take long is it handed out. The results are the same either way, and what a
process cannot do is done here.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from os import cpu_count
from typing import Any, TypeVar

from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Refused
from unveil.discovery.notes import Page
from unveil.discovery.processes import Died, Processes
from unveil.errors import UnveilWarning
from unveil.progress import Step, Ticker

__all__ = ["Found", "Work", "Workers"]

Found = list[Candidate | Refused]
Work = Callable[[Bench, Any, Ticker], Found]
"""What is done with one item; a function of a module, so that other processes know it."""
R = TypeVar("R")

WORTH_STARTING = 5.0
"""Seconds of work ahead from which on processes are started for it."""
WORTH_SENDING = 1.0
"""The same, once they run."""
MOST_NAMED = 6
"""So many children of a candidate are told with its step."""


class Workers:
    """As many processes as there are cores, or `n_jobs`, started when there is enough to do."""

    def __init__(self, n_jobs: int | None = None, worth_starting: float = WORTH_STARTING) -> None:
        self.n_jobs = n_jobs or cpu_count() or 1
        self._worthwhile = worth_starting
        self._processes = Processes(self.n_jobs)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.end()

    def in_turn(
        self,
        work: Work,
        bench: Bench,
        items: Sequence[Any],
        ticker: Ticker,
        page: Page | None = None,
    ) -> list[Found]:
        """What the work gives for every item, in their order, told as steps of the ticker.

        When that stops, the items not yet done are left out; all of them, if it had stopped before
        the work began. What is noted on the `page` is not done again, and what is done (and not
        cut short) is noted there.
        """
        if not ticker.keep_going():
            return []
        known = {} if page is None else page.known()
        unknown = [i for i in range(len(items)) if i not in known]
        done: list[Found] = []
        best = 0.0
        with closing(self._results(work, bench, [items[i] for i in unknown], ticker)) as results:
            for number in range(len(items)):
                if number in known:
                    found = known[number]
                else:
                    answer = next(results, None)
                    if answer is None:
                        break
                    found, whole = answer[0] or [], answer[1]
                    if whole and page is not None:
                        page.note(number, found)
                done.append(found)
                best = max([best, *(c.gain for c in found if isinstance(c, Candidate))])
                words = f"{len(done)} of {len(items)} candidates, best gain {best:+.1f}"
                words += _in_words(found)
                if not ticker.offer("", len(done), bench.score + best, detail=words):
                    break
        return done

    def each(
        self,
        work: Callable[[Bench, Any, Ticker], R | None],
        bench: Bench,
        items: Sequence[Any],
        ticker: Ticker,
        words: str,
    ) -> Generator[R, None, None]:
        """What the work gives for every item, in their order; the end, if it was stopped.

        `words` is what the items are called when they are told.
        """
        done = 0
        with closing(self._results(work, bench, items, ticker)) as results:
            for found, whole in results:
                done += 1
                told = f"{words} {done} of {len(items)}"
                if found is None or not whole:
                    return
                yield found
                if not ticker.offer("", done, float("nan"), detail=told):
                    return

    def _results(
        self,
        work: Callable[[Bench, Any, Ticker], R],
        bench: Bench,
        items: Sequence[Any],
        ticker: Ticker,
    ) -> Generator[tuple[R | None, bool], None, None]:
        """What comes of every item, and whether it is all that could; `None` for one that died."""

        def here(item: Any) -> tuple[R, bool]:
            return work(bench, item, ticker), ticker.keep_going()

        if not items:
            return
        started = time.monotonic()
        yield here(items[0])
        rest = items[1:]
        ahead = (time.monotonic() - started) * len(rest)
        if self.n_jobs == 1 or len(rest) < 2 or ahead < self._worthwhile or _among_others():
            for item in rest:
                yield here(item)
            return
        self._worthwhile = min(self._worthwhile, WORTH_SENDING)

        def go_on() -> bool:
            waiting = Step("side by side", 0, float("nan"), detail=f"{self.n_jobs} processes")
            return ticker.tell(waiting)

        there = self._processes.results(work, bench, rest, go_on, ticker.time_left())
        with closing(there) as answers:
            for item, answer in zip(rest, answers, strict=False):
                if answer is None:
                    yield here(item)
                elif isinstance(answer, Died):
                    warnings.warn(
                        "a candidate was left out: the process that worked on it ended twice, "
                        "perhaps for want of memory",
                        UnveilWarning,
                        stacklevel=2,
                    )
                    yield None, False
                elif answer.error is not None:
                    raise answer.error
                else:
                    yield answer.result, not answer.cut_short


def _in_words(found: Found) -> str:
    """The best of what an item gave: which variables it is behind, and its gain."""
    candidates = [c for c in found if isinstance(c, Candidate)]
    if not candidates:
        return ""
    last = max(candidates, key=lambda c: c.gain)
    names = list(last.children[:MOST_NAMED]) + ["..."] * (len(last.children) > MOST_NAMED)
    return f"; last behind {', '.join(names)}: {last.gain:+.1f}"


def _among_others() -> bool:
    """Whether this is part of somebody else's parallel work: then no processes are started."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    in_threads = getattr(backend, "supports_sharedmem", False)
    return in_threads or bool(backend.nesting_level) or backend.effective_n_jobs(2) == 1
