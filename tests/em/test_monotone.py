"""EM's law: the objective never falls, one step at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import EquivalentSampleSize, Network, Table, TableCPD, Variable
from unveil.em import fit_em
from unveil.em.loop import run_em
from unveil.em.steps import TableEM
from unveil.errors import UnveilWarning
from unveil.infer.unseen import Expected

from .cases import best_completions, cases, log_likelihood, priors, random_tables

lenient = settings(max_examples=80, deadline=None)


def never_falls(trace):
    steps = np.diff(trace)
    return (steps >= -1e-9 * (1 + np.abs(trace[1:]))).all()


def log_prior(network, prior):
    """Sum of alpha log theta over all families, from the definition."""
    if prior is None:
        return 0.0
    total = 0.0
    for cpd in network.cpds.values():
        alpha = np.broadcast_to(prior.pseudo_counts(cpd.variable, cpd.parents), cpd.values.shape)
        total += float((alpha * np.log(cpd.values)).sum())
    return total


@given(cases(), st.integers(0, 3), st.booleans(), st.integers(0, 10**6))
@lenient
def test_one_step_at_a_time(case, which, hard, seed):
    """Every step's objective, computed by enumeration from its tables, is at least the last one's.

    Soft EM climbs the likelihood of what the rows show, hard EM that of the best completions; both
    add the prior's part.
    """
    flat, prior = case.flat, priors(case.network)[which]
    oracle = best_completions if hard else log_likelihood
    step = TableEM(case.network, case.table, prior, hard).step
    tables = random_tables(flat, seed)
    trace = []
    for _ in range(8):
        network = flat.unpack(tables)
        better, objective = step(tables)
        exact = oracle(network, case.codes, case.weights) + log_prior(network, prior)
        assert objective == pytest.approx(exact, rel=1e-9, abs=1e-10)
        trace.append(exact)
        tables = better
    assert never_falls(trace)


@given(cases(), st.integers(0, 3), st.booleans(), st.sampled_from(["random", "cluster"]))
@lenient
def test_the_trace_of_a_fit(case, which, hard, start):
    result = fit_em(
        case.network, case.table, priors(case.network)[which], start=start, hard=hard,
        max_iterations=25, seed=1,
    )  # fmt: skip
    assert never_falls(result.trace)
    assert result.objective == result.trace[-1]


@given(cases(), st.integers(0, 10**6))
@lenient
def test_the_m_step_is_the_best_there_is(case, seed):
    """No tables near those of the M-step have a larger expected completed likelihood and prior."""
    flat, prior = case.flat, EquivalentSampleSize(0.5)
    em = TableEM(case.network, case.table, prior)
    tables = random_tables(flat, seed)
    expected = em.e_step(tables)
    target = expected.counts + flat.pack_prior(prior)
    better = em.m_step(expected)
    value = target @ np.log(better)
    for other in range(5):
        mixed = flat.normalised(better * 0.9 + 0.1 * random_tables(flat, seed + other))
        assert target @ np.log(mixed) <= value + 1e-9


def test_a_fall_is_said_aloud():
    """The loop itself does not trust the step it was given."""
    with pytest.warns(
        UnveilWarning, match=r"fell from -1 to -3 in iteration 2; it must never fall"
    ):
        run_em(lambda x: (x + 2, -float(x)), 1, max_iterations=2)


def test_an_unbounded_first_objective_is_no_convergence():
    """-inf first (a start with zeros that the prior forbids), then finite: EM goes on."""
    run = run_em(lambda x: (x + 1, [-np.inf, -3.0, -2.0, -2.0][x]), 0)
    assert run.trace == (-np.inf, -3.0, -2.0, -2.0)
    assert run.stopped == "converged"


def test_a_start_with_zeros_and_a_prior():
    """The prior lifts the zeros of a given start; the first objective is -inf, the others rise."""
    x, y = Variable("x", [0, 1]), Variable("y", [0, 1])
    certain = Network([TableCPD(x, [], [0.5, 0.5]), TableCPD(y, [x], [[1, 0], [0.5, 0.5]])])
    rows = Table([x, y], [[0, 1, 1, 1, -1], [0, 0, 1, -1, 1]])
    result = fit_em(certain, rows, EquivalentSampleSize(1))
    assert result.trace[0] == -np.inf
    assert np.isfinite(result.objective)
    assert never_falls(result.trace[1:])
    assert result.stopped == "converged"


def test_expected_is_frozen():
    with pytest.raises(AttributeError):
        Expected(np.zeros(1), 0.0).log_likelihood = 1.0
