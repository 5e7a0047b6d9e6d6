"""What is done with one part: a function from its table to statistics that add up.

Functions of a module, so that the workers of a cluster know them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unveil.engines.ceiling import BASE, size_words
from unveil.engines.store import loaded
from unveil.errors import Hint, SizeError
from unveil.statistics.counting import compact_positions
from unveil.statistics.memory import MemoryStatistics
from unveil.statistics.moments import ConditionalMoments
from unveil.table.core import Table
from unveil.table.options import Unknown
from unveil.table.variable import Variable

__all__ = [
    "Half",
    "Merged",
    "added",
    "conformed",
    "counted",
    "counted_in_shares",
    "dealt",
    "distinct",
    "drawn",
    "mass",
    "moments",
    "on_own_part",
    "on_part",
    "same",
    "weighed",
]

Numbers = npt.NDArray[np.float64]
T = TypeVar("T")
Half = tuple[int, int]
"""Which of two halves of the rows, and the seed that they are dealt by."""

BEYOND_COUNTING = 2.0**52
"""Weights from here on are no numbers of cases that could be dealt one by one."""


def added(a: Any, b: Any) -> Any:
    """The sum of two statistics: numbers, arrays, moments, or lists and tuples of such.

    >>> added([1, (2.0,)], [10, (20.0,)])
    [11, (22.0,)]
    """
    if isinstance(a, (list, tuple)):
        both = [added(x, y) for x, y in zip(a, b, strict=True)]
        return both if isinstance(a, list) else tuple(both)
    return a + b


def on_part(
    part: Any, work: Callable[..., T], names: tuple[str, ...], half: Half | None, *shared: Any
) -> T:
    table = loaded(part)
    table = table if table.names == names else table.select(names)
    return work(table if half is None else dealt(table, *half), *shared)


def on_own_part(
    item: tuple[Any, ...],
    work: Callable[..., T],
    names: tuple[str, ...],
    half: Half | None,
    *shared: Any,
) -> T:
    part, *own = item
    return on_part(part, work, names, half, *own, *shared)


def dealt(table: Table, which: int, seed: int) -> Table:
    """The rows of one half: cases are dealt one by one, and what is left of a weight whole.

    Of weights beyond counting each half has one half.
    """
    generator = np.random.default_rng([seed, table.n_rows])
    if table.weights is None:
        return table.take(generator.integers(2, size=table.n_rows) == which)
    weights = table.weights
    countable = np.where(weights < BEYOND_COUNTING, weights, 0.0)
    cases = np.floor(countable)
    first = generator.binomial(cases.astype(np.int64), 0.5).astype(np.float64)
    if (cases != weights).any():
        first += generator.integers(2, size=table.n_rows) * (countable - cases)
        first += 0.5 * (weights - countable)
    own = weights - first if which else first
    return table.with_weights(own).take(own > 0)


def conformed(table: Table, variables: tuple[Variable, ...], unknown: Unknown) -> list[Table]:
    return [table.conform(variables, unknown=unknown)]


def weighed(table: Table) -> list[float]:
    missing = (float(table.missing(name).sum()) for name in table.names)
    return [table.total_weight, float(table.n_rows), *missing]


def drawn(table: Table, n_rows: int, seed: int) -> Table:
    """Rows drawn without replacement, where every row counts once; as they weigh, otherwise."""
    generator = np.random.default_rng(seed)
    if table.weights is None:
        rows = generator.choice(table.n_rows, min(n_rows, table.n_rows), replace=False)
        return table.take(np.sort(rows))
    drawn = generator.multinomial(n_rows, table.weights / table.weights.sum())
    kept = np.flatnonzero(drawn)
    return table.take(kept).with_weights(drawn[kept].astype(np.float64))


def same(table: Table) -> Table:
    return table


def mass(table: Table) -> float:
    return table.total_weight


def counted(table: Table, sets: list[tuple[int, ...]]) -> Numbers:
    from unveil.kernels.numbers import fixed
    from unveil.kernels.parts import count_sets

    used = sorted({m for members in sets for m in members})
    cards = {m: table.variables[m].n_states for m in used}
    place = {m: i for i, m in enumerate(used)}
    sizes = [math.prod(cards[m] for m in members) for members in sets]
    if not used:
        return np.full(len(sets), table.total_weight)
    strides = [
        math.prod(cards[k] for k in members[i + 1 :])
        for members in sets
        for i in range(len(members))
    ]
    out = np.zeros(sum(sizes))
    count_sets(
        table.codes([table.names[m] for m in used]),
        fixed(np.zeros(0) if table.weights is None else table.weights),
        np.array([place[m] for members in sets for m in members], np.int64),
        np.array(strides, np.int64),
        np.cumsum([0, *(len(members) for members in sets)], dtype=np.int64),
        np.cumsum([0, *sizes], dtype=np.int64),
        out,
    )
    return out


def counted_in_shares(
    table: Table, sets: list[tuple[int, ...]], shares: Callable[..., Numbers], *shared: Any
) -> Numbers:
    weights = shares(table, *shared) * table.row_weights
    return np.stack([counted(table.with_weights(own), sets) for own in weights])


def moments(table: Table, members: tuple[int, ...], by: tuple[int, ...]) -> ConditionalMoments:
    return MemoryStatistics(table).moments(members, by)


Assignments = tuple[npt.NDArray[np.int64], Numbers]


def distinct(table: Table, members: tuple[int, ...], cards: list[int], most: int) -> Assignments:
    found = MemoryStatistics(table).distinct(members)
    return found.codes, found.weights


class Merged:
    """The distinct assignments of two parts together, in cell order."""

    def __init__(self, cards: Sequence[int], most: int) -> None:
        self._cards, self._most = list(cards), most

    def __call__(self, a: Assignments, b: Assignments) -> Assignments:
        codes = np.concatenate([a[0], b[0]])
        if 4 * codes.nbytes > self._most:
            raise SizeError(
                f"the columns have more than {len(codes) // 2:,} different rows, whose list needs "
                f"{size_words(BASE + 4 * codes.nbytes)} of memory; allow more",
                hint=Hint("(memory=...)", "(--memory)"),
            )
        weights = np.concatenate([a[1], b[1]])
        key = compact_positions(list(codes.T), self._cards, len(codes))
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        return codes[first], np.bincount(which.reshape(-1), weights, len(first)).astype(np.float64)
