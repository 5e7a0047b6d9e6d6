"""Equivalence classes of graphs: complete them, extend them.

A partially directed graph is a byte matrix `parents[y, x]`: x -> y has only that entry, x - y has
both it and `parents[x, y]`. The plain twins are `unveil.graph.completed_pdag` and
`unveil.graph.consistent_extension`. Graphs are sparse: the work is done on lists of the entries and
goes with the number of arcs; `complete` and `extend` have matrices at both ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = [
    "Lists",
    "complete",
    "completed",
    "differing",
    "entries",
    "extend",
    "extended",
    "matrix_of",
    "moved",
    "redraw",
    "revised",
    "transposed",
]

Array = npt.NDArray[Any]


class Lists(NamedTuple):
    """The ones of a square matrix: row y has them at `members[first[y] : first[y + 1]]`."""

    first: Array
    members: Array


@compiled
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
            for k in range(size):
                more[k] = places[k]
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


@compiled
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


@compiled
def matrix_of(lists: Lists) -> Array:
    """The byte matrix with these ones."""
    n = lists.first.size - 1
    out = np.zeros((n, n), np.uint8)
    for y in range(n):
        for k in range(lists.first[y], lists.first[y + 1]):
            out[y, lists.members[k]] = 1
    return out


@compiled
def revised(lists: Lists, matrix: Array, y: int, x: int) -> Lists:
    """The lists of a matrix of which some ones were cleared and perhaps entry [y, x] was set."""
    n = lists.first.size - 1
    first = np.zeros(n + 1, np.int64)
    members = np.empty(lists.members.size + 1, np.int64)
    size = 0
    for v in range(n):
        waiting = v == y and matrix[y, x] > 0
        for k in range(lists.first[v], lists.first[v + 1]):
            w = lists.members[k]
            if waiting and w >= x:
                members[size] = x
                size += 1
                waiting = False
            if matrix[v, w] and not (v == y and w == x):
                members[size] = w
                size += 1
        if waiting:
            members[size] = x
            size += 1
        first[v + 1] = size
    return Lists(first, members[:size].copy())


@compiled
def redraw(matrix: Array, old: Lists, new: Lists, y: int, x: int) -> None:
    """Make a matrix with ones at most at `old` and [y, x] one with those of `new`, in place."""
    matrix[y, x] = 0
    for v in range(matrix.shape[0]):
        for k in range(old.first[v], old.first[v + 1]):
            matrix[v, old.members[k]] = 0
        for k in range(new.first[v], new.first[v + 1]):
            matrix[v, new.members[k]] = 1


@compiled
def differing(old: Lists, new: Lists) -> tuple[Array, Array]:
    """Marks of the nodes in whose row or column the matrices differ, or whose row lost a one."""
    n = old.first.size - 1
    changed, lost = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    for y in range(n):
        i, j = old.first[y], new.first[y]
        i_end, j_end = old.first[y + 1], new.first[y + 1]
        while i < i_end or j < j_end:
            a = old.members[i] if i < i_end else n
            b = new.members[j] if j < j_end else n
            if a != b:
                changed[y] = changed[min(a, b)] = 1
            if a < b:
                lost[y] = 1
            i += a <= b
            j += b <= a
    return changed, lost


@compiled
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


@compiled
def complete(parents: Array) -> Array:
    """The completed partially directed graph of a DAG's class."""
    return matrix_of(completed(entries(parents)))


@compiled
def completed(parents: Lists) -> Lists:
    """The completed partially directed graph of a DAG's class (Chickering 1995, Label-Edges).

    All arcs into y are settled by a look at y's nearest parent x: compelled if a compelled parent
    of x is no parent of y or if y has a parent that is neither x nor a parent of x; otherwise
    w -> y is compelled exactly when w -> x is.
    """
    n = parents.first.size - 1
    first, members = parents.first, parents.members
    order = _topological_order(parents)
    place = np.empty(n, np.int64)
    for i in range(n):
        place[order[i]] = i
    compelled = np.zeros(members.size, np.uint8)
    # Marks of the node at hand: whose parent p is, of y and of its nearest parent x.
    child_of, parent_of_x = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    compelled_to_x = np.zeros(n, np.uint8)
    for y in order:
        x = -1
        for k in range(first[y], first[y + 1]):
            child_of[members[k]] = y
            if x < 0 or place[members[k]] > place[x]:
                x = members[k]
        if x < 0:
            continue
        all_compelled = False
        for k in range(first[x], first[x + 1]):
            parent_of_x[members[k]] = y
            compelled_to_x[members[k]] = compelled[k]
            if compelled[k] and child_of[members[k]] != y:
                all_compelled = True
        for k in range(first[y], first[y + 1]):
            if members[k] != x and parent_of_x[members[k]] != y:
                all_compelled = True
        for k in range(first[y], first[y + 1]):
            p = members[k]
            compelled[k] = 1 if all_compelled else (p != x and compelled_to_x[p])
    return _both_ways(parents, compelled)


@compiled
def _both_ways(parents: Lists, compelled: Array) -> Lists:
    """The arcs, and the arcs turned round where they are not compelled."""
    n = parents.first.size - 1
    first = np.zeros(n + 1, np.int64)
    for y in range(n):
        for k in range(parents.first[y], parents.first[y + 1]):
            first[y + 1] += 1
            if not compelled[k]:
                first[parents.members[k] + 1] += 1
    for y in range(n):
        first[y + 1] += first[y]
    end = first[:-1].copy()
    members = np.empty(first[n], np.int64)
    for y in range(n):
        for k in range(parents.first[y], parents.first[y + 1]):
            x = parents.members[k]
            members[end[y]] = x
            end[y] += 1
            if not compelled[k]:
                members[end[x]] = y
                end[x] += 1
    return transposed(transposed(Lists(first, members)))  # ascending


@compiled
def extend(pdag: Array) -> tuple[bool, Array]:
    """Whether a DAG with this skeleton, arcs and v-structures exists, and one."""
    possible, parents = extended(pdag, entries(pdag))
    return possible, matrix_of(parents)


@compiled
def extended(pdag: Array, lists: Lists) -> tuple[bool, Lists]:
    """Whether a DAG with this skeleton, arcs and v-structures exists, and one (Dor, Tarsi 1992).

    The graph is given twice, as a matrix and as the lists of its entries.
    """
    n = pdag.shape[0]
    n_children = np.zeros(n, np.int64)
    for y in range(n):
        for k in range(lists.first[y], lists.first[y + 1]):
            if not pdag[lists.members[k], y]:
                n_children[lists.members[k]] += 1
    is_parent = np.zeros(lists.members.size, np.uint8)
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
                is_parent[k] = 1
                refused[x] = 0
                if not pdag[x, y]:
                    n_children[x] -= 1
            gone[y] = 1
            n_gone += 1
            progress = True
    first = np.zeros(n + 1, np.int64)
    members = np.empty(is_parent.sum(), np.int64)
    size = 0
    for y in range(n):
        for k in range(lists.first[y], lists.first[y + 1]):
            if is_parent[k]:
                members[size] = lists.members[k]
                size += 1
        first[y + 1] = size
    return n_gone == n, Lists(first, members)


@compiled
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


@compiled
def moved(
    pdag: Array, lists: Lists, y: int, x: int
) -> tuple[bool, Lists, Lists, Lists, Array, Array]:
    """Complete a graph after a move on x and y, in place; nothing if it has no extension.

    Given are the graph's matrix, of which some ones were cleared and perhaps [y, x] was set, and
    the lists of what it was before. Gives back whether there is an extension, one as lists, the
    completed graph as lists by parent and by child, and two sets of marks: the nodes whose moves
    may have changed (with new parents or neighbours, x and y and the neighbours of these), and
    those that lost a parent or neighbour.
    """
    possible, parents = extended(pdag, revised(lists, pdag, y, x))
    if not possible:
        nobody = np.zeros(0, np.uint8)
        return False, parents, lists, lists, nobody, nobody
    new = completed(parents)
    redraw(pdag, lists, new, y, x)
    changed, lost = differing(lists, new)
    for end in (x, y):
        changed[end] = 1
        for k in range(new.first[end], new.first[end + 1]):
            changed[new.members[k]] |= pdag[new.members[k], end]
    return True, parents, new, transposed(new), changed, lost
