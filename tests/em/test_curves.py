"""Unseen cells beside curves: a bound that is exact for lines, below the truth, and never falls."""

import numpy as np
import pytest

import unveil
from unveil import DAG, Network, Table, Variable
from unveil.em.curves import CurveEM, fit_curves_em
from unveil.errors import DataError
from unveil.infer.gaussian.curves import POINTS, SHARES, row_posteriors
from unveil.kernels.curve_posterior import curve_posteriors
from unveil.model import Curve, LinearGaussianCPD, NonlinearCPD

A, B, C, D = (Variable(name) for name in "abcd")
LINES = Network([
    LinearGaussianCPD(A, [], 1, [], 2), LinearGaussianCPD(B, [A], 0, [1.5], 0.5),
    LinearGaussianCPD(C, [A, B], 0, [1, -1], 1), LinearGaussianCPD(D, [C], 2, [0.7], 0.3),
])  # fmt: skip
CURVES = Network([
    LinearGaussianCPD(A, [], 0, [], 1),
    NonlinearCPD(B, [A], Curve("sigmoid"), -1, 1, [0.2], [2.0], 0.1),
    NonlinearCPD(C, [A, B], Curve("hyperbolic"), 0, 3, [0.1], [1.0, -1.0], 0.2),
])  # fmt: skip


def holed(network, n=60, share=0.3):
    return network.sample(n, seed=1).knock_out(share, seed=2)


def test_for_lines_it_is_the_posterior():
    rows = holed(LINES)
    found = row_posteriors(LINES, rows)
    np.testing.assert_allclose(found.bounds, LINES.row_log_likelihoods(rows), rtol=1e-9)
    exact = LINES.posterior(rows, of=list("abcd"))
    for i, name in enumerate(found.model.names):
        np.testing.assert_allclose(found.means[:, i], exact.means[name], atol=1e-9)
        np.testing.assert_allclose(found.variances()[:, i], exact.variances[name], atol=1e-9)


def test_for_curves_it_is_a_bound_near_the_truth():
    rows = CURVES.sample(25, seed=3)
    shown = rows.hide(["a"]) if "a" in rows else rows
    bounds = CURVES.row_log_likelihoods(shown)
    means = CURVES.posterior(shown, of="a").means["a"]
    grid = np.linspace(-6, 6, 1201)
    for i in range(25):
        columns = {n: np.full(grid.size, rows.column(n)[i]) for n in "bc"} | {"a": grid}
        logs = np.zeros(grid.size)
        for name in "abc":
            cpd = CURVES.cpd(name)
            cpd.add_log_probability(logs, [columns[p.name] for p in cpd.parents], columns[name])
        true = np.log(np.exp(logs).sum() * 0.01)
        assert true - 0.15 < bounds[i] <= true + 1e-6
        share = np.exp(logs - logs.max())
        assert means[i] == pytest.approx(share @ grid / share.sum(), abs=0.15)


def test_no_other_gaussian_near_it_is_better():
    found = row_posteriors(CURVES, holed(CURVES))
    generator = np.random.default_rng(1)
    for _ in range(20):
        means, covariances = found.means.copy(), found.covariances.copy()
        hidden = found.unseen > 0
        means[hidden] += 0.01 * generator.normal(size=hidden.sum())
        covariances *= np.exp(0.02 * generator.normal(size=(len(means), 1, 1)))
        bounds = np.empty(len(means))
        curve_posteriors(
            *found.model.arrays, found.unseen, POINTS, SHARES, 0, 1e-9, means, covariances, bounds
        )
        # The hyperbolic response has a kink in its second derivative, where steps may end early.
        assert (bounds <= found.bounds + 1e-3).all()


def test_expected_squares_by_drawing():
    rows = holed(CURVES)
    found = row_posteriors(CURVES, rows)
    weights = np.ones(60)
    generator = np.random.default_rng(1)
    total = dict.fromkeys("abc", 0.0)
    for _ in range(400):
        values = found.means.copy()
        for row, hidden in enumerate(found.unseen > 0):
            d = hidden.sum()
            root = np.linalg.cholesky(found.covariances[row, :d, :d])
            values[row, hidden] += root @ generator.standard_normal(d)
        columns = dict(zip(found.model.names, values.T, strict=True))
        for name in "bc":
            cpd = CURVES.cpd(name)
            mean = cpd.means([columns[p.name] for p in cpd.parents], 60)
            total[name] += np.sum((columns[name] - mean) ** 2) / 400
    for name in "bc":
        assert found.squares(CURVES.cpd(name), weights) == pytest.approx(total[name], rel=0.05)


def test_completed_rows_have_the_means_and_covariances():
    found = row_posteriors(CURVES, holed(CURVES, 5, 0.6))
    weights = np.arange(1.0, 6.0)
    points = found.completed(CURVES, weights)
    assert points.total_weight == pytest.approx(15)
    values = np.array([points.column(n) for n in found.model.names])
    np.testing.assert_allclose(values @ points.row_weights, weights @ found.means)
    squares = np.square(values) @ points.row_weights
    np.testing.assert_allclose(squares, weights @ (found.means**2 + found.variances()))


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(1)
    u = generator.normal(size=200)
    x = np.tanh(2 * u) + 0.2 * generator.normal(size=200)
    z = np.tanh(-2 * x) + 0.2 * generator.normal(size=200)
    return Table.from_frame({"u": u, "x": x, "z": z})


def test_the_bound_never_falls(rows):
    dag = DAG(list("uxz"), [("u", "x"), ("x", "z")])
    first = fit_curves_em(dag, rows.knock_out(0.3, seed=1), Curve("sigmoid"), max_iterations=1)[0]
    problem = CurveEM(first, rows.knock_out(0.3, seed=1))
    bounds, network = [], first
    for _ in range(8):
        network, bound = problem.step(network)
        bounds.append(bound)
    assert (np.diff(bounds) >= -1e-9).all()
    assert bounds[-1] > bounds[0]


def test_learn_and_ask_curves_with_gaps(rows):
    shown = rows.knock_out(0.15, seed=1)
    learned = unveil.learn(shown, family="sigmoid", ideal=2, seed=1)
    assert {frozenset(arc) for arc in learned.dag.arcs} == {frozenset("ux"), frozenset("xz")}
    assert "bound" in learned.search.score_name
    filled = learned.network.most_probable(shown).table
    assert filled.is_complete
    gaps = np.isnan(shown.column("z"))
    off = filled.column("z")[gaps] - rows.column("z")[gaps]
    assert np.sqrt(np.mean(off**2)) < 0.6 * rows.column("z").std()


def test_a_hidden_root_behind_curves():
    generator = np.random.default_rng(2)
    h = generator.normal(size=200)
    columns = {
        f"c{i}": np.tanh((1 + 0.5 * i) * h) + 0.1 * generator.normal(size=200) for i in range(4)
    }
    table = Table.from_frame(columns)
    dag = DAG([*columns, "H"], [("H", c) for c in columns])
    network, bound = fit_curves_em(dag, table, Curve("sigmoid"), ["H"], max_iterations=30)
    lines = unveil.fit(dag, table, hidden={"H": Variable("H")}, seed=1)
    assert bound > lines.log_likelihood(table) + 50
    own = network.posterior(table, of="H").means["H"]
    assert np.corrcoef(own, h)[0, 1] > 0.9
    root = network.cpd("H")
    assert (root.intercept, root.variance) == (0.0, 1.0)


def test_other_noise_gets_a_sentence(rows):
    positive = {n: np.exp(rows.column(n)) for n in rows.names}
    table = Table.from_frame(positive).knock_out(0.1, seed=1)
    with pytest.raises(DataError, match="sigmoid and hyperbolic"):
        unveil.learn(table, family="sigmoid-log-normal")
    # Rows with unseen cells can be asked about all the same.
    network = unveil.learn(positive, family="sigmoid-log-normal", max_parents=1).network
    assert np.isfinite(network.log_likelihood(table))
