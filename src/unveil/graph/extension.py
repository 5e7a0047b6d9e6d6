"""From a partially directed graph back to a DAG that it stands for."""

from __future__ import annotations

from collections import deque

from unveil.errors import ModelError
from unveil.graph.dag import DAG
from unveil.graph.names import Pair
from unveil.graph.pdag import PDAG

__all__ = ["consistent_extension"]


def consistent_extension(pdag: PDAG) -> DAG:
    """A DAG with the PDAG's skeleton, arcs and v-structures: its edges directed, nothing added.

    Dor & Tarsi (1992): find a node that can be last, direct its undirected edges into it, set it
    aside and repeat. A node can be last when no arc leaves it and each of its undirected
    neighbours is joined to all of its other neighbours. Raises ModelError when a step finds none,
    since then no extension exists. Of a completed PDAG, the result is a member of its class.

    >>> consistent_extension(PDAG(["A", "B", "C"], arcs=[("A", "B")], edges=[("B", "C")]))
    DAG(A -> B, B -> C)
    """
    work = _Remaining(pdag)
    arcs: list[Pair] = []
    # Only losing a neighbour can turn a refused node into a last one, so only those come back.
    candidates = deque(reversed(pdag.nodes))
    while candidates:
        node = candidates.popleft()
        if node in work.adjacent and work.can_be_last(node):
            arcs += [(parent, node) for parent in work.adjacent[node]]
            candidates.extend(work.set_aside(node))
    if work.adjacent:
        raise ModelError(
            "no DAG has this skeleton with these arcs and v-structures: directing the undirected "
            f"edges among {sorted(work.adjacent)[:8]} always makes a cycle or a new v-structure. "
            "Remove one of the arcs or edges there."
        )
    return DAG(pdag.nodes, arcs)


class _Remaining:
    """The part of the PDAG not yet set aside; dictionaries stand for ordered sets."""

    def __init__(self, pdag: PDAG) -> None:
        self.undirected = {x: dict.fromkeys(pdag.undirected_neighbours(x)) for x in pdag.nodes}
        self.children = {x: set(pdag.children(x)) for x in pdag.nodes}
        self.adjacent = {
            x: dict.fromkeys((*pdag.parents(x), *pdag.children(x), *self.undirected[x]))
            for x in pdag.nodes
        }

    def can_be_last(self, node: str) -> bool:
        around = self.adjacent[node].keys()
        return not self.children[node] and all(
            around - {neighbour} <= self.adjacent[neighbour].keys()
            for neighbour in self.undirected[node]
        )

    def set_aside(self, node: str) -> list[str]:
        neighbours = list(self.adjacent.pop(node))
        for other in neighbours:
            del self.adjacent[other][node]
            self.undirected[other].pop(node, None)
            self.children[other].discard(node)
        return neighbours
