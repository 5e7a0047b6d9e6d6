"""`PDAG`: an immutable partially directed graph, with arcs and undirected edges."""

from __future__ import annotations

from collections.abc import Iterable

from unveil.errors import ModelError
from unveil.graph.dag import DAG
from unveil.graph.names import Names, Pair, drawing
from unveil.graph.undirected import UndirectedGraph

__all__ = ["PDAG"]


class PDAG:
    """Arcs where the direction is known, edges where it is open; the arcs alone form no cycle.

    Its main use is the completed PDAG, the portrait of an equivalence class of DAGs (see
    `equivalence`). Equality is by nodes, arcs and edges, whatever their order.

    >>> pattern = PDAG(["A", "B", "C", "D"], arcs=[("A", "C"), ("B", "C")], edges=[("B", "D")])
    >>> pattern
    PDAG(A -> C, B -> C, B -- D)
    >>> pattern.parents("C"), pattern.undirected_neighbours("B")
    (('A', 'B'), ('D',))
    """

    __slots__ = ("_directed", "_undirected")

    def __init__(self, nodes: Names, arcs: Iterable[Pair] = (), edges: Iterable[Pair] = ()) -> None:
        self._directed = DAG(nodes, arcs)
        self._undirected = UndirectedGraph(self._directed.nodes, edges)
        for first, second in self._undirected.edges:
            if self._directed.adjacent(first, second):
                raise ModelError(
                    f"{first!r} and {second!r} are joined by both an arc and an undirected edge; "
                    "a PDAG has at most one of them"
                )

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node names, in the order given."""
        return self._directed.nodes

    @property
    def arcs(self) -> tuple[Pair, ...]:
        """The directed arcs, as `(parent, child)`."""
        return self._directed.arcs

    @property
    def edges(self) -> tuple[Pair, ...]:
        """The undirected edges, each once and in node order."""
        return self._undirected.edges

    def parents(self, node: str) -> tuple[str, ...]:
        """The nodes with an arc into this one."""
        return self._directed.parents(node)

    def children(self, node: str) -> tuple[str, ...]:
        """The nodes with an arc from this one."""
        return self._directed.children(node)

    def undirected_neighbours(self, node: str) -> tuple[str, ...]:
        """The nodes joined to this one by an undirected edge, in node order."""
        return self._undirected.neighbours(node)

    def has_arc(self, parent: str, child: str) -> bool:
        """Whether there is an arc from `parent` to `child`."""
        return self._directed.has_arc(parent, child)

    def has_edge(self, first: str, second: str) -> bool:
        """Whether there is an undirected edge between the two."""
        return self._undirected.has_edge(first, second)

    def adjacent(self, first: str, second: str) -> bool:
        """Whether an arc or an edge joins the two."""
        return self.has_edge(first, second) or self._directed.adjacent(first, second)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PDAG):
            return NotImplemented
        return self._directed == other._directed and self._undirected == other._undirected

    def __hash__(self) -> int:
        return hash((self._directed, self._undirected))

    def __repr__(self) -> str:
        arcs = [(a, "->", b) for a, b in self.arcs]
        return drawing("PDAG", self.nodes, [*arcs, *((a, "--", b) for a, b in self.edges)])
