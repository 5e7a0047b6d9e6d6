"""Simulated annealing."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score.tables import random_table, tables

from unveil.errors import ModelError
from unveil.graph import DAG
from unveil.kernels.moves import ADD, DELETE, REVERSE
from unveil.progress import Ticker
from unveil.search import Constraints, exact_search, simulated_annealing
from unveil.search.annealing import _Walker
from unveil.search.graph_state import GraphState

from .helpers import limits_over, satisfies, scores_of


@given(tables(min_variables=4), st.data(), st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_the_limits_are_kept_and_the_best_is_returned(table, data, seed):
    limits, start = data.draw(limits_over(table.names))
    scores = scores_of(table)
    result = simulated_annealing(scores, start, limits, reductions=10, proposals=50, seed=seed)
    assert satisfies(result.dag, limits, start)
    assert result.score == pytest.approx(scores.total(result.dag), rel=1e-9)
    assert result.score >= scores.total(start) - 1e-9
    best = [step.objective for step in result.trace]
    assert best == sorted(best)
    assert best[-1] == result.score


def test_it_finds_the_best_of_a_small_problem():
    scores = scores_of(random_table(0, (2, 3, 2, 2, 3), 300))
    result = simulated_annealing(scores, seed=0)
    assert result.score == pytest.approx(exact_search(scores).score, rel=1e-6)


def test_a_seed_repeats_a_run():
    scores = scores_of(random_table(0, (2, 3, 2, 2, 3), 300))
    first = simulated_annealing(scores, reductions=5)
    again = simulated_annealing(scores, reductions=5, seed=first.seed)
    assert first.dag == again.dag
    assert [s.objective for s in first.trace] == [s.objective for s in again.trace]


def test_why_it_stopped():
    scores = scores_of(random_table(0, (2, 3, 2, 2, 3), 300))
    assert simulated_annealing(scores, reductions=3, seed=0).stopped == "iteration cap"
    frozen = simulated_annealing(scores, temperature=1e-6, reductions=10**6, seed=0)
    assert frozen.stopped == "converged"
    late = simulated_annealing(scores, time_limit=0.0, seed=0)
    assert late.stopped == "time limit"
    assert late.dag == DAG(scores.names)


def test_the_temperature_falls_and_a_listener_can_stop():
    scores = scores_of(random_table(0, (2, 3, 2, 2, 3), 300))
    seen = []
    result = simulated_annealing(
        scores, seed=0, cooling=0.5, progress=lambda s: len(seen.append(s) or seen) < 4
    )
    assert result.stopped == "asked to stop"
    assert [s.temperature for s in seen] == [100.0, 50.0, 25.0, 12.5]


def test_the_gain_of_every_proposal_is_the_change_of_the_score():
    scores = scores_of(random_table(2, (2, 3, 2, 2), 60))
    state = GraphState(scores, Constraints().rules(scores.names))
    walker = _Walker(state, np.random.default_rng(0), Ticker())
    kinds = set()
    for _ in range(200):
        move = walker._propose()
        before, gain = scores.total(state.dag()), walker._gain(move)
        state.apply(move)
        assert scores.total(state.dag()) - before == pytest.approx(gain, abs=1e-8)
        kinds.add(move[0])
    assert kinds == {ADD, DELETE, REVERSE}


def test_the_metropolis_rule():
    """Two independent binary variables: odds of arc against no arc are exp(gain / T)."""
    scores = scores_of(random_table(5, (2, 2), 30))
    rules = Constraints(forbidden=[("B", "A")]).rules(scores.names)
    walker = _Walker(GraphState(scores, rules), np.random.default_rng(0), Ticker())
    gain = float(scores.toggles(1, ())[0])
    with_arc = 0
    for _ in range(4000):
        walker.walk(2.0, 1, 1)
        with_arc += int(walker.state.parents.sum())
    expected = 1 / (1 + math.exp(-gain / 2.0))
    assert with_arc / 4000 == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("options", [{"temperature": 0.0}, {"cooling": 1.0}, {"cooling": 0.0}])
def test_an_impossible_schedule_is_refused(options):
    with pytest.raises(ModelError, match="positive temperature"):
        simulated_annealing(scores_of(random_table(0, (2, 2), 10)), **options)
