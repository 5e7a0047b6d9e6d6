"""Semi-cliques: the definition, its leeway, and what greedy expansion promises."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import DAG
from unveil.hidden import find_semi_cliques, fresh_name, naive_graph, with_hidden_parent
from unveil.hidden.semi_cliques import adjacency, neighbourhoods


@st.composite
def dags(draw, most=9):
    """Random graphs, arcs from earlier to later names."""
    n = draw(st.integers(4, most))
    names = [f"X{i}" for i in range(n)]
    pairs = list(combinations(names, 2))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    order = draw(st.permutations(names))
    arcs = [arc for arc, keep in zip(pairs, kept, strict=True) if keep]
    return DAG(order, arcs)


def is_semi_clique(dag, nodes):
    """Definition 4.1.2: every node is linked to at least half of the set."""
    return all(sum(dag.adjacent(x, y) for y in nodes if y != x) >= len(nodes) / 2 for x in nodes)


def undirected(names, links):
    """A graph with the given links, directed along the order of names."""
    return DAG(names, [(a, b) for a, b in links if a < b])


@settings(max_examples=60, deadline=None)
@given(dags())
def test_every_set_found_is_a_semi_clique_that_cannot_grow(dag):
    found = find_semi_cliques(dag)
    for clique in found:
        assert len(clique.nodes) >= 3
        assert is_semi_clique(dag, clique.nodes)
        for extra in set(dag.nodes) - set(clique.nodes):
            assert not is_semi_clique(dag, [*clique.nodes, extra])
    sets = [frozenset(c.nodes) for c in found]
    assert len(sets) == len(set(sets))
    assert not any(a < b for a in sets for b in sets)


@settings(max_examples=60, deadline=None)
@given(dags())
def test_every_triangle_lies_in_a_set_found(dag):
    sets = [set(c.nodes) for c in find_semi_cliques(dag)]
    for triangle in combinations(dag.nodes, 3):
        if all(dag.adjacent(a, b) for a, b in combinations(triangle, 2)):
            assert any(set(triangle) <= s for s in sets)


def test_leeway_is_exactly_one_half():
    missing_one = undirected(list("ABCD"), [p for p in combinations("ABCD", 2) if p != ("A", "D")])
    assert [c.nodes for c in find_semi_cliques(missing_one)] == [tuple("ABCD")]
    # D has one link to a set of four: less than half.
    tail = undirected(list("ABCD"), [("A", "B"), ("A", "C"), ("B", "C"), ("C", "D")])
    assert [c.nodes for c in find_semi_cliques(tail)] == [tuple("ABC")]


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8])
def test_a_semi_clique_has_diameter_at_most_two(n):
    """Two nodes without a link share a neighbour inside, since each sees half of the others."""
    generator = np.random.default_rng(n)
    names = [f"X{i}" for i in range(n)]
    for _ in range(20):
        links = [p for p in combinations(names, 2) if generator.random() < 0.6]
        dag = undirected(names, links)
        for clique in find_semi_cliques(dag):
            for a, b in combinations(clique.nodes, 2):
                near = set(dag.neighbours(a)) & set(dag.neighbours(b)) & set(clique.nodes)
                assert dag.adjacent(a, b) or near


def test_a_soft_signature_with_certain_links_is_the_hard_one():
    dag = undirected(list("ABCDE"), [("A", "B"), ("A", "C"), ("B", "C"), ("C", "D"), ("D", "E")])
    assert find_semi_cliques(dag, confidence=adjacency(dag)) == find_semi_cliques(dag)


def test_a_soft_signature_finds_what_a_single_graph_misses():
    empty = DAG(list("ABC"))
    sure = np.full((3, 3), 0.8) - 0.8 * np.eye(3)
    assert [c.nodes for c in find_semi_cliques(empty, confidence=sure)] == [("A", "B", "C")]
    assert find_semi_cliques(empty, confidence=sure / 8) == ()


def test_neighbourhoods_are_nodes_with_their_neighbours():
    star = DAG(list("ABCDE"), [("A", "B"), ("A", "C"), ("A", "D")])
    assert [c.nodes for c in neighbourhoods(star)] == [("A", "B", "C", "D")]


@settings(max_examples=100, deadline=None)
@given(dags(), st.data())
def test_a_hidden_parent_makes_no_cycle_and_takes_over(dag, data):
    children = data.draw(
        st.lists(st.sampled_from(dag.nodes), min_size=2, max_size=dag.n_nodes, unique=True)
    )
    most = data.draw(st.integers(0, 3))
    new = with_hidden_parent(dag, "H", children, max_parents=most)  # a cycle would raise
    assert set(new.children("H")) == set(children)
    assert len(new.parents("H")) <= most
    outside = {p for c in children for p in dag.parents(c)} - set(children)
    assert set(new.parents("H")) <= outside
    assert not any(new.has_arc(a, b) for a in children for b in children)
    for parent in outside:
        kept = parent not in new.parents("H")
        for child in children:
            assert new.has_arc(parent, child) == (kept and dag.has_arc(parent, child))
    for parent, child in dag.arcs:
        if child not in children:
            assert new.has_arc(parent, child)


def test_naive_graph_and_names():
    assert set(naive_graph(list("AB"), "H").arcs) == {("H", "A"), ("H", "B")}
    assert fresh_name(["H1", "H2", "x"]) == "H3"
