"""Trees of cliques: laws on random graphs, and small graphs whose answer is known."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.graph.triangulation import clique_tree


@st.composite
def families(draw):
    """Numbers of states, and scopes as the families of a random DAG."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=14))
    scopes = [
        [v, *(draw(st.lists(st.integers(0, v - 1), max_size=4, unique=True)) if v else [])]
        for v in range(len(sizes))
    ]
    return sizes, scopes


def graph_of(n, scopes):
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    for scope in scopes:
        graph.add_edges_from((a, b) for a in scope for b in scope if a < b)
    return graph


def total_size(sizes, cliques):
    return sum(math.prod(sizes[v] for v in clique) for clique in cliques)


def size_of_order(sizes, graph, order):
    """The total size of the maximal cliques of an elimination order, by definition."""
    graph = graph.copy()
    cliques = []
    for v in order:
        around = list(graph[v])
        cliques.append({v, *around})
        graph.add_edges_from((a, b) for a in around for b in around if a < b)
        graph.remove_node(v)
    return total_size(sizes, [c for c in cliques if not any(c < d for d in cliques)])


def check(sizes, scopes, tree):
    """All that a clique tree promises."""
    graph = graph_of(len(sizes), scopes)
    sets = [set(clique) for clique in tree.cliques]
    assert all(list(c) == sorted(c) for c in tree.cliques)
    assert set().union(*sets) == set(range(len(sizes)))
    for scope in scopes:
        assert any(set(scope) <= members for members in sets)
    assert not any(a <= b for i, a in enumerate(sets) for j, b in enumerate(sets) if i != j)
    assert all(p < i for i, p in enumerate(tree.parent))
    links = nx.Graph()
    links.add_nodes_from(range(len(sets)))
    links.add_edges_from((i, p) for i, p in enumerate(tree.parent) if p >= 0)
    assert nx.is_forest(links)
    for v in range(len(sizes)):
        holding = [i for i, members in enumerate(sets) if v in members]
        assert nx.is_connected(links.subgraph(holding))
    assert nx.number_connected_components(links) == nx.number_connected_components(graph)
    assert tree.n_cells(sizes) == total_size(sizes, tree.cliques)
    filled = graph_of(len(sizes), tree.cliques)
    assert nx.is_chordal(nx.Graph(filled))
    return filled.number_of_edges() - graph.number_of_edges()


@settings(max_examples=200, deadline=None)
@given(families())
def test_promises(case):
    sizes, scopes = case
    check(sizes, scopes, clique_tree(sizes, scopes))


def test_hardly_ever_larger_than_the_order_of_the_nodes():
    generator = np.random.default_rng(2)
    ratios = []
    for _ in range(60):
        sizes = generator.integers(2, 5, size=14).tolist()
        scopes = [[v, *generator.permutation(v)[:3].tolist()] for v in range(14)]
        found = clique_tree(sizes, scopes).n_cells(sizes)
        ratios.append(found / size_of_order(sizes, graph_of(14, scopes), range(14)))
    assert np.mean(np.array(ratios) <= 1) > 0.95
    assert np.median(ratios) < 0.3


def test_close_to_the_best_random_order():
    """On loopy graphs greedy rules beat the best of 200 random orders, nearly always."""
    generator = np.random.default_rng(1)
    worse = 0
    for _ in range(20):
        sizes = generator.integers(2, 5, size=12).tolist()
        graph = nx.gnp_random_graph(12, 0.3, seed=int(generator.integers(1 << 30)))
        found = clique_tree(sizes, [[v] for v in range(12)] + [list(e) for e in graph.edges])
        best = min(size_of_order(sizes, graph, generator.permutation(12)) for _ in range(200))
        worse += found.n_cells(sizes) > best
    assert worse <= 3


@pytest.mark.parametrize("seed", range(20))
def test_chordal_graphs_get_no_new_edges(seed):
    generator = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(15, 0.25, seed=seed)
    chordal, _ = nx.complete_to_chordal_graph(graph)
    names = generator.permutation(15).tolist()
    scopes = [[v] for v in range(15)] + [[names[a], names[b]] for a, b in chordal.edges]
    sizes = generator.integers(1, 5, size=15).tolist()
    tree = clique_tree(sizes, scopes)
    assert check(sizes, scopes, tree) == 0
    assert {frozenset(c) for c in tree.cliques} == {
        frozenset(names[v] for v in c) for c in nx.chordal_graph_cliques(chordal)
    }


def test_cycles():
    """A cycle of n nodes needs n - 3 edges, and has n - 2 triangles."""
    for n in range(3, 12):
        scopes = [[v, (v + 1) % n] for v in range(n)]
        tree = clique_tree([2] * n, scopes)
        assert check([2] * n, scopes, tree) == n - 3
        assert len(tree.cliques) == n - 2


def test_the_cheaper_diagonal_of_a_square():
    """The diagonal joins two opposite corners; the pair with few states is the one to join."""
    square = [[0, 1], [1, 2], [2, 3], [3, 0]]
    assert {frozenset(c) for c in clique_tree([2, 9, 2, 9], square).cliques} == {
        frozenset({0, 1, 2}),
        frozenset({0, 2, 3}),
    }


def test_asia():
    """Lauritzen and Spiegelhalter (1988): six cliques, one edge filled in."""
    asia, tub, smoke, lung, bronc, either, xray, dysp = range(8)
    scopes = [
        [asia], [asia, tub], [smoke], [smoke, lung], [smoke, bronc],
        [tub, lung, either], [either, xray], [either, bronc, dysp],
    ]  # fmt: skip
    tree = clique_tree([2] * 8, scopes)
    assert check([2] * 8, scopes, tree) == 1
    sizes = sorted(len(c) for c in tree.cliques)
    assert sizes == [2, 2, 3, 3, 3, 3]
    assert tree.n_cells([2] * 8) == 40


def test_small_shapes():
    assert clique_tree([3], [[0]]).cliques == ((0,),)
    apart = clique_tree([2, 3, 4], [[0], [1], [2]])
    assert sorted(apart.cliques) == [(0,), (1,), (2,)]
    assert apart.parent == (-1, -1, -1)
    whole = clique_tree([2] * 6, [range(6)])
    assert whole.cliques == ((0, 1, 2, 3, 4, 5),)


def test_a_hub_with_thousands_of_leaves():
    n = 3000
    tree = clique_tree([2] * (n + 1), [[0], *([0, leaf] for leaf in range(1, n + 1))])
    assert len(tree.cliques) == n
    assert all(len(c) == 2 and 0 in c for c in tree.cliques)
