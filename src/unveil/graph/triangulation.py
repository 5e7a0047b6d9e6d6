"""Triangulating a graph: elimination orders, their cliques, and a tree of cliques.

Sets of nodes are bits of Python integers here: intersections and counts are single operations,
whatever the size of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

__all__ = ["CliqueTree", "clique_tree"]


@dataclass(frozen=True)
class CliqueTree:
    """Cliques (ascending node positions) and, for each, its parent in the tree (-1 for a root).

    Parents come before children. Every edge of the graph lies inside a clique, and the cliques
    that hold a node are connected in the tree (the running intersection property).
    """

    cliques: tuple[tuple[int, ...], ...]
    parent: tuple[int, ...]

    def n_cells(self, n_states: Sequence[int]) -> int:
        """The total size of the cliques' tables."""
        return sum(math.prod(n_states[v] for v in clique) for clique in self.cliques)


def clique_tree(n_states: Sequence[int], scopes: Iterable[Iterable[int]]) -> CliqueTree:
    """A tree of cliques for a graph in which every scope is fully connected.

    Several greedy elimination rules are tried, and the tree with the smallest tables is kept.

    >>> clique_tree([2, 2, 2], [[0, 1], [1, 2]])
    CliqueTree(cliques=((1, 2), (0, 1)), parent=(-1, 0))
    """
    adjacent = _adjacency(len(n_states), scopes)
    free, left = _simplicial(adjacent)
    best: tuple[int, list[int]] | None = None
    for rule in (_fill_weight, _fill, _weight):
        eliminated = _eliminate(adjacent, left, n_states, rule, None if best is None else best[0])
        if eliminated is not None and (best is None or eliminated[0] < best[0]):
            best = eliminated
    assert best is not None
    return _tree(free + best[1], n_states)


def _simplicial(adjacent: list[int]) -> tuple[list[int], set[int]]:
    """Eliminate, in place, all nodes that need no new edges; their cliques, and who is left.

    No order does better than to begin with these, and it spares the rules below the leaves of a
    hub, each of which would have them look at all pairs of the other leaves.
    """
    left = set(range(len(adjacent)))
    cliques: list[int] = []
    waiting = list(range(len(adjacent)))[::-1]
    while waiting:
        v = waiting.pop()
        if v not in left or not _is_simplicial(v, adjacent):
            continue
        cliques.append(adjacent[v] | 1 << v)
        left.discard(v)
        around = _bits(adjacent[v])
        for u in around:
            adjacent[u] &= ~(1 << v)
        waiting += around
    return cliques, left


def _is_simplicial(v: int, adjacent: list[int]) -> bool:
    """Whether the neighbours of v are all neighbours of each other."""
    around = rest = adjacent[v]
    while rest:
        low = rest & -rest
        if around & ~adjacent[low.bit_length() - 1] & ~low:
            return False
        rest ^= low
    return True


def _adjacency(n: int, scopes: Iterable[Iterable[int]]) -> list[int]:
    adjacent = [0] * n
    for scope in scopes:
        members = list(scope)
        mask = sum(1 << v for v in set(members))
        for v in members:
            adjacent[v] |= mask
    return [mask & ~(1 << v) for v, mask in enumerate(adjacent)]


Rule = Callable[[int, list[int], Sequence[float]], float]


def _fill(v: int, adjacent: list[int], logs: Sequence[float]) -> float:
    """How many edges eliminating v would add (twice)."""
    around = adjacent[v]
    return sum((around & ~adjacent[u]).bit_count() - 1 for u in _bits(around))


def _weight(v: int, adjacent: list[int], logs: Sequence[float]) -> float:
    """The log of the size of the table that eliminating v would make."""
    return logs[v] + sum(logs[u] for u in _bits(adjacent[v]))


def _fill_weight(v: int, adjacent: list[int], logs: Sequence[float]) -> float:
    """The sizes of the edges that eliminating v would add (twice)."""
    around = adjacent[v]
    total = 0.0
    for u in _bits(around):
        for w in _bits(around & ~adjacent[u] & ~(1 << u)):
            total += math.exp(logs[u] + logs[w])
    return total


def _eliminate(
    adjacent: list[int], nodes: set[int], n_states: Sequence[int], rule: Rule, limit: int | None
) -> tuple[int, list[int]] | None:
    """Total size of tables and the cliques (as bits) of one greedy order of `nodes`.

    `None` when the size goes far beyond `limit`.
    """
    adjacent = list(adjacent)
    logs = [math.log(k) for k in n_states]
    left = set(nodes)
    cost = {v: (rule(v, adjacent, logs), _weight(v, adjacent, logs), v) for v in left}
    cliques: list[int] = []
    total = 0
    while left:
        v = min(left, key=cost.__getitem__)
        around = adjacent[v]
        cliques.append(around | 1 << v)
        total += math.prod(n_states[u] for u in _bits(around | 1 << v))
        if limit is not None and total > 4 * limit:
            return None
        left.discard(v)
        stale = around
        for u in _bits(around):
            if around & ~adjacent[u] & ~(1 << u):
                stale |= adjacent[u]
            adjacent[u] = (adjacent[u] | around) & ~(1 << u) & ~(1 << v)
        for u in _bits(stale):
            if u in left:
                cost[u] = (rule(u, adjacent, logs), _weight(u, adjacent, logs), u)
    return total, cliques


def _tree(eliminated: list[int], n_states: Sequence[int]) -> CliqueTree:
    """The tree of maximal cliques, from elimination cliques in order (parents come first)."""
    maximal: list[int] = []
    home: dict[int, int] = {}
    links: list[int] = []
    # Backwards: a clique's later neighbours sit together in an earlier-built clique.
    order = {v: i for i, v in enumerate(_eliminated_nodes(eliminated))}
    for clique in reversed(eliminated):
        v = min(_bits(clique), key=order.__getitem__)
        rest = clique & ~(1 << v)
        if rest:
            next_node = min(_bits(rest), key=order.__getitem__)
            parent = home[next_node]
            if maximal[parent] & clique == maximal[parent]:
                maximal[parent] = clique
                home[v] = parent
                continue
        else:
            parent = -1
        home[v] = len(maximal)
        maximal.append(clique)
        links.append(parent)
    return CliqueTree(tuple(tuple(_bits(c)) for c in maximal), tuple(links))


def _eliminated_nodes(eliminated: list[int]) -> list[int]:
    """The node eliminated at each step: the one in its clique that appears in no later clique."""
    later = 0
    nodes: list[int] = []
    for clique in reversed(eliminated):
        new = clique & ~later
        nodes.append(new.bit_length() - 1)
        later |= clique
    return nodes[::-1]


def _bits(mask: int) -> list[int]:
    """The positions of the ones in a mask, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
