"""Structural differences add up and behave like a distance."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import ModelError
from unveil.graph import (
    DAG,
    StructuralDifference,
    compare,
    equivalence_class_distance,
    equivalent,
    structural_hamming_distance,
)

from .oracle import all_dags
from .strategies import dags


def test_each_kind_of_difference_is_named():
    true = DAG(["A", "B", "C", "D"], [("A", "B"), ("B", "C"), ("C", "D")])
    learned = DAG(["D", "C", "B", "A"], [("B", "A"), ("B", "C"), ("D", "A")])
    difference = compare(learned, true)
    assert difference == StructuralDifference(
        missing=(("C", "D"),), extra=(("D", "A"),), reversed=(("B", "A"),)
    )
    assert difference.hamming == 3
    assert str(difference) == "3 differences: 1 missing, 1 extra, 1 reversed"


@given(dags(min_nodes=5, max_nodes=5), dags(min_nodes=5, max_nodes=5))
def test_the_parts_add_up(learned, true):
    difference = compare(learned, true)
    shared = set(learned.arcs) & set(true.arcs)
    assert learned.n_arcs == len(shared) + len(difference.extra) + len(difference.reversed)
    assert true.n_arcs == len(shared) + len(difference.missing) + len(difference.reversed)
    back = compare(true, learned)
    assert (set(back.missing), set(back.extra)) == (set(difference.extra), set(difference.missing))
    assert {arc[::-1] for arc in back.reversed} == set(difference.reversed)


@pytest.mark.parametrize("distance", [structural_hamming_distance, equivalence_class_distance])
def test_distances_are_metrics_on_three_nodes(distance):
    table = {pair: distance(*pair) for pair in product(all_dags(3), repeat=2)}
    same = {
        structural_hamming_distance: DAG.__eq__,
        equivalence_class_distance: equivalent,
    }[distance]
    for a, b in table:
        assert table[a, b] == table[b, a]
        assert (table[a, b] == 0) == same(a, b)
        assert all(table[a, b] <= table[a, c] + table[c, b] for c in all_dags(3))


@given(dags(min_nodes=2), st.data())
def test_one_change_costs_one(dag, data):
    x, y = data.draw(st.permutations(dag.nodes))[:2]
    if dag.has_arc(x, y):
        assert structural_hamming_distance(dag, dag.without_arc(x, y)) == 1
    elif not dag.adjacent(x, y) and x not in dag.descendants(y):
        assert structural_hamming_distance(dag, dag.with_arc(x, y)) == 1


def test_class_distance_counts_pairs_joined_differently():
    nodes = ["A", "B", "C"]
    collider = DAG(nodes, [("A", "C"), ("B", "C")])
    chain = DAG(nodes, [("A", "C"), ("C", "B")])
    one_arc = DAG(nodes, [("C", "A")])
    assert equivalence_class_distance(collider, chain) == 2
    assert equivalence_class_distance(chain, one_arc) == 1
    assert equivalence_class_distance(collider, one_arc) == 2
    opposite = DAG(nodes, [("C", "A"), ("B", "A")])
    assert equivalence_class_distance(collider, opposite) == 3


@pytest.mark.parametrize(
    "measure", [compare, structural_hamming_distance, equivalence_class_distance]
)
def test_only_graphs_over_the_same_nodes_are_compared(measure):
    with pytest.raises(ModelError, match="only one of the two: 'B', 'C'"):
        measure(DAG(["A", "B"]), DAG(["C", "A"]))
