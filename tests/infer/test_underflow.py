"""Probabilities whose products are below all ordinary numbers (1e-308) inside one clique."""

from itertools import product

import numpy as np
import pytest

from unveil import Network, TableCPD, Variable
from unveil.errors import ModelError
from unveil.infer import costs
from unveil.infer.evidence import evidence_from
from unveil.infer.explain import draw_missing, most_probable
from unveil.infer.posterior import joint_posterior, log_likelihoods, posterior
from unveil.infer.tree import JunctionTree

from .networks import as_table


@pytest.fixture(autouse=True, params=["all cells", "agreeing cells", "as it comes"])
def way(request, monkeypatch):
    """Everything here holds whichever way rows take through the tree."""
    cost = {"all cells": 10**9, "agreeing cells": -(10**9)}.get(request.param)
    if cost is not None:
        monkeypatch.setattr(costs, "CLIQUE", cost)


class LogEnumeration:
    """Every cell of the joint, in logs; -1 stands for what is not known."""

    def __init__(self, network):
        self.names = list(network.names)
        self.shape = [v.n_states for v in network.variables]
        self.logs = np.zeros(self.shape)
        for cell in product(*map(range, self.shape)):
            for cpd in network.cpds.values():
                family = [self.names.index(v.name) for v in (*cpd.parents, cpd.variable)]
                with np.errstate(divide="ignore"):
                    self.logs[cell] += np.log(cpd.values[tuple(cell[i] for i in family)])

    def given(self, codes):
        logs = self.logs
        for axis, code in enumerate(codes):
            off = (np.arange(self.shape[axis]) != code) & (code >= 0)
            logs = logs - np.where(off, np.inf, 0.0).reshape(
                [-1 if i == axis else 1 for i in range(len(self.shape))]
            )
        return logs

    def log_likelihood(self, codes):
        return np.logaddexp.reduce(self.given(codes), axis=None)

    def posterior(self, name, codes):
        away = tuple(i for i, other in enumerate(self.names) if other != name)
        return np.exp(np.logaddexp.reduce(self.given(codes), away) - self.log_likelihood(codes))


def rare_causes(tiny=1e-160):
    """Three causes of probability `tiny`, and what they bring about."""
    causes = [Variable(name, [0, 1]) for name in "abc"]
    effect = Variable("d", [0, 1])
    values = np.random.default_rng(1).dirichlet(np.ones(2), (2, 2, 2))
    cpds = [TableCPD(v, [], [1 - tiny, tiny]) for v in causes]
    return Network([*cpds, TableCPD(effect, causes, values)]), values


def extreme_network(generator, n_variables=5, zeros=0.15):
    """Tables of numbers between 1e-250 and one, with zeros now and then."""
    variables = [Variable(f"V{i}", range(generator.integers(2, 4))) for i in range(n_variables)]
    cpds = []
    for i, v in enumerate(variables):
        parents = [variables[j] for j in generator.permutation(i)[: generator.integers(0, 3)]]
        shape = [u.n_states for u in (*parents, v)]
        values = 10.0 ** -generator.choice([0, 1, 60, 150, 200, 250], size=shape)
        values[generator.random(shape) < zeros] = 0.0
        # One state takes what the others leave.
        values[..., 0] = 0.0
        values[..., 0] = np.maximum(1 - values.sum(axis=-1), 0)
        values /= values.sum(axis=-1, keepdims=True)
        cpds.append(TableCPD(v, parents, values))
    return Network(cpds)


def random_evidence(network, generator, n_rows=40):
    """Rows of any states, with gaps."""
    rows = np.column_stack([generator.integers(v.n_states, size=n_rows) for v in network.variables])
    rows[generator.random(rows.shape) < generator.random((n_rows, 1))] = -1
    return rows


@pytest.mark.parametrize("n_rows", [1, 9, 100])
def test_three_rare_causes_and_an_unseen_effect(n_rows):
    network, values = rare_causes()
    table = as_table(network, [[1, 1, 1, -1]] * n_rows)
    found = posterior(network, table, of="d")
    np.testing.assert_allclose(found["d"], [values[1, 1, 1]] * n_rows)
    np.testing.assert_allclose(found.log_evidence, 3 * np.log(1e-160))
    np.testing.assert_allclose(log_likelihoods(network, table), 3 * np.log(1e-160))
    best = most_probable(network, table)
    assert set(best.table.column("d")) == {values[1, 1, 1].argmax()}
    np.testing.assert_allclose(
        best.log_probability, 3 * np.log(1e-160) + np.log(values[1, 1, 1].max())
    )
    assert network.predict(table, "d") == [values[1, 1, 1].argmax()] * n_rows


@pytest.mark.parametrize("seed", range(30))
def test_extreme_tables_agree_with_enumeration_in_logs(seed):
    generator = np.random.default_rng(seed)
    network = extreme_network(generator)
    truth = LogEnumeration(network)
    rows = random_evidence(network, generator)
    table = as_table(network, rows)
    tree = JunctionTree(network)
    evidence = evidence_from(network, network.names, table, {})
    expected = np.array([truth.log_likelihood(row) for row in rows])
    log_z, marginals = tree.marginals(evidence, range(len(network.names)))
    np.testing.assert_allclose(log_z, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(log_likelihoods(network, table), expected, rtol=1e-12, atol=1e-12)
    best, codes = tree.explain(evidence)
    np.testing.assert_allclose(
        best, [truth.given(row).max() for row in rows], rtol=1e-12, atol=1e-12
    )
    for r in np.flatnonzero(expected > -np.inf):
        np.testing.assert_allclose(truth.given(rows[r])[tuple(codes[:, r])], best[r], rtol=1e-12)
        for name, marginal in zip(network.names, marginals, strict=True):
            np.testing.assert_allclose(marginal[r], truth.posterior(name, rows[r]), atol=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_front_doors_agree_with_enumeration_in_logs(seed):
    """Alone and a hundred times over, so that rows which lack the same cells are summed as one."""
    generator = np.random.default_rng(100 + seed)
    network = extreme_network(generator)
    truth = LogEnumeration(network)
    for row in random_evidence(network, generator, 10):
        expected = truth.log_likelihood(row)
        for n_rows in (1, 100):
            table = as_table(network, [row] * n_rows)
            np.testing.assert_allclose(
                log_likelihoods(network, table), expected, rtol=1e-12, atol=1e-12
            )
            if expected == -np.inf:
                with pytest.raises(ModelError, match="probability zero"):
                    posterior(network, table)
                continue
            found = posterior(network, table, of=network.names)
            for name in network.names:
                np.testing.assert_allclose(
                    found[name], [truth.posterior(name, row)] * n_rows, atol=1e-10
                )
            best = most_probable(network, table).log_probability
            np.testing.assert_allclose(best, truth.given(row).max(), rtol=1e-12, atol=1e-12)


def test_a_state_that_vanished_comes_back():
    """The first two findings speak against a state so much that it vanishes, the others for it."""
    hub, leaves = Variable("hub", [0, 1]), [Variable(f"L{i}", [0, 1]) for i in range(4)]
    likelihood = [(1.0, 1e-200), (1.0, 1e-200), (1e-200, 1.0), (1e-250, 1.0)]
    for order in ([0, 1, 2, 3], [2, 3, 0, 1], [3, 0, 1, 2]):
        tables = [[[1 - p, p], [1 - q, q]] for p, q in (likelihood[i] for i in order)]
        cpds = [TableCPD(v, [hub], t) for v, t in zip(leaves, tables, strict=True)]
        network = Network([TableCPD(hub, [], [0.5, 0.5]), *cpds])
        for n_rows in (1, 9):
            table = as_table(network, [[-1, 1, 1, 1, 1]] * n_rows)
            evidence = evidence_from(network, network.names, table, {})
            log_z, (found,) = JunctionTree(network).marginals(evidence, [0])
            np.testing.assert_allclose(found, [[1e-50, 1.0]] * n_rows)
            np.testing.assert_allclose(log_z, np.log(0.5) + 2 * np.log(1e-200))


def test_expected_counts_of_improbable_rows():
    network, _ = rare_causes()
    rows = np.array([[1, 1, 1, -1], [0, 1, 0, 1], [1, 1, 1, 0], [0, 0, -1, -1]] * 5)
    weights = np.arange(1.0, 21.0)
    evidence = evidence_from(network, network.names, as_table(network, rows), {})
    truth = LogEnumeration(network)
    tree = JunctionTree(network)
    for either in (tree, tree.with_tables(tree.tables)):
        log_z, counts = either.expected_counts(evidence, weights)
        expected = [truth.log_likelihood(row) for row in rows]
        np.testing.assert_allclose(log_z, expected, rtol=1e-12, atol=1e-12)
        assert [c.sum() for c in counts] == pytest.approx([weights.sum()] * 4)
        shares = np.zeros((2, 2, 2, 2))
        for row, weight in zip(rows, weights, strict=True):
            shares += weight * np.exp(truth.given(row) - truth.log_likelihood(row))
        np.testing.assert_allclose(counts[3], shares, atol=1e-10)


def test_draws_of_improbable_rows():
    network, values = rare_causes()
    drawn = draw_missing(network, as_table(network, [[1, 1, 1, -1]] * 4000), seed=1).column("d")
    assert (drawn == 1).mean() == pytest.approx(values[1, 1, 1, 1], abs=0.03)


def test_joint_posterior_of_improbable_rows():
    network, values = rare_causes()
    joint = joint_posterior(network, ["c", "d"], {"a": 1, "b": 1, "d": 1})
    p = np.array([1.0, 1e-160]) * values[1, 1, :, 1]
    np.testing.assert_allclose(joint[0, :, 1], p / p.sum(), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_soft_evidence_of_any_scale(scale):
    """Likelihoods count relative to each other, however small or large they are."""
    network, values = rare_causes(1e-100)
    soft = {name: {0: 0.0, 1: scale} for name in "abc"} | {"d": {0: scale, 1: 3 * scale}}
    found = posterior(network, {}, of="d", likelihood=soft)
    p = values[1, 1, 1] * [1, 3]
    np.testing.assert_allclose(found["d"][0], p / p.sum())
    expected = 4 * np.log(scale) + 3 * np.log(1e-100) + np.log(p.sum())
    assert found.log_evidence[0] == pytest.approx(expected)


def test_what_is_impossible_stays_impossible():
    causes = [Variable(name, [0, 1]) for name in "abc"]
    copy = TableCPD(Variable("d", [0, 1]), [causes[0]], np.eye(2))
    network = Network([*(TableCPD(v, [], [1 - 1e-160, 1e-160]) for v in causes), copy])
    rows = [[1, 1, 1, -1], [1, 1, 1, 0], [1, 1, 1, 1], [-1, 1, 1, 0]] * 5
    found = log_likelihoods(network, as_table(network, rows))
    logs = np.array([3, np.inf, 3, 2]) * np.log(1e-160)
    np.testing.assert_allclose(found, np.tile(logs, 5))
    with pytest.raises(ModelError, match="probability zero"):
        posterior(network, {"a": 1, "b": 1, "c": 1, "d": 0}, of="b")
