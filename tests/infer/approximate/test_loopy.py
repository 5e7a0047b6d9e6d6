"""Loopy propagation: exact on polytrees, open about what does not settle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infer.networks import random_likelihood
from unveil import Network, Table, TableCPD, Variable, datasets
from unveil.errors import UnveilWarning
from unveil.infer.posterior import posterior

from .cases import ask, polytree, possible_rows


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]), st.booleans(), st.integers(2, 9))
def test_polytrees_are_exact(seed, zeros, is_soft, n_variables):
    generator = np.random.default_rng(seed)
    network = polytree(generator, n_variables, zeros)
    soft = random_likelihood(network, generator)[0] if is_soft else {}
    table = possible_rows(network, 8, generator, soft)
    if table.n_rows == 0:
        return
    exact = posterior(network, table, of=network.names, likelihood=soft)
    answer = ask("loopy", network, table, likelihoods=soft)
    np.testing.assert_allclose(answer.log_evidence, exact.log_evidence, atol=1e-9)
    for name in network.names:
        np.testing.assert_allclose(answer[name], exact[name], atol=1e-9)


def test_damping_ends_in_the_same_place_but_later():
    generator = np.random.default_rng(4)
    network = polytree(generator)
    table = possible_rows(network, 8, generator)
    plain = ask("loopy", network, table, max_iterations=8)
    with pytest.warns(UnveilWarning, match="no convergence within 8 iterations"):
        ask("loopy", network, table, damping=0.5, max_iterations=8)
    damped = ask("loopy", network, table, damping=0.5, tolerance=1e-12)
    for name in network.names:
        np.testing.assert_allclose(damped[name], plain[name], atol=1e-9)


def test_a_thousand_children_do_not_underflow():
    root = Variable("root", ["a", "b"])
    children = [Variable(f"c{i}", ["a", "b"]) for i in range(1000)]
    tables = [[[0.1, 0.9], [0.2, 0.8]], [[0.2, 0.8], [0.1, 0.9]]]
    cpds = [TableCPD(c, [root], tables[i % 2]) for i, c in enumerate(children)]
    network = Network([TableCPD(root, [], [0.3, 0.7]), *cpds])
    answer = ask("loopy", network, Table(children, [[0]] * 1000), ["root"])
    assert answer.log_evidence[0] == pytest.approx(500 * np.log(0.02))
    np.testing.assert_allclose(answer["root"], [[0.3, 0.7]], atol=1e-9)


def test_networks_with_cycles_come_close():
    network = datasets.network("alarm")
    generator = np.random.default_rng(0)
    table = network.sample(40, seed=generator).select(generator.permutation(network.names)[:10])
    answer, exact = ask("loopy", network, table), posterior(network, table, of=network.names)
    off = np.concatenate([(answer[n] - exact[n]).ravel() for n in network.names])
    assert 0 < np.abs(off).mean() < 0.01
    assert np.abs(answer.log_evidence - exact.log_evidence).max() < 0.5


def test_rows_that_do_not_settle_are_named():
    network = datasets.network("asia")
    table = Table([network.variable("dysp"), network.variable("asia")], [[0, -1, 1], [0, 0, -1]])
    with pytest.warns(UnveilWarning, match=r"within 1 iterations in 3 rows \(1, 2, 3\)") as caught:
        ask("loopy", network, table, max_iterations=1)
    message = str(caught[0].message)
    assert "damping=0.5" in message
    assert "tolerance 1e-08" in message
    assert caught[0].filename == __file__.replace("test_loopy", "cases")


def test_a_seed_changes_nothing():
    """The other methods take one, so this one does too."""
    asia = datasets.network("asia")
    with_seed = asia.posterior({"smoke": "yes"}, of="lung", method="loopy", seed=1)
    without = asia.posterior({"smoke": "yes"}, of="lung", method="loopy")
    assert str(with_seed) == str(without)
