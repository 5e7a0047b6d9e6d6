"""Spreading work over threads: kernels let go of the interpreter, so threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

__all__ = ["Threads", "in_threads", "n_threads"]


def n_threads(n_jobs: int | None = None) -> int:
    """The number of threads that `n_jobs` stands for: all cores if not given."""
    return n_jobs or os.cpu_count() or 1


def in_threads(work: Callable[[int], None], n_parts: int, n_jobs: int | None = None) -> None:
    """Do `work(0)` to `work(n_parts - 1)` on up to `n_jobs` threads."""
    if n_parts == 1:
        work(0)
        return
    threads = Threads(min(n_threads(n_jobs), max(n_parts, 1)))
    threads.each(work, n_parts)
    threads.close()


class Threads:
    """A number of threads that are kept from one call to the next.

    One thread means this one. What is computed must not depend on how it is divided.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_threads(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def each(self, work: Callable[[int], None], n_parts: int) -> None:
        """Do `work(0)` to `work(n_parts - 1)`."""
        if self.n_jobs == 1 or n_parts < 2:
            for part in range(n_parts):
                work(part)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_jobs)
        for task in [self._pool.submit(work, part) for part in range(n_parts)]:
            task.result()

    def close(self) -> None:
        """Let the threads go; the next call would start new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def blocks(self, work: Callable[[int, int], None], n_items: int) -> None:
        """Do `work(start, stop)` over all items, in a few blocks per thread."""
        if self.n_jobs == 1 or n_items < 2:
            work(0, n_items)
            return
        edges = np.linspace(0, n_items, min(n_items, 4 * self.n_jobs) + 1).astype(int).tolist()
        spans = list(pairwise(edges))
        self.each(lambda i: work(*spans[i]), len(spans))
