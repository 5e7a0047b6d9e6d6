"""Inserts of greedy equivalence search: which help, and which are valid (Chickering 2002)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.classes import Lists
from unveil.kernels.compiled import compiled

__all__ = ["first_valid_insert", "helpful_inserts"]

Array = npt.NDArray[Any]


@compiled
def helpful_inserts(
    gains: Array, least: float, blocked: Array, adjacent: Array, around: Array, y: int
) -> tuple[Array, Array, Array]:
    """The inserts into y that gain more than `least`, best first: cliques, new parents and gains.

    `gains[i, x]` is the gain with clique i, whose members row i of `blocked` marks, out of the
    neighbours `around` y. The clique of an insert of x holds all of these that are adjacent to x.
    """
    which = np.empty(gains.size, np.int64)
    xs = np.empty(gains.size, np.int64)
    size = 0
    for i in range(gains.shape[0]):
        for x in range(gains.shape[1]):
            fits = gains[i, x] > least and not adjacent[y, x]
            if fits:
                for v in around:
                    if adjacent[v, x] and not blocked[i, v]:
                        fits = False
            if fits:
                which[size], xs[size] = i, x
                size += 1
    loss = np.empty(size)
    for k in range(size):
        loss[k] = -gains[which[k], xs[k]]
    order = np.argsort(loss, kind="mergesort")  # which is stable
    return which[order], xs[order], -loss[order]


@compiled
def first_valid_insert(
    after: Lists, y: int, xs: Array, which: Array, blocked: Array, start: int, witness: Array
) -> int:
    """The rank of the first valid insert into y from `start` on; their number if there is none.

    `after` lists the children and neighbours of every node. Option i adds `xs[i]` with the clique
    of which row `which[i]` of `blocked` marks the members. An insert is valid when every
    semi-directed path from y to x meets the clique (Theorem 15): x is not among the nodes that y
    reaches past the clique. These are found once per clique.

    For every option found invalid, the nodes of a shortest path from y to x, without y, get a one
    in column y of `witness`: it stays invalid while none of them loses a parent or neighbour.
    """
    n = after.first.size - 1
    reached = blocked.copy()
    before = np.empty(blocked.shape, np.int32)
    queue = np.empty(n, np.int64)
    for i in range(start, xs.size):
        seen, back = reached[which[i]], before[which[i]]
        if not seen[y]:
            seen[y] = 1
            queue[0] = y
            begin, end = 0, 1
            while begin < end:
                v = queue[begin]
                begin += 1
                for k in range(after.first[v], after.first[v + 1]):
                    w = after.members[k]
                    if not seen[w]:
                        seen[w] = 1
                        back[w] = v
                        queue[end] = w
                        end += 1
        v = xs[i]
        if not seen[v]:
            return i
        while v != y:
            witness[v, y] = 1
            v = back[v]
    return xs.size
