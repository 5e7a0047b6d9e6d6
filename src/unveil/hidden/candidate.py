"""From a set of suspected children to a graph with a hidden variable (thesis 4.1, second phase)."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.graph.dag import DAG

__all__ = ["fresh_name", "naive_graph", "with_hidden_parent"]


def with_hidden_parent(dag: DAG, name: str, children: Sequence[str], max_parents: int = 3) -> DAG:
    """The graph in which `name` is a proxy for what happens around `children`.

    `name` becomes the parent of all children, arcs among them are removed, and an arc from an
    outside parent to a child becomes an arc to `name` (where that makes no cycle). At most
    `max_parents` outside parents, those of most children, go to `name`; the others keep their
    arcs, since the table of `name` would explode.

    >>> dag = DAG(list("PABC"), [("P", "A"), ("A", "B"), ("A", "C"), ("B", "C")])
    >>> with_hidden_parent(dag, "H", ["A", "B", "C"])
    DAG(H -> A, H -> B, H -> C, P -> H)
    """
    inside = set(children)
    reached = dag.descendants(*children) | inside
    outside: dict[str, int] = {}
    for child in children:
        for parent in dag.parents(child):
            if parent not in reached:
                outside[parent] = outside.get(parent, 0) + 1
    proxied = sorted(outside, key=lambda p: (-outside[p], dag.position(p)))[:max_parents]
    arcs = [(name, child) for child in dag.nodes if child in inside]
    for parent, child in dag.arcs:
        if child not in inside or (parent not in inside and parent not in proxied):
            arcs.append((parent, child))
    arcs += [(parent, name) for parent in proxied]
    return DAG([*dag.nodes, name], arcs)


def naive_graph(names: Sequence[str], name: str) -> DAG:
    """One hidden parent of everything: the straw man of Friedman (1998)."""
    return DAG([*names, name], [(name, child) for child in names])


def fresh_name(taken: Sequence[str], stem: str = "H") -> str:
    """The first of H1, H2, ... that is not taken.

    >>> fresh_name(["H1", "x"])
    'H2'
    """
    number = 1
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"
