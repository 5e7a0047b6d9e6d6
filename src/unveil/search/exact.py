"""The best graph of all, by dynamic programming over sets of variables.

Silander and Myllymaki (2006): every acyclic graph over a set W has a variable without children
there, which has the best parents it can find among the others,

    best(W) = max over c in W of best(W - c) + max over U in W - c of s(c, U).

All 2^n sets are looked at, in memory that is known beforehand.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

import numpy as np
import numpy.typing as npt

from unveil.errors import Hint, SizeError
from unveil.graph.dag import DAG
from unveil.kernels.subsets import best_networks, best_over_subsets, squeeze, widen
from unveil.kernels.threads import n_threads
from unveil.progress import Progress, Step, Ticker
from unveil.score.families import FamilyScores
from unveil.score.protocol import Families
from unveil.search.all_families import Work, members_of, score_all_families
from unveil.search.constraints import Constraints, Rules
from unveil.search.graph_state import dag_from
from unveil.search.hill_climbing import hill_climbing
from unveil.search.result import SearchResult

__all__ = ["exact_search", "memory_forecast"]

PHASE = "exact search"
BLOCK = 1 << 18

Numbers = npt.NDArray[np.float64]


def exact_search(
    scores: Families,
    start: DAG | None = None,
    constraints: Constraints | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> SearchResult:
    """A graph that no other graph beats, for up to about 25 variables.

    Time and memory double with every variable. Memory is 8 (n / 2 + 2) 2^n bytes, 3.9 GB for 25
    variables; when that is more than `memory_limit` (by default half of what the machine has
    free), the search is refused before it starts. Time goes mostly into the scores, some
    nanoseconds for each of 2^n sets and each distinct row; a limit on the number of parents
    (`Constraints.max_parents`) shortens it much but needs the same memory. For more variables take
    equivalence search, which usually finds the same graph in a moment.

    Dynamic programming has no best so far. So tabu climbing goes first; if the work is cut short,
    its graph is returned, and `stopped` says why. `start` is where it climbs from, and where the
    families that `Constraints.changeable` leaves alone have their parents from.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu, FamilyScores
    >>> scores = FamilyScores(datasets.table("college_plans"), BDeu(5))
    >>> late = Constraints(allowed_parents={"SEX": [], "SES": []}, tiers=[["IQ", "PE"], ["CP"]])
    >>> best = exact_search(scores, constraints=late)  # as Heckerman (1996) did: -45,653
    >>> round(best.score, 2), best.stopped
    (-45652.73, 'converged')
    """
    rules = (constraints or Constraints()).rules(scores.names, start)
    _check_memory(scores.n_variables, memory_limit)
    ticker = Ticker.of(progress, time_limit)
    climbed = hill_climbing(scores, start, constraints, tabu=20, progress=ticker)
    trace = [*climbed.trace]
    parents, score, stopped = None, climbed.score, climbed.stopped
    if climbed.stopped == "converged":
        parents = _Programme(scores, rules, ticker, climbed.score).run()
    if parents is not None:
        families = [(y, tuple(np.flatnonzero(row).tolist())) for y, row in enumerate(parents)]
        score = float(scores.many(families).sum())
        change = score - climbed.score
        trace.append(Step(PHASE, 1, score, change, elapsed=ticker.elapsed))
    dag = climbed.dag if parents is None else dag_from(parents, scores.names)
    return SearchResult.made(scores, ticker, PHASE, dag, score, trace, stopped=stopped)


def memory_forecast(n_variables: int) -> int:
    """The bytes that exact search needs for so many variables, besides the rows.

    One number per child and set of possible parents, and two per set of variables.

    >>> memory_forecast(25)
    3892314112
    """
    return 8 * (n_variables * 2**n_variables // 2 + 2 * 2**n_variables)


def _check_memory(n: int, limit: int | None) -> None:
    needed = memory_forecast(n)
    if limit is None:
        limit = _available_memory() // 2
    if needed > limit:
        fits = next(m for m in range(n, -1, -1) if memory_forecast(m) <= limit or m == 0)
        raise SizeError(
            f"exact search over {n} variables would need {_bytes(needed)}, more than the limit of "
            f"{_bytes(limit)} (by default half of the free memory). Within the limit are {fits} "
            "variables: leave some out, or take equivalence search, which has no such limit. "
            "Limiting the number of parents saves time but not memory.",
            hint=Hint("Or raise memory_limit."),
        )


def _available_memory() -> int:
    """What the machine has free, in bytes; 4 GiB where it does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(x.split()[1]) << 10 for x in lines if x.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4 << 30


def _bytes(number: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number} bytes"


class _Programme:
    """The dynamic programme, step by step; each step stops when the ticker says so."""

    def __init__(self, scores: Families, rules: Rules, ticker: Ticker, best: float) -> None:
        self.scores, self.rules, self.ticker = scores, rules, ticker
        self.best_so_far = best
        self.n = scores.n_variables
        self.n_ticks = 0

    def run(self) -> npt.NDArray[np.uint8] | None:
        """The matrix of parents of a best graph; `None` if stopped before it was found."""
        families = np.empty((self.n, 1 << self.n - 1))
        n_jobs = self.scores.n_jobs if isinstance(self.scores, FamilyScores) else None
        with ThreadPoolExecutor(n_threads(n_jobs)) as pool:
            work = Work(pool, self._finish, self._tick)
            if not score_all_families(self.scores, self.rules, work, families):
                return None
            tasks = [pool.submit(best_over_subsets, row) for row in families]
            if not self._finish(tasks, "best parents"):
                return None
        best = np.zeros(1 << self.n)
        for block in range(1, best.size, BLOCK):
            best_networks(families, block, min(block + BLOCK, best.size), best)
            if not self._tick("best networks"):
                return None
        return self._reconstruct(families, best)

    # The way back ------------------------------------------------------------------------------

    def _reconstruct(self, families: Numbers, best: Numbers) -> npt.NDArray[np.uint8]:
        """Read the graph off the tables: the last variable, its parents, the one before it, ..."""
        parents = np.zeros((self.n, self.n), np.uint8)
        left = best.size - 1
        while left:
            ends = {c: left ^ (1 << c) for c in members_of(left)}
            value = {c: best[rest] + families[c, squeeze(rest, c)] for c, rest in ends.items()}
            child = max(value, key=value.__getitem__)
            parents[child, members_of(self._smallest(families[child], child, ends[child]))] = 1
            left = ends[child]
        return parents

    @staticmethod
    def _smallest(row: Numbers, child: int, candidates: int) -> int:
        """The smallest set of parents among the candidates that is as good as the best one."""
        # A set whose value is not its own has a subset of the same value: drop until there is none.
        chosen = squeeze(candidates, child)
        while True:
            smaller = [chosen ^ (1 << b) for b in members_of(chosen)]
            chosen, before = next((s for s in smaller if row[s] == row[chosen]), chosen), chosen
            if chosen == before:
                return widen(chosen, child)

    # Progress ----------------------------------------------------------------------------------

    def _finish(self, tasks: list[Future[None]], detail: str) -> bool:
        """Wait for the tasks; when the work should stop, drop those not begun."""
        for done, task in enumerate(as_completed(tasks), start=1):
            if not task.cancelled():
                task.result()
            if not self._tick(f"{detail}: {done / len(tasks):.0%}"):
                for other in tasks:
                    other.cancel()
                return False
        return True

    def _tick(self, detail: str) -> bool:
        self.n_ticks += 1
        return self.ticker.offer(PHASE, self.n_ticks, self.best_so_far, detail=detail)
