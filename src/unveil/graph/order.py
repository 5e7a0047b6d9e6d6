"""Orders, cycles and reachability over positions: the plain functions under the graph classes.

A graph is given as its links: `links[i]` lists the positions that node `i` leads to. Nothing here
recurses, so a chain of a million nodes is as safe as a chain of three.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

__all__ = ["Links", "closure", "find_cycle", "reversed_links", "topological_order"]

Links = Sequence[Sequence[int]]


def reversed_links(links: Links) -> tuple[tuple[int, ...], ...]:
    """The same links seen from the other end, each list in increasing order.

    >>> reversed_links([[], [0], [1, 0]])
    ((1, 2), (2,), ())
    """
    result: list[list[int]] = [[] for _ in links]
    for start, ends in enumerate(links):
        for end in ends:
            result[end].append(start)
    return tuple(map(tuple, result))


def topological_order(parents: Links, children: Links) -> tuple[int, ...]:
    """The positions with parents before children; shorter than the graph if it has a cycle.

    Whenever several nodes could come next, the smallest position does (Kahn, 1962, with a heap),
    so an order that is already topological is returned unchanged.

    >>> topological_order(parents=[[2], [], []], children=[[], [], [0]])
    (1, 2, 0)
    """
    waiting_for = [len(own) for own in parents]
    ready = [node for node, missing in enumerate(waiting_for) if not missing]
    heapify(ready)
    order = []
    while ready:
        node = heappop(ready)
        order.append(node)
        for child in children[node]:
            waiting_for[child] -= 1
            if not waiting_for[child]:
                heappush(ready, child)
    return tuple(order)


def find_cycle(parents: Links, order: Sequence[int]) -> list[int]:
    """A directed cycle, its first position repeated last, or an empty list if there is none.

    `order` is what `topological_order` gave. A node it left out always has a parent that it also
    left out, so walking from parent to parent among them must come round.

    >>> find_cycle(parents=[[2], [0], [1], [2]], order=[])
    [0, 1, 2, 0]
    """
    left_out = set(range(len(parents))).difference(order)
    if not left_out:
        return []
    node, step_of, walk = min(left_out), dict[int, int](), list[int]()
    while node not in step_of:
        step_of[node] = len(walk)
        walk.append(node)
        node = next(parent for parent in parents[node] if parent in left_out)
    return [*walk[step_of[node] :], node][::-1]


def closure(links: Links, starts: Iterable[int]) -> set[int]:
    """The positions reached from `starts` by one link or more.

    >>> sorted(closure([[1], [2], [], [0]], [0]))
    [1, 2]
    """
    reached: set[int] = set()
    to_visit = [end for start in starts for end in links[start]]
    while to_visit:
        node = to_visit.pop()
        if node not in reached:
            reached.add(node)
            to_visit.extend(links[node])
    return reached
