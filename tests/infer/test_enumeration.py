"""Every answer of the junction tree against full enumeration of small random networks."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import ModelError
from unveil.infer.evidence import evidence_from
from unveil.infer.posterior import joint_posterior, log_likelihoods, posterior
from unveil.infer.tree import JunctionTree

from .networks import as_table, networks, random_likelihood, random_network, random_rows
from .oracle import Enumeration

N_ROWS = 12


def case(seed):
    """A network, its enumeration, rows of evidence and (for odd seeds) soft evidence."""
    generator = np.random.default_rng(seed)
    network = random_network(generator)
    rows = random_rows(network, N_ROWS, generator)
    named, soft = random_likelihood(network, generator) if seed % 2 else ({}, {})
    return network, Enumeration(network), rows, named, soft, generator


def evidence_of(network, rows, named):
    return evidence_from(network, network.names, as_table(network, rows), named)


def check_tree(network, rows, named, soft, generator):
    """All that a tree computes in one pass up and down, for all rows."""
    truth = Enumeration(network)
    tree = JunctionTree(network)
    evidence = evidence_of(network, rows, named)
    logs = np.array([truth.log_likelihood(row, soft) for row in rows])
    possible = logs > -np.inf

    found = tree.log_likelihoods(evidence)
    assert np.array_equal(found == -np.inf, ~possible)
    np.testing.assert_allclose(found[possible], logs[possible], rtol=0, atol=1e-10)

    again, marginals = tree.marginals(evidence, range(len(network.names)))
    np.testing.assert_array_equal(again, found)
    for name, marginal in zip(network.names, marginals, strict=True):
        for r in np.flatnonzero(possible):
            expected = truth.posterior([name], rows[r], soft)
            np.testing.assert_allclose(marginal[r], expected, rtol=0, atol=1e-12)

    weights = generator.random(len(rows)) * 3
    weights[generator.random(len(rows)) < 0.2] = 0.0
    again, counts = tree.expected_counts(evidence, weights)
    np.testing.assert_array_equal(again, found)
    expected_counts = truth.expected_counts(rows, soft, weights)
    for count, expected in zip(counts, expected_counts, strict=True):
        np.testing.assert_allclose(count, expected, rtol=0, atol=1e-11)

    log_best, best = tree.explain(evidence)
    for r, row in enumerate(rows):
        assert log_best[r] == pytest.approx(truth.best(row, soft), abs=1e-10)
        if not possible[r]:
            assert (best[:, r] == evidence.missing).all()
            continue
        reached = truth.with_evidence(row, soft)[tuple(best[:, r])]
        assert np.log(reached) == pytest.approx(log_best[r], abs=1e-10)
    return possible


@pytest.mark.parametrize("block", range(10))
def test_tree_agrees_with_enumeration(block):
    possible = []
    for seed in range(20 * block, 20 * block + 20):
        network, _, rows, named, soft, generator = case(seed)
        possible.append(check_tree(network, rows, named, soft, generator))
    # The cases must not be one-sided: both kinds of rows come up.
    assert 0.5 < np.mean(np.concatenate(possible)) < 0.97


@settings(max_examples=100, deadline=None)
@given(networks(), st.integers(0, 2**32 - 1), st.integers(1, 12), st.booleans())
def test_tree_agrees_with_enumeration_by_hypothesis(network, seed, n_rows, with_soft):
    generator = np.random.default_rng(seed)
    rows = random_rows(network, n_rows, generator)
    named, soft = random_likelihood(network, generator) if with_soft else ({}, {})
    check_tree(network, rows, named, soft, generator)


def test_the_oracle_itself():
    """The product of looked-up probabilities, cell by cell."""
    network = random_network(np.random.default_rng(4), n_variables=4)
    joint = Enumeration(network).joint
    for cell in product(*(range(v.n_states) for v in network.variables)):
        state = dict(zip(network.names, cell, strict=True))
        parts = [
            cpd.values[tuple(state[v.name] for v in (*cpd.parents, cpd.variable))]
            for cpd in network.cpds.values()
        ]
        assert joint[cell] == pytest.approx(np.prod(parts), abs=1e-15)
    assert joint.sum() == pytest.approx(1)


@pytest.mark.parametrize("block", range(5))
def test_posterior_and_joint_posterior(block):
    """The front doors, which prune what is barren, on the possible rows."""
    for seed in range(1000 + 20 * block, 1020 + 20 * block):
        network, truth, rows, named, soft, generator = case(seed)
        logs = np.array([truth.log_likelihood(row, soft) for row in rows])
        np.testing.assert_allclose(
            log_likelihoods(network, as_table(network, rows), named), logs, rtol=0, atol=1e-10
        )
        rows = rows[logs > -np.inf]
        if not len(rows):
            continue
        table = as_table(network, rows)
        size = generator.integers(1, len(network.names) + 1)
        names = [network.names[i] for i in generator.permutation(len(network.names))[:size]]
        answer = posterior(network, table, names, named)
        assert list(answer.probabilities) == names
        together = joint_posterior(network, names, table, named)
        for r, row in enumerate(rows):
            for name in names:
                expected = truth.posterior([name], row, soft)
                np.testing.assert_allclose(answer[name][r], expected, rtol=0, atol=1e-12)
            expected = truth.posterior(names, row, soft)
            np.testing.assert_allclose(together[r], expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(answer.log_evidence, logs[logs > -np.inf], atol=1e-10)


def test_default_targets_are_the_unobserved():
    network = random_network(np.random.default_rng(1), n_variables=5)
    seen = network.names[1]
    answer = posterior(network, {seen: network.variable(seen).labels[0]})
    assert set(answer.probabilities) == set(network.names) - {seen}


def test_impossible_rows_are_named():
    seed = next(s for s in range(100) if _n_impossible(s) >= 2)
    network, truth, rows, _, _, _ = case(seed)
    bad = [r + 1 for r, row in enumerate(rows) if truth.log_likelihood(row) == -np.inf]
    with pytest.raises(ModelError) as error:
        posterior(network, as_table(network, rows))
    shown = ", ".join(map(str, bad[:8])) + (", ..." if len(bad) > 8 else "")
    assert f"evidence of {len(bad)} rows has probability zero (rows {shown})" in str(error.value)
    findings = {
        name: network.variable(name).labels[code]
        for name, code in zip(network.names, rows[bad[0] - 1], strict=True)
        if code >= 0
    }
    with pytest.raises(ModelError, match="these findings never occur together"):
        posterior(network, findings)
    with pytest.raises(ModelError, match="probability zero"):
        joint_posterior(network, network.names[:2], as_table(network, rows))


def _n_impossible(seed):
    _, truth, rows, named, _, _ = case(seed)
    return 0 if named else sum(truth.log_likelihood(row) == -np.inf for row in rows)


def test_all_zero_likelihood_is_impossible():
    network = random_network(np.random.default_rng(3), n_variables=3)
    name = network.names[0]
    nothing = {name: dict.fromkeys(network.variable(name).labels, 0.0)}
    with pytest.raises(ModelError, match="probability zero"):
        posterior(network, likelihood=nothing)


# Draws -----------------------------------------------------------------------------------------


def test_draws_fit_the_evidence_and_never_have_probability_zero():
    for seed in range(2000, 2060):
        network, truth, rows, named, soft, generator = case(seed)
        evidence = evidence_of(network, rows, named)
        log_z, drawn = JunctionTree(network).explain(evidence, generator)
        for r, row in enumerate(rows):
            expected = truth.log_likelihood(row, soft)
            assert log_z[r] == pytest.approx(expected, abs=1e-10)
            if expected == -np.inf:
                assert (drawn[:, r] == evidence.missing).all()
            else:
                assert truth.with_evidence(row, soft)[tuple(drawn[:, r])] > 0


@pytest.mark.parametrize("seed", range(3000, 3012))
def test_draws_follow_the_posterior(seed):
    """Frequencies of whole completions, within five standard errors of P(x | evidence)."""
    network, truth, rows, named, soft, generator = case(seed)
    if truth.log_likelihood(rows[0], soft) == -np.inf:
        named, soft = {}, {}
    row = max(rows, key=lambda row: np.count_nonzero(truth.with_evidence(row, soft)))
    n = 20_000
    evidence = evidence_of(network, np.repeat(row[None], n, axis=0), named)
    _, drawn = JunctionTree(network).explain(evidence, generator)
    counts = np.zeros(truth.joint.shape)
    np.add.at(counts, tuple(drawn), 1)
    p = truth.with_evidence(row, soft)
    p /= p.sum()
    assert (counts[p == 0] == 0).all()
    assert (np.abs(counts - n * p) <= 5 * np.sqrt(n * p * (1 - p)) + 3).all()
    expected = n * p[p > 0]
    chi_square = ((counts[p > 0] - expected) ** 2 / expected)[expected >= 5].sum()
    freedom = (expected >= 5).sum()
    assert chi_square < freedom + 6 * np.sqrt(2 * freedom) + 1


def test_draws_repeat_with_the_seed():
    network, _, rows, named, _, _ = case(7)
    tree, evidence = JunctionTree(network), evidence_of(network, rows, named)
    first = tree.explain(evidence, np.random.default_rng(5))[1]
    assert np.array_equal(first, tree.explain(evidence, np.random.default_rng(5))[1])
