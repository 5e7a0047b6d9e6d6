"""Replacing a parent by another in one move."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score.tables import dags_over, tables

from unveil import Table, Variable
from unveil.errors import CycleError
from unveil.graph import DAG
from unveil.model import Curve
from unveil.score import BIC, CurveFamilies, GaussianFamilies
from unveil.search import Constraints, hill_climbing
from unveil.search.graph_state import GraphState
from unveil.search.replacing import Replacements, replacement_gains

from .helpers import limits_over, neighbours, satisfies, scores_of

lenient = settings(max_examples=25, deadline=None)


def replaced(dag):
    """Every DAG in which one parent has given its place to another."""
    for old, child in dag.arcs:
        for new in set(dag.nodes) - {child, *dag.parents(child)}:
            try:
                yield DAG(dag.nodes, {*dag.arcs} - {(old, child)} | {(new, child)})
            except CycleError:
                continue


def numbers(n=120):
    generator = np.random.default_rng(5)
    x = generator.normal(size=(6, n))
    for i in range(2, 6):
        x[i] += x[i - 1] - 0.8 * x[i - 2]
    return Table([Variable(v) for v in "abcdef"], list(x))


SCORERS = {
    "linear": lambda: GaussianFamilies(numbers(), BIC()),
    "sigmoid": lambda: CurveFamilies(numbers(), BIC(), Curve("sigmoid")),
}


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("parents", [(), (2,), (0, 2, 5)])
def test_gains_are_differences_of_scores(scorer, parents):
    scores = SCORERS[scorer]()
    gains = replacement_gains(scores, 3, parents)
    assert gains.shape == (len(parents), 6)
    for i, old in enumerate(parents):
        for new in range(6):
            if new in (3, *parents):
                assert np.isneginf(gains[i, new])
                continue
            swapped = [p for p in (*parents, new) if p != old]
            change = scores.family(3, swapped) - scores.family(3, parents)
            assert gains[i, new] == pytest.approx(change, abs=1e-7)


@given(tables(max_variables=5), st.data())
@lenient
def test_no_move_and_no_replacement_improves_the_result(table, data):
    scores = scores_of(table)
    start = data.draw(dags_over(table.names))
    found = hill_climbing(scores, start, replace=True)
    assert found.stopped == "converged"
    assert found.score == pytest.approx(scores.total(found.dag), rel=1e-9)
    others = [*neighbours(found.dag), *replaced(found.dag)]
    assert max(scores.total(dag) for dag in others) <= found.score + 1e-8


@given(tables(min_variables=5, max_variables=5), st.data())
@lenient
def test_the_limits_are_kept(table, data):
    limits, start = data.draw(limits_over(table.names))
    scores = scores_of(table)
    for options in ({}, {"tabu": 5}, {"tabu": 3, "restarts": 2, "seed": 1}):
        found = hill_climbing(scores, start, limits, replace=True, **options)
        assert satisfies(found.dag, limits, start)
        assert found.score == pytest.approx(scores.total(found.dag), rel=1e-9)


@given(tables(min_variables=3, max_variables=5), st.data())
@lenient
def test_the_best_replacement_is_the_best_legal_one(table, data):
    scores = scores_of(table)
    start = data.draw(dags_over(table.names))
    state = GraphState(scores, Constraints().rules(scores.names, start), start)
    here = scores.total(start)
    gains = [scores.total(dag) - here for dag in replaced(start)]
    best = Replacements(state).best()
    if not gains:
        assert best is None
        return
    move, gain = best
    assert gain == pytest.approx(max(gains), abs=1e-7)
    before = state.key
    state.replace(*move, gain)
    assert state.score == pytest.approx(scores.total(state.dag()), rel=1e-9)
    assert state.key != before
    fresh = GraphState(scores, Constraints().rules(scores.names, state.dag()), state.dag())
    assert state.key == fresh.key
    np.testing.assert_array_equal(state.reach, fresh.reach)
    np.testing.assert_allclose(state.toggles, fresh.toggles, atol=1e-8)


def test_a_copy_gives_way_to_the_cause():
    """b is nearly a; c follows a. Begun with b -> c and no more room, one move helps."""
    generator = np.random.default_rng(1)
    a = generator.normal(size=200)
    b = a + 0.1 * generator.normal(size=200)
    c = a + 0.1 * generator.normal(size=200)
    table = Table.from_frame({"a": a, "b": b, "c": c})
    scores = GaussianFamilies(table, BIC())
    start = DAG(["a", "b", "c"], [("a", "b"), ("b", "c")])
    told = []
    hill_climbing(
        scores, start, Constraints(max_parents=1), max_moves=1, replace=True,
        progress=lambda step: told.append(step.detail) or True,
    )  # fmt: skip
    assert "replace b -> c by a -> c" in told
