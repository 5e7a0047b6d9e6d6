"""d-separation against its definition, the moral graph and networkx."""

import networkx as nx
import pytest
from hypothesis import given

from unveil.errors import ModelError
from unveil.graph import DAG, d_separated, reachable, to_networkx

from .oracle import all_dags, questions, separated_by_moral_graph, separated_by_paths
from .strategies import dags, separation_questions


@pytest.mark.parametrize("n_nodes", [2, 3, 4])
def test_every_question_about_every_small_dag(n_nodes):
    for dag in all_dags(n_nodes):
        for x, y, z in questions(dag.nodes):
            assert d_separated(dag, x, y, z) == separated_by_paths(dag, x, y, z), (dag, x, y, z)


@given(separation_questions(max_nodes=7))
def test_sets_of_nodes_against_the_moral_graph_and_networkx(question):
    dag, xs, ys, z = question
    answer = dag.d_separated(xs, ys, z)
    assert answer == separated_by_moral_graph(dag, xs, ys, z)
    assert answer == nx.is_d_separator(to_networkx(dag), xs, ys, z)
    assert answer == dag.d_separated(ys, xs, z)
    assert answer == all(separated_by_paths(dag, x, y, z) for x in xs for y in ys)


@given(separation_questions())
def test_reachable_is_what_is_not_separated(question):
    dag, xs, _, z = question
    others = set(dag.nodes) - xs - z
    assert reachable(dag, xs, z) == xs | {y for y in others if not d_separated(dag, xs, y, z)}


@given(dags(max_nodes=7))
def test_a_node_is_separated_from_its_non_descendants_by_its_parents(dag):
    """Elidan, thesis, Definition 2.1.2."""
    for node in dag.nodes:
        parents = set(dag.parents(node))
        others = set(dag.nodes) - dag.descendants(node) - parents - {node}
        assert dag.d_separated(node, others, given=parents)


def test_a_string_is_one_name():
    dag = DAG(["rain", "grass", "sprinkler"], [("rain", "grass"), ("sprinkler", "grass")])
    assert dag.d_separated("rain", "sprinkler")
    assert not dag.d_separated("rain", "sprinkler", given="grass")


def test_refuses_overlap_and_unknown_names():
    dag = DAG(["A", "B", "C"])
    with pytest.raises(ModelError, match=r"must not overlap, but \['A', 'B'\]"):
        d_separated(dag, ["A", "B"], "A", given="B")
    for arguments in [("X", "A", ()), ("A", "X", ()), ("A", "B", "X")]:
        with pytest.raises(ModelError, match="unknown node 'X'"):
            d_separated(dag, *arguments)
    assert reachable(dag, "A", given="A") == frozenset()
