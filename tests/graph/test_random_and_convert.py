"""Random DAGs are what was asked for; networkx gives back what it got."""

import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from unveil.errors import CycleError, ModelError
from unveil.graph import DAG, from_networkx, random_dag, to_networkx

from .oracle import all_dags
from .strategies import dags


def test_the_seed_decides():
    same = [random_dag(20, expected_arcs=30, max_parents=3, seed=7) for _ in range(2)]
    assert same[0].arcs == same[1].arcs
    assert random_dag(20, seed=np.random.default_rng(7)).arcs == random_dag(20, seed=7).arcs
    assert random_dag(20, seed=8) != random_dag(20, seed=7)
    generator = np.random.default_rng(7)
    assert random_dag(20, seed=generator) != random_dag(20, seed=generator)


def test_the_global_generator_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    random_dag(10, seed=1)
    random_dag(10)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_names_and_extremes():
    assert random_dag(3, seed=0).nodes == ("X1", "X2", "X3")
    assert random_dag(np.int64(2), seed=0).n_nodes == 2
    assert random_dag(["B", "A"], seed=0).nodes == ("B", "A")
    assert random_dag(0, seed=0).n_nodes == random_dag(1, seed=0).n_arcs == 0
    assert random_dag(10, arc_probability=0.0, seed=0).n_arcs == 0
    assert random_dag(10, arc_probability=1.0, seed=0).n_arcs == 45


def test_the_mean_number_of_arcs_is_the_expected_one():
    """40 arcs of 190 possible: the mean of 300 draws has standard error 0.33."""
    generator = np.random.default_rng(3)
    counts = [random_dag(20, expected_arcs=40, seed=generator).n_arcs for _ in range(300)]
    assert np.mean(counts) == pytest.approx(40, abs=1.3)
    assert np.std(counts) > 3


def test_every_small_dag_can_be_drawn():
    generator = np.random.default_rng(0)
    drawn = {random_dag(["A", "B", "C"], arc_probability=0.5, seed=generator) for _ in range(1000)}
    assert drawn == set(all_dags(3))


def test_max_parents_is_a_bound_that_is_reached():
    dag = random_dag(30, arc_probability=0.8, max_parents=3, seed=2)
    assert max(len(dag.parents(x)) for x in dag.nodes) == 3
    assert random_dag(30, arc_probability=0.8, max_parents=0, seed=2).n_arcs == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"expected_arcs": 4}, "between 0 and 3 arcs; expected_arcs is 4"),
        ({"expected_arcs": -1}, "expected_arcs is -1"),
        ({"arc_probability": 1.5}, "between 0 and 1; got 1.5"),
        ({"arc_probability": 0.5, "expected_arcs": 1}, "not both"),
        ({"max_parents": -1}, "0 or more; got -1"),
        ({"nodes": -1}, "0 or more nodes; got -1"),
    ],
)
def test_impossible_wishes_are_refused(settings, words):
    with pytest.raises(ModelError, match=words):
        random_dag(**{"nodes": 3, "seed": 0, **settings})


@given(dags(max_nodes=8))
def test_networkx_round_trip_keeps_every_order(dag):
    back = from_networkx(to_networkx(dag))
    assert (back.nodes, back.arcs) == (dag.nodes, dag.arcs)


def test_from_networkx_refuses_what_is_not_a_dag():
    with pytest.raises(CycleError):
        from_networkx(nx.DiGraph([("A", "B"), ("B", "A")]))
    with pytest.raises(ModelError, match="got a Graph"):
        from_networkx(nx.Graph([("A", "B")]))
    with pytest.raises(ModelError, match="got a MultiDiGraph"):
        from_networkx(nx.MultiDiGraph([("A", "B"), ("A", "B")]))
    with pytest.raises(ModelError, match=r"got 1 \(int\).*'1'"):
        from_networkx(nx.DiGraph([(1, 2)]))


def test_without_networkx_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="pip install networkx"):
        to_networkx(DAG(["A"]))
