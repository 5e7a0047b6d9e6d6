"""Ideal parents of curves: they predict exactly, and K is the curvature of the likelihood."""

import numpy as np
import pytest

from unveil import Table, Variable
from unveil.ideal import CurveGuide, curve_profile
from unveil.kernels.curves import curve as curve_kernel
from unveil.model import Curve
from unveil.model.curves import FAMILIES, LINKS, log_density, squash
from unveil.score import BIC, CurveFamilies

N = 25


def case(link, noise, seed=1):
    generator = np.random.default_rng(seed)
    curve = Curve(link, noise)
    low, high, variance = 1.0, 4.0, 0.02
    if link == "reaction":
        present = generator.uniform(0.4, 0.95, N)
        x = low + (high - low) * present * generator.uniform(0.2, 0.9, N)
    else:
        present = generator.normal(size=N)
        x = low + (high - low) * generator.uniform(0.1, 0.9, N)
    return curve, x, low, high, present, variance, generator.random(N) + 0.5


def mean_with(curve, low, high, present, extra):
    if curve.link == "reaction":
        return low + (high - low) * present * squash("sigmoid", extra)[0]
    return low + (high - low) * squash(curve.link, present + extra)[0]


@pytest.mark.parametrize("link", ["sigmoid", "hyperbolic", "reaction"])
@pytest.mark.parametrize("noise", ["additive", "multiplicative", "log-normal"])
def test_the_profile_makes_every_row_most_likely(link, noise):
    curve, x, low, high, present, variance, w = case(link, noise)
    profile = curve_profile(curve, x, low, high, present, variance, w, np.ones((1, N)))

    def likelihood(extra):
        return log_density(noise, x, mean_with(curve, low, high, present, extra), variance)

    at = likelihood(profile.y)
    for step in (-1e-3, 1e-3):
        assert (likelihood(profile.y + step) <= at + 1e-9).all()
    if noise == "additive":  # Eq. 7.5
        np.testing.assert_allclose(mean_with(curve, low, high, present, profile.y), x, rtol=1e-9)
    # K is minus the second derivative (`002` Eq. 20).
    h = 1e-4
    bend = (likelihood(profile.y + h) - 2 * at + likelihood(profile.y - h)) / h**2
    np.testing.assert_allclose(profile.metric, -w * bend, rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize("link", ["sigmoid", "hyperbolic"])
def test_theorem_8_2_is_theorem_7_5_1_for_additive_noise(link):
    curve, x, low, high, present, variance, w = case(link, "additive")
    w = np.ones(N)
    profile = curve_profile(curve, x, low, high, present, variance, w, np.zeros((0, N)))
    z = np.random.default_rng(2).normal(size=(4, N))
    slope = np.sqrt(profile.metric * variance)
    y_star, z_star = profile.y * slope, z * slope
    k1 = y_star @ y_star
    before = mean_with(curve, low, high, present, 0.0)
    k2 = np.sum((x - before) ** 2)
    plain = (z_star @ y_star) ** 2 / np.sum(z_star**2, axis=1)
    np.testing.assert_allclose(
        profile.c1(z), plain / (2 * variance) - (k1 - k2) / (2 * variance), rtol=1e-9
    )
    cos2 = plain / k1
    np.testing.assert_allclose(
        profile.c2(z), -N / 2 * np.log(1 - cos2) - N / 2 * np.log(k1 / k2), rtol=1e-9
    )


def test_a_point_beyond_the_curve_is_taken_inside():
    curve, x, low, high, present, variance, w = case("sigmoid", "additive")
    x[:3] = [-10, 10, high]
    profile = curve_profile(curve, x, low, high, present, variance, w, np.ones((1, N)))
    assert np.isfinite(profile.y).all()
    assert np.isfinite(profile.c2(np.ones((1, N)))).all()


def curved_rows(seed=1, n=300, noise="additive"):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(8, n))
    values[7] = np.tanh(values[0] + values[1]) + 0.3 * np.tanh(2 * values[2])
    values[7] += 0.2 * generator.normal(size=n)
    if noise != "additive":
        values = np.exp(0.5 * values)
    return Table([Variable(f"v{i}") for i in range(8)], list(values))


@pytest.mark.parametrize("measure", ["c1", "c2", "tangent"])
@pytest.mark.parametrize("link", ["sigmoid", "hyperbolic", "reaction"])
def test_the_guide_finds_the_parents_one_after_the_other(link, measure):
    scores = CurveFamilies(curved_rows(), BIC(), Curve(link))
    guide = CurveGuide(scores.fitter, measure)
    first = guide.gains(7, ())
    assert np.isneginf(first[7])
    assert set(np.argsort(-first)[:2].tolist()) == {0, 1}
    second = guide.gains(7, (0, 1))
    assert int(second.argmax()) == 2
    assert np.isneginf(second[[0, 1, 7]]).all()
    assert not np.isnan(second).any()


@pytest.mark.parametrize("noise", ["multiplicative", "log-normal"])
def test_the_guide_knows_other_noise(noise):
    scores = CurveFamilies(curved_rows(noise=noise), BIC(), Curve("sigmoid", noise))
    gains = CurveGuide(scores.fitter, "c1").gains(7, (0,))
    assert int(gains.argmax()) == 1


@pytest.mark.parametrize("measure", ["c1", "c2", "tangent"])
def test_replacing_a_useless_parent(measure):
    scores = CurveFamilies(curved_rows(), BIC(), Curve("sigmoid"))
    gains = CurveGuide(scores.fitter, measure).replacements(7, (0, 5), 5)
    assert int(gains.argmax()) == 1


@pytest.mark.parametrize("link", ["sigmoid", "hyperbolic"])
@pytest.mark.parametrize("parents", [(), (0,), (0, 1, 5)])
def test_changes_along_the_tangent_are_least_squares(link, parents):
    """What the kernel says is what ordinary least squares says of the tangent."""
    fitter = CurveFamilies(curved_rows(), BIC(), Curve(link)).fitter
    guide = CurveGuide(fitter, "tangent")
    gains, losses = guide.gains(7, parents), guide.losses(7, parents)
    x, low, high, offsets, weights, _ = fitter.standard(7, parents)
    if not parents:
        offsets = np.array([guide._level(x, low, high)])
    p = np.concatenate([[low, high], offsets, weights])
    g, jacobian = np.empty(300), np.empty((300, len(p)))
    curve_kernel(LINKS[link], np.ascontiguousarray(fitter.columns[list(parents)]), p, g, jacobian)
    target = x - g

    def left(design, target=target):
        return np.sum((target - design @ np.linalg.lstsq(design, target, rcond=1e-9)[0]) ** 2)

    all_squares, tangent_squares = np.sum(target**2), left(jacobian)
    for v in set(range(7)) - set(parents):
        more = np.column_stack([jacobian, jacobian[:, 2] * fitter.columns[v]])
        taken = tangent_squares - left(more)
        assert gains[v] == pytest.approx(-150 * np.log(1 - taken / all_squares), rel=1e-3, abs=1e-4)
    for i, loss in enumerate(losses):
        at = len(p) - len(parents) + i
        fixed = target + jacobian[:, at] * p[at]  # the weight is zero, the others are free
        rest = np.delete(jacobian, at, axis=1)
        more = left(rest, fixed) - tangent_squares
        assert loss == pytest.approx(150 * np.log(1 + more / all_squares), rel=1e-2)
        swaps = guide.replacements(7, parents, parents[i])
        for v in set(range(7)) - set(parents):
            swapped = np.column_stack([rest, jacobian[:, 2] * fitter.columns[v]])
            gain = -150 * np.log(left(swapped, fixed) / tangent_squares)
            assert swaps[v] == pytest.approx(gain, rel=1e-2, abs=1e-2)
        assert np.isneginf(swaps[[7, *parents]]).all()


@pytest.mark.parametrize("family", ["reaction", "sigmoid-log-normal", "sigmoid"])
def test_dropping_the_useless_parent_loses_least(family):
    curve = FAMILIES[family]
    noise = curve.noise if curve.positive else "additive"
    fitter = CurveFamilies(curved_rows(noise=noise), BIC(), curve).fitter
    losses = CurveGuide(fitter, "tangent").losses(7, (0, 1, 5))
    assert int(losses.argmin()) == 2
    assert (losses >= 0).all()
