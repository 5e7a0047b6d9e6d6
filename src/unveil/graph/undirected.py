"""`UndirectedGraph`: a tiny immutable graph for skeletons, moral graphs and cliques."""

from __future__ import annotations

from collections.abc import Iterable

from unveil.errors import ModelError
from unveil.graph.names import (
    Names,
    Pair,
    as_names,
    as_pairs,
    drawing,
    position_of,
    positions_by_name,
)

__all__ = ["UndirectedGraph"]


class UndirectedGraph:
    """Named nodes and edges without direction; an edge given twice or both ways is one edge.

    The order of `nodes` is kept; two graphs are equal when they have the same nodes and edges,
    whatever the order.

    >>> graph = UndirectedGraph(["A", "B", "C"], [("B", "A"), ("C", "B")])
    >>> graph
    UndirectedGraph(A -- B, B -- C)
    >>> graph.neighbours("B")
    ('A', 'C')
    """

    __slots__ = ("_neighbours", "_nodes", "_positions")

    def __init__(self, nodes: Names, edges: Iterable[Pair] = ()) -> None:
        self._nodes = as_names(nodes)
        self._positions = positions_by_name(self._nodes)
        neighbours: list[set[int]] = [set() for _ in self._nodes]
        for first, second in as_pairs(edges, "edge"):
            one, other = self.position(first), self.position(second)
            if one == other:
                raise ModelError(f"an edge joins two different nodes; got {first} -- {second}")
            neighbours[one].add(other)
            neighbours[other].add(one)
        self._neighbours = tuple(tuple(sorted(own)) for own in neighbours)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node names, in the order given."""
        return self._nodes

    @property
    def edges(self) -> tuple[Pair, ...]:
        """The edges, each once and in node order: `(A, B)` when A comes before B."""
        return tuple(
            (self._nodes[one], self._nodes[other])
            for one, neighbours in enumerate(self._neighbours)
            for other in neighbours
            if one < other
        )

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return len(self._nodes)

    @property
    def n_edges(self) -> int:
        """How many edges there are."""
        return sum(map(len, self._neighbours)) // 2

    @property
    def neighbour_positions(self) -> tuple[tuple[int, ...], ...]:
        """For each node in node order, the positions of its neighbours in node order."""
        return self._neighbours

    def position(self, node: str) -> int:
        """Where the node stands in `nodes`, counting from 0."""
        return position_of(self._positions, node)

    def neighbours(self, node: str) -> tuple[str, ...]:
        """The nodes that share an edge with this one, in node order."""
        return tuple(self._nodes[other] for other in self._neighbours[self.position(node)])

    def has_edge(self, first: str, second: str) -> bool:
        """Whether the two nodes share an edge."""
        return self.position(second) in self._neighbours[self.position(first)]

    def subgraph(self, nodes: Names) -> UndirectedGraph:
        """The graph over these nodes only, in this graph's order, with the edges between them."""
        kept = set(map(self.position, as_names(nodes)))
        names = [self._nodes[place] for place in sorted(kept)]
        edges = [edge for edge in self.edges if kept.issuperset(map(self.position, edge))]
        return UndirectedGraph(names, edges)

    def __contains__(self, node: object) -> bool:
        return node in self._positions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UndirectedGraph):
            return NotImplemented
        return self._contents() == other._contents()

    def __hash__(self) -> int:
        return hash(self._contents())

    def __repr__(self) -> str:
        return drawing("UndirectedGraph", self._nodes, ((a, "--", b) for a, b in self.edges))

    def _contents(self) -> tuple[frozenset[str], frozenset[frozenset[str]]]:
        return frozenset(self._nodes), frozenset(map(frozenset, self.edges))
