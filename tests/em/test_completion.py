"""Incomplete rows as weighted complete ones: exact while few, drawn beyond."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from infer.networks import as_table
from infer.oracle import Enumeration

from unveil import Network, Table, TableCPD, Variable, datasets
from unveil.em import complete_rows
from unveil.errors import ModelError, SizeError
from unveil.infer import JunctionTree, costs
from unveil.model.flat import FlatTables

from .cases import cases, expected_counts, naive_bayes

lenient = settings(max_examples=60, deadline=None)


def cells_of(network, completed):
    """The weight of every joint configuration."""
    mass = np.zeros([v.n_states for v in network.variables])
    places = tuple(completed.column(n).astype(int) for n in network.names)
    np.add.at(mass, places, completed.row_weights)
    return mass


@given(cases())
@lenient
def test_weights_are_exact_posteriors(case):
    completed = complete_rows(case.network, case.table, cap=10**6)
    assert completed.is_complete
    assert completed.names == case.network.names
    assert completed.total_weight == pytest.approx(case.weights.sum())
    oracle = Enumeration(case.network)
    exact = sum(
        w * oracle.with_evidence(row) / oracle.with_evidence(row).sum()
        for row, w in zip(case.codes, case.weights, strict=True)
    )
    np.testing.assert_allclose(cells_of(case.network, completed), exact, atol=1e-11)
    assert (completed.row_weights > 0).all(), "impossible completions are left out"


@given(cases(), st.integers(0, 10**6))
@lenient
def test_draws_keep_the_weight_and_what_was_seen(case, seed):
    """With a cap of 1 only complete rows stay as they are; all others get `draws` completions."""
    completed = complete_rows(case.network, case.table, cap=1, draws=5, seed=seed)
    assert completed.is_complete
    assert completed.total_weight == pytest.approx(case.weights.sum())
    sizes = np.array([v.n_states for v in case.network.variables])
    n_completions = np.where(case.codes < 0, sizes, 1).prod(axis=1)
    drawn = n_completions > 1
    expected = np.where(drawn, 5, 1)[case.weights > 0].sum()
    assert completed.n_rows == expected
    possible = Enumeration(case.network).joint > 0
    mass = cells_of(case.network, completed)
    assert (possible | (mass == 0)).all()
    for v in range(len(sizes)):
        shown = case.codes[:, v] >= 0
        least = np.bincount(case.codes[shown, v], case.weights[shown], sizes[v])
        along = mass.sum(axis=tuple(a for a in range(len(sizes)) if a != v))
        assert (along >= least - 1e-9).all()


@given(cases(), st.sampled_from([1, 2, 3, 4, 6, 8, 24]))
@lenient
def test_the_cap_is_respected(case, cap):
    """A row with exactly `cap` completions is still listed, one with more is drawn."""
    for row, weight in zip(case.codes, case.weights, strict=True):
        sizes = [v.n_states for v, c in zip(case.network.variables, row, strict=True) if c < 0]
        n = int(np.prod(sizes, dtype=int))
        table = as_table(case.network, [row]).with_weights([weight + 1.0])
        completed = complete_rows(case.network, table, cap=cap, draws=cap + 1, seed=1)
        assert (completed.n_rows <= cap) if n <= cap else (completed.n_rows == cap + 1)


def test_draws_are_unbiased():
    """The frequencies of the unseen pair are within four standard errors of its posterior."""
    random = np.random.default_rng(2)
    a, b, c = Variable("a", range(3)), Variable("b", range(2)), Variable("c", range(2))
    network = Network(
        [
            TableCPD(a, [], random.dirichlet(np.ones(3))),
            TableCPD(b, [a], random.dirichlet(np.ones(2), 3)),
            TableCPD(c, [a, b], random.dirichlet(np.ones(2), (3, 2))),
        ]
    )
    row = [-1, -1, 1]
    draws = 20_000
    completed = complete_rows(network, as_table(network, [row]), cap=2, draws=draws, seed=7)
    exact = Enumeration(network).posterior(["a", "b"], row)
    found = cells_of(network, completed)[:, :, 1]
    error = np.sqrt(exact * (1 - exact) / draws)
    assert (np.abs(found - exact) < 4 * error).all()
    again = complete_rows(network, as_table(network, [row]), cap=2, draws=draws, seed=7)
    assert again == completed
    assert complete_rows(network, as_table(network, [row]), cap=2, draws=draws, seed=8) != completed


@given(cases())
@lenient
def test_counts_of_the_completed_rows_are_expected_counts(case):
    """What structural EM counts in the completed rows is what EM expects (Eq. 2.16)."""
    from unveil.statistics.counting import family_counts

    completed = complete_rows(case.network, case.table, cap=10**6)
    counts = [
        family_counts(completed, c.variable, c.parents).ravel() for c in case.network.cpds.values()
    ]
    exact = expected_counts(case.network, case.codes, case.weights)
    np.testing.assert_allclose(np.concatenate(counts), exact, atol=1e-10)


def test_complete_rows_stay_as_they_are():
    network = naive_bayes(2, 3)
    rows = network.sample(30, seed=1)
    assert complete_rows(network, rows) == rows.with_weights(np.ones(30))


@pytest.mark.parametrize("cap", [64, 1])
def test_rows_that_cannot_be(cap):
    x, y = Variable("x", [0, 1]), Variable("y", [0, 1])
    network = Network([TableCPD(x, [], [1.0, 0.0]), TableCPD(y, [x], [[0.5, 0.5], [0.5, 0.5]])])
    rows = Table([x, y], [[0, 1, 0], [1, -1, -1]])
    with pytest.raises(ModelError, match="probability zero"):
        complete_rows(network, rows, cap=cap)


def test_rows_of_weight_zero_count_for_nothing():
    """Even where they cannot be."""
    x = Variable("x", [0, 1])
    network = Network([TableCPD(x, [], [1.0, 0.0])])
    completed = complete_rows(network, Table([x], [[0, 1, -1]], [2.0, 0.0, 1.0]))
    assert completed.column("x").tolist() == [0, 0]
    assert completed.row_weights.tolist() == [2.0, 1.0]


def test_negligible_completions_are_left_out_and_the_weight_of_every_row_stays():
    network = datasets.network("asia")
    rows = network.sample(200, seed=1).hide("bronc")
    every, likely = complete_rows(network, rows), complete_rows(network, rows, negligible=0.2)
    assert likely.n_rows < every.n_rows
    assert (likely.row_weights > 0.2).all()
    before, after = (t.without("bronc").folded() for t in (every, likely))
    assert after.with_weights(None) == before.with_weights(None)
    assert after.row_weights == pytest.approx(before.row_weights)


def test_draws_where_no_junction_tree_fits(monkeypatch):
    """From the list of all completions: the same shares as by the tree, up to chance."""
    asia = datasets.network("asia")
    rows = asia.sample(4, seed=3).knock_out(0.5, seed=4)
    usual = complete_rows(asia, rows, cap=1, draws=4000, seed=1)

    def refuse(*arguments, **settings):
        raise SizeError("too large")

    monkeypatch.setattr(JunctionTree, "__init__", refuse)
    asia = asia.map_variables(lambda v: v)
    found = complete_rows(asia, rows, cap=1, draws=4000, seed=1)
    assert found.is_complete
    assert found.total_weight == pytest.approx(4.0)
    for name in asia.names:
        here, there = (
            np.bincount(t.column(name), t.row_weights, 2) / t.total_weight for t in (found, usual)
        )
        np.testing.assert_allclose(here, there, atol=0.02)
    monkeypatch.setattr(costs, "MOST_ENTRIES", 3)
    with pytest.raises(SizeError):
        complete_rows(asia, rows, cap=1, draws=2, seed=1)


@pytest.mark.parametrize("negligible", [0.0, 0.05])
@pytest.mark.parametrize("hidden", [["either"], ["lung", "smoke"], []])
def test_hidden_columns_alone_are_weighed_as_gaps_are(hidden, negligible):
    """The short way, for rows that lack hidden variables only, gives what the long way does."""
    asia = datasets.network("asia")
    random = np.random.default_rng(3)
    flat = FlatTables(asia)
    network = flat.unpack(flat.normalised(flat.pack(asia) + 0.1))  # no zeros
    table = network.sample(60, seed=4).without(hidden).with_weights(random.gamma(1.0, size=60))
    short = complete_rows(network, table, negligible=negligible)
    gaps = {n: np.full(60, 255, np.uint8) for n in hidden}
    columns = [gaps[n] if n in gaps else table.column(n) for n in network.names]
    long = complete_rows(
        network, Table(network.variables, columns, table.row_weights), negligible=negligible
    )
    assert short.n_rows == long.n_rows
    np.testing.assert_allclose(cells_of(network, short), cells_of(network, long), atol=1e-12)


def test_a_hidden_variable_with_nothing_near_it_is_completed_by_itself():
    alone, shown = Variable("h", [0, 1], hidden=True), Variable("x", [0, 1])
    network = Network([TableCPD(alone, [], [0.3, 0.7]), TableCPD(shown, [], [0.5, 0.5])])
    completed = complete_rows(network, Table([shown], [[0, 1, 1]]))
    np.testing.assert_allclose(cells_of(network, completed), [[0.3, 0.6], [0.7, 1.4]])
