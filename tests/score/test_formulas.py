"""Every score against its formula, against a chain of predictions, and against printed numbers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import datasets
from unveil.graph import DAG
from unveil.kernels.scoring import log_complexity
from unveil.model import fit
from unveil.score import AIC, BIC, K2, MDL, SCORES, BDeu, FamilyScores, LogLikelihood

from .formulas import by_formula, exact_complexity, n_cells, sequential_predictive
from .tables import all_families, random_table, tables, tables_with_dags


@pytest.mark.parametrize("weights", ["ones", "whole", "fractional"])
@pytest.mark.parametrize("name", sorted(SCORES))
def test_every_family_by_its_formula(name, weights):
    for seed, cards in enumerate([(2, 2, 2), (3, 2, 4, 2), (4, 1, 3, 2)]):
        table = random_table(seed, cards, 70, weights)
        scores = FamilyScores(table, SCORES[name]())
        for child, parents in all_families(len(cards)):
            expected = by_formula(name, table, child, parents)
            assert scores.family(child, parents) == pytest.approx(expected, rel=1e-10, abs=1e-9)


@given(tables(), st.sampled_from(sorted(SCORES)))
@settings(max_examples=60, deadline=None)
def test_families_of_random_tables(table, name):
    scores = FamilyScores(table, SCORES[name]())
    for child in range(len(table.names)):
        for parents in [(), tuple(v for v in range(len(table.names)) if v != child)]:
            expected = by_formula(name, table, child, parents)
            assert scores.family(child, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(tables(weights=("ones",)), st.sampled_from([0.1, 1.0, 5.0, 40.0]))
@settings(max_examples=30, deadline=None)
def test_dirichlet_scores_are_chains_of_predictions(table, size):
    """P(rows) = P(row 1) P(row 2 | row 1) ...: no gamma function needed."""
    n = len(table.names)
    columns = [table.column(name).tolist() for name in table.names]
    for child, parents in [(0, ()), (0, (1, 2)), (n - 1, tuple(range(n - 1)))]:
        rows = [
            (tuple(columns[p][i] for p in parents), columns[child][i]) for i in range(table.n_rows)
        ]
        states = table.variable(table.names[child]).n_states
        alpha = size / n_cells(table, (*parents, child))
        bdeu = FamilyScores(table, BDeu(size)).family(child, parents)
        assert bdeu == pytest.approx(sequential_predictive(rows, alpha, states), abs=1e-9)
        k2 = FamilyScores(table, K2()).family(child, parents)
        assert k2 == pytest.approx(sequential_predictive(rows, 1.0, states), abs=1e-9)


@given(tables_with_dags())
@settings(max_examples=30, deadline=None)
def test_penalised_scores_are_the_fitted_likelihood_less_the_penalty(both):
    table, dag = both
    network = fit(dag, table)
    likelihood, size = network.log_likelihood(table), network.n_parameters
    m = table.total_weight
    expected = {
        LogLikelihood(): likelihood,
        AIC(): likelihood - size,
        BIC(): likelihood - size * np.log(m) / 2,
        MDL(): likelihood - size * np.log(m) / 2 - dag.n_arcs * np.log(len(dag.nodes)),
    }
    for score, value in expected.items():
        assert FamilyScores(table, score).total(dag) == pytest.approx(value, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize(
    ("parents", "printed", "precisely"),
    [
        ({"IQ": ["SES", "PE"], "PE": ["SEX", "SES"]}, -45653, -45652.73),
        ({"IQ": ["SES"], "PE": ["SEX", "SES", "IQ"]}, -45699, -45698.60),
    ],
)
def test_college_plans_as_printed(parents, printed, precisely):
    """Heckerman (1996), A Tutorial on Learning with Bayesian Networks, Figure 12; ess 5."""
    dag = DAG.from_parents({"SEX": [], "SES": [], **parents, "CP": ["SES", "IQ", "PE"]})
    total = FamilyScores(datasets.table("college_plans"), BDeu(5)).total(dag)
    assert round(total) == printed
    assert total == pytest.approx(precisely, abs=0.005)


@pytest.mark.parametrize("n", [1, 2, 5, 20, 64, 65, 100, 1000])
def test_log_complexity_is_the_exact_one(n):
    """Against the recurrence from the sum over all splits of n cases between two states."""
    for k, exact in enumerate(exact_complexity(n, 200), start=1):
        assert log_complexity(float(n), float(k)) == pytest.approx(exact, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_log_complexity_by_enumeration(n, k):
    """The normaliser itself: the sum of the maximised likelihoods of all sequences of states."""
    sequences = itertools.product(range(k), repeat=n)
    counts = ([s.count(x) for x in range(k)] for s in sequences)
    total = math.fsum(math.prod((c / n) ** c for c in own) for own in counts)
    assert log_complexity(float(n), float(k)) == pytest.approx(math.log(total), abs=1e-12)


@given(st.floats(0, 200), st.integers(2, 30))
def test_log_complexity_grows_with_cases_between_whole_numbers_too(n, k):
    below, above = (log_complexity(float(m), float(k)) for m in (math.floor(n), math.floor(n) + 1))
    assert below - 1e-9 <= log_complexity(n, float(k)) <= above + 1e-9


def test_log_complexity_of_a_huge_table_keeps_its_digits():
    """C(n, k) tends to k^n / n^n * n! / ... ~ n log k: slowly varying, no cancellation."""
    for n in (10.0, 1000.0):
        gaps = [
            log_complexity(n, 10.0 ** (e + 1)) - log_complexity(n, 10.0**e) for e in (9, 12, 15)
        ]
        assert gaps == pytest.approx([n * np.log(10)] * 3, rel=1e-6)


def test_no_cases_or_one_state_cost_nothing():
    assert log_complexity(0.0, 5.0) == 0.0
    assert log_complexity(7.0, 1.0) == 0.0


@pytest.mark.parametrize("size", [0, -1.0, float("nan"), float("inf")])
def test_bdeu_refuses_an_impossible_sample_size(size):
    with pytest.raises(ValueError, match=f"must be a positive number, got {size}"):
        BDeu(size)
