"""Exact EM of linear Gaussian networks: against the joint normal, closed forms, factor analysis."""

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis

from unveil import DAG, Table, Variable
from unveil.em.line_structure import fitted_graph, line_structural_em
from unveil.em.lines import Lines, Observed, em_lines, expected_moments, fit_lines, parents_matrix
from unveil.errors import DataError
from unveil.infer.gaussian.posterior import gaussian_expected_moments
from unveil.model.fit import fit

DAG_ = DAG(list("abcd"), [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])


def rows(n=60, seed=1, columns="abcd"):
    generator = np.random.default_rng(seed)
    mix = generator.normal(size=(len(columns), len(columns)))
    values = generator.normal(size=(n, len(columns))) @ mix + generator.normal(size=len(columns))
    weights = generator.integers(1, 4, n).astype(float)
    return Table([Variable(c) for c in columns], list(values.T), weights)


def gappy(table, share=0.2, seed=2):
    hole = np.random.default_rng(seed).random((table.n_rows, table.n_columns)) < share
    columns = [np.where(hole[:, i], np.nan, table.column(n)) for i, n in enumerate(table.names)]
    return Table(table.variables, columns, table.weights)


@pytest.mark.parametrize("hidden", [(), ("h",)])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_e_step_is_that_of_the_joint_normal(hidden, share):
    """Likelihood and moments beside `infer.gaussian`, which works through other equations."""
    table = gappy(rows(), share) if share else rows()
    dag = DAG([*"abcd", *hidden], [*DAG_.arcs, *((h, x) for h in hidden for x in "abd")])
    names = (*"abcd", *hidden)
    generator = np.random.default_rng(3)
    mask = parents_matrix(names, dag)
    lines = Lines(
        names, mask * generator.normal(size=mask.shape), generator.normal(size=len(names)),
        generator.random(len(names)) + 0.3,
    )  # fmt: skip
    network = lines.network({v.name: v for v in table.variables}, dag, hidden)
    assert Lines.of(network, names).coefficients == pytest.approx(lines.coefficients)
    logs, moments = gaussian_expected_moments(network, table)
    found, own = expected_moments(lines, Observed.of(table))
    assert found == pytest.approx(float(logs @ table.row_weights), rel=1e-10)
    order = [network.names.index(n) for n in names]
    np.testing.assert_allclose(own.mean, moments.mean[order], rtol=1e-9)
    np.testing.assert_allclose(own.scatter, moments.scatter[np.ix_(order, order)], rtol=1e-8)


def test_the_m_step_is_least_squares():
    table = rows()
    observed = Observed.of(table)
    lines = fit_lines(table.names, observed.moments, parents_matrix(table.names, DAG_),
                      observed.floor)  # fmt: skip
    network = fit(DAG_, table)
    same = Lines.of(network, table.names)
    np.testing.assert_allclose(lines.coefficients, same.coefficients, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(lines.intercept, same.intercept, rtol=1e-8)
    np.testing.assert_allclose(lines.variances, same.variances, rtol=1e-8)


def test_monotone_missingness_has_a_closed_form():
    """Anderson (1957): x from all rows, y | x from the rows that show y."""
    generator = np.random.default_rng(4)
    x = generator.normal(size=80) * 2 + 1
    y = np.where(np.arange(80) < 50, 0.7 * x - 1 + generator.normal(size=80), np.nan)
    table = Table([Variable("x"), Variable("y")], [x, y])
    observed = Observed.of(table, floor=0.0)
    dag = DAG(["x", "y"], [("x", "y")])
    found = fitted_graph(observed, dag, max_iterations=5000, tolerance=1e-14).lines
    slope, level = np.polyfit(x[:50], y[:50], 1)
    assert found.coefficients[1, 0] == pytest.approx(slope, rel=1e-5)
    assert found.intercept == pytest.approx([x.mean(), level], rel=1e-5)
    left = np.mean((y[:50] - level - slope * x[:50]) ** 2)
    assert found.variances == pytest.approx([x.var(), left], rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_em_never_falls(seed):
    table = gappy(rows(seed=seed), 0.25, seed)
    dag = DAG([*"abcd", "h"], [("h", x) for x in "abcd"])
    observed, names = Observed.of(table), (*"abcd", "h")
    mask = parents_matrix(names, dag)
    start = Lines(names, 0.3 * mask, np.zeros(5), np.ones(5))
    found = em_lines(start, mask, observed, 60, 0.0)
    trace = [step.objective for step in found.trace]
    assert (np.diff(trace) >= -1e-8).all()
    assert found.state[1] == pytest.approx(expected_moments(found.state[0], observed)[0])
    roots = found.state[0]
    assert (roots.variances[4], roots.intercept[4]) == (1.0, 0.0)


def test_one_factor_is_that_of_factor_analysis():
    generator = np.random.default_rng(5)
    h = generator.normal(size=(300, 1))
    x = h @ generator.normal(size=(1, 6)) + generator.normal(size=(300, 6))
    table = Table([Variable(c) for c in "abcdef"], list(x.T))
    dag = DAG([*"abcdef", "h"], [("h", c) for c in "abcdef"])
    found = fitted_graph(Observed.of(table), dag, ["h"], max_iterations=5000, tolerance=1e-12)
    peer = FactorAnalysis(1, tol=1e-10, max_iter=5000, svd_method="lapack").fit(x)
    assert found.log_likelihood == pytest.approx(peer.score(x) * 300, rel=1e-7)


def test_structural_em_finds_arcs_in_spite_of_gaps():
    generator = np.random.default_rng(6)
    a, b, e, f = generator.normal(size=(4, 800))
    c = a - b + 0.5 * f
    table = Table([Variable(n) for n in "abce"], [a, b, c, e])
    holes = gappy(table, 0.15)
    observed = Observed.of(holes)
    first = fitted_graph(observed, DAG(table.names))
    found = line_structural_em(observed, first)
    assert {frozenset(arc) for arc in found.dag.arcs} == {frozenset("ac"), frozenset("bc")}
    assert found.score > first.score
    scores = [step.objective for step in found.trace]
    assert scores == sorted(scores)


def test_sentences_for_what_cannot_be():
    with pytest.raises(DataError, match="'x' has the same value in every row"):
        Observed.of(Table([Variable("x")], [[2.0, 2.0]]))
    with pytest.raises(DataError, match="'x' is discrete"):
        Observed.of(Table.from_frame({"x": ["a", "b"]}))
    with pytest.raises(DataError, match="'x' has no values"):
        Observed.of(Table([Variable("x"), Variable("y")], [[np.nan] * 2, [1.0, 2.0]]))
    with pytest.raises(DataError, match="infinite"):
        Observed.of(Table([Variable("x")], [[np.inf, 2.0]]))


def test_fewer_rows_than_columns_and_collinear_parents_give_numbers():
    table = rows(5, columns="abcdefgh")
    twice = table.with_column(Variable("i"), 2 * table.column("a"))
    observed = Observed.of(twice)
    dag = DAG(twice.names, [(x, "h") for x in "abi"])
    found = fitted_graph(observed, dag)
    assert np.isfinite(found.score)
    assert np.isfinite(found.lines.coefficients).all()
