"""The contract of engines: a source gives rows piece by piece, a runner does work on many parts.

An engine is one of each. A *piece* is what a source can read by itself (some row groups of a
Parquet file, a range of rows of a database, a partition of a cluster). It becomes *parts*: tables
in memory, coded by the same variables, of a bounded number of rows. Whatever is asked of the rows
is a function from a part to statistics that add up; the sums are made in a fixed tree, so that the
number of workers changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from unveil.engines.store import Store
    from unveil.table.core import Table

__all__ = ["Arranging", "Piece", "Runner", "Source", "tree_sum"]

T = TypeVar("T")


class Piece(Protocol):
    """Rows that can be read by themselves, here or on a worker."""

    @property
    def name(self) -> str:
        """What messages call it: the file, and where in it."""

    def tables(self, columns: Sequence[str] | None, n_rows: int) -> Iterator[Any]:
        """The rows as Arrow tables of `n_rows` each (the last of fewer), always the same ones.

        A `DataError` that names the piece if it cannot be read or is not what it was.
        """


class Source(Protocol):
    """Where the rows are."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def schema(self) -> Any:
        """The Arrow schema of the columns."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known beforehand."""

    @property
    def texts(self) -> frozenset[str]:
        """The columns of plain text that are delivered as Arrow dictionaries."""

    def pieces(self) -> Sequence[Piece]:
        """The pieces, always in the same order."""


class Runner(Protocol):
    """Who does the work on parts, and how many at a time."""

    @property
    def n_workers(self) -> int:
        """How many parts are worked on at once."""

    def each(self, work: Callable[..., T], items: Sequence[Any], *shared: Any) -> Iterator[T]:
        """`work(item, *shared)` of all items, in their order."""

    def sum(
        self,
        work: Callable[..., T],
        items: Sequence[Any],
        *shared: Any,
        add: Callable[[T, T], T],
    ) -> T:
        """The sum of `work(item, *shared)` over all items, by `tree_sum`."""

    def keep(
        self, work: Callable[..., Iterable[Table]], items: Sequence[Any], *shared: Any, store: Store
    ) -> list[Any]:
        """The tables that `work(item, *shared)` gives for all items, kept for `each` and `sum`.

        What stands for a table knows its `n_rows`, and `load` gives it.
        """


@runtime_checkable
class Arranging(Protocol):
    """A runner that can move parts to where they are best worked on; others need not."""

    def arranged(self, parts: Sequence[Any]) -> list[Any]:
        """The same parts in the same order, shared out evenly among the workers."""


def tree_sum(items: Iterator[T], add: Callable[[T, T], T]) -> T:
    """The sum of the items in a tree that depends on their number alone.

    Neighbours are added first, then neighbouring sums: rounding errors grow with the depth of the
    tree, and whoever delivers the items in order gets the same bits.

    >>> tree_sum(iter("abcde"), lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    sums: list[tuple[int, T]] = []
    for item in items:
        level = 0
        while sums and sums[-1][0] == level:
            item = add(sums.pop()[1], item)
            level += 1
        sums.append((level, item))
    if not sums:
        raise ValueError("nothing to add up")
    _, total = sums.pop()
    while sums:
        total = add(sums.pop()[1], total)
    return total
