"""Answers by enumeration and by definition, slow and plain; nothing here uses the code tested."""

from functools import cache
from itertools import chain, combinations, product

import networkx as nx

from unveil.graph import DAG


@cache
def all_dags(n_nodes):
    """Every DAG over `n_nodes` labelled nodes: each pair joined one way, the other, or not."""
    nodes = "ABCDE"[:n_nodes]
    pairs = list(combinations(nodes, 2))
    result = []
    for directions in product("-><", repeat=len(pairs)):
        arcs = [
            pair if direction == ">" else pair[::-1]
            for pair, direction in zip(pairs, directions, strict=True)
            if direction != "-"
        ]
        if nx.is_directed_acyclic_graph(nx.DiGraph(arcs)):
            result.append(DAG(list(nodes), arcs))
    return tuple(result)


def subsets(items):
    items = list(items)
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def questions(nodes):
    """Every (x, y, given) with x before y."""
    for x, y in combinations(nodes, 2):
        for given in subsets(node for node in nodes if node not in (x, y)):
            yield x, y, given


def separated_by_paths(dag, x, y, given):
    """Elidan, thesis 2.1.1, to the letter: all undirected paths are blocked."""
    graph = nx.DiGraph(list(dag.arcs))
    graph.add_nodes_from(dag.nodes)
    paths = nx.all_simple_paths(graph.to_undirected(), x, y)
    return all(_blocked(graph, path, set(given)) for path in paths)


def _blocked(graph, path, given):
    for before, middle, after in zip(path, path[1:], path[2:], strict=False):
        if graph.has_edge(before, middle) and graph.has_edge(after, middle):
            if not ({middle} | nx.descendants(graph, middle)) & given:
                return True
        elif middle in given:
            return True
    return False


def separated_by_moral_graph(dag, xs, ys, given):
    """Lauritzen et al. (1990): plain separation in the moral graph of the ancestral set."""
    graph = nx.DiGraph(list(dag.arcs))
    graph.add_nodes_from(dag.nodes)
    asked = {*xs, *ys, *given}
    ancestral = asked.union(*(nx.ancestors(graph, node) for node in asked))
    moral = nx.moral_graph(graph.subgraph(ancestral))
    moral.remove_nodes_from(given)
    return not any(nx.has_path(moral, x, y) for x in xs for y in ys)


def independencies(dag):
    """All (x, y, given) that hold by the path definition, as one comparable set."""
    return frozenset(q for q in questions(dag.nodes) if separated_by_paths(dag, *q))
