"""Forests of hidden variables: against enumeration, against the junction tree, and where numbers
get small.
"""

import numpy as np
import pytest

from unveil import Network, TableCPD, Variable
from unveil.infer.forest import ForestModel
from unveil.infer.parts import ForestRows, TreeRows
from unveil.infer.rows import prepared_rows
from unveil.infer.tree import JunctionTree
from unveil.infer.unseen import UnseenCells
from unveil.model.flat import FlatTables

from .networks import as_table, random_cpd
from .oracle import Enumeration


def forest(random, n_hidden, n_leaves, zeros=0.0, most=4):
    """Hidden variables in one or two trees, columns below them, and one column below nothing."""
    hidden = [
        Variable(f"H{i}", range(random.integers(1, most + 1)), hidden=True) for i in range(n_hidden)
    ]
    cpds = []
    for i, h in enumerate(hidden):
        roots = 1 + (n_hidden > 2 and random.random() < 0.5)
        parents = [hidden[random.integers(i)]] if i >= roots else []
        cpds.append(random_cpd(h, parents, random, zeros))
    for j in range(n_leaves):
        # the last hidden variables have a column each, so that all have something below them
        h = hidden[-1 - j] if j < n_hidden else hidden[random.integers(n_hidden)]
        cpds.append(random_cpd(Variable(f"X{j}", range(random.integers(1, 4))), [h], random, zeros))
    cpds.append(random_cpd(Variable("alone", range(3)), [], random, zeros))
    return Network([cpds[i] for i in random.permutation(len(cpds))])


def rows_with_gaps(network, random, n_rows):
    drawn = network.sample(n_rows, seed=random)
    rows = np.column_stack([drawn.column(n).astype(int) for n in network.names])
    rows[random.random(rows.shape) < 0.25] = -1
    rows[:, [v.hidden for v in network.variables]] = -1
    return rows


def parts(network, table, weights=None):
    """The same rows summed over in both ways."""
    flat, rows = FlatTables(network), prepared_rows(network, table)
    places = np.arange(rows.n_rows)
    tree = TreeRows(flat, rows, places, JunctionTree(network))
    both = ForestRows(flat, rows, places, lambda: tree), tree
    return flat.pack(network), [p if weights is None else p.with_weights(weights) for p in both]


@pytest.mark.parametrize("seed", range(12))
def test_against_enumeration_and_the_tree(seed):
    random = np.random.default_rng(seed)
    network = forest(random, int(random.integers(1, 4)), 4, random.choice([0.0, 0.3]), 3)
    rows = rows_with_gaps(network, random, 6)
    weights = random.gamma(1.0, size=6)
    tables, (ours, tree) = parts(network, as_table(network, rows), weights)
    oracle = Enumeration(network)
    names = list(network.names)
    log_z, marginals = ours.marginals(tables, range(len(names)))
    np.testing.assert_allclose(log_z, [oracle.log_likelihood(r) for r in rows], rtol=1e-10)
    for r, row in enumerate(rows):
        for name, own in zip(names, marginals, strict=True):
            np.testing.assert_allclose(own[r], oracle.posterior([name], row), atol=1e-12)
    found, expected = np.zeros(tables.size), np.zeros(tables.size)
    assert ours.add_expected(tables, found) == pytest.approx(tree.add_expected(tables, expected))
    by_hand = np.concatenate([c.ravel() for c in oracle.expected_counts(rows, None, weights)])
    np.testing.assert_allclose(found, by_hand, atol=1e-10)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("n_states", [2, 9])
def test_many_rows_in_blocks_and_threads(n_states, monkeypatch):
    random = np.random.default_rng(n_states)
    network = forest(random, 6, 12, 0.0, n_states)
    table = network.sample(1300, seed=1).without([n for n in network.names if n[0] == "H"])
    table = table.knock_out(0.1, seed=2)
    weights = random.random(1300)
    monkeypatch.setattr("unveil.infer.forest.THREAD_WORK", 1)
    monkeypatch.setattr("unveil.infer.forest.BLOCK_BYTES", 1)
    tables, (ours, tree) = parts(network, table, weights)
    found, expected = np.zeros(tables.size), np.zeros(tables.size)
    assert ours.add_expected(tables, found) == pytest.approx(tree.add_expected(tables, expected))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.marginals(tables, [])[0], tree.marginals(tables, [])[0])


def test_rows_whose_probability_is_below_the_smallest_number():
    """400 columns of 1e-3 each below one variable, 400 variables below another."""
    top, h = Variable("T", range(2), hidden=True), Variable("H", range(2), hidden=True)
    cpds = [TableCPD(top, [], [0.4, 0.6]), TableCPD(h, [top], [[0.9, 0.1], [0.3, 0.7]])]
    rare = np.array([[1 - 1e-3, 1e-3], [1 - 1e-9, 1e-9]])
    cpds += [TableCPD(Variable(f"X{i}", range(2)), [h], rare) for i in range(400)]
    for i in range(400):
        k = Variable(f"K{i}", range(2), hidden=True)
        cpds += [
            TableCPD(k, [top], [[1 - 1e-4, 1e-4], [1 - 2e-4, 2e-4]]),
            TableCPD(Variable(f"Y{i}", range(2)), [k], [[1 - 1e-9, 1e-9], [0.5, 0.5]]),
        ]
    network = Network(cpds)
    rows = np.array([[-1 if v.hidden else 1 for v in network.variables]])
    tables, (ours, tree) = parts(network, as_table(network, rows))
    assert ours.marginals(tables, [])[0][0] < -5000
    np.testing.assert_allclose(ours.marginals(tables, [])[0], tree.marginals(tables, [])[0])


def test_a_product_of_few_that_vanishes():
    """Four columns of 1e-120 each: no scaling in between can save them."""
    top, h = Variable("T", range(2), hidden=True), Variable("H", range(2), hidden=True)
    cpds = [TableCPD(top, [], [0.4, 0.6]), TableCPD(h, [top], [[0.9, 0.1], [0.3, 0.7]])]
    rare = np.array([[1.0, 1e-120], [1.0, 3e-120]])
    cpds += [TableCPD(Variable(f"X{i}", range(2)), [h], rare) for i in range(4)]
    network = Network(cpds)
    rows = np.array([[-1, -1, 1, 1, 1, 1]])
    tables, (ours, _) = parts(network, as_table(network, rows))
    share = 0.4 * 0.9 + 0.6 * 0.3
    exact = 4 * np.log(1e-120) + np.log(share + (1 - share) * 3**4)
    assert ours.marginals(tables, [])[0][0] == pytest.approx(exact, rel=1e-12)


def test_a_row_that_cannot_be():
    h, g = Variable("H", range(2), hidden=True), Variable("G", range(2), hidden=True)
    network = Network([
        TableCPD(g, [], [0.5, 0.5]), TableCPD(h, [g], [[1, 0], [1, 0]]),
        TableCPD(Variable("X", range(2)), [h], [[1, 0], [0, 1]]),
    ])  # fmt: skip
    rows = np.array([[-1, -1, 0], [-1, -1, 1]])
    tables, (ours, _) = parts(network, as_table(network, rows))
    assert ours.marginals(tables, [])[0].tolist() == [0.0, -np.inf]
    counts = np.zeros(tables.size)
    assert ours.add_expected(tables, counts) == -np.inf
    assert counts.sum() == pytest.approx(3.0)  # the possible row, once for every family


def test_the_plan_takes_the_forest_where_it_suits():
    random = np.random.default_rng(3)
    network = forest(random, 4, 8)
    hidden = [v.name for v in network.variables if v.hidden]
    rows = network.sample(200, seed=1)

    def kinds(table):
        return {type(p).__name__ for p in UnseenCells.to_learn_from(network, table).parts}

    assert kinds(rows.without(hidden).knock_out(0.1, seed=1)) == {"ForestRows"}
    assert "ForestRows" not in kinds(rows.without(hidden[1:]))  # one that has children is seen
    assert "ForestRows" not in kinds(rows.without(hidden).take(np.arange(20)))


def test_explanations_and_draws_are_the_trees():
    random = np.random.default_rng(5)
    network = forest(random, 3, 6)
    table = network.sample(60, seed=1).without([n for n in network.names if n[0] == "H"])
    tables, (ours, tree) = parts(network, table)
    for one, other in zip(ours.most_probable(tables), tree.most_probable(tables), strict=True):
        np.testing.assert_array_equal(one, other)
    log_p, codes = ours.draws(tables, np.random.default_rng(1))
    assert codes.shape == (len(network.names), 60)
    np.testing.assert_allclose(log_p, ours.marginals(tables, [])[0])


def test_a_forest_without_arcs_is_none_to_pass_through():
    network = Network([TableCPD(Variable("a", range(2)), [], [0.5, 0.5])])
    model = ForestModel(network)
    found = model.log_likelihoods(FlatTables(network).pack(network), np.array([[0, 1, 255]], "u1"))
    np.testing.assert_allclose(found, np.log([0.5, 0.5, 1.0]))
