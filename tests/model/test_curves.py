"""Curves: gradients by finite differences, fits against brute force, units, odd columns."""

import numpy as np
import pytest
from scipy.optimize import minimize

from unveil import DAG, Table, Variable
from unveil.errors import DataError, ModelError
from unveil.kernels.curves import curve, fit_curve, start_curve
from unveil.model import Curve, NonlinearCPD, fit_curves
from unveil.model.curve_fit import Fitter, multiplicative_loss
from unveil.model.curves import FAMILIES, LINKS, curve_named, response, squash, unsquash

KINDS = sorted(LINKS)


def some_parameters(link, k, generator):
    n_offsets = k if link == "reaction" else 1
    return np.concatenate([[0.5, 2.0], generator.normal(size=n_offsets + k)])


@pytest.mark.parametrize("link", KINDS)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_derivatives_of_a_curve_by_finite_differences(link, k, random_seed):
    generator = np.random.default_rng(random_seed)
    inputs = generator.normal(size=(k, 7))
    p = some_parameters(link, k, generator)
    g, jacobian = np.empty(7), np.empty((7, len(p)))
    curve(LINKS[link], inputs, p, g, jacobian)
    for i in range(len(p)):
        ends = []
        for step in (-1e-6, 1e-6):
            moved, other = p.copy(), np.empty(7)
            moved[i] += step
            curve(LINKS[link], inputs, moved, other, np.empty((7, len(p))))
            ends.append(other)
        np.testing.assert_allclose(jacobian[:, i], (ends[1] - ends[0]) / 2e-6, atol=2e-8)


@pytest.mark.parametrize("link", KINDS)
def test_the_kernel_is_the_response_in_numpy(link):
    generator = np.random.default_rng(5)
    inputs = 3 * generator.normal(size=(3, 20))
    p = some_parameters(link, 3, generator)
    g, n = np.empty(20), 3 if link == "reaction" else 1
    curve(LINKS[link], inputs, p, g, np.empty((20, len(p))))
    f, by_input = response(link, inputs, p[2 : 2 + n], p[2 + n :])
    np.testing.assert_allclose(g, p[0] + (p[1] - p[0]) * f, rtol=1e-13)
    nudged = [
        response(link, inputs, p[2 : 2 + n] + s / (1 if n == 3 else 3), p[2 + n :])[0]
        for s in (1e-6, -1e-6)
    ]
    change = by_input.sum(axis=0) if n == 3 else by_input[0] / 3
    np.testing.assert_allclose(change, (nudged[0] - nudged[1]) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("link", ["sigmoid", "hyperbolic"])
def test_unsquashing_undoes_squashing(link):
    s = np.linspace(-8, 8, 33)
    f, steep = squash(link, s)
    np.testing.assert_allclose(unsquash(link, f), s, rtol=1e-9, atol=1e-12)
    ahead, behind = squash(link, s + 1e-6)[0], squash(link, s - 1e-6)[0]
    np.testing.assert_allclose(steep, (ahead - behind) / 2e-6, atol=1e-6)
    assert squash("sigmoid", np.array([-800.0, 800.0]))[0].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("link", KINDS)
def test_the_gradient_with_multiplicative_noise(link, random_seed):
    generator = np.random.default_rng(random_seed)
    inputs, x = generator.normal(size=(2, 30)), generator.gamma(5, 0.3, size=30)
    weights, p = generator.random(30) + 0.1, some_parameters(link, 2, generator)
    value, gradient = multiplicative_loss(link, inputs, x, weights, p)
    for i in range(len(p)):
        ends = [
            multiplicative_loss(link, inputs, x, weights, p + step * np.eye(len(p))[i])[0]
            for step in (-1e-6, 1e-6)
        ]
        assert gradient[i] == pytest.approx((ends[1] - ends[0]) / 2e-6, abs=1e-4, rel=1e-5)
    assert np.isfinite(value)


def rows_of(curve_, k=2, n=400, seed=1, **numbers):
    """Rows of a curve of k parents with known numbers."""
    generator = np.random.default_rng(seed)
    u = generator.normal(size=(k, n))
    names = [f"u{j}" for j in range(k)]
    table = Table.from_frame(dict(zip(names, u, strict=True)))
    n_offsets = curve_.n_offsets(k)
    values = {
        "low": 1.0, "high": 4.0, "offsets": np.linspace(0.3, 0.8, n_offsets),
        "weights": np.linspace(2.0, -1.5, k), "variance": 0.01,
    } | numbers  # fmt: skip
    truth = NonlinearCPD(Variable("x"), table.variables, curve_, **values)
    x = truth.sample(list(u), n, generator)
    return truth, table.with_column(Variable("x"), x)


@pytest.mark.parametrize("link", KINDS)
def test_a_curve_is_found_again(link):
    """More likely than the truth, and with a mean near it."""
    truth, table = rows_of(Curve(link))
    parents, x = [table.column("u0"), table.column("u1")], table.column("x")
    dag = DAG(table.names, [("u0", "x"), ("u1", "x")])
    found = fit_curves(dag, table, Curve(link)).cpd("x")
    total, true = np.zeros(table.n_rows), np.zeros(table.n_rows)
    found.add_log_probability(total, parents, x)
    truth.add_log_probability(true, parents, x)
    assert total.sum() > true.sum()
    error = found.means(parents, table.n_rows) - truth.means(parents, table.n_rows)
    assert np.sqrt(np.mean(error**2)) < 0.03


@pytest.mark.parametrize("family", [name for name, found in FAMILIES.items() if found])
def test_the_likelihood_of_a_fit_is_that_of_its_cpd(family):
    curve_ = curve_named(family)
    _, table = rows_of(curve_, n=60)
    columns = np.array([np.exp(table.column(n)) for n in table.names])
    fitter = Fitter(columns, np.linspace(0.5, 1.5, 60), curve_, table.names)
    for parents in ((), (0,), (0, 1)):
        own = [table.variable(table.names[p]) for p in parents]
        found = fitter.fit(2, parents)
        cpd = NonlinearCPD(
            table.variable("x"), own, curve_, found.low, found.high, found.offsets, found.weights,
            found.variance,
        )  # fmt: skip
        total = np.zeros(60)
        cpd.add_log_probability(total, list(columns[list(parents)]), columns[2])
        assert total @ fitter.weights == pytest.approx(found.log_likelihood, rel=1e-9)
        assert fitter.log_likelihoods([(2, parents)])[0] == pytest.approx(found.log_likelihood)


@pytest.mark.parametrize("noise", ["multiplicative", "log-normal"])
def test_positive_noise_is_found_again(noise):
    generator = np.random.default_rng(3)
    u = np.exp(generator.normal(size=500))
    curve_ = Curve("sigmoid", noise)
    truth = NonlinearCPD(Variable("x"), [Variable("u")], curve_, 2.0, 8.0, [-2.0], [1.5], 0.01)
    table = Table.from_frame({"u": u, "x": truth.sample([u], 500, generator)})
    found = fit_curves(DAG(["u", "x"], [("u", "x")]), table, curve_)
    error = found.cpd("x").means([u], 500) / truth.means([u], 500) - 1
    assert np.sqrt(np.mean(error**2)) < 0.03
    assert found.cpd("x").variance == pytest.approx(0.01, rel=0.2)
    alone = found.cpd("u")
    assert alone.low == alone.high > 0
    total = np.zeros(500)
    alone.add_log_probability(total, [], u)
    fitter = Fitter(np.array([u]), np.ones(500), curve_)
    assert total.sum() == pytest.approx(fitter.fit(0, ()).log_likelihood)

    def worse(level):
        other = NonlinearCPD(Variable("u"), [], curve_, level, level, [], [], alone.variance)
        each = np.zeros(500)
        other.add_log_probability(each, [], u)
        return -each.sum()

    step = minimize(lambda v: worse(float(v[0])), [alone.low], method="Nelder-Mead")
    assert step.fun >= -total.sum() - 1e-3


def test_the_fit_is_as_good_as_a_general_optimiser_finds():
    """Levenberg and Marquardt against Nelder and Mead from the same start."""
    _, table = rows_of(Curve("sigmoid"), k=1, n=60, variance=0.2)
    columns = np.array([table.column(n) for n in table.names])
    inputs = (columns[:1] - columns[:1].mean()) / columns[:1].std()
    x, w = columns[1].copy(), np.ones(60)
    p = np.empty(4)
    start_curve(0, inputs, x, w, 0.1, False, p)
    begin = p.copy()
    left = fit_curve(0, inputs, x, w, False, p, np.full(4, 50.0), 200, 1e-10)

    def loss(q):
        g = np.empty(60)
        curve(0, inputs, q, g, np.empty((60, 4)))
        return float(np.square(x - g).sum())

    assert loss(p) == pytest.approx(left)
    assert left <= loss(begin)
    other = minimize(loss, begin, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-8})
    assert left <= other.fun + 1e-4


def test_units_do_not_matter_and_weights_are_rows():
    _, table = rows_of(Curve("sigmoid"), n=80)
    columns = np.array([table.column(n) for n in table.names])
    curve_ = Curve("sigmoid")
    plain = Fitter(columns, np.ones(80), curve_).fit(2, (0, 1))
    moved = Fitter(columns * 1000 + 7, np.ones(80), curve_).fit(2, (0, 1))
    per_row = np.log(1000.0)
    assert moved.log_likelihood + 80 * per_row == pytest.approx(plain.log_likelihood, abs=1e-3)
    twice = Fitter(columns, np.full(80, 2.0), curve_).fit(2, (0, 1))
    doubled = Fitter(np.hstack([columns, columns]), np.ones(160), curve_).fit(2, (0, 1))
    assert twice.log_likelihood == pytest.approx(doubled.log_likelihood)
    assert twice.weights == pytest.approx(doubled.weights, rel=1e-5)


def test_sentences_for_what_cannot_be():
    table = Table([Variable("u"), Variable("x")], [[1.5, 2.5, 3.0], [2.0, 2.0, 2.0]])
    with pytest.raises(DataError, match="'x' has the same value in every row"):
        fit_curves(DAG(["u", "x"]), table, Curve())
    with pytest.raises(DataError, match="not positive; log-normal noise"):
        fit_curves(DAG("u"), Table.from_frame({"u": [-1.5, 2.5]}), Curve("sigmoid", "log-normal"))
    with pytest.raises(DataError, match="'u' is discrete"):
        fit_curves(DAG("u"), Table.from_frame({"u": ["a", "b"]}), Curve())
    with pytest.raises(DataError, match=r"1 missing cells .*row 2"):
        fit_curves(DAG("u"), Table.from_frame({"u": [1.5, None, 2.5]}), Curve())
    with pytest.raises(ModelError, match=r"no link 'sigmoide'.*sigmoid"):
        Curve("sigmoide")
    with pytest.raises(ModelError, match="no family 'cubic'"):
        curve_named("cubic")


def test_a_copied_column_has_a_finite_density():
    u = np.random.default_rng(1).normal(size=40)
    found = Fitter(np.array([u, u]), np.ones(40), Curve()).fit(1, (0,))
    assert np.isfinite(found.log_likelihood)
    assert found.variance >= 1e-6 * u.var() * (1 - 1e-12)
