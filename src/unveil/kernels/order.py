"""Grow-shrink trees: which parents a child takes among those before it, for many orders at once.

Given who comes before, a child takes the parent that gains most, then the next, until none gains:
a path in a tree of its own, from node to node (Andrews, Ramsey, Sanchez-Romero, Camchong and
Kummerfeld 2023). A node's candidates are kept best first, so a step is to the first of them that
comes before the child; what was worked out for one order serves all others.

`Trees` is a table of nodes and one of candidates. A node is a child with some parents: `above` is
the node before its last parent, `added`, joined. Its candidates are those from `first` on, `length`
in number, each with the variable and the node it leads to (-1 where nobody has been yet). `score`
is the family's, `shrunk` that of the best it can do by dropping parents again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.gaussian import gaussian_toggles
from unveil.kernels.numbers import whole

__all__ = [
    "NEW",
    "OPEN",
    "WANTED",
    "GaussianOpener",
    "Trees",
    "enter_candidates",
    "try_positions",
    "walk_order",
]

Array = npt.NDArray[Any]

NEW, WANTED, OPEN = 0, 1, 2
"""States of a node: its candidates are unknown, asked for, known."""

FULL = -1
"""Instead of a number of nodes: the tables are full, make them longer and ask again."""


class Trees(NamedTuple):
    """Nodes and candidates; `used` holds how many there are of each."""

    child: Array
    above: Array
    added: Array
    state: Array
    first: Array
    length: Array
    score: Array
    shrunk: Array
    variable: Array
    gain: Array
    leads_to: Array
    used: Array


class GaussianOpener(NamedTuple):
    """What it takes to open nodes of Gaussian families on the way (`unveil.kernels.gaussian`).

    `allowed[y, x]` and `required[y, x]` speak of the arc x -> y, `most[y]` is how many parents y
    may have. With an empty `matrix`, nodes are put down as wanted instead, and somebody else opens
    them.
    """

    matrix: Array
    constant: Array
    slope: Array
    half: float
    allowed: Array
    required: Array
    most: Array
    tie: float


@compiled
def _step(trees: Trees, node: int, k: int) -> int:
    """The node that candidate k leads to, made if nobody has been there; -1 if there is no room."""
    following = trees.leads_to[k]
    if following < 0:
        following = trees.used[0]
        if following == trees.child.size:
            return -1
        trees.used[0] += 1
        trees.leads_to[k] = following
        trees.child[following] = trees.child[node]
        trees.above[following] = node
        trees.added[following] = trees.variable[k]
        trees.state[following] = NEW
        trees.score[following] = trees.score[node] + trees.gain[k]
    return following


@compiled
def _walk(trees: Trees, opener: GaussianOpener, node: int, before: Array, missed: Array) -> int:
    """The node where a child's path ends, given who comes before it, or where it is not known.

    `missed[x]` becomes the first node on the way at which x would have been taken, had it come
    before the child; others keep what they have.
    """
    while True:
        if trees.state[node] != OPEN:
            enough = trees.used[1] + before.size <= trees.variable.size
            if opener.matrix.size == 0 or not enough:
                return node
            _open(trees, opener, node)
        step = -1
        for k in range(trees.first[node], trees.first[node] + trees.length[node]):
            x = trees.variable[k]
            if before[x]:
                step = k
                break
            if missed[x] < 0:
                missed[x] = node
        if step < 0:
            return node
        node = _step(trees, node, step)
        if node < 0:
            return node


@compiled
def _score(
    trees: Trees, opener: GaussianOpener, node: int, wanted: Array, n_wanted: int
) -> tuple[float, int]:
    """The score at the end of a path; a node that must be opened first is put down as wanted.

    The second number is how many are wanted then, or `FULL`.
    """
    if n_wanted == FULL or node < 0:
        return 0.0, FULL
    if trees.state[node] == OPEN:
        return trees.shrunk[node], n_wanted
    if opener.matrix.size > 0:
        return 0.0, FULL
    if trees.state[node] == NEW:
        trees.state[node] = WANTED
        wanted[n_wanted] = node
        n_wanted += 1
    return 0.0, n_wanted


@compiled
def try_positions(
    trees: Trees,
    opener: GaussianOpener,
    moved: int,
    others: Array,
    without: Array,
    behind: Array,
    own: Array,
    wanted: Array,
) -> int:
    """Scores of all families for every position of one variable in the order of the `others`.

    `own[i]` is the score of the moved variable when the first i others come before it,
    `without[i]` that of the i-th other with the moved one after it, `behind[i]` with the moved one
    before it. The root of a variable's tree has the variable's own number. How many nodes must be
    opened before the scores are all known is given back (they are in `wanted`), or `FULL`.
    """
    n = whole(0)
    before = np.zeros(others.size + 1, np.bool_)
    missed, passed = np.full(before.size, -1, np.int64), np.full(before.size, -1, np.int64)
    own[0], n = _score(trees, opener, _walk(trees, opener, moved, before, missed), wanted, n)
    for i in range(others.size):
        j = others[i]
        passed[moved] = -1
        end = _walk(trees, opener, j, before, passed)
        without[i], n = _score(trees, opener, end, wanted, n)
        behind[i] = without[i]
        if passed[moved] >= 0:
            # The paths part where the moved variable would have been taken.
            before[moved] = True
            end = _walk(trees, opener, passed[moved], before, passed)
            behind[i], n = _score(trees, opener, end, wanted, n)
            before[moved] = False
        before[j] = True
        own[i + 1] = own[i]
        if missed[j] >= 0 or n != 0:
            missed[:] = -1
            end = _walk(trees, opener, moved, before, missed)
            own[i + 1], n = _score(trees, opener, end, wanted, n)
        if n == FULL:
            return FULL
    return n


@compiled
def walk_order(
    trees: Trees, opener: GaussianOpener, order: Array, ends: Array, wanted: Array
) -> int:
    """The node where every variable's path ends in an order.

    How many must be opened before they are known is given back, as by `try_positions`.
    """
    before = np.zeros(order.size, np.bool_)
    passed = np.zeros(order.size, np.int64)
    n = whole(0)
    for i in range(order.size):
        ends[order[i]] = _walk(trees, opener, order[i], before, passed)
        _, n = _score(trees, opener, ends[order[i]], wanted, n)
        if n == FULL:
            return FULL
        before[order[i]] = True
    return n


@compiled
def enter_candidates(
    trees: Trees, node: int, gains: Array, allowed: Array, room: int, tie: float
) -> None:
    """Open a node: put down the variables that would gain, the best first.

    `gains` are the toggles of its family, `allowed` says who may be a parent of the child, `room`
    how many more parents it may have.
    """
    first = trees.used[1]
    n = whole(0)
    if room > 0:
        chosen = np.empty(gains.size, np.int64)
        for x in range(gains.size):
            if allowed[x] and gains[x] > tie:
                chosen[n] = x
                n += 1
        up = node
        while trees.above[up] >= 0:
            n = _struck(chosen, n, trees.added[up])
            up = trees.above[up]
        ranked = np.argsort(-gains[chosen[:n]], kind="mergesort")
        for k in range(n):
            x = chosen[ranked[k]]
            trees.variable[first + k] = x
            trees.gain[first + k] = gains[x]
            trees.leads_to[first + k] = -1
    trees.first[node], trees.length[node] = first, n
    trees.used[1] = first + n
    trees.shrunk[node] = trees.score[node]
    trees.state[node] = OPEN


@compiled
def _struck(chosen: Array, n: int, x: int) -> int:
    """How many are left of the first n when x is struck from them."""
    for k in range(n):
        if chosen[k] == x:
            for later in range(k + 1, n):
                chosen[later - 1] = chosen[later]
            return n - 1
    return n


@compiled
def _open(trees: Trees, opener: GaussianOpener, node: int) -> None:
    """Open a node of a Gaussian family, and drop parents while that helps."""
    child = trees.child[node]
    parents = np.empty(opener.most.size, np.int64)
    p = whole(0)
    for x in range(opener.most.size):
        if opener.required[child, x]:
            parents[p] = x
            p += 1
    up = node
    while trees.above[up] >= 0:
        parents[p] = trees.added[up]
        p += 1
        up = trees.above[up]
    gains = _gains(opener, child, parents[:p])
    allowed = opener.allowed[child]
    enter_candidates(trees, node, gains, allowed, opener.most[child] - p, opener.tie)
    while p > 0:
        best = parents[0]
        for k in range(p):
            if opener.required[child, best] or gains[parents[k]] > gains[best]:
                best = parents[k]
        if opener.required[child, best] or gains[best] <= opener.tie:
            return
        trees.shrunk[node] += gains[best]
        p = _struck(parents, p, best)
        gains = _gains(opener, child, parents[:p])


@compiled
def _gains(opener: GaussianOpener, child: int, parents: Array) -> Array:
    gains = np.zeros(opener.most.size)
    gaussian_toggles(
        opener.matrix, child, parents, opener.constant, opener.slope, opener.half, gains
    )
    own = gains[child]
    for x in range(gains.size):
        gains[x] -= own
    return gains
