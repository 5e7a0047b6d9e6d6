"""Posteriors, likelihoods and draws of Gaussian networks against the joint written out in full."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from unveil import DAG, Network, Table, TableCPD, Variable
from unveil.errors import DataError, ModelError, SizeError, UnveilWarning
from unveil.graph.random import random_dag
from unveil.infer import posterior
from unveil.infer.gaussian import (
    gaussian_expected_moments,
    gaussian_fill_in,
    gaussian_joint_posterior,
    gaussian_log_likelihoods,
    joint_gaussian,
)
from unveil.infer.gaussian.condition import CovarianceForm, InformationForm, patterns
from unveil.model import LinearGaussianCPD
from unveil.statistics.moments import GaussianMoments

from .networks import (
    gaussian_network,
    gaussian_networks,
    joint_by_inversion,
    knocked_out,
    matrix,
    textbook_conditional,
)

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=60, deadline=None)


@quick
@given(gaussian_networks())
def test_the_joint_is_the_inverse_of_the_equations(network):
    mean, covariance = joint_by_inversion(network)
    joint = joint_gaussian(network)
    order = [network.names.index(name) for name in joint.names]
    np.testing.assert_allclose(joint.mean, mean[order], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        joint.covariance, covariance[np.ix_(order, order)], rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        joint.precision.toarray() @ joint.covariance, np.eye(len(order)), atol=1e-6
    )


@quick
@given(gaussian_networks(), seeds)
def test_partly_missing_rows_against_the_full_joint(network, seed):
    generator = np.random.default_rng(seed)
    mean, covariance = joint_by_inversion(network)
    table = knocked_out(network, 7, generator)
    found = posterior(network, table, of=network.names)
    log_likelihoods = gaussian_log_likelihoods(network, table)
    np.testing.assert_allclose(found.log_evidence, log_likelihoods, rtol=1e-9, atol=1e-9)
    joint_means, joint_covariances = gaussian_joint_posterior(network, network.names, table)
    for i, row in enumerate(matrix(network, table)):
        seen, unseen = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        expected = 0.0
        if seen.size:
            marginal = multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)])
            expected = marginal.logpdf(row[seen])
        assert log_likelihoods[i] == pytest.approx(expected, rel=1e-8, abs=1e-8)
        if not unseen.size:
            continue
        means, left = textbook_conditional(mean, covariance, row)
        own = [found.means[network.names[u]][i] for u in unseen]
        np.testing.assert_allclose(own, means, rtol=1e-7, atol=1e-7)
        own = [found.variances[network.names[u]][i] for u in unseen]
        np.testing.assert_allclose(own, np.diag(left), rtol=1e-7)
        np.testing.assert_allclose(joint_means[i, unseen], means, rtol=1e-7, atol=1e-7)
        block = joint_covariances[i][np.ix_(unseen, unseen)]
        np.testing.assert_allclose(block, left, rtol=1e-7, atol=1e-7)
        assert not joint_covariances[i, seen].any()


@quick
@given(gaussian_networks(), seeds)
def test_the_two_forms_agree(network, seed):
    generator = np.random.default_rng(seed)
    joint = joint_gaussian(network)
    n = len(joint.names)
    missing = generator.random(n) < generator.random()
    seen, unseen = np.flatnonzero(~missing), np.flatnonzero(missing)
    wanted = unseen[generator.random(unseen.size) < 0.7]
    deviations = np.where(missing, 0.0, generator.normal(size=(3, n)))
    one = CovarianceForm(joint, seen, wanted)
    other = InformationForm(joint, seen, unseen, wanted)
    np.testing.assert_allclose(one.means(deviations), other.means(deviations), atol=1e-7)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        one.log_densities(deviations), other.log_densities(deviations), rtol=1e-7, atol=1e-7
    )


@quick
@given(gaussian_networks())
def test_complete_rows_score_as_the_product_of_families(network):
    table = network.sample(5, 3)
    np.testing.assert_allclose(
        gaussian_log_likelihoods(network, table), network.row_log_likelihoods(table), rtol=1e-9
    )


@quick
@given(gaussian_networks(), seeds)
def test_the_mean_is_where_the_density_is_flat_and_highest(network, seed):
    """Derivatives of the log-density in the filled-in cells vanish; a step away costs."""
    table = knocked_out(network, 4, np.random.default_rng(seed))
    filled = gaussian_fill_in(network, table)
    best = network.row_log_likelihoods(filled)
    for name in network.names:
        missing = table.missing(name)
        step = 1e-4
        ends = [
            network.row_log_likelihoods(filled.with_column(Variable(name), filled.column(name) + h))
            for h in (step, -step)
        ]
        slope = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(slope[missing], 0, atol=1e-5)
        assert (ends[0][missing] < best[missing]).all()
        np.testing.assert_array_equal(filled.column(name)[~missing], table.column(name)[~missing])


def test_draws_have_the_posterior_moments():
    dag = random_dag(list("ABCDEF"), expected_arcs=9, seed=4)
    network = gaussian_network(dag, np.random.default_rng(5))
    mean, covariance = joint_by_inversion(network)
    row = np.array([np.nan, 1.0, np.nan, -2.0, np.nan, np.nan])
    n = 40_000
    table = Table(network.variables, np.repeat(row[:, None], n, axis=1))
    drawn = matrix(network, gaussian_fill_in(network, table, np.random.default_rng(6)))
    unseen = np.flatnonzero(np.isnan(row))
    means, left = textbook_conditional(mean, covariance, row)
    errors = np.sqrt(np.diag(left) / n)
    assert (np.abs(drawn[:, unseen].mean(axis=0) - means) < 5 * errors).all()
    spread = np.sqrt((np.outer(np.diag(left), np.diag(left)) + left**2) / n)
    assert (np.abs(np.cov(drawn[:, unseen].T) - left) < 5 * spread).all()
    assert (drawn[:, [1, 3]] == [1.0, -2.0]).all()


def test_samples_have_the_joint_moments():
    dag = random_dag(list("ABCDE"), expected_arcs=7, seed=1)
    network = gaussian_network(dag, np.random.default_rng(2))
    mean, covariance = joint_by_inversion(network)
    n = 40_000
    rows = matrix(network, network.sample(n, 3))
    assert (np.abs(rows.mean(axis=0) - mean) < 5 * np.sqrt(np.diag(covariance) / n)).all()
    spread = np.sqrt((np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / n)
    assert (np.abs(np.cov(rows.T) - covariance) < 5 * spread).all()


@quick
@given(gaussian_networks(max_nodes=4), seeds)
def test_expected_moments_are_those_of_the_posteriors(network, seed):
    generator = np.random.default_rng(seed)
    table = knocked_out(network, 6, generator).with_weights(generator.random(6) + 0.1)
    means, covariances = gaussian_joint_posterior(network, network.names, table)
    log_evidence, moments = gaussian_expected_moments(network, table)
    expected = GaussianMoments.of_rows(means, table.row_weights)
    uncertain = np.einsum("r,rij->ij", table.row_weights, covariances)
    np.testing.assert_allclose(log_evidence, gaussian_log_likelihoods(network, table), rtol=1e-9)
    np.testing.assert_allclose(moments.mean, expected.mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(moments.scatter, expected.scatter + uncertain, rtol=1e-7, atol=1e-7)


def test_every_row_its_own_pattern_and_the_order_of_rows():
    dag = random_dag(list("ABCDEFGH"), expected_arcs=12, seed=4)
    network = gaussian_network(dag, np.random.default_rng(9))
    table = knocked_out(network, 300, np.random.default_rng(1))
    together = gaussian_log_likelihoods(network, table)
    one_by_one = [gaussian_log_likelihoods(network, table.take([i]))[0] for i in range(300)]
    np.testing.assert_allclose(together, one_by_one, rtol=1e-9)


def test_patterns_cover_every_row_once():
    missing = np.random.default_rng(0).random((200, 11)) < 0.2
    seen_rows = []
    for rows, seen, unseen in patterns(missing):
        assert missing[np.ix_(rows, unseen)].all()
        assert not missing[np.ix_(rows, seen)].any()
        seen_rows += rows.tolist()
    assert sorted(seen_rows) == list(range(200))


def test_findings_in_a_dict_and_nothing_known():
    network = gaussian_network(DAG(["A", "B"], [("A", "B")]), np.random.default_rng(0))
    mean, covariance = joint_by_inversion(network)
    prior = posterior(network)
    assert prior.log_evidence.tolist() == [0.0]
    assert prior.means["B"][0] == pytest.approx(mean[1])
    assert prior.variances["B"][0] == pytest.approx(covariance[1, 1])
    asked = posterior(network, {"A": 2}, of="A")
    assert (asked.means["A"][0], asked.variances["A"][0]) == (2.0, 0.0)


def test_empty_tables_and_columns_of_strangers():
    network = gaussian_network(DAG(["A", "B"], [("A", "B")]), np.random.default_rng(0))
    strangers = Table.from_frame({"Z": [0.5, 1.5]})
    assert gaussian_log_likelihoods(network, strangers).tolist() == [0.0, 0.0]
    assert gaussian_fill_in(network, strangers).names == ("A", "B")
    nobody = strangers.take(np.zeros(0, int))
    assert posterior(network, nobody).means["A"].shape == (0,)


def _chain(variances):
    names = [f"v{i}" for i in range(len(variances))]
    variables = [Variable(name) for name in names]
    return Network(
        LinearGaussianCPD(v, variables[i - 1 : i] if i else [], 1e6 * (i == 0), [1.0] * (i > 0), s)
        for i, (v, s) in enumerate(zip(variables, variances, strict=True))
    )


@pytest.mark.parametrize("tiny", [1e-10, 1e-14])
def test_tiny_variances_keep_their_digits(tiny):
    """One accurate copy of a variable far from zero: var = 1 / (1/1 + 1/tiny), by hand."""
    network = _chain([1.0, tiny])
    found = posterior(network, {"v1": 1e6 + 0.5})
    assert found.variances["v0"][0] == pytest.approx(tiny / (1 + tiny), rel=1e-12, abs=0)
    assert found.means["v0"][0] == pytest.approx(1e6 + 0.5, rel=1e-15)
    log_density = -0.5 * (np.log(2 * np.pi) + 0.25)
    assert found.log_evidence[0] == pytest.approx(log_density, rel=1e-9)


def test_two_accurate_copies_score_right():
    """Log p(v1, v2) = log N(v2 - v1; 0, s) + log N(v1; ...), where the covariance is singular."""
    network = _chain([1.0, 1e-18, 1e-18])
    step = 2.0**-30  # far in the tail of v2 given v1, but exact in binary
    table = Table([Variable("v1"), Variable("v2")], [[1e6], [1e6 + step]])
    tail = -0.5 * (np.log(2 * np.pi * 1e-18) + step**2 / 1e-18)
    expected = -0.5 * np.log(2 * np.pi) + tail
    assert gaussian_log_likelihoods(network, table)[0] == pytest.approx(expected, rel=1e-9)


def test_unseen_variables_that_cannot_be_told_apart_warn():
    a, b, x, y = (Variable(name) for name in "abxy")
    network = Network(
        [
            LinearGaussianCPD(a, [], 0, [], 1e12),
            LinearGaussianCPD(b, [], 0, [], 1e12),
            LinearGaussianCPD(x, [a, b], 0, [1, 1], 1e-12),
            LinearGaussianCPD(y, [x], 0, [1], 1e-12),
        ]
    )
    with pytest.warns(UnveilWarning, match="almost exact functions of each other"):
        posterior(network, {"x": 1.0, "y": 1.0})


def test_refusals():
    network = gaussian_network(DAG(["A", "B"], [("A", "B")]), np.random.default_rng(0))
    with pytest.raises(DataError, match="'A', row 2: -inf is infinite"):
        gaussian_log_likelihoods(network, Table([Variable("A")], [[1.0, -np.inf]]))
    with pytest.raises(DataError, match="'A' is continuous; 'tall' is not a finite number"):
        posterior(network, {"A": "tall"})
    assert list(posterior(network, {"A": 1}, of=["B", "B"]).means) == ["B"]
    with pytest.raises(ModelError, match="method 'loopy' is for networks of discrete variables"):
        posterior(network, {"A": 1}, method="loopy")
    with pytest.raises(ModelError, match="soft evidence needs a network of discrete"):
        posterior(network, likelihood={"A": {1: 0.5}})
    with pytest.raises(DataError, match="takes no setting 'speed'"):
        posterior(network, {"A": 1}, speed=1)
    coin = Network([TableCPD(Variable("coin", [0, 1]), [], [0.5, 0.5])])
    with pytest.raises(ModelError, match="'coin' has table"):
        joint_gaussian(coin)


def test_a_covariance_that_does_not_fit_is_refused(monkeypatch):
    network = gaussian_network(DAG(["A", "B"], [("A", "B")]), np.random.default_rng(0))
    monkeypatch.setattr("unveil.infer.gaussian.joint.memory_limit", lambda: 10)
    with pytest.raises(SizeError, match="the covariance of 2 variables"):
        posterior(network, {"B": 1.0})


def test_a_value_beyond_belief_has_density_zero():
    network = _chain([1.0, 1.0])
    table = Table([Variable("v1")], [[1e300]])
    assert gaussian_log_likelihoods(network, table)[0] == -np.inf
