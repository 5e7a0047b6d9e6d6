"""Questions behind curves: weighted draws against integrals on a grid, and against samples."""

from __future__ import annotations

import numpy as np
import pytest

from unveil import Network, Table, Variable
from unveil.errors import UnveilWarning
from unveil.infer import draw_missing, information_about
from unveil.model import Curve, LinearGaussianCPD
from unveil.model.curves import LINKS, NOISES, log_density
from unveil.model.nonlinear_cpd import NonlinearCPD

CURVES = [Curve(link, noise) for link in LINKS for noise in NOISES]
CAUSE, EFFECT, END = Variable("cause"), Variable("effect"), Variable("end")


def chain(curve: Curve, variance: float = 0.04) -> Network:
    return Network(
        [
            LinearGaussianCPD(CAUSE, [], 1.0, [], 4.0),
            NonlinearCPD(EFFECT, [CAUSE], curve, 1.0, 6.0, [0.3], [1.7], variance),
            NonlinearCPD(END, [EFFECT], curve, 0.5, 3.0, [-3.0], [0.8], variance),
        ]
    )


def by_integration(network: Network, effect: float) -> tuple[float, float, float]:
    """log p(effect), and mean and variance of the cause given it."""
    u = np.linspace(-15.0, 17.0, 400_001)
    cpd = network.cpd("effect")
    assert isinstance(cpd, NonlinearCPD)
    g = cpd.means([u], u.size)
    joint = np.exp(
        log_density("additive", u, np.ones(u.size), 4.0)
        + log_density(cpd.curve.noise, np.full(u.size, effect), g, cpd.variance)
    )
    step = u[1] - u[0]
    whole = joint.sum() * step
    mean = (joint * u).sum() * step / whole
    return float(np.log(whole)), mean, (joint * (u - mean) ** 2).sum() * step / whole


@pytest.mark.parametrize("curve", CURVES, ids=lambda c: f"{c.link} {c.noise}")
@pytest.mark.parametrize("effect", [2.0, 5.0, 6.1])
def test_a_cause_given_its_effect(curve, effect):
    network = chain(curve)
    found = network.posterior({"effect": effect}, of="cause")
    log_p, mean, variance = by_integration(network, effect)
    assert found.log_evidence[0] == pytest.approx(log_p, abs=0.1)
    assert found.means["cause"][0] == pytest.approx(mean, abs=0.12 * np.sqrt(variance))
    assert found.variances["cause"][0] == pytest.approx(variance, rel=0.2)


@pytest.mark.parametrize("curve", CURVES, ids=lambda c: f"{c.link} {c.noise}")
def test_before_anything_is_seen(curve):
    # The nearest Gaussian sits on one branch of the curve, with a tenth of the spread.
    network = chain(curve)
    drawn = network.sample(200_000, seed=3)
    found = network.posterior()
    for name in network.names:
        column = drawn.column(name)
        assert found.means[name][0] == pytest.approx(column.mean(), abs=0.03 * column.std())
        assert np.sqrt(found.variances[name][0]) == pytest.approx(column.std(), rel=0.03)


@pytest.mark.parametrize("curve", CURVES, ids=lambda c: f"{c.link} {c.noise}")
def test_a_leaf_below_seen_parents_is_exact(curve):
    network = chain(curve)
    found = network.posterior({"cause": 0.5, "effect": 4.0}, of="end")
    g = network.cpd("end").means([np.array([4.0])], 1)[0]
    v = 0.04
    if curve.noise == "additive":
        mean, variance = g, v
    elif curve.noise == "multiplicative":
        mean, variance = g, g**2 * v
    else:
        mean, variance = g * np.exp(v / 2), g**2 * np.exp(v) * (np.exp(v) - 1)
    assert found.means["end"][0] == pytest.approx(mean)
    assert found.variances["end"][0] == pytest.approx(variance)


@pytest.mark.parametrize("curve", CURVES, ids=lambda c: f"{c.link} {c.noise}")
def test_tight_noise_far_down_is_no_trouble(curve):
    # Nearly no draw from the network agrees with the end; fitted parts find those that do.
    network = chain(curve, 1e-6)
    truth = network.sample(20, seed=5)
    found = network.posterior(truth.select(["end"]), of=["effect"])
    apart = np.abs(found.means["effect"] - truth.column("effect"))
    assert np.all(apart < 5 * np.sqrt(found.variances["effect"]) + 1e-6)
    steep = np.abs(truth.column("effect") - 3.0) < 2.0
    assert np.median(np.sqrt(found.variances["effect"])[steep]) < 0.1


def test_an_answer_depends_on_its_row_only():
    network = chain(Curve("reaction", "log-normal"))
    rows = network.sample(30, seed=1).knock_out(0.4, seed=2)
    together = network.posterior(rows, of="cause").means["cause"]
    alone = [network.posterior(rows.take([i]), of="cause").means["cause"][0] for i in range(30)]
    assert together == pytest.approx(alone, rel=1e-9)


def test_drawn_cells_are_spread_as_the_posterior_is():
    network = chain(Curve("reaction", "multiplicative"))
    rows = Table([EFFECT], [np.full(4000, 5.0)])
    filled = draw_missing(network, rows, seed=1)
    _, mean, variance = by_integration(network, 5.0)
    assert filled.column("cause").mean() == pytest.approx(mean, abs=0.15 * np.sqrt(variance))
    assert filled.column("cause").var() == pytest.approx(variance, rel=0.25)


def test_gaps_are_scored_filled_in_and_predicted_for_every_curve():
    for curve in CURVES:
        network = chain(curve)
        holed = network.sample(40, seed=4).knock_out(0.3, seed=4)
        assert np.isfinite(network.log_likelihood(holed))
        filled = network.most_probable(holed).table
        assert filled.is_complete
        # What a row shows stays as it is.
        shown = ~holed.missing("effect")
        assert np.array_equal(filled.column("effect")[shown], holed.column("effect")[shown])
        assert len(network.predict(holed.without("end"), "end")) == 40


def test_a_rough_answer_is_told(monkeypatch):
    monkeypatch.setattr("unveil.infer.gaussian.curve_draws.FEW", 1e9)
    with pytest.warns(UnveilWarning, match="rough"):
        chain(Curve()).posterior({"end": 2.0}, of="effect")


def test_what_is_worth_asking_for_every_curve():
    for curve in CURVES:
        bits = information_about(chain(curve), "cause")
        assert list(bits) == ["effect", "end"]
