"""Rows on a Dask cluster: every partition is coded, kept and counted where it is.

Any cluster that has a client will do. Sums are made on the workers, in the tree that
`unveil.engines.protocol.tree_sum` says, so that only totals travel. A worker that is lost takes its
parts along; Dask makes them again from their partitions, and the sums with them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from unveil.engines.ceiling import Ceiling
from unveil.engines.datasets import DatasetSource
from unveil.engines.frames import DaskSource, Partition
from unveil.engines.protocol import tree_sum
from unveil.engines.reading import begins, one_line
from unveil.engines.store import Remote, Store
from unveil.errors import DataError, UnveilError
from unveil.table.core import Table

__all__ = ["DaskRunner", "open_dask"]

T = TypeVar("T")


def open_dask(
    data: Any, table: str | None, query: str | None, n_jobs: int | None, ceiling: Ceiling
) -> tuple[Any, Any] | None:
    """The rows of a Dask data frame, on the client that is there; or Parquet read by its workers.

    Without a client, partitions are worked on by threads of this process.
    """
    own = type(data).__module__.partition(".")[0] in ("dask", "dask_expr")
    client = _client()
    if own:
        if not hasattr(data, "to_delayed") or not hasattr(getattr(data, "_meta", None), "columns"):
            raise DataError(
                f"of Dask, data frames can be read, not {type(data).__name__}; make one of it first"
            )
        if table or query:
            raise DataError("a Dask data frame is read as it is; leave out table and query")
        source = DaskSource(data)
        return source, None if client is None else DaskRunner(client)
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        if path.is_dir() or (path.is_file() and begins(path, b"PAR1")):
            if client is None:
                raise DataError(
                    "the engine 'dask' needs the client of a cluster, and there is none in this "
                    "process; connect first, in Python: "
                    'client = distributed.Client("scheduler:8786")'
                )
            return DatasetSource.of_path(path), DaskRunner(client)
    return None


class DaskRunner:
    """Work on the workers of a Dask cluster, each part where it is kept."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def n_workers(self) -> int:
        """How many tasks the cluster works on at once."""
        return max(1, sum(self._client.nthreads().values()))

    def each(self, work: Callable[..., T], items: Sequence[Any], *shared: Any) -> Iterator[T]:
        """`work(item, *shared)` of all items, in their order; few are begun before their turn."""
        held, ahead = self._hold(shared), 2 * self.n_workers
        begun: list[Any] = []
        for item in items:
            begun.append((self._begin(work, item, held), item))
            if len(begun) > ahead:
                yield _result(begun[0][0], [begun.pop(0)])
        while begun:
            yield _result(begun[0][0], [begun.pop(0)])

    def sum(
        self,
        work: Callable[..., T],
        items: Sequence[Any],
        *shared: Any,
        add: Callable[[T, T], T],
    ) -> T:
        """The sum of `work(item, *shared)` over all items, by `tree_sum`.

        Parts that are there are summed in blocks, each by one task: a block is a branch of the
        tree, so the bits are the same, and only its total is left to add.
        """
        held = self._hold(shared)
        begun: list[tuple[Any, Any]]
        if items and all(isinstance(item, Remote) for item in items):
            begun = [
                (self._on_block(work, block, held, add), block)
                for block in blocks(items, self.n_workers)
            ]
        else:
            begun = [(self._begin(work, item, held), item) for item in items]
        total: Any = tree_sum(
            (future for future, _ in begun),
            lambda a, b: self._client.submit(add, a, b, pure=False),
        )
        found: T = _result(total, begun)
        return found

    def keep(
        self, work: Callable[..., Any], items: Sequence[Any], *shared: Any, store: Store
    ) -> list[Remote]:
        """The tables that `work(item, *shared)` gives, on the workers that made them."""
        held = self._hold(shared)
        lists = [self._begin(_listed, item, held, work) for item in items]
        counted = [self._client.submit(_sizes, one, pure=False) for one in lists]
        sizes = [
            _result(one, [(tables, item)])
            for one, tables, item in zip(counted, lists, items, strict=True)
        ]
        return [
            Remote(self._client.submit(_nth, tables, i, pure=False), *size)
            for tables, own in zip(lists, sizes, strict=True)
            for i, size in enumerate(own)
        ]

    def arranged(self, parts: Sequence[Remote]) -> list[Remote]:
        """The parts moved so that every worker has about as many rows.

        What is summed by one task is on one worker then.
        """
        names = [name for name, n in sorted(self._client.nthreads().items()) for _ in range(n)]
        found = blocks(parts, self.n_workers)
        return [
            Remote(
                self._client.submit(
                    _itself, part.future, pure=False, **_preferably(names[worker])
                ),
                part.n_rows, part.weighted, names[worker],
            )
            for block, worker in zip(found, shared_out(found, len(names)), strict=True)
            for part in block
        ]  # fmt: skip

    def _on_block(self, work: Any, block: Sequence[Remote], held: Any, add: Any) -> Any:
        parts = [_futures(item) for item in block]
        return self._client.submit(
            _on_block, work, parts, held, add, pure=False, **_preferably(block[0].worker)
        )

    def _hold(self, shared: tuple[Any, ...]) -> Any:
        """What all tasks share, as a task of its own: it is made again if its worker is lost."""
        return self._client.submit(_itself, shared, pure=False)

    def _begin(self, work: Any, item: Any, held: Any, *more: Any) -> Any:
        if isinstance(item, Partition) or (
            isinstance(item, tuple) and isinstance(item[0], Partition)
        ):
            import dask

            first, *own = item if isinstance(item, tuple) else (item,)
            task = dask.delayed(_on_partition, pure=False)(
                work, first.rows, first.schema, first.name, tuple(own), held, more
            )
            return self._client.compute(task)
        return self._client.submit(_on_item, work, _futures(item), held, more, pure=False)


def blocks(items: Sequence[T], n_workers: int) -> list[Sequence[T]]:
    """The items in blocks that are branches of `tree_sum`, two for every worker if there are.

    >>> [list(block) for block in blocks("abcdefg", 1)]
    [['a', 'b'], ['c', 'd'], ['e', 'f'], ['g']]
    """
    size = 1
    while 4 * size * n_workers <= len(items):
        size *= 2
    return [items[start : start + size] for start in range(0, len(items), size)]


def shared_out(found: Sequence[Sequence[Remote]], n_workers: int) -> list[int]:
    """The worker that gets each block: large blocks first, to who has least rows so far."""
    rows = [sum(part.n_rows for part in block) for block in found]
    load, whose = [0] * max(1, n_workers), [0] * len(found)
    for i in sorted(range(len(found)), key=lambda i: -rows[i]):
        whose[i] = min(range(len(load)), key=load.__getitem__)
        load[whose[i]] += rows[i]
    return whose


def _result(future: Any, begun: Sequence[tuple[Any, Any]]) -> Any:
    """What a task gave; if it failed, an error with the name of the part that it failed on.

    `begun` are the tasks that it stands on, each with the item that it works on.
    """
    try:
        return future.result()
    except UnveilError:
        raise
    except Exception as error:
        failed = next((item for task, item in begun if task.status == "error"), None)
        first = failed[0] if isinstance(failed, tuple) else failed
        raise DataError(
            f"{getattr(first, 'name', 'the cluster')}: this part cannot be read or worked on: "
            f"{type(error).__name__}: {one_line(error)}"
        ) from error


def _on_block(work: Any, items: list[Any], shared: tuple[Any, ...], add: Any) -> Any:
    return tree_sum((work(item, *shared) for item in items), add)


def _preferably(worker: str | None) -> dict[str, Any]:
    """How a task is given to a worker, or to another one if that is lost."""
    return {} if worker is None else {"workers": [worker], "allow_other_workers": True}


def _futures(item: Any) -> Any:
    """The item with the cluster's own names for parts that are there."""
    if isinstance(item, tuple):
        return tuple(_futures(x) for x in item)
    return item.future if isinstance(item, Remote) else item


def _on_item(work: Any, item: Any, shared: tuple[Any, ...], more: tuple[Any, ...]) -> Any:
    return work(item, *more, *shared)


def _on_partition(
    work: Any, rows: Any, schema: Any, name: str, own: tuple[Any, ...], shared: Any, more: Any
) -> Any:
    piece = Partition(rows, schema, name)
    return work((piece, *own) if own else piece, *more, *shared)


def _itself(shared: Any) -> Any:
    return shared


def _listed(item: Any, work: Callable[..., Any], *shared: Any) -> list[Table]:
    return list(work(item, *shared))


def _sizes(tables: list[Table]) -> list[tuple[int, bool]]:
    return [(table.n_rows, table.weights is not None) for table in tables]


def _nth(tables: list[Table], i: int) -> Table:
    return tables[i]


def _client() -> Any:
    """The client of a cluster, if there is one in this process."""
    if "distributed" not in sys.modules:
        return None
    import distributed

    try:
        return distributed.get_client()
    except ValueError:
        return None
