"""Turning arcs within an equivalence class: which member of it to show, and how to get there.

No amount of data prefers one member over another, but some are easier to read: a hidden variable as
the parent of what it explains rather than as the child of one and the parent of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unveil.graph.dag import DAG
from unveil.graph.equivalence import completed_pdag

__all__ = ["is_covered", "turned_away_from", "turns_towards"]


def is_covered(dag: DAG, parent: str, child: str) -> bool:
    """Whether turning the arc gives an equivalent graph (Chickering 1995, Lemma 1).

    >>> is_covered(DAG(["A", "B", "C"], [("A", "B"), ("B", "C")]), "A", "B")
    True
    """
    return {parent, *dag.parents(parent)} == set(dag.parents(child))


def turned_away_from(dag: DAG, names: Sequence[str]) -> DAG:
    """The equivalent graph in which arcs lead away from `names` wherever the class allows it.

    Where it cannot allow it for all, earlier names come first.

    >>> turned_away_from(DAG(["A", "H", "B"], [("A", "H"), ("H", "B")]), ["H"])
    DAG(H -> A, H -> B)
    """
    pattern = completed_pdag(dag)
    rank = {name: i for i, name in enumerate([*names, *dag.topological_order][::-1])}
    # Maximum cardinality search: in each undirected part, next comes who has most neighbours among
    # those before, so arcs from earlier to later make no new v-structure (the parts are chordal).
    before: dict[str, int] = {}
    known = dict.fromkeys(dag.nodes, 0)
    while len(before) < len(dag.nodes):
        left = [n for n in dag.nodes if n not in before]
        following = max(left, key=lambda n: (known[n], rank[n]))
        before[following] = len(before)
        for other in pattern.undirected_neighbours(following):
            known[other] += 1
    turned = [(a, b) if before[a] < before[b] else (b, a) for a, b in pattern.edges]
    return DAG(dag.nodes, [*pattern.arcs, *turned])


def turns_towards(dag: DAG, target: DAG) -> Iterator[tuple[str, str]]:
    """The arcs to turn, one by one, to come from a graph to an equivalent one.

    Each is covered when its turn comes, so all graphs on the way are equivalent too (Chickering
    1995, Theorem 2 and algorithm Find-Edge).
    """
    while True:
        order = dag.topological_order
        place = {name: i for i, name in enumerate(order)}
        arc = next(
            (
                (max(wrong, key=lambda p: place[p]), child)
                for child in order
                if (wrong := [p for p in dag.parents(child) if target.has_arc(child, p)])
            ),
            None,
        )
        if arc is None:
            return
        yield arc
        dag = dag.reversed_arc(*arc)
