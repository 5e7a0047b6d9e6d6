"""Why a number is believed, what to ask about it, and the parts of its mixture."""

import math

import numpy as np
import pytest

import unveil
from unveil.errors import DataError
from unveil.infer import finding_influence, information_about, posterior


@pytest.fixture(scope="module")
def lines():
    """A network of three numbers."""
    draw = np.random.default_rng(4)
    u = draw.normal(size=400)
    x = u + draw.normal(size=400)
    y = x - 0.5 * u + draw.normal(size=400)
    dag = unveil.DAG(["u", "x", "y"], [("u", "x"), ("u", "y"), ("x", "y")])
    return unveil.fit(dag, unveil.Table.from_frame({"u": u, "x": x, "y": y}))


@pytest.fixture(scope="module")
def mixed():
    """A network of two columns with states and two of numbers."""
    draw = np.random.default_rng(5)
    kind = draw.choice(["a", "b"], 300)
    part = np.where(draw.random(300) < 0.8, kind, "c")
    size = np.where(kind == "a", 1.0, 4.0) + draw.normal(size=300) * 0.5
    cost = 2 * size + draw.normal(size=300)
    table = unveil.Table.from_frame({"kind": kind, "part": part, "size": size, "cost": cost})
    dag = unveil.DAG(table.names, [("kind", "part"), ("kind", "size"), ("size", "cost")])
    return unveil.fit(dag, table)


def test_information_is_what_the_variance_loses(lines):
    for given in ({}, {"y": 0.7}):
        told = information_about(lines, "u", given)
        assert set(told) == {"x", "y"} - set(given)
        before = posterior(lines, given, of="u").variances["u"][0]
        for name, bits in told.items():
            after = posterior(lines, {**given, name: -0.3}, of="u").variances["u"][0]
            assert bits == pytest.approx(0.5 * math.log2(before / after))
    assert information_about(lines, "u", {"x": 1.0, "y": 0.0}) == {}


def test_influence_on_a_number_is_the_divergence_of_gaussians(lines):
    with_it = posterior(lines, {"x": 1.5, "y": 0.0}, of="u")
    without = posterior(lines, {"y": 0.0}, of="u")
    m, v = with_it.means["u"][0], with_it.variances["u"][0]
    n, w = without.means["u"][0], without.variances["u"][0]
    at = np.linspace(m - 12 * v**0.5, m + 12 * v**0.5, 20_001)
    p = np.exp(-((at - m) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
    q = np.exp(-((at - n) ** 2) / (2 * w)) / math.sqrt(2 * math.pi * w)
    bits = float((p * np.log2(p / q)).sum() * (at[1] - at[0]))
    found = {i.finding: i for i in finding_influence(lines, {"x": 1.5, "y": 0.0}, "u")}
    assert found["x"].divergence == pytest.approx(bits, rel=1e-6)
    assert found["x"].with_it["mean"] == pytest.approx(m)


def test_the_parts_of_a_mixture_have_its_moments(mixed):
    found = posterior(mixed, {"part": "c"}, of=["size", "cost"])
    for name in ("size", "cost"):
        weights, means, variances = found.mixtures[name].T
        assert weights.sum() == pytest.approx(1)
        mean = weights @ means
        assert mean == pytest.approx(found.means[name][0])
        assert weights @ (variances + (means - mean) ** 2) == pytest.approx(
            found.variances[name][0]
        )
    assert posterior(mixed, unveil.Table.from_frame({"part": ["c", "a"]}), of="size").mixtures == {}


def test_what_a_row_shows_is_known_exactly(mixed):
    found = posterior(mixed, {"cost": 4.1}, of=["size", "cost"])
    assert found.of("cost") == {"mean": 4.1, "standard deviation": 0.0}
    assert found.variances["size"][0] > 0


def test_states_of_a_mixed_network_tell_about_each_other(mixed):
    tables = unveil.Network([mixed.cpd("kind"), mixed.cpd("part")])
    told = information_about(mixed, "kind", among=["part"])
    assert told == pytest.approx(information_about(tables, "kind"))
    seen = information_about(mixed, "kind", {"cost": 4.0}, among=["part"])
    assert 0 <= seen["part"] < told["part"]
    with pytest.raises(DataError, match="'size' is continuous and the network has discrete"):
        information_about(mixed, "size")
