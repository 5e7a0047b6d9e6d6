"""Independence equivalence: DAGs that no amount of data can tell apart (thesis, Definition 2.1.4).

A class of equivalent DAGs is drawn as its completed PDAG: an arc where all members agree on the
direction, an undirected edge where they do not.
"""

from __future__ import annotations

from itertools import combinations

from unveil.graph.dag import DAG
from unveil.graph.pdag import PDAG
from unveil.graph.undirected import UndirectedGraph

__all__ = ["completed_pdag", "equivalent", "skeleton", "v_structures"]


def skeleton(dag: DAG) -> UndirectedGraph:
    """The graph without its directions.

    >>> skeleton(DAG(["A", "B"], [("B", "A")]))
    UndirectedGraph(A -- B)
    """
    return UndirectedGraph(dag.nodes, dag.arcs)


def v_structures(dag: DAG) -> frozenset[tuple[str, str, str]]:
    """The triples `(A, C, B)` with `A -> C <- B` and no arc between A and B; A before B by name.

    >>> v_structures(DAG(["B", "A", "C"], [("B", "C"), ("A", "C")]))
    frozenset({('A', 'C', 'B')})
    """
    return frozenset(
        (first, child, second)
        for child in dag.nodes
        for first, second in combinations(sorted(dag.parents(child)), 2)
        if not dag.adjacent(first, second)
    )


def equivalent(first: DAG, second: DAG) -> bool:
    """Whether both DAGs promise the same independencies.

    They do when they have the same skeleton and the same v-structures (Verma & Pearl, 1990).

    >>> chain = DAG(["A", "B", "C"], [("A", "B"), ("B", "C")])
    >>> equivalent(chain, chain.reversed_arc("A", "B"))
    True
    >>> equivalent(chain, chain.reversed_arc("B", "C"))
    False
    """
    return skeleton(first) == skeleton(second) and v_structures(first) == v_structures(second)


def completed_pdag(dag: DAG) -> PDAG:
    """The completed PDAG of the DAG's equivalence class; the same for every member.

    Order-Edges and Label-Edges of Chickering (1995): nodes are visited in topological order, and
    the arcs into a node Y are labelled by way of its nearest parent X. All are compelled if some
    compelled `W -> X` has W no parent of Y, or if some `Z -> Y` has Z neither X nor a parent of X;
    otherwise `W -> Y` is compelled exactly when `W -> X` is.

    >>> completed_pdag(DAG(["A", "B", "C", "D"], [("A", "C"), ("B", "C"), ("C", "D")]))
    PDAG(A -> C, B -> C, C -> D)
    >>> completed_pdag(DAG(["A", "B", "C"], [("A", "B"), ("B", "C")]))
    PDAG(A -- B, B -- C)
    """
    compelled = _compelled_parents(dag)
    arcs = [(x, y) for x, y in dag.arcs if x in compelled[y]]
    edges = [(x, y) for x, y in dag.arcs if x not in compelled[y]]
    return PDAG(dag.nodes, arcs, edges)


def _compelled_parents(dag: DAG) -> dict[str, set[str]]:
    # Label-Edges settles all arcs into y as soon as it has looked at the one from x, y's nearest
    # parent, so one look per node is enough.
    place = {node: place for place, node in enumerate(dag.topological_order)}
    parents = {node: set(dag.parents(node)) for node in dag.nodes}
    compelled: dict[str, set[str]] = {}
    for y in dag.topological_order:
        if not parents[y]:
            compelled[y] = set()
            continue
        x = max(parents[y], key=place.__getitem__)
        pushed_from_above = not compelled[x] <= parents[y]
        v_structure_here = not parents[y] <= parents[x] | {x}
        compelled[y] = parents[y] if pushed_from_above or v_structure_here else compelled[x]
    return compelled
