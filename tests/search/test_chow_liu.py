"""The best forest, against all forests."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score.tables import random_table, tables

from unveil.errors import ModelError
from unveil.score import FamilyPrior
from unveil.search import chow_liu

from .helpers import best_by_enumeration, scores_of

EQUIVALENT = ["bdeu", "bic", "aic", "mdl", "qnml", "likelihood"]


def best_forest(scores):
    return best_by_enumeration(scores, lambda child, parents: len(parents) <= 1)


@pytest.mark.parametrize("weights", ["ones", "fractional"])
@pytest.mark.parametrize("name", EQUIVALENT)
def test_all_forests_over_five_nodes(name, weights):
    for seed in range(3):
        scores = scores_of(random_table(seed, (2, 3, 2, 4, 2), 70, weights), name)
        result = chow_liu(scores)
        assert result.stopped == "converged"
        assert result.score == pytest.approx(scores.total(result.dag), rel=1e-10)
        assert result.score == pytest.approx(best_forest(scores), rel=1e-10)
        assert all(len(result.dag.parents(n)) <= 1 for n in scores.names)


@given(tables(min_variables=1, max_variables=4), st.sampled_from(EQUIVALENT), st.data())
@settings(max_examples=50, deadline=None)
def test_all_forests_of_random_tables(table, name, data):
    scores = scores_of(table, name)
    root = data.draw(st.sampled_from(table.names))
    result = chow_liu(scores, root=root)
    assert result.dag.parents(root) == ()
    assert result.score == pytest.approx(best_forest(scores), rel=1e-9, abs=1e-7)


@given(tables(min_variables=2, max_variables=4), st.sampled_from(["k2", "fnml"]))
@settings(max_examples=40, deadline=None)
def test_other_scores_get_a_good_forest(table, name):
    scores = scores_of(table, name)
    result = chow_liu(scores)
    assert result.score == pytest.approx(scores.total(result.dag), rel=1e-9)
    alone = sum(scores.family(y, ()) for y in range(scores.n_variables))
    assert result.score <= best_forest(scores) + 1e-8
    assert result.score >= alone - 1e-9
    for parent, child in result.dag.arcs:
        assert scores.total(result.dag) >= scores.total(result.dag.without_arc(parent, child))


def test_other_scores_turn_each_tree_to_its_best_root():
    """Two variables: the better of both directions is found without being told."""
    for seed in range(8):
        scores = scores_of(random_table(seed, (2, 4), 60), "k2")
        assert chow_liu(scores).score == pytest.approx(best_forest(scores))


def test_a_pair_with_one_good_direction_is_joined_that_way():
    prior = FamilyPrior(lambda child, parents: -1000.0 if (child, *parents) == ("B", "A") else 0.0)
    scores = scores_of(random_table(1, (2, 2), 300), structure_prior=prior)
    assert chow_liu(scores).dag.arcs == (("B", "A"),)
    assert chow_liu(scores, root="A").dag.arcs == ()


def test_independent_variables_stay_apart():
    random = np.random.default_rng(0)
    table = random_table(0, (2, 2, 2, 2), 2000)
    for name in table.names:
        table = table.with_column(table.variable(name), random.integers(2, size=2000))
    assert chow_liu(scores_of(table, "bic")).dag.n_arcs == 0


def test_several_trees_and_a_root_in_one():
    """A - B and C - D, pairwise independent otherwise."""
    random = np.random.default_rng(0)
    a, c = random.integers(2, size=(2, 2000))
    table = random_table(0, (2, 2, 2, 2), 2000)
    for name, column in zip("ABCD", (a, a ^ (random.random(2000) < 0.1), c, c), strict=True):
        table = table.with_column(table.variable(name), column)
    assert chow_liu(scores_of(table, "bic"), root="D").dag.arcs == (("A", "B"), ("D", "C"))
    assert chow_liu(scores_of(table, "bic")).dag.arcs == (("A", "B"), ("C", "D"))


def test_an_unknown_root_is_refused():
    with pytest.raises(ModelError, match="'Z' is no variable; they are A, B"):
        chow_liu(scores_of(random_table(0, (2, 2), 10)), root="Z")


def test_a_listener_hears_of_it():
    seen = []
    result = chow_liu(scores_of(random_table(0, (2, 2, 2), 100)), progress=seen.append)
    assert [step.objective for step in seen] == [result.score]
