"""Rows that show the same columns: the short way gives what the junction tree gives."""

import numpy as np
import pytest

from unveil import datasets
from unveil.infer import shared as shared_module
from unveil.infer.evidence import evidence_from
from unveil.infer.posterior import log_likelihoods, posterior, tree_of
from unveil.infer.shared import shared_answer


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
    """Rows with gaps of their own, soft evidence, complete rows, few rows: the tree answers."""
    network, table = question(["HR"])
    tree = tree_of(network, network.names)

    def answer(rows, soft):
        return shared_answer(tree, evidence_from(tree.network, tree.names, rows, soft), ())

    assert answer(table.knock_out(0.1, seed=1), {}) is None
    assert answer(table, {"HR": {"LOW": 1.0, "HIGH": 0.5}}) is None
    assert answer(network.sample(100, seed=1), {}) is None
    assert answer(table.take(range(10)), {}) is None
    assert answer(table.without(table.names[5:]), {}) is None
