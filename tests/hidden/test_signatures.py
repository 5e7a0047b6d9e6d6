"""Fainter signatures, and semi-cliques as the book grows them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import DAG
from unveil.hidden import find_semi_cliques
from unveil.hidden.semi_cliques import adjacency
from unveil.hidden.signatures import (
    connected_triples,
    faint_signatures,
    joined_pairs,
    parts_of_neighbourhoods,
)


@st.composite
def graphs(draw, n=9):
    names = [f"v{i}" for i in range(n)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return DAG(names, [p for p in pairs if draw(st.integers(0, 9)) < 4])


def by_the_book(dag, most=12):
    """Algorithm 5 with ExpandClique as printed: variables in their order, until none fits."""
    links = adjacency(dag)
    n = len(dag.nodes)

    def fits(nodes):
        inside = links[np.ix_(nodes, nodes)].sum(axis=1)
        return bool((inside >= len(nodes) / 2).all())

    found = set()
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                if not links[a, b] * links[a, c] * links[b, c]:
                    continue
                clique, grown = [a, b, c], True
                while grown:
                    grown = False
                    for x in range(n):
                        if x not in clique and len(clique) < most and fits([*clique, x]):
                            clique.append(x)
                            grown = True
                found.add(frozenset(dag.nodes[i] for i in clique))
    return found


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_every_set_of_the_book_is_found_or_inside_one_that_is(dag):
    ours = [frozenset(s.nodes) for s in find_semi_cliques(dag)]
    assert all(any(theirs <= mine for mine in ours) for theirs in by_the_book(dag))


@given(graphs())
@settings(max_examples=30, deadline=None)
def test_faint_signatures_are_connected_or_share_a_child(dag):
    cliques = find_semi_cliques(dag)
    found = faint_signatures(dag, cliques, max_size=6)
    assert len(found) == len(set(found))
    assert all(3 <= len(nodes) <= 6 for nodes in found)
    triples = set(connected_triples(dag))
    for nodes in triples:
        linked = [x for x in nodes if nodes & set(dag.neighbours(x))]
        assert len(linked) == 3
        assert nodes in found
    for nodes in parts_of_neighbourhoods(dag):
        assert nodes in found or not 3 <= len(nodes) <= 6
    for nodes in joined_pairs(cliques):
        assert nodes in found or not 3 <= len(nodes) <= 6
