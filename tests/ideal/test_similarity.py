"""C1 <= C2 <= the true gain; both are what freezing parameters leaves of it (thesis 7.1.2)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unveil import Table, Variable
from unveil.errors import DataError
from unveil.ideal import LinearGuide, c1, c2, explained, linear_profile
from unveil.score import GaussianFamilies, LogLikelihood
from unveil.statistics import MemoryStatistics

NUMBERS = st.floats(-5, 5, width=32)


def random_table(generator, n_columns=6, n_rows=40):
    """Linked columns, with rows that weigh differently."""
    values = generator.normal(size=(n_columns, n_rows))
    for i in range(1, n_columns):
        values[i] += generator.normal(size=i) @ values[:i] * generator.integers(0, 2)
    names = [Variable(f"v{i}") for i in range(n_columns)]
    return Table(names, list(values), generator.integers(1, 4, n_rows).astype(float))


@pytest.mark.parametrize("seed", range(20))
def test_the_chapter_s_inequality_from_moments(seed):
    generator = np.random.default_rng(seed)
    table = random_table(generator)
    scores = GaussianFamilies(table, LogLikelihood())
    first = LinearGuide(scores.moments, "c1")
    second = LinearGuide(scores.moments, "c2")
    for child in range(6):
        others = [v for v in range(6) if v != child]
        for size in (0, 1, 3):
            parents = tuple(sorted(generator.choice(others, size, replace=False).tolist()))
            true = scores.toggles(child, parents)
            low, high = first.gains(child, parents), second.gains(child, parents)
            inside = [v for v in others if v not in parents]
            assert (low[inside] <= high[inside] + 1e-9).all()
            assert (high[inside] <= true[inside] + 1e-7).all()
            assert (low[inside] >= 0).all()
            assert np.isneginf(low[[child, *parents]]).all()
            if not parents:  # nothing is frozen but the intercept
                np.testing.assert_allclose(high[inside], true[inside], rtol=1e-9, atol=1e-9)


@given(arrays(float, 8, elements=NUMBERS), arrays(float, (3, 8), elements=NUMBERS))
@settings(max_examples=60, deadline=None)
def test_the_inequality_holds_for_any_vectors(y, candidates):
    variance = float(y @ y) / 8 or 1.0
    low, high = c1(y, candidates, variance), c2(y, candidates)
    assert (low >= 0).all()
    assert (low <= high + 1e-9).all()
    assert (low <= 4 + 1e-9).all()  # M / 2


def log_likelihood(x, mean, variance):
    return float(-0.5 * np.sum(np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance))


def test_c1_and_c2_are_likelihoods_with_the_rest_frozen():
    """By trying all weights on a fine grid around the best."""
    generator = np.random.default_rng(3)
    u, z, e = generator.normal(size=(3, 30))
    x = u + 0.5 * z + e
    alpha, intercept = np.polyfit(u, x, 1)
    mean = intercept + alpha * u
    variance = float(np.mean((x - mean) ** 2))
    before = log_likelihood(x, mean, variance)
    tried = np.linspace(-2, 2, 20001)
    frozen = max(log_likelihood(x, mean + a * z, variance) for a in tried[::10]) - before
    y = x - mean
    assert c1(y, z[None], variance)[0] == pytest.approx(frozen, abs=1e-4)
    left = np.array([np.mean((y - a * z) ** 2) for a in tried])
    best = max(-15 * np.log(2 * np.pi * v) - 15 for v in left) - before
    assert c2(y, z[None])[0] == pytest.approx(best, abs=1e-6)


def test_fitting_all_along_gives_the_true_gain():
    table = random_table(np.random.default_rng(5))
    values = np.array([table.column(n) for n in table.names])
    scores = GaussianFamilies(table, LogLikelihood())
    w = table.row_weights
    given_ = np.vstack([np.ones(40), values[:2]])
    x = values[5]
    weights = np.linalg.solve((given_ * w) @ given_.T, (given_ * w) @ x)
    y = x - weights @ given_
    squares = float(w @ y**2)
    profile = linear_profile(x, weights @ given_, squares / w.sum(), w, given_)
    found = profile.c2(values)
    true = scores.toggles(5, (0, 1))
    np.testing.assert_allclose(found[2:5], true[2:5], rtol=1e-9)
    assert profile.c1(values)[2:5] == pytest.approx(
        explained(y, values[2:5], w, given_) / (2 * squares / w.sum())
    )


def test_replacing_a_parent_against_refitting():
    """A bound from frozen weights, and near the truth where the others are unrelated."""
    generator = np.random.default_rng(1)
    a, b, c, e = generator.normal(size=(4, 2000))
    x = a + b + 0.5 * e
    names = [Variable(n) for n in "abcx"]
    table = Table(names, [a, b, b + 0.1 * c, x])
    moments = MemoryStatistics(table).moments(range(4)).at(())
    scores = GaussianFamilies(table, LogLikelihood())
    true = scores.family(3, (0, 2)) - scores.family(3, (0, 1))
    for measure, near in (("c1", 0.2), ("c2", 0.01)):
        found = LinearGuide(moments, measure).replacements(3, (0, 1), 1)
        assert found[2] <= true + 1e-6
        assert found[2] == pytest.approx(true, rel=near)
        assert np.isneginf(found[[0, 1, 3]]).all()


def test_odd_columns_gain_nothing_and_no_nan():
    zero, one = np.zeros(5), np.arange(5.0)
    assert c1(one, np.array([zero]), 1.0).tolist() == [0.0]
    assert c2(zero, np.array([one])).tolist() == [0.0]
    assert np.isposinf(c2(one, np.array([2 * one]))).all()
    assert explained(one, np.array([one]), None, np.array([one])).tolist() == [0.0]
    with pytest.raises(DataError, match=r"no measure 'c3'.*c1, c2, tangent"):
        LinearGuide(None, "c3")


def test_what_removals_lose_is_exact_for_lines():
    generator = np.random.default_rng(1)
    values = generator.normal(size=(4, 60))
    values[3] += values[0] - 0.3 * values[1]
    table = Table([Variable(n) for n in "abcx"], list(values))
    scores = GaussianFamilies(table, LogLikelihood())
    losses = LinearGuide(scores.moments).losses(3, (0, 1, 2))
    true = [scores.family(3, (0, 1, 2)) - scores.family(3, p) for p in ((1, 2), (0, 2), (0, 1))]
    assert losses == pytest.approx(true, rel=1e-6)
