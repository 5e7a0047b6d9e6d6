"""To and from networkx, which draws and measures graphs in many more ways."""

from __future__ import annotations

from typing import Any

from unveil.errors import ModelError
from unveil.graph.dag import DAG

__all__ = ["from_networkx", "to_networkx"]


def to_networkx(dag: DAG) -> Any:
    """A `networkx.DiGraph` with the same nodes and arcs, in the same orders.

    >>> to_networkx(DAG(["A", "B"], [("A", "B")])).edges
    OutEdgeView([('A', 'B')])
    """
    try:
        import networkx
    except ImportError as error:
        raise ImportError(
            "to_networkx needs the package networkx; install it with `pip install networkx`"
        ) from error
    graph = networkx.DiGraph()
    graph.add_nodes_from(dag.nodes)
    graph.add_edges_from(dag.arcs)
    return graph


def from_networkx(graph: Any) -> DAG:
    """The DAG with the nodes and arcs of a `networkx.DiGraph`, in the same orders.

    Node names must be strings; `networkx.relabel_nodes(graph, str)` makes them so.

    >>> import networkx
    >>> from_networkx(networkx.DiGraph([("A", "B"), ("B", "C")]))
    DAG(A -> B, B -> C)
    """
    if not graph.is_directed() or graph.is_multigraph():
        raise ModelError(
            f"expected a networkx.DiGraph; got a {type(graph).__name__}. "
            "Direct its edges first, at most one arc for each pair of nodes."
        )
    arcs = [(parent, child) for child in graph.nodes for parent in graph.predecessors(child)]
    return DAG(graph.nodes, arcs)
