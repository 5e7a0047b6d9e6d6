"""Mixed networks against the sum over all discrete configurations, written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from unveil import DAG, Network, Table, TableCPD, Variable
from unveil.errors import ModelError, SizeError
from unveil.infer import posterior
from unveil.infer.gaussian import gaussian_fill_in, gaussian_log_likelihoods
from unveil.model import ConditionalGaussianCPD, LinearGaussianCPD

from .networks import (
    joint_by_inversion,
    knocked_out,
    mixed_network,
    mixed_networks,
    textbook_conditional,
)

quick = settings(max_examples=40, deadline=None)


def enumerated(network, table, i):
    """[(states by name, log p(states, row), posterior means, covariance)] for one row."""
    discrete = [v for v in network.variables if v.is_discrete]
    continuous = [v.name for v in network.variables if not v.is_discrete]
    row = np.array([table.column(name)[i] for name in continuous])
    seen = np.flatnonzero(~np.isnan(row))
    found = []
    for codes in itertools.product(*(range(v.n_states) for v in discrete)):
        states = dict(zip([v.name for v in discrete], codes, strict=True))
        if any(not table.missing(n)[i] and table.column(n)[i] != s for n, s in states.items()):
            continue
        log_p, gaussians = 0.0, []
        for cpd in network.cpds.values():
            own = [states[p.name] for p in cpd.parents if p.is_discrete]
            if isinstance(cpd, TableCPD):
                log_p += np.log(cpd.values[(*own, states[cpd.variable.name])])
            else:
                gaussians.append(cpd.at(own) if own else cpd)
        if not gaussians:
            found.append((states, log_p, np.zeros(0), np.zeros((0, 0))))
            continue
        mean, covariance = joint_by_inversion(Network(gaussians))
        if seen.size:
            block = multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)])
            log_p += block.logpdf(row[seen])
        found.append((states, log_p, *textbook_conditional(mean, covariance, row)))
    return continuous, np.flatnonzero(np.isnan(row)), found


@quick
@given(mixed_networks(), st.integers(0, 2**32 - 1))
def test_against_enumeration(network, seed):
    table = knocked_out(network, 5, np.random.default_rng(seed))
    log_likelihoods = gaussian_log_likelihoods(network, table)
    answer = posterior(network, table, of=network.names)
    for i in range(5):
        continuous, unseen, found = enumerated(network, table, i)
        logs = np.array([log_p for _, log_p, _, _ in found])
        assert log_likelihoods[i] == pytest.approx(logsumexp(logs), rel=1e-8, abs=1e-8)
        weights = np.exp(logs - logsumexp(logs))
        for name, table_of_states in answer.probabilities.items():
            for state, p in enumerate(table_of_states[i]):
                own = sum(w for w, f in zip(weights, found, strict=True) if f[0][name] == state)
                assert p == pytest.approx(own, abs=1e-9)
        for place, u in enumerate(unseen):
            means = np.array([f[2][place] for f in found])
            variances = np.array([f[3][place, place] for f in found])
            mean = weights @ means
            assert answer.means[continuous[u]][i] == pytest.approx(mean, rel=1e-7, abs=1e-7)
            spread = weights @ (variances + (means - mean) ** 2)
            assert answer.variances[continuous[u]][i] == pytest.approx(spread, rel=1e-7)


def _mixture(n_selectors=1):
    states = [Variable(f"s{i}", ["low", "high"]) for i in range(n_selectors)]
    x, y = Variable("x"), Variable("y")
    shape = (2,) * n_selectors
    intercepts = 4.0 * np.arange(2**n_selectors).reshape(shape)
    return Network(
        [
            *(TableCPD(s, [], [0.3, 0.7]) for s in states),
            ConditionalGaussianCPD(x, states, intercepts, np.zeros((*shape, 0)), np.ones(shape)),
            LinearGaussianCPD(y, [x], 0, [2], 0.5),
        ]
    )


def test_draws_fall_into_the_states_as_the_posterior_says():
    network = _mixture()
    n = 20_000
    table = Table([Variable("y")], [np.full(n, 4.2)])
    answer = posterior(network, table.take([0]), of=["s0", "x"])
    drawn = gaussian_fill_in(network, table, np.random.default_rng(3))
    p = answer.probabilities["s0"][0, 1]
    assert 0.2 < p < 0.8
    assert np.mean(drawn.column("s0") == 1) == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / n))
    spread = np.sqrt(answer.variances["x"][0])
    assert drawn.column("x").mean() == pytest.approx(
        answer.means["x"][0], abs=5 * spread / np.sqrt(n)
    )
    assert drawn.column("x").std() == pytest.approx(spread, rel=0.03)


def test_the_best_configuration_is_filled_in_with_its_means():
    network = _mixture()
    filled = gaussian_fill_in(network, Table([Variable("y")], [[0.0, 8.0]]))
    assert filled.labels("s0") == ["low", "high"]
    np.testing.assert_allclose(filled.column("x"), [0.0, 4.0])


def test_selectors_without_weight_make_rows_impossible():
    s, x = Variable("s", ["a", "b"]), Variable("x")
    network = Network([
        TableCPD(s, [], [1, 0]), ConditionalGaussianCPD(x, [s], [0, 1], [[], []], [1, 1])
    ])  # fmt: skip
    table = Table([s, x], [[1, 0], [0.0, 0.0]])
    assert gaussian_log_likelihoods(network, table)[0] == -np.inf
    with pytest.raises(ModelError, match="rows 1"):
        posterior(network, table)


def test_too_many_configurations_are_refused_and_observing_them_helps(monkeypatch):
    monkeypatch.setattr("unveil.infer.gaussian.mixed.MAX_CONFIGURATIONS", 4)
    network = _mixture(3)
    with pytest.raises(SizeError, match="may be in 8 or more configurations; at most 4"):
        posterior(network, {"y": 1.0})
    assert posterior(network, {"y": 1.0, "s0": "low"}, of="x").means["x"].shape == (1,)


def test_rows_with_all_selectors_seen_cost_one_configuration_each():
    network = mixed_network(
        DAG(list("ABCX"), [("A", "X"), ("B", "X"), ("C", "X")]), np.random.default_rng(11)
    )
    table = network.sample(50, 1)
    np.testing.assert_allclose(
        gaussian_log_likelihoods(network, table), network.row_log_likelihoods(table), rtol=1e-9
    )


def test_a_network_of_tables_belongs_elsewhere():
    network = Network([TableCPD(Variable("coin", [0, 1]), [], [0.5, 0.5])])
    with pytest.raises(ModelError, match="has no continuous variable"):
        gaussian_log_likelihoods(network, network.sample(3, 1))
