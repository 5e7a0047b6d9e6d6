"""Mean field: a bound that never falls, and the best product where that is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infer.networks import networks, random_likelihood
from infer.oracle import Enumeration
from unveil import Network, Table, TableCPD, Variable
from unveil.errors import UnveilWarning
from unveil.infer.posterior import log_likelihoods

from .cases import ask, positive_network, possible_rows, quietly


def bound_by_enumeration(network, q, codes):
    """E_q[log P(x, evidence)] + H(q), summed over every cell of the joint."""
    weighted = Enumeration(network).with_evidence(codes)
    product = np.ones(())
    for name in network.names:
        product = np.multiply.outer(product, q[name])
    some = product > 0
    return (product[some] * (np.log(weighted[some]) - np.log(product[some]))).sum()


@settings(deadline=None, max_examples=60)
@given(networks(), st.integers(0, 2**32 - 1), st.booleans())
def test_the_bound_never_falls_and_never_exceeds_the_evidence(network, seed, is_soft):
    generator = np.random.default_rng(seed)
    soft = random_likelihood(network, generator)[0] if is_soft else {}
    table = possible_rows(network, 6, generator, soft)
    if table.n_rows == 0:
        return
    settings = {"likelihoods": soft, "n_starts": 1, "tolerance": 0.0}
    trace = np.array(
        [
            quietly("mean_field", network, table, max_iterations=i, **settings).log_evidence
            for i in (1, 2, 3, 4, 8, 16)
        ]
    )
    assert (np.diff(trace, axis=0) >= -1e-10).all()
    assert (trace <= log_likelihoods(network, table, soft) + 1e-9).all()
    assert np.isfinite(trace).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_that_of_the_answer(seed):
    generator = np.random.default_rng(seed)
    network = positive_network(generator)
    table = possible_rows(network, 10, generator)
    answer = ask("mean_field", network, table)
    for r in range(table.n_rows):
        codes = [-1 if table.missing(n)[r] else int(table.column(n)[r]) for n in network.names]
        q = {n: answer[n][r] for n in network.names}
        assert answer.log_evidence[r] == pytest.approx(bound_by_enumeration(network, q, codes))


@pytest.mark.parametrize("seed", range(5))
def test_no_other_product_nearby_is_better(seed):
    generator = np.random.default_rng(seed)
    network = positive_network(generator)
    answer = ask("mean_field", network, Table(network.variables[:1], [[0]]), tolerance=1e-12)
    codes = [0] + [-1] * (len(network.names) - 1)
    q = {n: answer[n][0] for n in network.names}
    for name in network.names[1:]:
        other = 0.99 * q[name] + 0.01 * generator.dirichlet(np.ones(q[name].size))
        assert bound_by_enumeration(network, q | {name: other}, codes) <= answer.log_evidence[0]


def test_more_starts_never_hurt():
    """Near copies have two products to choose from; the better is the more probable state."""
    x, y = Variable("x", ["a", "b"]), Variable("y", ["a", "b"])
    near = [[0.999, 0.001], [0.001, 0.999]]
    network = Network([TableCPD(x, [], [0.3, 0.7]), TableCPD(y, [x], near)])
    table = Table([x], [[-1]])
    one = [ask("mean_field", network, table, n_starts=1, seed=s).log_evidence for s in range(20)]
    many = ask("mean_field", network, table, n_starts=50)
    assert min(one) < max(one) - 0.5
    assert many.log_evidence == pytest.approx(max(one))
    assert many["y"][0, 1] > 0.99


def test_rows_that_do_not_settle_are_named():
    network = positive_network(np.random.default_rng(2))
    with pytest.warns(UnveilWarning, match=r"within 1 iterations in row 1: the last still changed"):
        ask("mean_field", network, Table(network.variables[-1:], [[0]]), max_iterations=1)
