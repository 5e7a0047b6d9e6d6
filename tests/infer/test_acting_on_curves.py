"""Acting on networks of curves, and what would tell most in them."""

import numpy as np
import pytest

from unveil import DAG, Network, Table, Variable
from unveil.errors import DataError
from unveil.infer import information_about
from unveil.infer.columns import with_posteriors
from unveil.model import Curve, LinearGaussianCPD, NonlinearCPD
from unveil.model.units import held, rescaled, standardised

A, B, X = Variable("a"), Variable("b"), Variable("x")
CURVES = [
    Curve(link, noise)
    for link in ("sigmoid", "hyperbolic", "reaction")
    for noise in ("additive", "multiplicative", "log-normal")
]


def family(curve, parents=(A, B)):
    k = len(parents)
    offsets = [0.3, -0.2][: curve.n_offsets(k)]
    return NonlinearCPD(X, parents, curve, 0.5, 3, offsets, [1.5, -0.7][:k], 0.2)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_parent_held_is_a_column_of_one_value(curve):
    cpd = family(curve)
    b = np.linspace(-2, 2, 9)
    with_both = cpd.means([np.full(9, 0.8), b], 9)
    np.testing.assert_allclose(held(cpd, "a", 0.8).means([b], 9), with_both, rtol=1e-12)
    alone = held(held(cpd, "a", 0.8), "b", -1.5)
    assert alone.parents == ()
    whole = cpd.means([np.array([0.8]), np.array([-1.5])], 1)
    np.testing.assert_allclose(alone.means([], 1), whole, rtol=1e-12)
    assert alone.variance == cpd.variance


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_parent_in_other_units(curve):
    cpd = family(curve)
    a, b = np.linspace(-1, 3, 7), np.linspace(2, -2, 7)
    moved = rescaled(cpd, "a", 1.5, -2.0)
    np.testing.assert_allclose(
        moved.means([(a - 1.5) / -2.0, b], 7), cpd.means([a, b], 7), rtol=1e-12
    )


def network():
    return Network([
        LinearGaussianCPD(A, [], 1, [], 4),
        LinearGaussianCPD(B, [A], 0, [0.5], 1),
        family(Curve("sigmoid")),
    ])  # fmt: skip


def test_doing_is_what_drawing_says():
    acted = network().do({"a": 0.8})
    assert acted.dag.arcs == (("b", "x"),)
    rows = acted.sample(40_000, seed=1)
    b = rows.column("b")
    assert b.mean() == pytest.approx(0.4, abs=0.02)
    assert rows.column("x").mean() == pytest.approx(acted.posterior(of="x").means["x"][0], abs=0.02)
    seen = acted.posterior({"b": 0.0}, of="x")
    assert seen.means["x"][0] == pytest.approx(0.5 + 2.5 / (1 + np.exp(-1.5)))


@pytest.mark.parametrize("curve", [Curve("reaction"), Curve("sigmoid", "multiplicative")], ids=str)
def test_a_level_with_normal_noise_is_normal(curve):
    """Once all parents are set, curves that have no posterior otherwise have one."""
    whole = Network([
        LinearGaussianCPD(A, [], 1, [], 4), LinearGaussianCPD(B, [A], 0, [0.5], 1), family(curve),
    ])  # fmt: skip
    acted = whole.do({"a": 0.8, "b": -1.0})
    found = acted.posterior(of="x")
    level = family(curve).means([np.array([0.8]), np.array([-1.0])], 1)[0]
    deviation = np.sqrt(0.2) * (level if curve.positive else 1)
    assert found.means["x"][0] == pytest.approx(level)
    assert np.sqrt(found.variances["x"][0]) == pytest.approx(deviation)


def test_hidden_roots_above_curves_get_standard_units():
    h = Variable("a", hidden=True)
    wide = Network([
        LinearGaussianCPD(h, [], 1, [], 4), LinearGaussianCPD(B, [h], 0, [-0.5], 1),
        family(Curve("sigmoid"), (h, B)),
    ])  # fmt: skip
    plain = standardised(wide, ["a"])
    assert plain.cpd("a").variance == 1
    grid = np.linspace(-2, 2, 5)
    own = plain.cpd("x").means([grid, grid], 5)
    scale = 2.0 if plain.cpd("b").coefficients[0] < 0 else -2.0
    np.testing.assert_allclose(own, wide.cpd("x").means([1 + scale * grid, grid], 5))


def test_what_tells_most_about_a_curve():
    """Of nearly straight curves it is what lines say."""
    bent = NonlinearCPD(X, [B], Curve("sigmoid"), -40, 40, [0], [0.05], 1.0)
    straight = LinearGaussianCPD(X, [B], 0, [1.0], 1.0)
    rest = [LinearGaussianCPD(A, [], 1, [], 4), LinearGaussianCPD(B, [A], 0, [0.5], 1)]
    for given in ({}, {"a": 0.5}):
        found = information_about(Network([*rest, bent]), "x", given)
        lines = information_about(Network([*rest, straight]), "x", given)
        assert found == pytest.approx(lines, abs=0.02)
        assert "a" not in found or found["b"] > found["a"]


def test_about_a_state_only_states_are_ranked():
    generator = np.random.default_rng(1)
    kind = np.repeat(["u", "v"], 100)
    size = np.where(generator.random(200) < 0.8, kind, "u")
    rows = {"kind": kind, "size": size, "x": generator.normal(size=200) + (kind == "u")}
    import unveil

    mixed = unveil.fit(DAG(list(rows), [("kind", "size"), ("kind", "x")]), rows)
    assert set(information_about(mixed, "kind")) == {"size"}


def test_nothing_to_predict_from():
    table = Table.from_frame({"x": [0.5, 1.0, 2.5]})
    with pytest.raises(DataError, match="no column to predict 'x' from"):
        with_posteriors(network(), table, ["x"])
