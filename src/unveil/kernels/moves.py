"""One step of a structure search: which arc to add, delete or reverse, and who reaches whom.

Graphs are square byte matrices: `parents[y, x]` is 1 when x -> y, `reach[a, b]` is 1 when there is
a directed path from a to b (every node reaches itself).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = [
    "ADD",
    "DELETE",
    "NOTHING",
    "REVERSE",
    "best_move",
    "link",
    "may_add",
    "may_reverse",
    "recompute_reach",
    "reversible",
]

Array = npt.NDArray[Any]

NOTHING, ADD, DELETE, REVERSE = -1, 0, 1, 2


@compiled
def link(reach: Array, parent: int, child: int) -> None:
    """Update `reach` after adding the arc parent -> child."""
    for a in range(reach.shape[0]):
        if reach[a, parent] and not reach[a, child]:
            for b in range(reach.shape[0]):
                reach[a, b] |= reach[child, b]


@compiled
def recompute_reach(parents: Array, reach: Array) -> None:
    """Fill `reach` from scratch, children before parents."""
    n = parents.shape[0]
    waiting = np.zeros(n, np.int64)
    for child in range(n):
        for parent in range(n):
            waiting[parent] += parents[child, parent]
    ready = np.empty(n, np.int64)
    end = 0
    for v in range(n):
        if waiting[v] == 0:
            ready[end] = v
            end += 1
    reach[:] = 0
    start = 0
    while start < end:
        v = ready[start]
        start += 1
        reach[v, v] = 1
        for p in range(n):
            if parents[v, p]:
                for b in range(n):
                    reach[p, b] |= reach[v, b]
                waiting[p] -= 1
                if waiting[p] == 0:
                    ready[end] = p
                    end += 1


@compiled
def reversible(parents: Array, reach: Array, parent: int, child: int) -> bool:
    """Whether parent -> child is the only directed path from parent to child."""
    for c in range(parents.shape[0]):
        if c != child and parents[c, parent] and reach[c, child]:
            return False
    return True


@compiled
def may_add(reach: Array, allowed: Array, room: Array, parent: int, child: int) -> bool:
    """Whether the arc parent -> child may be added: allowed, room for it, and no cycle."""
    return (
        parent != child and allowed[child, parent] and room[child] > 0 and not reach[child, parent]
    )


@compiled
def may_reverse(
    parents: Array, reach: Array, allowed: Array, room: Array, parent: int, child: int
) -> bool:
    """Whether the arc parent -> child may be turned round: allowed, room for it, and no cycle."""
    return allowed[parent, child] and room[parent] > 0 and reversible(parents, reach, parent, child)


@compiled
def _is_tabu(key: int, tabu: Array) -> bool:
    for old in tabu:
        if old == key:
            return True
    return False


@compiled
def best_move(
    toggles: Array,
    parents: Array,
    reach: Array,
    allowed: Array,
    required: Array,
    room: Array,
    codes: Array,
    here: int,
    tabu: Array,
    bounds: Array,
    tie: float,
) -> tuple[int, int, int, float]:
    """The legal move with the largest gain: its kind, the arc's parent and child, and the gain.

    `toggles[y, x]` is the gain of toggling x among the parents of y; `allowed[y, x]` and
    `required[y, x]` speak of the arc x -> y; `room[y]` is how many more parents y may have. A
    graph's key is the exclusive or of the `codes` of its arcs; moves to a key in `tabu` are left
    out (`here` is the present key).

    `bounds[y]` promises that no legal move on an arc into y gains more, required and tabu ones
    included; infinite where nothing is known. Rows that cannot win are left out, and the bounds of
    the others are made sharp in passing. Gains closer than `tie` are ties, which the first pair in
    order wins: rounding must not decide.
    """
    n = parents.shape[0]
    kind, best_x, best_y, best = NOTHING, -1, -1, -np.inf
    for y in range(n):
        if bounds[y] <= best + tie:
            continue
        top = -np.inf
        for x in range(n):
            gain = toggles[y, x]
            if parents[y, x]:
                free = not required[y, x]
                top = max(top, gain)
                if free and gain > best + tie and not _is_tabu(here ^ codes[y, x], tabu):
                    kind, best_x, best_y, best = DELETE, x, y, gain
                back = gain + toggles[x, y]
                if (back > top or back > best + tie) and may_reverse(
                    parents, reach, allowed, room, x, y
                ):
                    top = max(top, back)
                    turned = here ^ codes[y, x] ^ codes[x, y]
                    if free and back > best + tie and not _is_tabu(turned, tabu):
                        kind, best_x, best_y, best = REVERSE, x, y, back
            elif (gain > top or gain > best + tie) and may_add(reach, allowed, room, x, y):
                top = max(top, gain)
                if gain > best + tie and not _is_tabu(here ^ codes[y, x], tabu):
                    kind, best_x, best_y, best = ADD, x, y, gain
        bounds[y] = top
    return kind, best_x, best_y, best
