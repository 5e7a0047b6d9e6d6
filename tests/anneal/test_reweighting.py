"""Laws of the two ways to reweight: a distribution, home when cold, folded rows as their twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unveil.anneal import Adversary, Random
from unveil.anneal.weights import checked, distance, divergence, tilted
from unveil.errors import DataError

numbers = st.floats(-50, 50)
REWEIGHTINGS = [Random(), Random("mode"), Adversary(), Adversary(eta=1.0), Adversary(gamma=0.0),
                Adversary(noise=1.0)]  # fmt: skip


def reweighted(reweighting, own, slopes, temperature, before=None, seed=0):
    """The weights after one step."""
    before = np.zeros(len(own)) if before is None else before
    ready = reweighting.first(own, lambda: slopes)
    generator = np.random.default_rng(seed)
    return tilted(own, ready.ratio(own, before, lambda: slopes, temperature, generator))


@st.composite
def rows(draw):
    n = draw(st.integers(1, 12))
    own = draw(arrays(float, n, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0, 40.0])))
    own[draw(st.integers(0, n - 1))] = 2.0
    return own, draw(arrays(float, n, elements=numbers))


@pytest.mark.parametrize("reweighting", REWEIGHTINGS)
@settings(deadline=None, max_examples=30)
@given(rows(), st.sampled_from([0.01, 0.5, 1.0, 3.0, 100.0]))
def test_weights_stay_a_distribution(reweighting, case, temperature):
    own, slopes = case
    weights = reweighted(reweighting, own, slopes, temperature)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(own.sum())
    assert (weights[own == 0] == 0).all()


@pytest.mark.parametrize("reweighting", REWEIGHTINGS)
def test_temperature_zero_changes_nothing(reweighting):
    own, slopes = np.array([1.0, 0.0, 2.5]), np.array([3.0, 1.0, -2.0])
    assert reweighted(reweighting, own, slopes, 0.0).tolist() == own.tolist()


@pytest.mark.parametrize("reweighting", REWEIGHTINGS)
def test_weights_come_home_as_it_cools(reweighting):
    own = np.array([1.0, 2.0, 4.0, 1.0])
    slopes = np.array([3.0, 1.0, -2.0, 0.0])
    away = [
        np.mean([divergence(reweighted(reweighting, own, slopes, t, seed=s), own)
                 for s in range(20)]) for t in (1.0, 0.1, 1e-3, 1e-6)
    ]  # fmt: skip
    assert away == sorted(away, reverse=True)
    assert away[-1] < 1e-4


@settings(deadline=None, max_examples=60)
@given(rows(), st.sampled_from([0.1, 1.0, 4.0]), st.sampled_from([0.0, 0.5, 2.0]))
def test_the_adversary_lowers_the_score_of_the_hypothesis(case, temperature, gamma):
    """To first order: the weighted sum of slopes falls, unless they are all the same."""
    own, slopes = case
    weights = reweighted(Adversary(gamma=gamma), own, slopes, temperature)
    assert weights @ slopes <= own @ slopes + 1e-9 * (1 + abs(own @ slopes))
    if np.ptp(slopes[own > 0]) > 1e-3:
        assert weights @ slopes < own @ slopes


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 4), numbers, numbers), min_size=1, max_size=8),
       st.sampled_from([0.1, 1.0, 30.0]), st.sampled_from([None, 1.0]))  # fmt: skip
def test_a_folded_row_gets_what_its_twins_get(groups, temperature, eta):
    sizes = np.array([g[0] for g in groups])
    before, slopes = np.array([g[1] for g in groups]), np.array([g[2] for g in groups])
    twins = np.repeat(np.arange(len(groups)), sizes)
    folded = reweighted(Adversary(eta=eta), sizes.astype(float), slopes, temperature, before)
    single = reweighted(
        Adversary(eta=eta), np.ones(len(twins)), slopes[twins], temperature, before[twins]
    )
    np.testing.assert_allclose(np.bincount(twins, single), folded, rtol=1e-9)


def test_a_weight_that_underflows_comes_back():
    own, step = np.ones(2), Adversary(eta=1.0)
    ratio = step.ratio(own, np.zeros(2), lambda: np.array([-np.inf, 0.0]), 1.0, None)
    assert tilted(own, ratio)[1] < 1e-20
    back = step.ratio(own, ratio, lambda: np.array([1.0, -1e4]), 1.0, None)
    assert tilted(own, back)[1] > 1.9


def test_equation_3_5_by_hand():
    """beta = 2, gamma = 1, eta = 0.5 at temperature 0.5, that is beta = 4, gamma = 2 in Eq. 3.5."""
    own, now, slope = np.array([1.0, 3.0]), np.array([2.0, 2.0]), np.array([0.3, -0.2])
    by_hand = own ** (4 / 6) * now ** (2 / 6) * np.exp(-0.5 / 6 * slope)
    by_hand *= own.sum() / by_hand.sum()
    found = reweighted(Adversary(2.0, 1.0, 0.5), own, slope, 0.5, np.log(now / own))
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)


def test_random_weights_are_dirichlet():
    """Eq. 3.2: with beta = 1 / T, the variance of M w is (M - 1) / (M beta + 1)."""
    own, drawn = np.ones(4), []
    for seed in range(4000):
        drawn.append(reweighted(Random(), own, None, 0.5, seed=seed))
    np.testing.assert_allclose(np.mean(drawn, axis=0), 1.0, atol=0.05)
    np.testing.assert_allclose(np.var(drawn, axis=0), 3 / 9, rtol=0.1)


def test_rows_of_other_weights():
    """By their mean: a row of 3 is drawn as three rows together. By their mode: Eq. 3.3."""
    own = np.array([1.0, 3.0])
    np.testing.assert_allclose(Random().parameters(own, 0.5), [2.0, 6.0])
    a = Random("mode").parameters(own, 0.5)
    np.testing.assert_allclose((a - 1) / (a - 1).sum(), own / own.sum())
    np.testing.assert_allclose(Random("mode").parameters(np.ones(3), 0.25), 4.0)  # Eq. 3.2
    np.testing.assert_allclose(Random("mode").parameters(own, 4.0), 0.25)


def test_the_unit_of_the_slopes_does_not_matter():
    own, slopes = np.array([1.0, 2.0, 1.0]), np.array([0.3, 1.0, -2.0])
    one, other = (reweighted(Adversary(), own, c * slopes, 0.7) for c in (1.0, 1000.0))
    np.testing.assert_allclose(one, other)


def test_distances():
    one, other = np.array([1.0, 1.0]), np.array([1.5, 0.5])
    assert distance(one, other) == 0.25
    assert divergence(other, one) == pytest.approx(0.75 * np.log(1.5) + 0.25 * np.log(0.5))
    assert divergence(one, 3 * one) == 0.0


@pytest.mark.parametrize("own", [[], [0.0], [-1.0, 2.0], [np.nan]])
def test_weights_that_are_none(own):
    with pytest.raises(DataError, match="weights of"):
        checked(own)


@pytest.mark.parametrize(
    "bad", [{"beta": 0}, {"gamma": -1}, {"eta": 0}, {"noise": -1}, {"steepest": 0}]
)
def test_settings_that_are_none(bad):
    with pytest.raises(DataError, match="adversary"):
        Adversary(**bad)
    with pytest.raises(DataError, match="mean or mode"):
        Random("median")
