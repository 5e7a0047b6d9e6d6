"""Turning arcs: every graph on the way is equivalent, and the named nodes get what can be had."""

from collections import defaultdict

import pytest
from hypothesis import given

from unveil.errors import CycleError
from unveil.graph import DAG, completed_pdag, equivalent, is_covered, turned_away_from
from unveil.graph.turning import turns_towards

from .oracle import all_dags
from .strategies import dags

MEMBERS = defaultdict(list)
for one in all_dags(4):
    MEMBERS[completed_pdag(one)].append(one)


def test_covered_arcs_are_those_that_may_be_turned():
    """On every DAG of four nodes (Chickering 1995, Lemma 1)."""
    for dag in all_dags(4):
        for parent, child in dag.arcs:
            try:
                turned = dag.reversed_arc(parent, child)
            except CycleError:
                assert not is_covered(dag, parent, child)
                continue
            assert is_covered(dag, parent, child) == equivalent(dag, turned)


@pytest.mark.parametrize("names", [["A"], ["C"], ["D", "B"]])
def test_the_first_name_has_as_few_parents_as_any_member_gives_it(names):
    for members in MEMBERS.values():
        fewest = min(len(m.parents(names[0])) for m in members)
        for dag in members:
            found = turned_away_from(dag, names)
            assert found in members
            assert len(found.parents(names[0])) == fewest


def test_the_way_there():
    """From every member to every other, by covered arcs only."""
    for members in MEMBERS.values():
        for target in members:
            dag = members[0]
            for arc in turns_towards(members[0], target):
                assert is_covered(dag, *arc)
                dag = dag.reversed_arc(*arc)
            assert dag == target


@given(dags())
def test_larger_graphs(dag):
    name = dag.nodes[-1]
    found = turned_away_from(dag, [name])
    assert equivalent(found, dag)
    assert found.nodes == dag.nodes
    assert set(found.parents(name)) == set(completed_pdag(dag).parents(name))
    now = dag
    for arc in turns_towards(dag, found):
        assert is_covered(now, *arc)
        now = now.reversed_arc(*arc)
    assert now == found


def test_earlier_names_come_first():
    chain = DAG(["A", "B", "C"], [("A", "B"), ("B", "C")])
    assert turned_away_from(chain, ["C", "A"]) == DAG(["A", "B", "C"], [("C", "B"), ("B", "A")])
