"""Exact search: against all graphs on five nodes, and against every other search beyond."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import PlainEngine
from score.tables import random_table, tables

from unveil import datasets
from unveil.errors import SizeError
from unveil.graph import DAG
from unveil.model import PriorNetwork, fit
from unveil.model.prior import PseudoCount
from unveil.score import SCORES, ArcPenalty, BDe, BDeu, FamilyPrior, FamilyScores
from unveil.search import (
    Constraints,
    chow_liu,
    combined_search,
    equivalence_search,
    exact_search,
    hill_climbing,
    simulated_annealing,
)
from unveil.search.exact import memory_forecast

from .helpers import best_by_enumeration, limits_over, satisfies, scores_of

CARDS = (2, 3, 2, 4, 2, 3, 2, 2, 3, 2, 2, 2)


@pytest.mark.parametrize("weights", ["ones", "fractional"])
@pytest.mark.parametrize("name", sorted(SCORES))
def test_all_29281_graphs_over_five_nodes(name, weights):
    for seed, cards in enumerate([(2, 2, 3, 2, 2), (3, 2, 4, 1, 2)]):
        scores = scores_of(random_table(seed, cards, 60 + 40 * seed, weights), name)
        result = exact_search(scores)
        assert result.stopped == "converged"
        assert result.score == pytest.approx(scores.total(result.dag), rel=1e-12)
        assert result.score == pytest.approx(best_by_enumeration(scores), rel=1e-10)


@given(tables(min_variables=1, max_variables=4), st.sampled_from(sorted(SCORES)))
@settings(max_examples=40, deadline=None)
def test_all_graphs_of_random_tables(table, name):
    scores = scores_of(table, name)
    assert exact_search(scores).score == pytest.approx(best_by_enumeration(scores), rel=1e-10)


@given(tables(min_variables=4, max_variables=4), st.data())
@settings(max_examples=40, deadline=None)
def test_the_best_within_limits(table, data):
    limits, start = data.draw(limits_over(table.names))
    scores = scores_of(table)
    result = exact_search(scores, start, limits)
    assert satisfies(result.dag, limits, start)
    rules = limits.rules(table.names, start)

    def permitted(child, parents):
        return (
            rules.allowed[child, parents].all()
            and set(np.flatnonzero(rules.required[child])) <= set(parents)
            and len(parents) <= rules.max_parents[child]
        )

    assert result.score == pytest.approx(best_by_enumeration(scores, permitted), rel=1e-10)


def test_scores_and_engines_without_kernels():
    table = random_table(5, (2, 3, 2, 2), 80)
    chain = DAG(table.names, list(zip(table.names, table.names[1:], strict=False)))
    prior = PriorNetwork(fit(chain, table, PseudoCount(1.0)), 2.0)
    for scores in (FamilyScores(table, BDe(prior)), FamilyScores(PlainEngine(table), BDeu(1))):
        for limits in (None, Constraints(max_parents=1, required=[("A", "B")])):
            result = exact_search(scores, constraints=limits)
            best = best_by_enumeration(
                scores,
                lambda c, p, limits=limits: (
                    limits is None or (len(p) <= 1 and (c != 1 or p == [0]))
                ),
            )
            assert result.score == pytest.approx(best, rel=1e-10)


def test_structure_priors_count():
    table = random_table(6, (2, 3, 2, 2), 150)
    odd = FamilyPrior(lambda child, parents: -40.0 if (child < "C") == ("A" in parents) else 0.0)
    for prior in (ArcPenalty(5.0), odd):
        scores = scores_of(table, structure_prior=prior)
        assert exact_search(scores).score == pytest.approx(best_by_enumeration(scores), rel=1e-10)


@pytest.mark.parametrize("n", [8, 10, 12])
@pytest.mark.parametrize("name", ["bdeu", "bic", "k2", "fnml"])
def test_no_other_search_beats_it(n, name):
    scores = scores_of(random_table(n, CARDS[:n], 200), name)
    best = exact_search(scores)
    assert best.score == pytest.approx(scores.total(best.dag), rel=1e-12)
    others = [
        hill_climbing(scores),
        hill_climbing(scores, tabu=20, restarts=3, seed=0),
        simulated_annealing(scores, reductions=60, seed=0),
        combined_search(scores, seed=0),
        chow_liu(scores),
    ]
    if scores.score.equivalent:
        others.append(equivalence_search(scores))
    for other in others:
        assert other.score <= best.score + 1e-8, other


def test_more_variables_than_one_task_covers():
    """Fourteen variables: the work is cut into prefixes and threads; the answer stays the same."""
    table = random_table(3, (*CARDS, 2, 2), 150)
    one, two = (exact_search(scores_of(table, n_jobs=n)) for n in (1, 2))
    assert one.dag == two.dag
    assert one.score == two.score
    assert one.score == pytest.approx(scores_of(table).total(one.dag), rel=1e-12)
    narrow = exact_search(scores_of(table), constraints=Constraints(max_parents=2))
    assert max(len(narrow.dag.parents(n)) for n in table.names) <= 2
    assert narrow.score <= one.score + 1e-9
    assert (
        narrow.score
        >= hill_climbing(scores_of(table), constraints=Constraints(max_parents=2), tabu=20).score
        - 1e-9
    )


def test_useless_parents_are_left_out():
    """A column that never varies adds nothing to the likelihood: the tie goes to fewer parents."""
    scores = scores_of(random_table(2, (2, 1, 2), 30), "likelihood")
    dag = exact_search(scores).dag
    assert dag.parents("B") == ()
    assert dag.children("B") == ()


def test_college_plans_as_printed():
    """Heckerman (1996) forbids parents of SEX and SES and children of CP, and prints -45653."""
    scores = FamilyScores(datasets.table("college_plans"), BDeu(5))
    limits = Constraints(allowed_parents={"SEX": [], "SES": []}, tiers=[["IQ", "PE"], ["CP"]])
    best = exact_search(scores, constraints=limits)
    assert round(best.score) == -45653
    assert best.dag == DAG.from_parents(
        {"SEX": [], "SES": [], "IQ": ["SES", "PE"], "PE": ["SEX", "SES"], "CP": ["SES", "IQ", "PE"]}
    )


def test_too_much_memory_is_refused_beforehand():
    table = random_table(0, (2,) * 26, 5)
    with pytest.raises(SizeError) as refused:
        exact_search(scores_of(table), memory_limit=10**9)
    words = re.sub(r"\s+", " ", str(refused.value))
    assert "26 variables would need 8.1 GB, more than the limit of 1.0 GB" in words
    assert "Within the limit are 23 variables" in words
    assert "equivalence search" in words
    assert memory_forecast(26) == 8 * (13 + 2) * 2**26
    assert memory_forecast(23) <= 10**9 < memory_forecast(24)


def test_the_forecast_holds():
    """Traced allocations of the tables, for a score that needs all of them, within a tenth.

    The same search goes first: what it loads and compiles stays, and is not the search's. The
    scores that its climb remembers are: some 0.3 MB beside 5.2 MB of tables.
    """
    import gc
    import tracemalloc

    n = 16
    table = random_table(1, (2, 3) * (n // 2), 30)
    exact_search(scores_of(table, "k2"))
    gc.collect()
    tracemalloc.start()
    exact_search(scores_of(table, "k2"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memory_forecast(n) * 0.9 < peak < memory_forecast(n) * 1.1


@pytest.mark.parametrize("steps", [1, 4, 30, 60])
def test_stopping_falls_back_on_climbing(steps):
    table = random_table(3, CARDS, 150)
    climbed = hill_climbing(scores_of(table), tabu=20)
    seen = []

    def listen(step):
        seen.append(step.phase)
        return len(seen) < steps

    result = exact_search(scores_of(table), progress=listen)
    if result.stopped == "converged":
        assert len(seen) < steps
        return
    assert result.stopped == "asked to stop"
    assert result.score == pytest.approx(scores_of(table).total(result.dag), rel=1e-9)
    assert result.score <= climbed.score + 1e-9
    if seen[-1] == "exact search":
        assert result.dag == climbed.dag


def test_out_of_time():
    result = exact_search(scores_of(random_table(3, CARDS, 150)), time_limit=0.0)
    assert result.stopped == "time limit"
    assert result.dag.n_arcs == 0
