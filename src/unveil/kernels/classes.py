"""Equivalence classes of graphs as matrices: complete them, extend them.

A partially directed graph is a byte matrix `parents[y, x]`: x -> y has only that entry, x - y has
both it and `parents[x, y]`. The plain twins are `unveil.graph.completed_pdag` and
`unveil.graph.consistent_extension`.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["complete", "extend", "first_valid_insert"]

Array = npt.NDArray[Any]


@numba.njit(cache=True, nogil=True)
def _topological_order(parents: Array) -> Array:
    n = parents.shape[0]
    waiting = np.zeros(n, np.int64)
    for y in range(n):
        for x in range(n):
            waiting[y] += parents[y, x]
    order = np.empty(n, np.int64)
    end = 0
    for y in range(n):
        if waiting[y] == 0:
            order[end] = y
            end += 1
    start = 0
    while start < end:
        x = order[start]
        start += 1
        for y in range(n):
            if parents[y, x]:
                waiting[y] -= 1
                if waiting[y] == 0:
                    order[end] = y
                    end += 1
    return order


@numba.njit(cache=True, nogil=True)
def complete(parents: Array) -> Array:
    """The completed partially directed graph of a DAG's class (Chickering 1995, Label-Edges).

    All arcs into y are settled by a look at y's nearest parent x: compelled if a compelled parent
    of x is no parent of y or if y has a parent that is neither x nor a parent of x; otherwise
    w -> y is compelled exactly when w -> x is.
    """
    n = parents.shape[0]
    order = _topological_order(parents)
    place = np.empty(n, np.int64)
    for i in range(n):
        place[order[i]] = i
    compelled = np.zeros((n, n), np.uint8)
    for y in order:
        x = -1
        for p in range(n):
            if parents[y, p] and (x < 0 or place[p] > place[x]):
                x = p
        if x < 0:
            continue
        all_compelled = False
        for p in range(n):
            if compelled[x, p] and not parents[y, p]:
                all_compelled = True
            if parents[y, p] and p != x and not parents[x, p]:
                all_compelled = True
        for p in range(n):
            compelled[y, p] = parents[y, p] if all_compelled else compelled[x, p]
    out = parents.copy()
    for y in range(n):
        for x in range(n):
            if parents[y, x] and not compelled[y, x]:
                out[x, y] = 1
    return out


@numba.njit(cache=True, nogil=True)
def extend(pdag: Array) -> tuple[bool, Array]:
    """Whether a DAG with this skeleton, arcs and v-structures exists, and one (Dor, Tarsi 1992)."""
    n = pdag.shape[0]
    work = pdag.copy()
    parents = np.zeros((n, n), np.uint8)
    gone = np.zeros(n, np.uint8)
    n_gone = 0
    progress = True
    while progress and n_gone < n:
        progress = False
        for y in range(n - 1, -1, -1):
            if gone[y] or not _can_be_last(work, y):
                continue
            for x in range(n):
                if work[y, x]:
                    parents[y, x] = 1
                work[y, x] = 0
                work[x, y] = 0
            gone[y] = 1
            n_gone += 1
            progress = True
    return n_gone == n, parents


@numba.njit(cache=True, nogil=True)
def _can_be_last(work: Array, y: int) -> bool:
    """Whether y has no child and each undirected neighbour is joined to all its others."""
    n = work.shape[0]
    for x in range(n):
        if work[x, y] and not work[y, x]:
            return False
    for x in range(n):
        if work[y, x] and work[x, y]:
            for z in range(n):
                if z != x and work[y, z] and not (work[x, z] or work[z, x]):
                    return False
    return True


@numba.njit(cache=True, nogil=True)
def first_valid_insert(pdag: Array, y: int, xs: Array, which: Array, blocked: Array) -> int:
    """The rank of the first valid insert into y; the number of options if there is none.

    Option i adds `xs[i]` with the clique of which row `which[i]` of `blocked` marks the members. An
    insert is valid when every semi-directed path from y to x meets the clique (Theorem 15): x is
    not among the nodes that y reaches past the clique. These are found once per clique.
    """
    n = pdag.shape[0]
    reached = blocked.copy()
    stack = np.empty(n, np.int64)
    for i in range(xs.size):
        seen = reached[which[i]]
        if not seen[y]:
            seen[y] = 1
            stack[0] = y
            size = 1
            while size > 0:
                size -= 1
                v = stack[size]
                for w in range(n):
                    if pdag[w, v] and not seen[w]:
                        seen[w] = 1
                        stack[size] = w
                        size += 1
        if not seen[xs[i]]:
            return i
    return xs.size
