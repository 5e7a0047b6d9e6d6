"""Standardised weights, shares explained and residual checks."""

import numpy as np
import pytest

from unveil import DAG, Table
from unveil.evaluate import path_diagram
from unveil.model import fit


def table_of(n=4000, seed=1):
    random = np.random.default_rng(seed)
    a, b = 3 * random.normal(size=n), random.normal(size=n) + 50
    c = 2 * a - b + random.normal(size=n)
    return Table.from_frame({"a": a, "b": b, "c": c})


def test_weights_are_regression_slopes_of_standardised_columns():
    table = table_of()
    network = fit(DAG(["a", "b", "c"], [("a", "c"), ("b", "c")]), table)
    values = np.array([table.column(n) for n in "abc"])
    z = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    slopes = np.linalg.lstsq(z[:2].T, z[2])[0]
    paths = path_diagram(network, table)
    assert paths.weights == {
        ("a", "c"): pytest.approx(slopes[0]), ("b", "c"): pytest.approx(slopes[1])
    }  # fmt: skip
    left = z[2] - slopes @ z[:2]
    assert paths.r_squared == {"c": pytest.approx(1 - left.var())}
    (check,) = paths.checks
    assert check.words == "looks like noise"
    assert abs(check.largest) == pytest.approx(np.abs(left / left.std()).max(), rel=1e-6)
    assert check.row == int(np.abs(left).argmax()) + 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda u, e: u**2 + e, "bent"),
        (lambda u, e: u + np.exp(1.5 * e), "leans to large values"),
        (lambda u, e: u + e**3 / 3, "heavy tails"),
    ],
)
def test_what_is_not_noise_is_told(make, words):
    random = np.random.default_rng(2)
    u, e = random.normal(size=(2, 3000))
    table = Table.from_frame({"u": u + 1, "x": make(u + 1, e)})
    (check,) = path_diagram(fit(DAG(["u", "x"], [("u", "x")]), table), table).checks
    assert words in check.words


def test_lines_by_discrete_parents_and_gaps():
    random = np.random.default_rng(3)
    s, u = random.integers(2, size=2000), random.normal(size=2000)
    x = np.where(s == 1, 5 + u, -u) + 0.1 * random.normal(size=2000)
    table = Table.from_frame({"s": s.astype(str), "u": u, "x": x})
    network = fit(DAG(["s", "u", "x"], [("s", "x"), ("u", "x")]), table)
    paths = path_diagram(network, table)
    assert paths.r_squared["x"] > 0.99
    assert paths.weights["u", "x"] == pytest.approx(0.0, abs=0.1)  # one line up, one down
    holes = path_diagram(network, table.knock_out(0.2, seed=1))
    assert holes.r_squared["x"] == pytest.approx(paths.r_squared["x"], abs=0.01)
    assert path_diagram(network, table.select(["s", "u"])).checks == ()
