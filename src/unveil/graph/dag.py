"""`DAG`: an immutable directed acyclic graph over named nodes (Elidan, thesis 2.1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unveil.errors import CycleError, ModelError
from unveil.graph.names import (
    Names,
    Pair,
    as_names,
    as_pairs,
    drawing,
    position_of,
    positions_by_name,
)
from unveil.graph.order import closure, find_cycle, reversed_links, topological_order
from unveil.graph.separation import d_separated

__all__ = ["DAG"]


class DAG:
    """A directed acyclic graph: the qualitative half of a Bayesian network (Definition 2.1.2).

    `arcs` are (parent, child). The order of `nodes` is kept and used everywhere; the parents of a node keep the order in which
    their arcs were given, because conditional distributions are laid out by it. Two DAGs are equal
    when they have the same nodes and the same arcs: neither order matters for equality.

    Every change gives a new DAG. The burglary alarm of thesis Figure 2.1:

    >>> alarm = DAG(
    ...     ["Burglary", "Earthquake", "Alarm", "Radio", "Call"],
    ...     [("Burglary", "Alarm"), ("Earthquake", "Alarm"), ("Earthquake", "Radio"),
    ...      ("Alarm", "Call")],
    ... )
    >>> alarm.parents("Alarm")
    ('Burglary', 'Earthquake')
    >>> sorted(alarm.markov_blanket("Burglary"))
    ['Alarm', 'Earthquake']
    >>> alarm.d_separated("Radio", "Alarm", given="Earthquake")
    True
    >>> alarm.with_arc("Call", "Burglary")
    Traceback (most recent call last):
    unveil.errors.CycleError: the arcs form a cycle: Burglary -> Alarm -> Call -> Burglary. A Bayesian network needs an acyclic graph; remove or reverse one of these arcs.
    """  # noqa: E501

    __slots__ = ("_arcs", "_children", "_nodes", "_order", "_parents", "_positions")

    def __init__(self, nodes: Names, arcs: Iterable[Pair] = ()) -> None:
        self._nodes = as_names(nodes)
        self._positions = positions_by_name(self._nodes)
        self._parents = _parent_positions(self._positions, as_pairs(arcs, "arc"))
        self._children = reversed_links(self._parents)
        self._order = topological_order(self._parents, self._children)
        cycle = find_cycle(self._parents, self._order)
        if cycle:
            raise CycleError(list(self._named(cycle)))
        self._arcs = tuple(
            (self._nodes[parent], child)
            for child, parents in zip(self._nodes, self._parents, strict=True)
            for parent in parents
        )

    @classmethod
    def from_parents(cls, parents: Mapping[str, Names]) -> DAG:
        """The DAG in which each key has the listed parents; every node must be a key.

        >>> DAG.from_parents({"A": [], "B": "A", "C": ["B", "A"]})
        DAG(A -> B, B -> C, A -> C)
        """
        arcs = [(parent, child) for child, own in parents.items() for parent in as_names(own)]
        return cls(parents, arcs)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node names, in the order given."""
        return self._nodes

    @property
    def arcs(self) -> tuple[Pair, ...]:
        """The `(parent, child)` pairs, by child in node order, then by parent order."""
        return self._arcs

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return len(self._nodes)

    @property
    def n_arcs(self) -> int:
        """How many arcs there are."""
        return len(self._arcs)

    @property
    def roots(self) -> tuple[str, ...]:
        """The nodes without parents, in node order."""
        return tuple(x for x, own in zip(self._nodes, self._parents, strict=True) if not own)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The nodes without children, in node order."""
        return tuple(x for x, own in zip(self._nodes, self._children, strict=True) if not own)

    @property
    def topological_order(self) -> tuple[str, ...]:
        """The nodes, parents before children; as close to the node order as that allows."""
        return self._named(self._order)

    @property
    def parent_positions(self) -> tuple[tuple[int, ...], ...]:
        """For each node in node order, the positions of its parents in parent order."""
        return self._parents

    @property
    def child_positions(self) -> tuple[tuple[int, ...], ...]:
        """For each node in node order, the positions of its children in node order."""
        return self._children

    @property
    def topological_positions(self) -> tuple[int, ...]:
        """The positions of the nodes, parents before children."""
        return self._order

    def position(self, node: str) -> int:
        """Where the node stands in `nodes`, counting from 0."""
        return position_of(self._positions, node)

    def parents(self, node: str) -> tuple[str, ...]:
        """The parents of a node, in the order in which their arcs were given."""
        return self._named(self._parents[self.position(node)])

    def children(self, node: str) -> tuple[str, ...]:
        """The children of a node, in node order."""
        return self._named(self._children[self.position(node)])

    def neighbours(self, node: str) -> tuple[str, ...]:
        """The parents and children of a node, in node order."""
        place = self.position(node)
        return self._named(sorted(self._parents[place] + self._children[place]))

    def ancestors(self, *nodes: str) -> frozenset[str]:
        """The nodes with a directed path to at least one of the given ones."""
        return frozenset(self._named(closure(self._parents, map(self.position, nodes))))

    def descendants(self, *nodes: str) -> frozenset[str]:
        """The nodes that a directed path leads to from at least one of the given ones."""
        return frozenset(self._named(closure(self._children, map(self.position, nodes))))

    def markov_blanket(self, node: str) -> frozenset[str]:
        """The parents, children and children's other parents of a node (Definition 2.1.3)."""
        place = self.position(node)
        blanket = set(self._parents[place] + self._children[place])
        blanket.update(*(self._parents[child] for child in self._children[place]))
        return frozenset(self._named(blanket - {place}))

    def has_arc(self, parent: str, child: str) -> bool:
        """Whether there is an arc from `parent` to `child`."""
        return self.position(parent) in self._parents[self.position(child)]

    def adjacent(self, first: str, second: str) -> bool:
        """Whether there is an arc between the two, either way."""
        return self.has_arc(first, second) or self.has_arc(second, first)

    def d_separated(self, xs: Names, ys: Names, given: Names = ()) -> bool:
        """Whether the graph makes `xs` and `ys` independent given `given`; see `separation`."""
        return d_separated(self, xs, ys, given)

    def with_arc(self, parent: str, child: str) -> DAG:
        """A DAG with one more arc; the new parent comes last in the child's parent order."""
        return DAG(self._nodes, [*self._arcs, (parent, child)])

    def without_arc(self, parent: str, child: str) -> DAG:
        """A DAG without the arc."""
        if not self.has_arc(parent, child):
            raise ModelError(
                f"there is no arc {parent} -> {child} to take away; "
                f"the parents of {child!r} are {list(self.parents(child))}"
            )
        return DAG(self._nodes, [arc for arc in self._arcs if arc != (parent, child)])

    def reversed_arc(self, parent: str, child: str) -> DAG:
        """A DAG in which `child -> parent` takes the place of `parent -> child`."""
        return self.without_arc(parent, child).with_arc(child, parent)

    def with_node(self, node: str, parents: Names = (), children: Names = ()) -> DAG:
        """A DAG with one more node, last in the node order and in its children's parent orders.

        >>> DAG(["A", "B"]).with_node("H", children=["A", "B"])
        DAG(H -> A, H -> B)
        """
        incoming = [(parent, node) for parent in as_names(parents)]
        outgoing = [(node, child) for child in as_names(children)]
        return DAG([*self._nodes, node], [*self._arcs, *incoming, *outgoing])

    def without_node(self, node: str) -> DAG:
        """A DAG without the node and its arcs."""
        place = self.position(node)
        return self.subgraph(self._nodes[:place] + self._nodes[place + 1 :])

    def subgraph(self, nodes: Names) -> DAG:
        """The DAG over these nodes only, in this graph's order, with the arcs between them."""
        kept = set(map(self.position, as_names(nodes)))
        names = set(self._named(kept))
        return DAG(self._named(sorted(kept)), [arc for arc in self._arcs if names.issuperset(arc)])

    def renamed(self, names: Mapping[str, str]) -> DAG:
        """The same DAG with nodes renamed from key to value; others keep their names.

        >>> DAG(["A", "B"], [("A", "B")]).renamed({"A": "rain"})
        DAG(rain -> B)
        """
        for name in names:
            self.position(name)
        new = {name: names.get(name, name) for name in self._nodes}
        return DAG(new.values(), [(new[parent], new[child]) for parent, child in self._arcs])

    def _named(self, positions: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._nodes[position] for position in positions)

    def __contains__(self, node: object) -> bool:
        return node in self._positions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DAG):
            return NotImplemented
        return set(self._nodes) == set(other._nodes) and set(self._arcs) == set(other._arcs)

    def to_networkx(self) -> Any:
        """A `networkx.DiGraph` with the same nodes and arcs; see `unveil.graph.to_networkx`."""
        from unveil.graph.convert import to_networkx

        return to_networkx(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """Nodes and arcs, ready for JSON."""
        return {"nodes": list(self._nodes), "arcs": [list(arc) for arc in self._arcs]}

    def __hash__(self) -> int:
        return hash((frozenset(self._nodes), frozenset(self._arcs)))

    def __repr__(self) -> str:
        return drawing("DAG", self._nodes, ((a, "->", b) for a, b in self._arcs))


def _parent_positions(
    positions: Mapping[str, int], arcs: Iterable[Pair]
) -> tuple[tuple[int, ...], ...]:
    # Dictionaries, not lists: they keep the order and spot a repeated arc in constant time.
    parents: list[dict[int, None]] = [{} for _ in positions]
    for parent, child in arcs:
        start, end = position_of(positions, parent), position_of(positions, child)
        if start == end:
            raise CycleError([parent, parent])
        if start in parents[end]:
            raise ModelError(f"the arc {parent} -> {child} is there already; give each arc once")
        parents[end][start] = None
    return tuple(map(tuple, parents))
