"""Who sums over the unseen cells of a question: whoever it is gives what the others give."""

import numpy as np
import pytest

from unveil import DAG, Table, Variable, datasets
from unveil.em import fit_em
from unveil.errors import SizeError
from unveil.infer import costs
from unveil.infer.explain import draw_missing, most_probable
from unveil.infer.plan import Use
from unveil.infer.posterior import cells_for, log_likelihoods, posterior
from unveil.infer.tree import JunctionTree

from .networks import random_network


def question(names, n_rows=1000):
    alarm = datasets.network("alarm").map_variables(lambda v: v)
    return alarm, alarm.sample(n_rows, seed=3).without(names)


def kinds(network, table, soft=None, **use):
    cells = cells_for(network, network.names, table, soft or {}, Use(**use))
    return {type(part).__name__ for part in cells.parts}


@pytest.fixture
def only_trees(monkeypatch):
    return lambda: monkeypatch.setattr(costs, "GROUP_SETUP", 1e18)


@pytest.mark.parametrize(
    "names", [["HR"], ["HR", "CO"], ["LVFAILURE", "HYPOVOLEMIA", "STROKEVOLUME"]]
)
def test_the_same_as_the_tree(names, only_trees):
    network, table = question(names)
    assert kinds(network, table) == {"ReducedRows"}
    short = posterior(network, table, of=[*names, "BP"]), log_likelihoods(network, table)
    only_trees()
    assert kinds(network, table) == {"TreeRows"}
    long = posterior(network, table, of=[*names, "BP"]), log_likelihoods(network, table)
    np.testing.assert_allclose(short[1], long[1], rtol=1e-12)
    for name in names:
        np.testing.assert_allclose(short[0][name], long[0][name], atol=1e-12)


def test_who_does_it():
    """Rows with gaps of their own, soft evidence, few rows, much unseen: the tree answers."""
    network, table = question(["HR"])
    assert kinds(network, table) == {"ReducedRows"}
    assert kinds(network, table, trees_first=True) == {"TreeRows"}
    assert kinds(network, table.knock_out(0.1, seed=1).take(range(100))) == {"TreeRows"}
    assert kinds(network, table, {"HR": {"LOW": 1.0, "HIGH": 0.5}}) == {"TreeRows"}
    assert kinds(network, table.take(range(10))) == {"TreeRows"}
    assert kinds(network, table.without(table.names[5:])) == {"TreeRows"}
    whole = network.sample(5, seed=1)
    assert kinds(network, whole) == {"ObservedRows"}
    assert kinds(network, whole.knock_out(0.02, seed=1)) == {"ObservedRows", "TreeRows"}


def test_few_posteriors_at_a_time_are_the_same(monkeypatch):
    network, table = question(["HR", "CO"])
    usual = posterior(network, table), most_probable(network, table)
    monkeypatch.setattr(costs, "MOST_POSTERIORS", 100)
    blocks = posterior(network, table), most_probable(network, table)
    np.testing.assert_allclose(usual[0]["CO"], blocks[0]["CO"], atol=1e-14)
    assert usual[1].table == blocks[1].table


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
def test_explanations_without_a_tree_are_the_best(monkeypatch, only_trees, seed):
    """Rows with gaps, explained by reduced models and by the tree."""
    generator = np.random.default_rng(seed)
    network = random_network(generator)
    rows = network.sample(20, seed=seed).knock_out(0.4, seed=seed)
    only_trees()
    tree = most_probable(network, rows)
    monkeypatch.setattr(JunctionTree, "__init__", refuse)
    found = most_probable(network.map_variables(lambda v: v), rows)
    np.testing.assert_allclose(found.log_probability, tree.log_probability, atol=1e-10)
    logs = network.row_log_likelihoods(found.table)
    np.testing.assert_allclose(logs, found.log_probability, atol=1e-10)
    for filled in (found.table, draw_missing(network.map_variables(lambda v: v), rows, seed=1)):
        for name in rows.names:
            shown = ~rows.missing(name)
            np.testing.assert_array_equal(filled.column(name)[shown], rows.column(name)[shown])


@pytest.mark.parametrize("seed", range(20))
def test_rows_with_gaps_of_their_own_without_a_tree(monkeypatch, seed):
    """Pattern by pattern, complete rows among them: what the tree gives."""
    generator = np.random.default_rng(seed)
    network = random_network(generator)
    rows = network.sample(30, seed=seed).knock_out(0.3, seed=seed)
    targets = list(network.names)
    usual, likelihoods = posterior(network, rows, targets), log_likelihoods(network, rows)
    monkeypatch.setattr(costs, "HEAVY_TREE", 0)
    monkeypatch.setattr(costs, "HEAVY_CELL", 1e12)
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
    raise SizeError("too large.")


def test_nothing_fits(monkeypatch):
    """The refusal says what both ways would need."""
    network, table = question(["HR"])
    monkeypatch.setattr(JunctionTree, "__init__", refuse)
    with pytest.raises(SizeError, match=r"too large\. Nor can rows that lack .* there are \d"):
        posterior(network, table.without(table.names[5:]))
