"""Unseen cells against enumeration, whoever sums over them."""

import numpy as np
import pytest
from em.cases import (
    best_completions,
    cases,
    expected_counts,
    log_likelihood,
    naive_bayes,
    random_tables,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import Network, Table, TableCPD, Variable
from unveil.errors import DataError, SizeError
from unveil.infer import costs
from unveil.infer.plan import least_cells
from unveil.infer.tree import JunctionTree
from unveil.infer.unseen import UnseenCells
from unveil.model.flat import FlatTables

from .oracle import Enumeration

lenient = settings(max_examples=60, deadline=None)
NEVER = 1e18
ENGINES = {
    "as it is": {},
    "reduced models": {"GROUP_SETUP": 0.0, "GROUP_PASS": 0.0, "TREE_SETUP": NEVER},
    "a tree": {"GROUP_SETUP": NEVER},
    "both": {
        "GROUP_SETUP": 0.0,
        "GROUP_PASS": 150.0,
        "ENTRY_SETUP": 0.0,
        "TREE_SETUP": 0.0,
        "TREE_START": 0.0,
        "TREE_PASS": 0.0,
    },
}


def planned(network, table, engine="as it is"):
    """A plan made with other costs; the table is a copy, which remembers no other plan."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENGINES[engine].items():
            patch.setattr(costs, name, value)
        return UnseenCells.to_learn_from(network, table.take(np.arange(table.n_rows)))


@given(cases(), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_against_enumeration(case, seed):
    """Counts and log-likelihood at the network's own tables (with zeros) and at others."""
    flat = case.flat
    for tables in (flat.pack(case.network), random_tables(flat, seed)):
        exact = expected_counts(flat.unpack(tables), case.codes, case.weights)
        likelihood = log_likelihood(flat.unpack(tables), case.codes, case.weights)
        for engine in ENGINES:
            found = planned(case.network, case.table, engine).expected(tables)
            np.testing.assert_allclose(found.counts, exact, rtol=1e-9, atol=1e-11)
            assert found.log_likelihood == pytest.approx(likelihood, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("engine", list(ENGINES))
def test_the_engines_are_what_they_are_called(engine):
    """So that the tests here do compare different ones."""
    network = naive_bayes(3, 5, seed=1)
    table = network.sample(50, seed=2).hide("H").knock_out(0.2, seed=3)
    kinds = {type(part).__name__ for part in planned(network, table, engine).parts}
    assert (
        kinds
        == {
            "as it is": {"TreeRows"},
            "reduced models": {"ReducedRows"},
            "a tree": {"TreeRows"},
            "both": {"TreeRows", "ReducedRows"},
        }[engine]
    )


def test_one_hidden_variable_needs_no_tree(monkeypatch):
    monkeypatch.setattr(JunctionTree, "__init__", lambda *_: pytest.fail("a tree was built"))
    network = naive_bayes(3, 5, seed=1)
    table = network.sample(300, seed=2)
    assert UnseenCells.to_learn_from(network, table.hide("H")).total_weight == 300
    with pytest.raises(pytest.fail.Exception):
        UnseenCells.to_learn_from(network, table.knock_out(0.3, seed=1))


@given(cases(), st.integers(0, 10**6), st.sampled_from(list(ENGINES)))
@lenient
def test_log_probabilities_and_marginals_of_every_row(case, seed, engine):
    """Also with the tables that the plan was made with, which a tree has already."""
    cells = planned(case.network, case.table, engine)
    for tables in (random_tables(case.flat, seed), cells.layout.own):
        network = case.flat.unpack(tables)
        oracle = Enumeration(network)
        targets = range(len(network.names))
        log_z, marginals = cells.marginals(tables, targets)
        for row, place in zip(case.codes, cells.rows.which, strict=True):
            if place < 0:
                continue
            assert log_z[place] == pytest.approx(oracle.log_likelihood(row), rel=1e-9, abs=1e-11)
            for name, found in zip(network.names, marginals, strict=True):
                np.testing.assert_allclose(found[place], oracle.posterior([name], row), atol=1e-10)
        np.testing.assert_allclose(cells.log_probabilities(tables), log_z, rtol=1e-12)


@given(cases(), st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 3.0]))
@lenient
def test_a_temperature_flattens_the_posterior(case, seed, temperature):
    """The counts are the derivative of the free energy with respect to the logs of the tables."""
    tables = random_tables(case.flat, seed)
    cells = planned(case.network, case.table)
    hot = cells.expected(tables, temperature)
    step = np.random.default_rng(seed).normal(size=tables.size)
    ends = [
        cells.expected(tables * np.exp(sign * 1e-5 * step), temperature).log_likelihood
        for sign in (1, -1)
    ]
    assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(hot.counts @ step, rel=1e-4, abs=1e-6)


@given(cases(), st.integers(0, 10**6))
@lenient
def test_counts_from_a_given_posterior(case, seed):
    """The exact posterior gives the E-step; any other is counted as it is."""
    tables = random_tables(case.flat, seed)
    cells = planned(case.network, case.table, "reduced models")
    posterior = cells.configurations(tables)
    found, expected = cells.counts_from(posterior), cells.expected(tables).counts
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    flat = [np.full_like(p, 1 / p.shape[1]) for p in posterior]
    uniform = np.zeros_like(found)
    for part, shares in zip(cells.parts, flat, strict=True):
        part.add_counts(shares, uniform)
    np.testing.assert_allclose(cells.counts_from(flat), uniform)
    for family in case.flat.split(uniform):
        assert family.sum() == pytest.approx(case.weights.sum())


def test_a_tree_has_no_list_of_configurations():
    network = naive_bayes(2, 3)
    cells = planned(network, network.sample(9, seed=1).hide("H"), "a tree")
    with pytest.raises(SizeError, match="list of all configurations"):
        cells.configurations(cells.layout.own)


@given(cases(), st.integers(0, 10**6))
@lenient
def test_other_weights(case, seed):
    """Given for the rows of the table, folded as these are; the plan stays."""
    weights = case.weights * np.random.default_rng(seed).gamma(1.0, size=len(case.weights))
    weights[int(case.weights.argmax())] += 1.0
    tables = random_tables(case.flat, seed)
    for engine in ENGINES:
        cells = planned(case.network, case.table, engine)
        before = cells.expected(tables)
        mine = cells.with_weights(weights).expected(tables)
        fresh = planned(case.network, case.table.with_weights(weights), engine).expected(tables)
        np.testing.assert_allclose(mine.counts, fresh.counts, rtol=1e-9, atol=1e-11)
        assert mine.log_likelihood == pytest.approx(fresh.log_likelihood, rel=1e-9, abs=1e-11)
        np.testing.assert_array_equal(cells.expected(tables).counts, before.counts)


@pytest.mark.parametrize("engine", ["reduced models", "a tree"])
def test_draws_follow_the_posterior(engine):
    network = naive_bayes(3, 2, seed=4)
    table = Table(network.variables[1:], [[0, 1, -1], [1, -1, -1]])
    cells = planned(network, table, engine)
    tables = cells.layout.own
    _, marginals = cells.marginals(tables, [0])
    generator = np.random.default_rng(1)
    drawn = np.array([cells.draws(tables, generator)[1] for _ in range(4000)])
    seen = cells.rows.codes != cells.rows.evidence.missing
    assert (drawn[:, seen] == cells.rows.codes[seen]).all()
    for row in range(3):
        share = np.bincount(drawn[:, 0, row], minlength=3) / 4000
        np.testing.assert_allclose(share, marginals[0][row], atol=0.035)


def test_rows_are_prepared_once_and_plans_are_kept(monkeypatch):
    network = naive_bayes(2, 4)
    table = network.sample(40, seed=1).without("H")
    first = UnseenCells.to_learn_from(network, table)
    monkeypatch.setattr(Table, "conform", lambda *_: pytest.fail("prepared again"))
    other = naive_bayes(2, 4, seed=9)
    assert UnseenCells.to_learn_from(other, table) is first
    more = naive_bayes(3, 4)
    assert UnseenCells.to_learn_from(more, table) is not first
    monkeypatch.setattr("unveil.infer.rows.MOST_KEPT", 4)
    for k in range(4, 8):
        UnseenCells.to_learn_from(naive_bayes(k, 4), table)
    assert UnseenCells.to_learn_from(network, table) is not first


@given(cases(), st.integers(0, 10**6))
@lenient
def test_one_call_does_not_change_the_next(case, seed):
    flat = case.flat
    cells = planned(case.network, case.table)
    step = cells.expected
    first, second = random_tables(flat, seed), random_tables(flat, seed + 1)
    before = step(first)
    step(second)
    again = step(first)
    np.testing.assert_array_equal(before.counts, again.counts)
    assert before.log_likelihood == again.log_likelihood


@given(cases(), st.integers(0, 10**6))
@lenient
def test_folding_splitting_and_the_order_of_rows_change_nothing(case, seed):
    """A row of weight 2 is two rows; equal rows may be one; the order is no matter."""
    flat = case.flat
    tables = random_tables(flat, seed)
    found = planned(case.network, case.table).expected(tables)
    n = case.table.n_rows
    order = np.random.default_rng(seed).permutation(np.tile(np.arange(n), 2))
    twice = case.table.take(order)
    halves = twice.with_weights(twice.row_weights / 2)
    for table in (case.table.folded(), halves):
        other = planned(case.network, table).expected(tables)
        np.testing.assert_allclose(other.counts, found.counts, rtol=1e-9, atol=1e-11)
        assert other.log_likelihood == pytest.approx(found.log_likelihood, rel=1e-9, abs=1e-11)


@given(cases(), st.integers(0, 10**6))
@lenient
def test_the_counts_of_every_family_sum_to_the_weight(case, seed):
    flat = case.flat
    cells = planned(case.network, case.table)
    step = cells.expected
    for part in flat.split(step(random_tables(flat, seed)).counts):
        assert part.sum() == pytest.approx(case.weights.sum())
    assert cells.total_weight == pytest.approx(case.weights.sum())


@given(cases(), st.integers(0, 10**6))
@lenient
def test_hard_completions_are_the_most_probable(case, seed):
    """The value is that of the best completions; the counts are those of rows that reach it."""
    flat = case.flat
    tables = random_tables(flat, seed)
    found = planned(case.network, case.table).completed(tables)
    best = best_completions(flat.unpack(tables), case.codes, case.weights)
    assert found.log_likelihood == pytest.approx(best, rel=1e-9, abs=1e-11)
    used = found.counts > 0
    assert found.counts[used] @ np.log(tables[used]) == pytest.approx(best, rel=1e-9, abs=1e-11)


def test_columns_that_are_not_the_networks_do_not_matter():
    network = naive_bayes(2, 3)
    table = network.sample(20, seed=1).hide("H")
    flat = FlatTables(network)
    extra = table.with_column(Variable("Z", "ab"), np.arange(20) % 2)
    mine, other = (planned(network, t).expected(flat.pack(network)) for t in (table, extra))
    np.testing.assert_allclose(mine.counts, other.counts)


def test_columns_coded_in_another_order_mean_the_same():
    x, y = Variable("x", ["a", "b", "c"]), Variable("y", ["u", "v"])
    network = Network(
        [TableCPD(x, [], [0.2, 0.3, 0.5]), TableCPD(y, [x], [[0.1, 0.9], [0.6, 0.4], [0.3, 0.7]])]
    )
    flat = FlatTables(network)
    table = Table([x, y], [[0, 1, 2, -1], [1, -1, 0, 1]])
    turned = Table([Variable("y", ["v", "u"]), Variable("x", ["c", "b", "a"])],
                   [[0, -1, 1, 0], [2, 1, 0, -1]])  # fmt: skip
    mine, other = (planned(network, t).expected(flat.pack(network)) for t in (table, turned))
    np.testing.assert_allclose(mine.counts, other.counts, rtol=1e-12)
    assert mine.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-12)


def test_vanishing_counts_are_still_normalised():
    """A state that EM drives out has counts below the smallest normal number on its way."""
    network = naive_bayes(2, 1)
    flat = FlatTables(network)
    tables = flat.normalised(np.array([1.0, 4e-309, 0.7, 0.3, 1e-309, 3e-309]))
    np.testing.assert_allclose(tables[4:], [0.25, 0.75], rtol=1e-9)
    np.testing.assert_allclose(flat.normalised(np.zeros(6)), 0.5)


def test_nothing_to_learn_from():
    network = naive_bayes(2, 2)
    table = network.sample(3, seed=1).hide("H")
    with pytest.raises(DataError, match="weights of all rows are zero"):
        UnseenCells.to_learn_from(network, table.with_weights(np.zeros(3)))
    with pytest.raises(DataError, match="none of the network's variables"):
        UnseenCells.to_learn_from(network, Table([Variable("Z", "ab")], [[0, 1]]))


@given(cases())
@lenient
def test_no_junction_tree_has_fewer_cells_than_the_bound(case):
    assert least_cells(case.network) <= JunctionTree(case.network).n_cells


def test_rows_that_are_alike_beside_what_is_unseen_are_one():
    """Many rows that differ only far from the hidden variable: counts as row by row, and weights
    may change afterwards.
    """
    names = [f"x{i}" for i in range(6)]
    hidden = Variable("h", [0, 1], hidden=True)
    random = np.random.default_rng(5)
    cpds = [TableCPD(hidden, [], [0.4, 0.6])]
    for i, name in enumerate(names):
        parents = [hidden] if i < 2 else []
        rows = random.dirichlet([1.0, 1.0], [2] * len(parents))
        cpds.append(TableCPD(Variable(name, [0, 1]), parents, rows))
    network = Network(cpds)
    table = network.sample(40, seed=6).without("h")
    cells = UnseenCells.to_learn_from(network, table)
    (part,) = cells.parts
    tables = FlatTables(network).own
    assert part._groups[1] is not None
    assert part._groups[0].shape[1] <= 4
    for weights in (np.ones(40), random.gamma(1.0, size=40)):
        found = cells.with_weights(weights).expected(tables)
        codes = np.column_stack([np.full(40, -1), *(table.column(n).astype(int) for n in names)])
        np.testing.assert_allclose(
            found.counts, expected_counts(network, codes, weights), atol=1e-10
        )
        assert found.log_likelihood == pytest.approx(log_likelihood(network, codes, weights))
