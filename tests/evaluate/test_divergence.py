"""Kullback-Leibler divergence against the enumerated joints."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import Network, TableCPD, Variable, datasets
from unveil.errors import ModelError, SizeError
from unveil.evaluate import divergence
from unveil.model import LinearGaussianCPD

A, B, C = Variable("a", [0, 1]), Variable("b", ["x", "y", "z"]), Variable("c", ["no", "yes"])


def chain(seed):
    generator = np.random.default_rng(seed)
    return Network(
        [
            TableCPD(A, [], generator.dirichlet([1, 1])),
            TableCPD(B, [A], generator.dirichlet([1, 1, 1], size=2)),
            TableCPD(C, [B], generator.dirichlet([1, 1], size=3)),
        ]
    )


def collider(seed):
    """The same variables in another order, with other arcs."""
    generator = np.random.default_rng(seed)
    return Network(
        [
            TableCPD(C, [A, B], generator.dirichlet([1, 1], size=(2, 3))),
            TableCPD(B, [], generator.dirichlet([1, 1, 1])),
            TableCPD(A, [], generator.dirichlet([1, 1])),
        ]
    )


def by_hand(joint_of, true, other):
    p, q = joint_of(true), joint_of(other)
    q = np.einsum(q, [true.names.index(n) for n in other.names], range(len(true.names)))
    return float(np.sum(p * np.log(p / q)))


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_it_is_what_enumeration_says(joint_of, seed):
    for true, other in ((chain(seed), collider(seed)), (collider(seed), chain(seed))):
        found = divergence(true, other)
        assert found.exact
        assert found.standard_error == 0
        assert found.nats == pytest.approx(by_hand(joint_of, true, other), rel=1e-9, abs=1e-12)
        assert found.bits == pytest.approx(found.nats / math.log(2))
        assert found.nats > 0
        assert divergence(true, true).nats == 0


def test_zero_for_the_same_distribution_in_another_order(joint_of):
    network = chain(0)
    joint = joint_of(network)
    last = joint.sum(axis=(0, 1))
    turned = Network(
        [
            TableCPD(C, [], last),
            TableCPD(B, [C], (joint.sum(axis=0) / last).T),
            TableCPD(A, [B], (joint.sum(axis=2) / joint.sum(axis=(0, 2))).T),
        ]
    )
    assert divergence(network, turned).nats == pytest.approx(0, abs=1e-12)
    assert divergence(network, turned).nats >= 0


def test_states_in_another_order_are_matched_by_label(joint_of):
    true, other = chain(1), chain(2)
    expected = by_hand(joint_of, true, other)
    turned = Variable("b", ["z", "x", "y"])
    order = [B.code_of(label) for label in turned.labels]
    relabelled = Network(
        [
            other.cpd("a"),
            TableCPD(turned, [A], other.cpd("b").values[:, order]),
            TableCPD(C, [turned], other.cpd("c").values[order]),
        ]
    )
    assert divergence(true, relabelled).nats == pytest.approx(expected, rel=1e-12)


def test_what_the_other_holds_impossible_costs_everything():
    sure = Network([TableCPD(A, [], [1.0, 0.0])])
    fair = Network([TableCPD(A, [], [0.5, 0.5])])
    assert divergence(fair, sure).nats == math.inf
    assert divergence(sure, fair).nats == pytest.approx(math.log(2))


def test_sampled_where_exact_would_be_too_large(monkeypatch, random_seed):
    true, other = datasets.network("asia"), datasets.network("asia")
    cpds = [
        TableCPD(cpd.variable, cpd.parents, 0.9 * cpd.values + 0.05) for cpd in other.cpds.values()
    ]
    other = Network(cpds)
    exact = divergence(true, other)

    def too_large(*arguments):
        raise SizeError("too large")

    # By its module: the room has a function of the same name.
    monkeypatch.setattr(sys.modules["unveil.evaluate.divergence"], "marginal", too_large)
    sampled = divergence(true, other, n_samples=20_000, seed=random_seed)
    assert exact.exact
    assert not sampled.exact
    assert 0 < sampled.standard_error < 0.1 * exact.nats
    assert abs(sampled.nats - exact.nats) < 4 * sampled.standard_error
    assert sampled == divergence(true, other, n_samples=20_000, seed=random_seed)
    assert str(exact) == f"{exact.nats:.6g} nats (exact)"
    assert str(sampled) == (
        f"{sampled.nats:.6g} nats (sampled, standard error {sampled.standard_error:.2g})"
    )


def test_what_cannot_be_compared():
    with pytest.raises(ModelError, match=r"different variables: \['b', 'c'\] are in one only"):
        divergence(chain(0), Network([TableCPD.uniform(A)]))
    height = Network([LinearGaussianCPD(Variable("height"), [], 170, [], 49)])
    with pytest.raises(ModelError, match="'height' has linear_gaussian"):
        divergence(height, height)
