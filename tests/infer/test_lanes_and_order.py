"""The same answers however rows are grouped, ordered, threaded, and variables are listed."""

import numpy as np
import pytest

from unveil import Network, TableCPD, Variable
from unveil.infer import costs
from unveil.infer import tree as tree_module
from unveil.infer.evidence import evidence_from
from unveil.infer.posterior import posterior
from unveil.infer.tree import Evidence, JunctionTree

from .networks import as_table, random_likelihood, random_network, random_rows


def everything(tree, evidence, weights, n_jobs=None):
    """For all rows log P, marginals side by side, and best explanations; and expected counts."""
    logs, marginals = tree.marginals(evidence, range(len(tree.names)), n_jobs)
    again, counts = tree.expected_counts(evidence, weights, n_jobs)
    assert np.array_equal(logs, again)
    assert np.array_equal(logs, tree.log_likelihoods(evidence, n_jobs))
    log_best, best = tree.explain(evidence)
    rows = np.column_stack([logs, *marginals, log_best, best.T])
    return rows, np.concatenate([count.ravel() for count in counts])


def case(seed, n_rows):
    generator = np.random.default_rng(seed)
    network = random_network(generator)
    rows = random_rows(network, n_rows, generator)
    named, _ = random_likelihood(network, generator) if seed % 3 == 0 else ({}, {})
    return network, rows, named, generator


def evidence_of(network, rows, named):
    return evidence_from(network, network.names, as_table(network, rows), named)


@pytest.mark.parametrize("n_rows", [8, 63, 64, 65, 130])
def test_many_lanes_equal_one_row_at_a_time(n_rows, monkeypatch):
    monkeypatch.setattr(tree_module, "SMALL_TREE", 0)
    for seed in range(12):
        network, rows, named, generator = case(seed, n_rows)
        tree, weights = JunctionTree(network), generator.random(n_rows)
        assert len(tree._lanes(n_rows)) == 64
        assert len(tree._lanes(1)) == 1
        many, counts = everything(tree, evidence_of(network, rows, named), weights)
        singles = [
            everything(tree, evidence_of(network, rows[r : r + 1], named), weights[r : r + 1])
            for r in range(n_rows)
        ]
        np.testing.assert_array_equal(many, np.vstack([single for single, _ in singles]))
        total = np.sum([count for _, count in singles], axis=0)
        np.testing.assert_allclose(counts, total, atol=1e-10)


def test_small_trees_take_all_lanes_even_for_one_row(monkeypatch):
    """So that message passing is compiled once."""
    tree = JunctionTree(case(1, 1)[0])
    assert len(tree._lanes(1)) == 64
    monkeypatch.setattr(tree_module, "SMALL_TREE", tree.n_cells - 1)
    assert len(tree._lanes(1)) == 1


def test_order_of_rows():
    for seed in range(20):
        network, rows, named, generator = case(seed, 100)
        tree, weights = JunctionTree(network), generator.random(100)
        order = generator.permutation(100)
        there, counts = everything(tree, evidence_of(network, rows, named), weights)
        back, again = everything(tree, evidence_of(network, rows[order], named), weights[order])
        np.testing.assert_array_equal(there[order], back)
        np.testing.assert_allclose(counts, again, atol=1e-10)


def test_threads(monkeypatch):
    """Many small blocks, forced on small networks, and more blocks than rows; always the same."""
    for n_parts in (2, 5, 40):
        monkeypatch.setattr(tree_module, "THREAD_CELLS", 0)
        monkeypatch.setattr(tree_module, "N_PARTS", n_parts)
        for seed in range(6):
            network, rows, named, generator = case(seed, 33)
            tree, weights = JunctionTree(network), generator.random(33)
            evidence = evidence_of(network, rows, named)
            one, counts = everything(tree, evidence, weights, n_jobs=1)
            many, again = everything(tree, evidence, weights, n_jobs=3)
            np.testing.assert_array_equal(one, many)
            np.testing.assert_array_equal(counts, again)


def test_order_of_variables():
    for seed in range(40):
        network, rows, named, generator = case(seed, 20)
        order = generator.permutation(len(network.names))
        other = Network([network.cpd(network.names[i]) for i in order])
        logs = JunctionTree(network).log_likelihoods(evidence_of(network, rows, named))
        table = as_table(network, rows[logs > -np.inf])
        if table.n_rows == 0:
            continue
        here = posterior(network, table, network.names, named)
        there = posterior(other, table, network.names, named)
        np.testing.assert_allclose(here.log_evidence, there.log_evidence, atol=1e-10)
        for name in network.names:
            np.testing.assert_allclose(here[name], there[name], atol=1e-12)


def test_soft_evidence_of_each_row():
    """A likelihood that differs by row: each row as if it were alone; certain ones are findings."""
    for seed in range(20):
        network, rows, _, generator = case(3 * seed + 1, 70)
        sizes = np.array([v.n_states for v in network.variables])
        hard = evidence_of(network, rows, {})
        tree, weights = JunctionTree(network), generator.random(70)
        soft = np.ones((sizes.sum(), 70))
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        for v, row in enumerate(rows.T):
            known = np.flatnonzero(row >= 0)
            soft[first[v] : first[v] + sizes[v], known] = np.eye(sizes[v])[row[known]].T
        unknown = np.full_like(hard.codes, hard.missing)
        as_soft = Evidence(unknown, hard.missing, soft, first)
        expected, counts = everything(tree, hard, weights)
        found, again = everything(tree, as_soft, weights)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        np.testing.assert_allclose(again, counts, atol=1e-12)


def test_likelihood_times_a_constant_changes_the_evidence_only():
    network, rows, _, _ = case(1, 20)
    name = network.names[0]
    plain = {label: p + 0.1 for p, label in enumerate(network.variable(name).labels)}
    scaled = {label: 1000 * p for label, p in plain.items()}
    possible = JunctionTree(network).log_likelihoods(evidence_of(network, rows, {})) > -np.inf
    table = as_table(network, rows[possible])
    here = posterior(network, table, likelihood={name: plain}, of=network.names)
    there = posterior(network, table, likelihood={name: scaled}, of=network.names)
    np.testing.assert_allclose(there.log_evidence - here.log_evidence, np.log(1000))
    for other in network.names:
        np.testing.assert_allclose(here[other], there[other], atol=1e-12)


def test_asking_again_gives_the_same(monkeypatch):
    """The tree kept with the network is used, and answers as a fresh one does."""
    network, rows, named, _ = case(2, 20)
    logs = JunctionTree(network).log_likelihoods(evidence_of(network, rows, named))
    table = as_table(network, rows[logs > -np.inf])
    first = posterior(network, table, network.names)
    monkeypatch.setattr(JunctionTree, "__init__", lambda *_: pytest.fail("built again"))
    second = posterior(network, table, network.names)
    for name in network.names:
        assert np.array_equal(first[name], second[name])


@pytest.mark.parametrize("n_rows", [1, 70])
def test_few_cells_equal_all_cells(monkeypatch, n_rows):
    """Through the cells a row agrees with, or through all: the same up to rounding.

    (Of an impossible row, the probability; nothing else is said of it.)
    """
    for seed in range(60):
        network, rows, _, generator = case(seed, n_rows)
        tree, weights = JunctionTree(network), generator.random(n_rows)
        evidence = evidence_of(network, rows, {})
        answers = []
        for clique_cost in (-(10**6), 10**6):
            monkeypatch.setattr(costs, "CLIQUE", clique_cost)
            few, many, _ = tree._by_agreement(evidence)
            assert (few if clique_cost > 0 else many).size == 0
            drawn = tree.explain(evidence, np.random.default_rng(seed))[1]
            answers.append((*everything(tree, evidence, weights), drawn))
        possible = answers[0][0][:, 0] > -np.inf
        np.testing.assert_allclose(answers[0][0][:, 0], answers[1][0][:, 0], atol=1e-12)
        np.testing.assert_allclose(answers[0][0][possible], answers[1][0][possible], atol=1e-12)
        np.testing.assert_allclose(answers[0][1], answers[1][1], atol=1e-12)
        np.testing.assert_array_equal(answers[0][2], answers[1][2])


def test_a_row_is_taken_through_what_costs_less(monkeypatch):
    network, rows, _, _ = case(5, 64)
    tree = JunctionTree(network)
    evidence = evidence_of(network, rows, {})
    monkeypatch.setattr(costs, "CLIQUE", 0)
    few, many, most = tree._by_agreement(evidence)
    work = [tree.cost(np.flatnonzero(row < 0)) for row in rows]
    assert set(few) == {r for r, cost in enumerate(work) if cost < tree.n_cells}
    assert max(work[r] for r in few) == costs.SLICE * most
    assert 0 in many  # the row that shows nothing


def test_few_rows_do_not_go_through_empty_lanes(monkeypatch):
    """A row alone would pay for 64 lanes, so it goes through what it agrees with, even if all."""
    network, rows, _, _ = case(5, 64)
    tree = JunctionTree(network)
    monkeypatch.setattr(costs, "CLIQUE", 0)
    together = tree._by_agreement(evidence_of(network, rows, {}))[1]
    assert 0 in together
    few, many, _ = tree._by_agreement(evidence_of(network, rows[:1], {}))
    assert (few.tolist(), many.size) == ([0], 0)


def test_guards_change_no_answer():
    """Where nothing can vanish, keeping bounds on what did is for nothing, and left out."""
    for seed in range(12):
        network, rows, named, generator = case(seed, 70)
        tree, guarded = JunctionTree(network), JunctionTree(network)
        guarded.__dict__["plan"] = tree.plan._replace(guarded=True)
        assert not tree.plan.guarded
        evidence, weights = evidence_of(network, rows, named), generator.random(70)
        answers = [everything(either, evidence, weights) for either in (tree, guarded)]
        for one, other in zip(*answers, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("least", "guarded"), [(1e-3, False), (1e-9, True), (0.0, False)])
def test_guards_are_up_where_products_could_vanish(least, guarded):
    """A chain of 40: the least product of entries, over all cells of all cliques."""
    variables = [Variable(f"x{i}", [0, 1]) for i in range(40)]
    table = [[1 - least, least], [0.5, 0.5]]
    first, *rest = variables
    links = [TableCPD(v, [above], table) for above, v in zip(variables, rest, strict=False)]
    tree = JunctionTree(Network([TableCPD(first, [], [0.5, 0.5]), *links]))
    assert tree.plan.guarded == guarded
    assert tree.with_tables(tree.tables).plan.guarded == guarded
