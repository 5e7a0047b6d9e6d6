"""Hill climbing, tabu list and restarts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score.tables import dags_over, random_table, tables

from unveil import datasets
from unveil.errors import DataError, ModelError
from unveil.graph import DAG
from unveil.score import SCORES, families
from unveil.search import Constraints, hill_climbing
from unveil.search.graph_state import GraphState
from unveil.search.hill_climbing import shake

from .helpers import limits_over, neighbours, satisfies, scores_of

lenient = settings(max_examples=30, deadline=None)
CARDS = (2, 3, 2, 4, 2, 3, 2)


@given(tables(max_variables=5), st.sampled_from(sorted(SCORES)), st.data())
@lenient
def test_no_single_move_improves_the_result(table, name, data):
    scores = scores_of(table, name)
    start = data.draw(dags_over(table.names))
    result = hill_climbing(scores, start)
    assert result.stopped == "converged"
    assert result.score == pytest.approx(scores.total(result.dag), rel=1e-9)
    assert result.score >= scores.total(start) - 1e-9
    assert max(scores.total(dag) for dag in neighbours(result.dag)) <= result.score + 1e-8


@given(tables(min_variables=5, max_variables=5), st.data())
@lenient
def test_the_limits_are_kept(table, data):
    limits, start = data.draw(limits_over(table.names))
    scores = scores_of(table)
    for options in ({}, {"tabu": 5}, {"tabu": 3, "restarts": 2, "seed": 1}):
        result = hill_climbing(scores, start, limits, **options)
        assert satisfies(result.dag, limits, start)
        assert result.score == pytest.approx(scores.total(result.dag), rel=1e-9)
    legal = [dag for dag in neighbours(result.dag) if satisfies(dag, limits, start)]
    plain = hill_climbing(scores, start, limits)
    legal = [dag for dag in neighbours(plain.dag) if satisfies(dag, limits, start)]
    assert all(scores.total(dag) <= plain.score + 1e-8 for dag in legal)


@pytest.mark.parametrize("seed", range(6))
def test_tabu_and_restarts_are_never_worse(seed):
    scores = scores_of(random_table(seed, CARDS, 150))
    plain = hill_climbing(scores)
    tabu = hill_climbing(scores, tabu=10)
    restarted = hill_climbing(scores, restarts=3, seed=seed)
    both = hill_climbing(scores, tabu=10, restarts=3, seed=seed)
    assert tabu.score >= plain.score - 1e-9
    assert restarted.score >= plain.score - 1e-9
    assert both.score >= tabu.score - 1e-9
    for result in (tabu, restarted, both):
        assert result.score == pytest.approx(scores.total(result.dag), rel=1e-9)
        best = [step.objective for step in result.trace]
        assert best == sorted(best)
        assert best[-1] == result.score
    assert tabu.search == "tabu search"


def test_a_tabu_list_does_get_out_of_a_local_maximum():
    gained = 0
    for seed in range(20):
        scores = scores_of(random_table(seed, CARDS, 100))
        gained += hill_climbing(scores, tabu=20).score > hill_climbing(scores).score + 1e-6
    assert gained >= 2


def test_a_seed_repeats_a_run_whatever_the_number_of_threads():
    table = random_table(1, CARDS, 120)
    runs = [
        hill_climbing(scores_of(table, n_jobs=n), restarts=4, random_moves=6, seed=7)
        for n in (1, 2)
    ]
    assert runs[0].dag == runs[1].dag
    assert runs[0].score == runs[1].score
    assert runs[0].seed == 7
    fresh = hill_climbing(scores_of(table), restarts=2)
    again = hill_climbing(scores_of(table), restarts=2, seed=fresh.seed)
    assert fresh.dag == again.dag


def test_without_restarts_nothing_is_random():
    assert hill_climbing(scores_of(random_table(1, CARDS, 50))).seed is None


def test_a_listener_can_stop_with_the_best_so_far():
    scores = scores_of(datasets.network("asia").sample(1000, seed=1))
    seen = []

    def listen(step):
        seen.append(step)
        return len(seen) < 3

    result = hill_climbing(scores, progress=listen)
    assert len(seen) == 3
    assert result.stopped == "asked to stop"
    assert result.dag.n_arcs == 3
    assert result.score == seen[-1].objective == pytest.approx(scores.total(result.dag))
    assert seen[0].detail.startswith("add ")


@pytest.mark.parametrize("options", [{}, {"tabu": 10}, {"restarts": 10**6, "seed": 0}])
def test_out_of_time_means_the_best_so_far(options):
    scores = scores_of(random_table(1, CARDS, 50))
    result = hill_climbing(scores, time_limit=0.0, **options)
    assert result.stopped == "time limit"
    assert result.dag.n_arcs == 0
    limited = hill_climbing(scores, time_limit=0.3, restarts=10**6, seed=0)
    assert limited.stopped == "time limit"
    assert limited.score >= hill_climbing(scores).score


def test_a_broken_listener_does_not_break_the_search():
    def broken(step):
        raise RuntimeError("no screen")

    scores = scores_of(random_table(1, CARDS, 80))
    with pytest.warns(UserWarning, match="no screen"):
        assert hill_climbing(scores, progress=broken).stopped == "converged"


def test_one_variable_and_one_state():
    assert hill_climbing(scores_of(random_table(0, (3,), 20))).dag == DAG(["A"])
    constant = hill_climbing(scores_of(random_table(0, (1, 1, 1), 20)), tabu=3)
    assert constant.dag.n_arcs == 0


@pytest.mark.parametrize(
    ("start", "limits", "words"),
    [
        (DAG(["A", "B", "Z"], [("Z", "A")]), {}, "'Z'"),
        (DAG(["A", "B"]), {}, "'C'"),
        (DAG(["A", "B", "C"], [("A", "B")]), {"forbidden": [("A", "B")]}, "forbidden arc A -> B"),
        (DAG(["A", "B", "C"], [("A", "B")]), {"max_parents": 0}, "'B' 1 parents, more than 0"),
        (DAG(["A", "B", "C"], [("A", "B")]), {"required": [("B", "A")]}, "cycle"),
        (None, {"required": [("A", "Z")]}, "names 'Z'"),
        (None, {"required": [("A", "B")], "forbidden": [("A", "B")]}, "required and forbidden"),
        (None, {"required": [("A", "B"), ("B", "A")]}, "contradict each other"),
        (None, {"required": [("A", "B")], "max_parents": 0}, "'B' has 1 required parents"),
        (None, {"required": [("A", "B")], "tiers": [["B"], ["A"]]}, "required and forbidden"),
        (None, {"tiers": [["A"], ["A"]]}, "'A' is in two tiers"),
        (None, {"max_parents": -1}, "negative, got -1"),
    ],
)
def test_contradictions_are_refused_in_words(start, limits, words):
    scores = scores_of(random_table(0, (2, 2, 2), 20))
    with pytest.raises((ModelError, DataError), match=words):
        hill_climbing(scores, start, Constraints(**limits))


def test_a_warm_start_from_the_result_stays_there():
    scores = scores_of(random_table(3, CARDS, 200))
    first = hill_climbing(scores)
    scored = scores.n_scored
    again = hill_climbing(scores, first.dag)
    assert again.dag == first.dag
    assert scores.n_scored == scored
    assert np.isclose(again.score, first.score)


def test_random_moves_keep_away_from_families_that_are_too_large(monkeypatch):
    """Their gain is minus infinity, and no score would come back from there."""
    monkeypatch.setattr(families, "LARGEST_PAIR", 12)
    monkeypatch.setattr(families, "LARGEST_FAMILY", 12)
    for seed in range(20):
        scores = scores_of(random_table(seed, CARDS, 150))
        state = GraphState(scores, Constraints().rules(scores.names))
        shake(state, 30, np.random.default_rng(seed))
        assert np.isfinite(state.score)
        for y, row in enumerate(state.parents):
            assert CARDS[y] * np.prod(np.array(CARDS)[row > 0]) <= 12


class Arbitrary:
    """Family scores that follow no data: gains jump with every move."""

    def __init__(self, names, seed):
        self.names, self.n_variables, self._seed = names, len(names), seed

    def family(self, child, parents):
        return np.random.default_rng([self._seed, child, *sorted(parents)]).normal()

    def many(self, families):
        return np.array([self.family(*family) for family in families])

    def toggles(self, child, parents):
        here = self.family(child, parents)
        changed = [self.family(child, {*parents} ^ {x}) for x in range(self.n_variables)]
        changed[child] = -np.inf
        return np.array(changed) - here

    def all_toggles(self, families):
        return (self.toggles(*family) for family in families)


@pytest.mark.parametrize("limits", [Constraints(), Constraints(max_parents=2, no_leaf=["B"])])
def test_what_is_remembered_of_moves_never_hides_the_best(limits):
    """Best and random moves in turns, each compared with a state that remembers nothing."""
    for seed in range(30):
        scores, generator = Arbitrary("ABCDEFG", seed), np.random.default_rng(seed)
        rules = limits.rules(scores.names)
        state, anew = GraphState(scores, rules), GraphState(scores, rules)
        visited = []
        for _ in range(15):
            visited.append(state.key)
            tabu = np.array(visited[-5:], np.int64)
            anew.restore(state.parents)
            assert state.best(tabu) == anew.best(tabu)
            assert state.best() == anew.best()
            assert state.room.tolist() == anew.room.tolist()
            if generator.random() < 0.5:
                shake(state, 1, generator)
            else:
                state.apply(state.best(tabu)[0])
