"""Rows that show the same columns: the short way gives what the junction tree gives."""

import math
from importlib import import_module

import numpy as np
import pytest

from unveil import DAG, Table, Variable, datasets
from unveil.em import fit_em
from unveil.errors import SizeError
from unveil.infer import shared as shared_module
from unveil.infer.evidence import evidence_from
from unveil.infer.explain import most_probable
from unveil.infer.posterior import log_likelihoods, posterior, tree_of
from unveil.infer.shared import answer_by_patterns, shared_answer, shared_explanation
from unveil.infer.tree import JunctionTree

from .networks import random_network


def question(names, n_rows=200):
    alarm = datasets.network("alarm")
    return alarm, alarm.sample(n_rows, seed=3).without(names)


@pytest.mark.parametrize(
    "names", [["HR"], ["HR", "CO"], ["LVFAILURE", "HYPOVOLEMIA", "STROKEVOLUME"]]
)
def test_the_same_as_the_tree(names):
    network, table = question(names)
    tree = tree_of(network, network.names)
    evidence = evidence_from(tree.network, tree.names, table, {})
    targets = [tree.names.index(name) for name in [*names, "BP"]]
    found = shared_answer(tree, evidence, targets)
    assert found is not None
    log_z, marginals = tree.marginals(evidence, targets)
    np.testing.assert_allclose(found[0], log_z, rtol=1e-12)
    for short, long in zip(found[1], marginals, strict=True):
        np.testing.assert_allclose(short, long, atol=1e-12)


def test_it_is_used_and_nobody_can_tell(monkeypatch):
    network, table = question(["HR", "VENTLUNG"])
    used = []
    real = shared_module.ReducedModel

    def watched(*arguments):
        used.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(shared_module, "ReducedModel", watched)
    short = posterior(network, table), log_likelihoods(network, table)
    assert len(used) == 2
    monkeypatch.setattr(shared_module, "FEWEST_ROWS", 10**9)
    long = posterior(network, table), log_likelihoods(network, table)
    assert len(used) == 2
    np.testing.assert_allclose(short[0]["HR"], long[0]["HR"], atol=1e-12)
    np.testing.assert_allclose(short[1], long[1], rtol=1e-12)


def test_it_steps_aside():
    """Rows with gaps of their own, soft evidence, few rows, much unseen: the tree answers."""
    network, table = question(["HR"])
    tree = tree_of(network, network.names)

    def answer(rows, soft):
        return shared_answer(tree, evidence_from(tree.network, tree.names, rows, soft), ())

    assert answer(table.knock_out(0.1, seed=1), {}) is None
    assert answer(table, {"HR": {"LOW": 1.0, "HIGH": 0.5}}) is None
    assert answer(table.take(range(10)), {}) is None
    assert answer(table.without(table.names[5:]), {}) is None


def test_a_network_too_large_for_a_tree_is_answered_where_few_variables_are_unseen():
    """Ninety columns, each with parents among all before it: no tree fits."""
    names = [f"x{i}" for i in range(90)]
    generator = np.random.default_rng(1)
    arcs = {(names[j], names[i]) for i in range(1, 90) for j in generator.integers(i, size=6)}
    dag = DAG([*names, "H"], [*arcs, ("H", "x3"), ("H", "x9")])
    table = Table([Variable(n, [0, 1]) for n in names], list(generator.integers(2, size=(90, 100))))
    hidden = {"H": 2}
    network = fit_em(dag, table, n_starts=1, max_iterations=3, hidden=hidden, seed=1).network
    with pytest.raises(SizeError):
        network.posterior({"x0": 0}, of="x89")
    found = network.posterior(table, of="H")
    assert found["H"].shape == (100, 2)
    logs = network.row_log_likelihoods(table)
    both = [
        network.row_log_likelihoods(table.with_column(Variable("H", [0, 1]), np.full(100, h)))
        for h in (0, 1)
    ]
    np.testing.assert_allclose(logs, np.logaddexp(*both), rtol=1e-12)
    np.testing.assert_allclose(found["H"][:, 1], np.exp(both[1] - logs), rtol=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_explanations_without_a_tree_are_the_best(monkeypatch, seed):
    """Rows that lack the same variables, explained by the reduced model and by the tree."""
    generator = np.random.default_rng(seed)
    network = random_network(generator)
    drawn = network.sample(20, seed=seed)
    lacking = generator.permutation(network.names)[: generator.integers(1, len(network.names))]
    rows = drawn.without(list(lacking)) if len(lacking) < len(network.names) else drawn
    evidence = evidence_from(network, network.names, rows, {})
    tree = JunctionTree(network).explain(evidence)
    log_p, codes = shared_explanation(network, evidence, even_if_dear=True)
    np.testing.assert_allclose(log_p, tree[0], atol=1e-10)
    filled = Table(network.variables, codes)
    np.testing.assert_allclose(network.row_log_likelihoods(filled), log_p, atol=1e-10)
    for name in rows.names:
        np.testing.assert_array_equal(filled.column(name), rows.column(name))

    monkeypatch.setattr(JunctionTree, "__init__", refuse)
    found = most_probable(network, rows)
    np.testing.assert_array_equal(found.log_probability, log_p)
    assert found.table.names == network.names
    if len(lacking) > 1:
        with pytest.raises(SizeError):
            most_probable(network, rows.knock_out(0.5, seed=seed))


@pytest.mark.parametrize("seed", range(20))
def test_rows_with_gaps_of_their_own_without_a_tree(monkeypatch, seed):
    """Pattern by pattern, complete rows among them: what the tree gives."""
    generator = np.random.default_rng(seed)
    network = random_network(generator)
    rows = network.sample(30, seed=seed).knock_out(0.3, seed=seed)
    targets = list(network.names)
    usual, likelihoods = posterior(network, rows, targets), log_likelihoods(network, rows)
    module = import_module("unveil.infer.posterior")
    monkeypatch.setattr(module, "HEAVY_TREE", 0)
    monkeypatch.setattr(module, "TREE_SETUP", 1e9)
    monkeypatch.setattr(JunctionTree, "marginals", None)
    found = posterior(network, rows, targets)
    for name in targets:
        np.testing.assert_allclose(found[name], usual[name], atol=1e-12)
    np.testing.assert_allclose(found.log_evidence, usual.log_evidence, atol=1e-10)
    np.testing.assert_allclose(log_likelihoods(network, rows), likelihoods, atol=1e-10)
    monkeypatch.setattr(JunctionTree, "__init__", refuse)
    again = posterior(network.map_variables(lambda v: v), rows, targets)
    np.testing.assert_array_equal(again.log_evidence, found.log_evidence)


def refuse(*arguments, **settings):
    raise SizeError("too large")


def test_many_patterns_are_left_to_the_tree():
    """Each would be set up anew."""
    alarm = datasets.network("alarm")
    rows = alarm.sample(200, seed=1).knock_out(0.1, seed=2)
    evidence = evidence_from(alarm, alarm.names, rows, {})
    assert answer_by_patterns(alarm, evidence, [0], 1e6) is None
    found = answer_by_patterns(alarm, evidence, [0], math.inf)
    assert found is None or np.isfinite(found[0]).all()
