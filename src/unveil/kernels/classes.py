"""Equivalence classes of graphs as matrices: complete them, extend them.

A partially directed graph is a byte matrix `parents[y, x]`: x -> y has only that entry, x - y has
both it and `parents[x, y]`. The plain twins are `unveil.graph.completed_pdag` and
`unveil.graph.consistent_extension`. Graphs are sparse: each kernel lists the entries first and then
walks over lists, so that a step costs one pass over the matrix and else goes with the arcs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["Lists", "complete", "differing", "entries", "extend", "first_valid_insert", "transposed"]

Array = npt.NDArray[Any]


class Lists(NamedTuple):
    """The ones of a square matrix: row y has them at `members[first[y] : first[y + 1]]`."""

    first: Array
    members: Array


@numba.njit(cache=True, nogil=True)
def entries(matrix: Array) -> Lists:
    """The ones of every row of a byte matrix, ascending; eight bytes per look, most are zeros."""
    n = matrix.shape[0]
    flat = matrix.reshape(n * n)
    n_words = n * n // 8
    words = flat[: 8 * n_words].view(np.uint64)
    places = np.empty(8 * n + 8, np.int64)
    size = 0
    for i in range(n_words + 1):
        if i < n_words and words[i] == 0:
            continue
        if size + 8 > places.size:
            more = np.empty(2 * places.size, np.int64)
            more[:size] = places[:size]
            places = more
        for j in range(8 * i, min(8 * i + 8, n * n)):
            if flat[j]:
                places[size] = j
                size += 1
    first = np.zeros(n + 1, np.int64)
    members = np.empty(size, np.int64)
    for k in range(size):
        y = places[k] // n
        first[y + 1] += 1
        members[k] = places[k] - y * n
    for y in range(n):
        first[y + 1] += first[y]
    return Lists(first, members)


@numba.njit(cache=True, nogil=True)
def transposed(lists: Lists) -> Lists:
    """The ones of every column, ascending."""
    n = lists.first.size - 1
    first = np.zeros(n + 1, np.int64)
    for x in lists.members:
        first[x + 1] += 1
    for x in range(n):
        first[x + 1] += first[x]
    end = first[:-1].copy()
    members = np.empty(lists.members.size, np.int64)
    for y in range(n):
        for k in range(lists.first[y], lists.first[y + 1]):
            x = lists.members[k]
            members[end[x]] = y
            end[x] += 1
    return Lists(first, members)


@numba.njit(cache=True, nogil=True)
def differing(one: Lists, other: Lists) -> Array:
    """Marks the nodes in whose row or column the two matrices differ."""
    n = one.first.size - 1
    out = np.zeros(n, np.uint8)
    for y in range(n):
        i, j = one.first[y], other.first[y]
        i_end, j_end = one.first[y + 1], other.first[y + 1]
        while i < i_end or j < j_end:
            a = one.members[i] if i < i_end else n
            b = other.members[j] if j < j_end else n
            if a != b:
                out[y] = 1
                out[min(a, b)] = 1
            i += a <= b
            j += b <= a
    return out


@numba.njit(cache=True, nogil=True)
def _topological_order(parents: Lists) -> Array:
    n = parents.first.size - 1
    children = transposed(parents)
    waiting = np.empty(n, np.int64)
    order = np.empty(n, np.int64)
    end = 0
    for y in range(n):
        waiting[y] = parents.first[y + 1] - parents.first[y]
        if waiting[y] == 0:
            order[end] = y
            end += 1
    start = 0
    while start < end:
        x = order[start]
        start += 1
        for k in range(children.first[x], children.first[x + 1]):
            y = children.members[k]
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
    lists = entries(parents)
    first, members = lists.first, lists.members
    order = _topological_order(lists)
    place = np.empty(n, np.int64)
    for i in range(n):
        place[order[i]] = i
    compelled = np.zeros(members.size, np.uint8)
    compelled_to_x = np.zeros(n, np.uint8)
    out = parents.copy()
    for y in order:
        x = -1
        for k in range(first[y], first[y + 1]):
            if x < 0 or place[members[k]] > place[x]:
                x = members[k]
        if x < 0:
            continue
        all_compelled = False
        for k in range(first[x], first[x + 1]):
            compelled_to_x[members[k]] = compelled[k]
            if compelled[k] and not parents[y, members[k]]:
                all_compelled = True
        for k in range(first[y], first[y + 1]):
            if members[k] != x and not parents[x, members[k]]:
                all_compelled = True
        for k in range(first[y], first[y + 1]):
            compelled[k] = 1 if all_compelled else compelled_to_x[members[k]]
            if not compelled[k]:
                out[members[k], y] = 1
        for k in range(first[x], first[x + 1]):
            compelled_to_x[members[k]] = 0
    return out


@numba.njit(cache=True, nogil=True)
def extend(pdag: Array) -> tuple[bool, Array]:
    """Whether a DAG with this skeleton, arcs and v-structures exists, and one (Dor, Tarsi 1992)."""
    n = pdag.shape[0]
    lists = entries(pdag)
    parents = np.zeros((n, n), np.uint8)
    n_children = np.zeros(n, np.int64)
    for y in range(n):
        for k in range(lists.first[y], lists.first[y + 1]):
            if not pdag[lists.members[k], y]:
                n_children[lists.members[k]] += 1
    gone = np.zeros(n, np.uint8)
    # Only losing a neighbour can turn a refused node into a last one.
    refused = np.zeros(n, np.uint8)
    n_gone = 0
    progress = True
    while progress and n_gone < n:
        progress = False
        for y in range(n - 1, -1, -1):
            if gone[y] or refused[y] or n_children[y] > 0:
                continue
            if not _can_be_last(pdag, lists, gone, y):
                refused[y] = 1
                continue
            for k in range(lists.first[y], lists.first[y + 1]):
                x = lists.members[k]
                if gone[x]:
                    continue
                parents[y, x] = 1
                refused[x] = 0
                if not pdag[x, y]:
                    n_children[x] -= 1
            gone[y] = 1
            n_gone += 1
            progress = True
    return n_gone == n, parents


@numba.njit(cache=True, nogil=True)
def _can_be_last(pdag: Array, lists: Lists, gone: Array, y: int) -> bool:
    """Whether each undirected neighbour of y, which has no child, is joined to all its others."""
    around = lists.members[lists.first[y] : lists.first[y + 1]]
    for x in around:
        if gone[x] or not pdag[x, y]:
            continue
        for z in around:
            if z != x and not gone[z] and not (pdag[x, z] or pdag[z, x]):
                return False
    return True


@numba.njit(cache=True, nogil=True)
def first_valid_insert(after: Lists, y: int, xs: Array, which: Array, blocked: Array) -> int:
    """The rank of the first valid insert into y; the number of options if there is none.

    `after` lists the children and neighbours of every node. Option i adds `xs[i]` with the clique
    of which row `which[i]` of `blocked` marks the members. An insert is valid when every
    semi-directed path from y to x meets the clique (Theorem 15): x is not among the nodes that y
    reaches past the clique. These are found once per clique.
    """
    n = after.first.size - 1
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
                for k in range(after.first[v], after.first[v + 1]):
                    w = after.members[k]
                    if not seen[w]:
                        seen[w] = 1
                        stack[size] = w
                        size += 1
        if not seen[xs[i]]:
            return i
    return xs.size
