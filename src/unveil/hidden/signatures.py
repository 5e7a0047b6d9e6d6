"""Fainter signatures of a hidden variable: sets of nodes that are linked, but are no semi-clique.

A variable whose neighbours form a path leaves no triangle behind. And the signature is larger than
a clique: many parents lead to many children (thesis 4.3). So there are sets to try besides
semi-cliques; most of them are nothing, and `unveil.discovery.promise` puts them in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from unveil.graph.dag import DAG
from unveil.hidden.semi_cliques import SemiClique

__all__ = ["connected_triples", "faint_signatures", "joined_pairs", "parts_of_neighbourhoods"]

Nodes = frozenset[str]


def faint_signatures(dag: DAG, cliques: Sequence[SemiClique], max_size: int = 12) -> list[Nodes]:
    """All of the sets below, each once."""
    found: dict[Nodes, None] = {}
    for nodes in (*connected_triples(dag), *parts_of_neighbourhoods(dag), *joined_pairs(cliques)):
        if 3 <= len(nodes) <= max_size:
            found.setdefault(nodes)
    return list(found)


def connected_triples(dag: DAG) -> Iterator[Nodes]:
    """Every three nodes that are linked as a path at least.

    >>> dag = DAG(list("abcd"), [("a", "b"), ("b", "c"), ("c", "d")])
    >>> [sorted(nodes) for nodes in connected_triples(dag)]
    [['a', 'b', 'c'], ['b', 'c', 'd']]
    """
    for middle in dag.nodes:
        for pair in combinations(sorted(dag.neighbours(middle)), 2):
            yield frozenset([middle, *pair])


def parts_of_neighbourhoods(dag: DAG) -> Iterator[Nodes]:
    """Parents, children and both of every node, without and with it; all ends of its families.

    Where a hidden variable had parents and children, one of its children often takes its place.
    """
    for node in dag.nodes:
        parents, children = set(dag.parents(node)), set(dag.children(node))
        spouses = {p for child in children for p in dag.parents(child)} - {node}
        for part in (children, parents, parents | children, children | spouses):
            yield frozenset(part)
            yield frozenset(part | {node})


def joined_pairs(cliques: Sequence[SemiClique]) -> Iterator[Nodes]:
    """What two semi-cliques that share a node have together, and what they share.

    >>> one, other = SemiClique(("a", "b", "c"), 1.0, 3.0), SemiClique(("c", "d", "e"), 1.0, 3.0)
    >>> [sorted(nodes) for nodes in joined_pairs([one, other])]
    [['a', 'b', 'c', 'd', 'e'], ['c']]
    """
    for one, other in combinations(cliques, 2):
        shared = frozenset(one.nodes) & frozenset(other.nodes)
        if shared:
            yield frozenset(one.nodes) | frozenset(other.nodes)
            yield shared
