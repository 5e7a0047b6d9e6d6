"""The compiled pass over unseen configurations against its plain twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.kernels.exponential import exp_below
from unveil.kernels.reduced import BLOCK, ReducedPlan, reduced_pass

from . import twins
from .cases import random_codes, random_plan


@given(
    st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 9),
    st.sampled_from([1, 7, BLOCK, BLOCK + 3, 2 * BLOCK + 1]),
    st.sampled_from([np.uint8, np.uint16]), st.booleans(), st.booleans(),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_the_twins_agree(seed, n_families, k, n_rows, dtype, keep, count):
    random = np.random.default_rng(seed)
    plan, logs = random_plan(random, n_families, k)
    codes = random_codes(random, n_rows, dtype)
    weights = random.gamma(1.0, size=n_rows) * (random.random(n_rows) < 0.9)
    start, stop = sorted(random.integers(0, n_rows + 1, size=2))
    answers = []
    for run in (reduced_pass, twins.reduced_pass):
        log_z = np.full(n_rows, 7.0)
        posterior = np.full((n_rows, k) if keep else (0, 0), 7.0)
        counts = np.ones(logs.size if count else 0)
        run(plan, logs, codes, weights, start, stop, log_z, posterior, counts)
        answers.append((log_z, posterior, counts))
    for a, b in zip(*answers, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    log_z, posterior, counts = answers[0]
    assert (np.delete(log_z, np.arange(start, stop)) == 7.0).all(), "rows outside are untouched"
    possible = np.flatnonzero(np.isfinite(log_z[start:stop])) + start
    if keep:
        assert posterior[possible].sum(axis=1) == pytest.approx(1.0)
    if count:
        expected = n_families * weights[possible].sum()
        assert counts.sum() - logs.size == pytest.approx(expected, abs=1e-9)


def test_logs_far_below_the_smallest_number():
    plan = ReducedPlan(
        np.zeros(1, np.uint32), np.zeros(2, np.int64), np.zeros(0, np.int64),
        np.zeros(0, np.uint32), 2,
    )  # fmt: skip
    log_z, posterior = np.empty(1), np.empty((1, 2))
    logs = np.array([-5000.0, -5000.0 + np.log(3.0)])
    codes = np.zeros((1, 1), np.uint8)
    reduced_pass(plan, logs, codes, np.ones(1), 0, 1, log_z, posterior, np.zeros(0))
    assert log_z[0] == pytest.approx(-5000.0 + np.log(4.0), rel=1e-14)
    np.testing.assert_allclose(posterior[0], [0.25, 0.75], rtol=1e-12)


def test_the_exponential_to_the_last_digits():
    x = -np.concatenate([np.linspace(0.0, 707.9, 20_001), np.geomspace(1e-300, 1.0, 301)])
    found = np.array([exp_below(v) for v in x])
    np.testing.assert_allclose(found, np.exp(x), rtol=4.5e-16)
    assert exp_below(-np.inf) == exp_below(-800.0) == 0.0
