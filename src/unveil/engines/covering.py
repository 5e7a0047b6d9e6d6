"""Few tables that hold many: sets of columns that are counted together.

Who asks for the counts of a thousand sets of three columns out of twenty is served by some eighty
sets of six or seven: the counts of a part of a set are sums over the others. A walk over rows costs
what the sets cost that are counted in it, and adding up a table of a few thousand cells costs
nothing beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["covering", "summed_to"]

Members = tuple[int, ...]
Numbers = npt.NDArray[np.float64]

MOST_CELLS = 4096
"""Sets are joined up to so many cells: what a processor has at hand."""
MOST_SETS = 512
"""Among so many of the last sets it is looked for one to join."""


def covering(sets: Sequence[Sequence[int]], cards: Mapping[int, int]) -> list[Members]:
    """For every set, a set that holds it, of few different ones; members in ascending order.

    >>> covering([(0, 1), (1, 2), (0, 2), (5,)], {0: 2, 1: 2, 2: 2, 5: 4096})
    [(0, 1, 2), (0, 1, 2), (0, 1, 2), (5,)]
    """
    order = sorted(range(len(sets)), key=lambda i: (-len(sets[i]), sorted(sets[i])))
    unions: list[int] = []
    sizes: list[int] = []
    chosen = [0] * len(sets)
    for i in order:
        mask = sum(1 << m for m in sets[i])
        own = _cells(mask, cards)
        best, least = -1, MOST_CELLS + 1
        for u in range(len(unions) - 1, max(-1, len(unions) - 1 - MOST_SETS), -1):
            outside = mask & ~unions[u]
            if not outside:
                best = u
                break
            if own > MOST_CELLS:
                continue
            size = sizes[u] * _cells(outside, cards)
            if size < least:
                best, least = u, size
        if best < 0:
            unions.append(mask)
            sizes.append(own)
            best = len(unions) - 1
        elif mask & ~unions[best]:
            unions[best] |= mask
            sizes[best] = least
        chosen[i] = best
    return [_members(unions[u]) for u in chosen]


def summed_to(counts: Numbers, members: Members, wanted: Sequence[int]) -> Numbers:
    """The counts of some of the members, one axis each in the order wanted.

    Axes that come before those of the members stay where they are.

    >>> summed_to(np.array([[1.0, 2.0], [3.0, 4.0]]), (3, 8), [8])
    array([4., 6.])
    """
    first = counts.ndim - len(members)
    left = [m for m in members if m in set(wanted)]
    gone = tuple(first + i for i, m in enumerate(members) if m not in left)
    table = counts.sum(axis=gone) if gone else counts
    order = [*range(first), *(first + left.index(m) for m in wanted)]
    return np.asarray(table).transpose(order)


def _cells(mask: int, cards: Mapping[int, int]) -> int:
    size = 1
    while mask:
        low = mask & -mask
        size *= cards[low.bit_length() - 1]
        mask ^= low
    return size


def _members(mask: int) -> Members:
    return tuple(m for m in range(mask.bit_length()) if mask >> m & 1)
