"""The moral graph: what remains of a DAG when the directions go and all parents are married."""

from __future__ import annotations

from itertools import combinations

from unveil.graph.dag import DAG
from unveil.graph.undirected import UndirectedGraph

__all__ = ["moral_graph"]


def moral_graph(dag: DAG) -> UndirectedGraph:
    """The undirected graph in which each node and its parents are all joined to one another.

    The neighbours of a node in it are its Markov blanket. Every family lies within one clique,
    which is why inference starts here (Lauritzen & Spiegelhalter, 1988).

    >>> moral_graph(DAG(["A", "B", "C"], [("A", "C"), ("B", "C")]))
    UndirectedGraph(A -- B, A -- C, B -- C)
    """
    families = (dag.parents(node) for node in dag.nodes)
    marriages = (pair for parents in families for pair in combinations(parents, 2))
    return UndirectedGraph(dag.nodes, [*dag.arcs, *marriages])
