"""Work on parts in this process: one after the other, or on threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from unveil.engines.protocol import tree_sum
from unveil.engines.store import Store
from unveil.table.core import Table

__all__ = ["ThreadRunner"]

T = TypeVar("T")


class ThreadRunner:
    """Parts on `n_workers` threads; kernels and Arrow let go of the interpreter.

    >>> list(ThreadRunner(2).each(lambda x, y: x + y, [1, 2, 3], 10))
    [11, 12, 13]
    """

    def __init__(self, n_workers: int = 1) -> None:
        self.n_workers = n_workers

    def each(self, work: Callable[..., T], items: Iterable[Any], *shared: Any) -> Iterator[T]:
        """`work(item, *shared)` of all items, in their order; few are begun before their turn."""
        if self.n_workers == 1:
            for item in items:
                yield work(item, *shared)
            return
        with ThreadPoolExecutor(self.n_workers) as pool:
            begun: deque[Future[T]] = deque()
            try:
                for item in items:
                    begun.append(pool.submit(work, item, *shared))
                    if len(begun) > self.n_workers:
                        yield begun.popleft().result()
                while begun:
                    yield begun.popleft().result()
            finally:
                for future in begun:
                    future.cancel()

    def sum(
        self,
        work: Callable[..., T],
        items: Sequence[Any],
        *shared: Any,
        add: Callable[[T, T], T],
    ) -> T:
        """The sum of `work(item, *shared)` over all items, by `tree_sum`."""
        return tree_sum(self.each(work, items, *shared), add)

    def keep(
        self, work: Callable[..., Iterable[Table]], items: Sequence[Any], *shared: Any, store: Store
    ) -> list[Any]:
        """The tables that `work(item, *shared)` gives, in the store."""
        found = self.each(_kept, items, work, store, *shared)
        return [part for parts in found for part in parts]


def _kept(item: Any, work: Callable[..., Iterable[Table]], store: Store, *shared: Any) -> list[Any]:
    return [store.put(table) for table in work(item, *shared)]
