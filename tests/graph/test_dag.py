"""The DAG: what it keeps, what it refuses, and laws against networkx and the definitions."""

import copy
import pickle
from itertools import combinations, pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import CycleError, ModelError
from unveil.graph import DAG, UndirectedGraph, moral_graph, to_networkx

from .oracle import all_dags
from .strategies import dags

ALARM = DAG(
    ["Call", "Alarm", "Burglary", "Earthquake", "Radio"],
    [
        ("Earthquake", "Alarm"),
        ("Burglary", "Alarm"),
        ("Alarm", "Call"),
        ("Earthquake", "Radio"),
    ],
)


def test_orders_are_kept_as_given():
    assert ALARM.nodes == ("Call", "Alarm", "Burglary", "Earthquake", "Radio")
    assert ALARM.parents("Alarm") == ("Earthquake", "Burglary")
    assert ALARM.children("Earthquake") == ("Alarm", "Radio")
    assert ALARM.arcs == (
        ("Alarm", "Call"),
        ("Earthquake", "Alarm"),
        ("Burglary", "Alarm"),
        ("Earthquake", "Radio"),
    )
    assert ALARM.parent_positions == ((1,), (3, 2), (), (), (3,))
    assert ALARM.child_positions == ((), (0,), (1,), (1, 4), ())
    assert [ALARM.position(node) for node in ALARM.nodes] == [0, 1, 2, 3, 4]


def test_reads_the_alarm_network():
    assert (ALARM.n_nodes, ALARM.n_arcs) == (5, 4)
    assert ALARM.roots == ("Burglary", "Earthquake")
    assert ALARM.leaves == ("Call", "Radio")
    assert ALARM.topological_order == ("Burglary", "Earthquake", "Alarm", "Call", "Radio")
    assert ALARM.neighbours("Alarm") == ("Call", "Burglary", "Earthquake")
    assert ALARM.has_arc("Alarm", "Call")
    assert not ALARM.has_arc("Call", "Alarm")
    assert ALARM.adjacent("Call", "Alarm")
    assert not ALARM.adjacent("Call", "Radio")
    assert ALARM.ancestors("Alarm", "Call") == {"Alarm", "Burglary", "Earthquake"}
    assert ALARM.descendants("Earthquake") == {"Alarm", "Call", "Radio"}
    assert ALARM.ancestors() == frozenset()
    assert "Alarm" in ALARM
    assert "alarm" not in ALARM


def test_counts_of_labelled_dags():
    """Robinson (1973); OEIS A003024."""
    assert [len(all_dags(n)) for n in range(1, 5)] == [1, 3, 25, 543]
    assert len(set(all_dags(4))) == 543


@pytest.mark.parametrize(
    ("nodes", "arcs", "words"),
    [
        (["A", "B"], [("A", "C")], ["unknown node 'C'", "'A', 'B'"]),
        (["A", "B", "A"], [], ["'A' is listed twice", "places 1 and 3"]),
        (["A", "B"], [("A", "B"), ("A", "B")], ["A -> B is there already"]),
        (["A", 1], [], ["strings", "got 1 (int)"]),
        (["A", "B"], [("A", "B", "C")], ["pair", "('A', 'B', 'C')"]),
        (["A", "B"], ["AB"], ["pair", "got 'AB'"]),
        (["A"], [(["A"], "A")], ["unknown node ['A']"]),
        ("AB", [("A", "B")], ["unknown node 'A'", "The nodes are 'AB'"]),
        ([], [("A", "B")], ["unknown node 'A'. The graph has no nodes."]),
    ],
)
def test_refuses_with_a_message_that_names_the_trouble(nodes, arcs, words):
    with pytest.raises(ModelError) as caught:
        DAG(nodes, arcs)
    assert not isinstance(caught.value, CycleError)
    for word in words:
        assert word in str(caught.value)


def test_an_unknown_name_suggests_a_close_one_and_lists_only_some():
    dag = DAG([f"gene{i}" for i in range(100)])
    with pytest.raises(ModelError, match="Did you mean 'gene7'") as caught:
        dag.parents("Gene7")
    assert "'gene0', 'gene1'" in str(caught.value)
    assert "(100 in all)" in str(caught.value)
    assert "gene50" not in str(caught.value)


@pytest.mark.parametrize("query", ["parents", "children", "neighbours", "ancestors", "position"])
def test_every_question_about_an_unknown_node_is_refused(query):
    with pytest.raises(ModelError, match="unknown node 'Smoke'"):
        getattr(ALARM, query)("Smoke")


def test_a_self_loop_is_a_cycle_of_one():
    with pytest.raises(CycleError) as caught:
        DAG(["A", "B"], [("A", "A")])
    assert caught.value.cycle == ["A", "A"]


@given(dags(min_nodes=2, max_nodes=8), st.data())
def test_the_cycle_reported_is_a_real_one(dag, data):
    """Turn one arc of a longer path back on itself; the message must walk existing arcs."""
    backward = [(x, y) for x in dag.nodes for y in sorted(dag.ancestors(x))]
    if not backward:
        return
    extra = data.draw(st.sampled_from(backward))
    arcs = {*dag.arcs, extra}
    with pytest.raises(CycleError) as caught:
        dag.with_arc(*extra)
    cycle = caught.value.cycle
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1 >= 2
    assert set(pairwise(cycle)) <= arcs
    assert " -> ".join(cycle) in str(caught.value)


def test_the_cycle_leaves_out_what_only_hangs_on_it():
    arcs = [("in", "A"), ("A", "B"), ("B", "C"), ("C", "A"), ("C", "out")]
    with pytest.raises(CycleError) as caught:
        DAG(["out", "in", "A", "B", "C"], arcs)
    assert sorted(caught.value.cycle[1:]) == ["A", "B", "C"]


@given(dags(max_nodes=8))
def test_topological_order_is_the_first_by_position(dag):
    expected = nx.lexicographical_topological_sort(to_networkx(dag), key=dag.position)
    assert dag.topological_order == tuple(expected)
    assert tuple(dag.nodes[i] for i in dag.topological_positions) == dag.topological_order
    place = {node: i for i, node in enumerate(dag.topological_order)}
    assert all(place[parent] < place[child] for parent, child in dag.arcs)


@given(dags(max_nodes=8))
def test_ancestors_and_descendants_are_the_transitive_closure(dag):
    closed = nx.transitive_closure(to_networkx(dag))
    for node in dag.nodes:
        assert dag.ancestors(node) == set(closed.predecessors(node))
        assert dag.descendants(node) == set(closed.successors(node))


@given(dags(max_nodes=7))
def test_the_markov_blanket_is_the_smallest_that_separates(dag):
    """Elidan, thesis, Definition 2.1.3."""
    for node in dag.nodes:
        blanket = dag.markov_blanket(node)
        rest = set(dag.nodes) - blanket - {node}
        assert dag.d_separated(node, rest, given=blanket)
        for member in blanket:
            assert not dag.d_separated(node, rest | {member}, given=blanket - {member})


@given(dags(max_nodes=8))
def test_the_moral_graph_joins_each_node_to_its_blanket(dag):
    moral = moral_graph(dag)
    assert all(set(moral.neighbours(x)) == dag.markov_blanket(x) for x in dag.nodes)
    second_opinion = nx.moral_graph(to_networkx(dag))
    assert moral == UndirectedGraph(list(second_opinion), second_opinion.edges)


@given(dags(max_nodes=7))
def test_equality_forgets_both_orders(dag):
    twin = DAG(dag.nodes[::-1], dag.arcs[::-1])
    assert twin == dag
    assert hash(twin) == hash(dag)
    assert DAG.from_parents({x: dag.parents(x) for x in dag.nodes}).arcs == dag.arcs
    if dag.n_arcs:
        assert dag.without_arc(*dag.arcs[0]) != dag
    assert dag.with_node("new") != dag
    assert dag != "a DAG"


@given(dags(max_nodes=7))
def test_a_change_and_its_opposite_cancel(dag):
    for parent, child in dag.arcs:
        smaller = dag.without_arc(parent, child)
        assert set(smaller.arcs) == set(dag.arcs) - {(parent, child)}
        assert smaller.with_arc(parent, child) == dag
        if parent not in smaller.ancestors(child):
            turned = dag.reversed_arc(parent, child)
            assert set(turned.arcs) == set(smaller.arcs) | {(child, parent)}
            assert turned.reversed_arc(child, parent) == dag
    for node in dag.nodes:
        without = dag.without_node(node)
        assert without.nodes == tuple(x for x in dag.nodes if x != node)
        assert without.with_node(node, dag.parents(node), dag.children(node)) == dag


@given(dags(min_nodes=2, max_nodes=7))
def test_a_subgraph_keeps_orders_and_inner_arcs(dag):
    kept = dag.nodes[::2]
    part = dag.subgraph(kept[::-1])
    assert part.nodes == kept
    assert part.arcs == tuple(arc for arc in dag.arcs if set(arc) <= set(kept))


def test_a_subgraph_of_a_large_graph_keeps_the_order():
    names = [f"X{i}" for i in range(200)]
    assert DAG(names).subgraph(["X160", "X8", "X0", "X33"]).nodes == ("X0", "X8", "X33", "X160")


def test_changes_leave_the_original_alone():
    before = (ALARM.nodes, ALARM.arcs)
    ALARM.with_arc("Radio", "Call").without_node("Alarm")
    assert (ALARM.nodes, ALARM.arcs) == before
    with pytest.raises(AttributeError):
        ALARM.nodes = ()
    with pytest.raises(AttributeError):
        ALARM.colour = "red"


def test_a_new_parent_comes_last():
    assert ALARM.with_arc("Radio", "Alarm").parents("Alarm") == ("Earthquake", "Burglary", "Radio")
    wider = ALARM.with_node("Cat", parents="Radio", children="Alarm")
    assert wider.nodes[-1] == "Cat"
    assert wider.parents("Cat") == ("Radio",)
    assert wider.parents("Alarm") == ("Earthquake", "Burglary", "Cat")


def test_renaming_keeps_orders_and_swaps_safely():
    swapped = ALARM.renamed({"Call": "Radio", "Radio": "Call"})
    assert swapped.nodes == ("Radio", "Alarm", "Burglary", "Earthquake", "Call")
    assert swapped.has_arc("Earthquake", "Call")
    assert swapped.parents("Alarm") == ALARM.parents("Alarm")
    with pytest.raises(ModelError, match="listed twice"):
        ALARM.renamed({"Call": "Radio"})
    with pytest.raises(ModelError, match="unknown node 'Cat'"):
        ALARM.renamed({"Cat": "Dog"})


def test_changes_that_make_no_sense_are_refused():
    with pytest.raises(ModelError, match=r"no arc Call -> Alarm .* are \['Earthquake', 'Bur"):
        ALARM.without_arc("Call", "Alarm")
    with pytest.raises(ModelError, match="no arc Call -> Radio"):
        ALARM.reversed_arc("Call", "Radio")
    with pytest.raises(ModelError, match="'Radio' is listed twice"):
        ALARM.with_node("Radio")
    with pytest.raises(ModelError, match="unknown node 'X'"):
        DAG.from_parents({"A": ["X"]})


def test_repr_is_short_and_readable():
    assert repr(DAG(["A", "B", "C"], [("A", "B")])) == "DAG(A -> B, C)"
    assert repr(DAG([])) == "DAG()"
    long = DAG([f"X{i}" for i in range(50)], [(f"X{i}", f"X{i + 1}") for i in range(49)])
    assert repr(long).endswith("X7 -> X8, ... 50 nodes, 49 links)")


def test_copies_and_pickles():
    assert copy.deepcopy(ALARM).arcs == ALARM.arcs
    assert pickle.loads(pickle.dumps(ALARM)).parents("Alarm") == ALARM.parents("Alarm")


def test_a_long_chain_needs_no_recursion():
    names = [f"X{i}" for i in range(5000)]
    chain = DAG(names[::-1], pairwise(names))
    assert chain.topological_order == tuple(names)
    assert len(chain.ancestors(names[-1])) == 4999
    assert not chain.d_separated(names[0], names[-1])
    assert chain.d_separated(names[0], names[-1], given=names[2500])
    with pytest.raises(CycleError) as caught:
        chain.with_arc(names[-1], names[0])
    assert len(caught.value.cycle) == 5001


@given(dags(max_nodes=7))
def test_an_undirected_graph_reads_its_edges_both_ways(dag):
    graph = UndirectedGraph(dag.nodes, [*dag.arcs, *((b, a) for a, b in dag.arcs)])
    assert graph.n_edges == len(graph.edges) == dag.n_arcs
    for x, y in combinations(dag.nodes, 2):
        assert graph.has_edge(x, y) == graph.has_edge(y, x) == dag.adjacent(x, y)
    assert all(graph.neighbours(x) == dag.neighbours(x) for x in dag.nodes)
    assert graph == UndirectedGraph(dag.nodes[::-1], dag.arcs)
    kept = dag.nodes[1:]
    assert graph.subgraph(kept) == UndirectedGraph(kept, dag.subgraph(kept).arcs)


def test_an_undirected_graph_refuses_loops():
    with pytest.raises(ModelError, match="two different nodes; got A -- A"):
        UndirectedGraph(["A"], [("A", "A")])
