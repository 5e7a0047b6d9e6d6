"""Equivalence classes: four ways to tell them must agree on every small DAG."""

from collections import defaultdict
from itertools import product

import pytest
from hypothesis import given

from unveil.errors import CycleError, ModelError
from unveil.graph import (
    DAG,
    PDAG,
    completed_pdag,
    consistent_extension,
    equivalent,
    random_dag,
    skeleton,
    v_structures,
)

from .markings import markings_of_a_square
from .oracle import all_dags, independencies
from .strategies import dags


def classes(dags, key):
    """The partition of the DAGs by a key, as a set of sets."""
    groups = defaultdict(set)
    for dag in dags:
        groups[key(dag)].add(dag)
    return set(map(frozenset, groups.values()))


def test_counts_of_equivalence_classes():
    """Gillispie & Perlman (2001)."""
    counts = [len({completed_pdag(dag) for dag in all_dags(n)}) for n in range(1, 5)]
    assert counts == [1, 2, 11, 185]


def test_all_ways_to_tell_classes_agree_on_four_nodes():
    by_independencies = classes(all_dags(4), independencies)
    assert classes(all_dags(4), completed_pdag) == by_independencies
    assert classes(all_dags(4), lambda d: (skeleton(d), v_structures(d))) == by_independencies


def test_equivalent_on_all_pairs_of_three_nodes():
    for first, second in product(all_dags(3), repeat=2):
        assert equivalent(first, second) == (independencies(first) == independencies(second))


def test_a_completed_pdag_is_the_union_of_its_class():
    """An arc exactly where all members agree, an edge exactly where they do not."""
    for members in classes(all_dags(4), independencies):
        everywhere = set.intersection(*(set(dag.arcs) for dag in members))
        anywhere = set.union(*(set(dag.arcs) for dag in members))
        for dag in members:
            pdag = completed_pdag(dag)
            assert set(pdag.arcs) == everywhere
            assert {frozenset(e) for e in pdag.edges} == set(map(frozenset, anywhere - everywhere))


def test_extending_a_completed_pdag_gives_a_member_of_its_class():
    for dag in all_dags(4):
        pdag = completed_pdag(dag)
        extension = consistent_extension(pdag)
        assert equivalent(extension, dag)
        assert set(pdag.arcs) <= set(extension.arcs)


@given(dags(max_nodes=9))
def test_completed_pdag_and_extension_on_larger_dags(dag):
    pdag = completed_pdag(dag)
    extension = consistent_extension(pdag)
    assert equivalent(extension, dag)
    assert completed_pdag(extension) == pdag
    assert completed_pdag(DAG(dag.nodes[::-1], dag.arcs[::-1])) == pdag


@given(dags(max_nodes=8))
def test_turning_a_covered_arc_stays_in_the_class(dag):
    """Chickering (1995), Lemma 1: X -> Y is covered when Y's other parents are X's parents."""
    for x, y in dag.arcs:
        if set(dag.parents(y)) - {x} == set(dag.parents(x)):
            turned = dag.reversed_arc(x, y)
            assert equivalent(turned, dag)
            assert completed_pdag(turned) == completed_pdag(dag)


def extensions_by_enumeration(pdag):
    """All DAGs with the skeleton, arcs and v-structures of the PDAG."""
    result = set()
    for turned in product([False, True], repeat=len(pdag.edges)):
        edges = zip(pdag.edges, turned, strict=True)
        try:
            dag = DAG(pdag.nodes, [*pdag.arcs, *(e[::-1] if t else e for e, t in edges)])
        except CycleError:
            continue
        if v_structures(dag) == pdag_v_structures(pdag):
            result.add(dag)
    return result


def pdag_v_structures(pdag):
    return {
        (a, c, b)
        for c in pdag.nodes
        for a, b in product(pdag.parents(c), repeat=2)
        if a < b and not pdag.adjacent(a, b)
    }


def test_extension_of_a_thousand_small_pdags():
    """Every marking of a square with one diagonal, against all ways to direct its edges."""
    found, refused = 0, 0
    for pdag in markings_of_a_square():
        possible = extensions_by_enumeration(pdag)
        if possible:
            found += 1
            assert consistent_extension(pdag) in possible
        else:
            refused += 1
            with pytest.raises(ModelError):
                consistent_extension(pdag)
    assert found > 100
    assert refused > 10


def test_a_square_of_edges_has_no_extension():
    """Any way round it makes a cycle or a v-structure."""
    nodes = ["A", "B", "C", "D", "E"]
    edges = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"), ("D", "E")]
    with pytest.raises(ModelError, match=r"\['A', 'B', 'C', 'D'\]"):
        consistent_extension(PDAG(nodes, edges=edges))


def test_v_structures_forget_the_node_order():
    arcs = [("Z", "C"), ("A", "C"), ("A", "D"), ("Z", "D"), ("C", "D")]
    assert v_structures(DAG(["Z", "C", "A", "D"], arcs)) == {("A", "C", "Z"), ("A", "D", "Z")}


def test_graphs_over_different_nodes_are_not_equivalent():
    assert not equivalent(DAG(["A"]), DAG(["B"]))


def test_pdag_reads_and_refuses():
    pdag = PDAG(["A", "B", "C", "D"], arcs=[("A", "B")], edges=[("C", "B")])
    assert pdag.arcs == (("A", "B"),)
    assert pdag.edges == (("B", "C"),)
    assert (pdag.parents("B"), pdag.children("A")) == (("A",), ("B",))
    assert pdag.undirected_neighbours("B") == ("C",)
    assert pdag.has_arc("A", "B")
    assert not pdag.has_arc("B", "A")
    assert pdag.has_edge("C", "B")
    assert not pdag.has_edge("A", "B")
    assert pdag.adjacent("A", "B")
    assert pdag.adjacent("B", "C")
    assert not pdag.adjacent("A", "C")
    assert repr(pdag) == "PDAG(A -> B, B -- C, D)"
    assert pdag == PDAG(["D", "C", "B", "A"], arcs=[("A", "B")], edges=[("B", "C")])
    assert pdag != PDAG(["A", "B", "C", "D"], arcs=[("A", "B"), ("C", "B")])
    assert pdag != PDAG(["A", "B", "C", "D"], arcs=[("B", "A")], edges=[("C", "B")])
    assert pdag != PDAG(["A", "B", "C", "D"], arcs=[("A", "B")], edges=[("C", "D")])
    with pytest.raises(ModelError, match="'A' and 'B' are joined by both"):
        PDAG(["A", "B"], arcs=[("B", "A")], edges=[("A", "B")])
    with pytest.raises(CycleError):
        PDAG(["A", "B", "C"], arcs=[("A", "B"), ("B", "C"), ("C", "A")])


def test_a_thousand_nodes():
    dag = random_dag(1000, expected_arcs=3000, seed=5)
    extension = consistent_extension(completed_pdag(dag))
    assert equivalent(extension, dag)
