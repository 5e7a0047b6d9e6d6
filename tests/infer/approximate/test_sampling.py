"""Gibbs sampling and likelihood weighting: right within errors that are themselves right."""

from itertools import pairwise

import numpy as np
import pytest

from infer.networks import random_likelihood
from infer.oracle import Enumeration
from unveil import Network, Table, TableCPD, Variable
from unveil.errors import ModelError, UnveilWarning
from unveil.infer.posterior import posterior

from .cases import SAMPLERS, ask, positive_network, possible_rows


def z_scores(answer, exact, least=0.03):
    """(answer - exact) / standard error, of the first state of every variable and row unseen."""
    scores = []
    for name in answer.probabilities:
        p, error = exact[name][:, 0], answer.standard_errors[name][:, 0]
        some = (p > least) & (p < 1 - least) & (error > 0)
        scores.append((answer[name][some, 0] - p[some]) / error[some])
    return np.concatenate(scores)


@pytest.mark.parametrize("method", SAMPLERS)
@pytest.mark.parametrize("is_soft", [False, True])
def test_errors_are_calibrated(method, is_soft):
    scores = []
    for seed in range(12):
        generator = np.random.default_rng(seed)
        network = positive_network(generator)
        soft = random_likelihood(network, generator)[0] if is_soft else {}
        table = possible_rows(network, 12, generator, soft)
        exact = posterior(network, table, of=network.names, likelihood=soft)
        answer = ask(method, network, table, likelihoods=soft, seed=seed)
        scores.append(z_scores(answer, exact))
    z = np.concatenate(scores)
    assert z.size > 150
    assert 0.7 < z.std() < 1.4
    assert abs(z.mean()) < 0.3
    assert np.abs(z).max() < 5


@pytest.mark.parametrize("method", SAMPLERS)
def test_enumeration_agrees(method):
    network = positive_network(np.random.default_rng(1), 4)
    answer = ask(method, network, Table(network.variables[:1], [[0]]))
    codes = [0, -1, -1, -1]
    for name in network.names[1:]:
        truth = Enumeration(network).posterior([name], codes)
        assert (np.abs(answer[name][0] - truth) <= 5 * answer.standard_errors[name][0]).all()


@pytest.mark.parametrize("method", SAMPLERS)
def test_four_times_the_samples_halve_the_error(method):
    network = positive_network(np.random.default_rng(6))
    table = network.sample(10, seed=0).select(network.names[-1:])
    name = network.names[0]
    few, many = (
        ask(method, network, table, [name], n_samples=n).standard_errors[name].mean()
        for n in (2000, 32000)
    )
    assert few / many == pytest.approx(4, rel=0.25)


def test_weighting_estimates_the_evidence():
    network = positive_network(np.random.default_rng(2))
    table = network.sample(20, seed=0).select(network.names[-3:])
    exact = posterior(network, table, of=network.names)
    answer = ask("weighting", network, table, n_samples=20_000)
    np.testing.assert_allclose(answer.log_evidence, exact.log_evidence, atol=0.05)
    assert np.isnan(ask("gibbs", network, table).log_evidence).all()


def test_weights_too_small_for_a_float_are_no_trouble():
    root = Variable("root", ["a", "b"])
    children = [Variable(f"c{i}", ["a", "b"]) for i in range(700)]
    cpds = [TableCPD(c, [root], [[0.1, 0.9], [0.1, 0.9]]) for c in children]
    network = Network([TableCPD(root, [], [0.3, 0.7]), *cpds])
    table = Table(children, [[0]] * 700)
    weighted = ask("weighting", network, table, ["root"])
    assert weighted.log_evidence[0] == pytest.approx(700 * np.log(0.1))
    assert weighted["root"][0, 0] == pytest.approx(0.3, abs=0.04)
    chains = ask("gibbs", network, table, ["root"], n_samples=320, burn_in=2)
    assert chains["root"][0, 0] == pytest.approx(0.3)


def copies(p):
    """Two variables that are the same, x and y, and z that tells about them."""
    x, y, z = (Variable(n, ["a", "b"]) for n in "xyz")
    return Network(
        [
            TableCPD(x, [], [p, 1 - p]),
            TableCPD(y, [x], np.eye(2)),
            TableCPD(z, [y], [[0.9, 0.1], [0.2, 0.8]]),
        ]
    )


def test_chains_that_cannot_meet_are_reported():
    network = copies(0.5)
    table = Table([network.variable("z")], [[0, 1]])
    with pytest.warns(UnveilWarning, match=r"the chains disagree in 2 rows \(1, 2\)") as caught:
        answer = ask("gibbs", network, table)
    assert "method='weighting'" in str(caught[0].message)
    exact = posterior(network, table, of=network.names)
    # Chains start by the weight of the evidence, so that even these are right on the whole.
    for name in ("x", "y"):
        assert (np.abs(answer[name] - exact[name]) < 5 * answer.standard_errors[name]).all()


def test_weighting_minds_no_zeros():
    network = copies(0.5)
    table = Table([network.variable("z")], [[0, 1]])
    answer, exact = ask("weighting", network, table), posterior(network, table, of=network.names)
    np.testing.assert_array_equal(answer["x"], answer["y"])
    assert (np.abs(answer["x"] - exact["x"]) < 5 * answer.standard_errors["x"]).all()


def test_few_effective_samples_are_reported():
    network = copies(1e-3)
    table = Table([network.variable("y"), network.variable("z")], [[-1, 0], [0, 0]])
    with pytest.warns(UnveilWarning, match=r"in row 2: .* down to \d\.\d") as caught:
        answer = ask("weighting", network, table)
    assert "4,000 samples" in str(caught[0].message)
    assert answer["x"][1, 0] == 1.0
    assert answer.standard_errors["x"][1, 0] > 0.1


def test_evidence_no_sample_shows_is_an_error():
    network = copies(1e-9)
    table = Table([network.variable("y")], [[0]])
    with pytest.raises(ModelError, match="none of 4,000 samples agrees with the evidence in row 1"):
        ask("weighting", network, table)
    assert ask("gibbs", network, table)["x"][0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("method", ["gibbs", "mean_field"])
def test_a_chain_that_cannot_be_started_is_an_error(method):
    """Forty coins, all tossed before the first is compared: one in 2^40 opens the lock."""
    n = 40
    coins = [Variable(f"coin{i}", [0, 1]) for i in range(n)]
    locks = [Variable(f"lock{i}", [0, 1]) for i in range(n)]
    cpds = [TableCPD.uniform(coins[0])]
    cpds += [TableCPD.uniform(coin, [before]) for before, coin in pairwise(coins)]
    cpds += [TableCPD(locks[0], [coins[0], coins[-1]], [[[1, 0], [1, 0]], [[1, 0], [0, 1]]])]
    cpds += [
        TableCPD(lock, [before, coin], [[[1, 0], [1, 0]], [[1, 0], [0, 1]]])
        for before, lock, coin in zip(locks, locks[1:], coins[1:], strict=False)
    ]
    with pytest.raises(ModelError, match=r"no state .* was found in row 1, so there is nowhere"):
        ask(method, Network(cpds), Table(locks[-1:], [[1]]))
