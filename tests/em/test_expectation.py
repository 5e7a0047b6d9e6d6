"""The E-step against enumeration (Eq. 2.16), whichever engine computes it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import Network, Table, TableCPD, Variable
from unveil.em import expectation
from unveil.em.expectation import Expectation
from unveil.model.flat import FlatTables
from unveil.em.hard import HardExpectation
from unveil.errors import DataError
from unveil.infer.shared import least_cells
from unveil.infer.tree import JunctionTree

from .cases import (
    best_completions,
    cases,
    expected_counts,
    log_likelihood,
    naive_bayes,
    random_tables,
)

lenient = settings(max_examples=60, deadline=None)
ENGINES = {
    "as it is": {},
    "reduced where it can": {"SMALL_GROUP": 0, "TREE_CELL_COST": 1e9},
    "tree": {"SMALL_GROUP": 10**12, "TREE_CELL_COST": 0.0},
    "a mixture": {"SMALL_GROUP": 40, "TREE_CELL_COST": 1.0},
}


@pytest.fixture(params=list(ENGINES))
def engine(request, monkeypatch):
    for name, value in ENGINES[request.param].items():
        monkeypatch.setattr(expectation, name, value)
    return request.param


@given(cases(), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_against_enumeration(case, seed):
    """Counts and log-likelihood at the network's own tables (with zeros) and at others."""
    flat = case.flat
    for tables in (flat.pack(case.network), random_tables(flat, seed)):
        exact = expected_counts(flat.unpack(tables), case.codes, case.weights)
        likelihood = log_likelihood(flat.unpack(tables), case.codes, case.weights)
        for engine in ENGINES.values():
            with pytest.MonkeyPatch.context() as patch:
                for name, value in engine.items():
                    patch.setattr(expectation, name, value)
                found = Expectation(flat, case.table)(tables)
            np.testing.assert_allclose(found.counts, exact, rtol=1e-9, atol=1e-11)
            assert found.log_likelihood == pytest.approx(likelihood, rel=1e-9, abs=1e-11)


def test_the_engines_are_what_they_are_called(engine):
    """So that the test above does compare different ones."""
    network = naive_bayes(3, 5, seed=1)
    table = network.sample(50, seed=2).hide("H").knock_out(0.2, seed=3)
    kinds = {type(g).__name__ for g in Expectation(FlatTables(network), table).groups}
    assert (
        kinds
        == {
            "as it is": {"_TreeRows"},
            "reduced where it can": {"_ReducedRows"},
            "tree": {"_TreeRows"},
            "a mixture": {"_TreeRows", "_ReducedRows"},
        }[engine]
    )


@given(cases(), st.integers(0, 10**6))
@lenient
def test_one_call_does_not_change_the_next(case, seed):
    flat = case.flat
    step = Expectation(flat, case.table)
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
    found = Expectation(flat, case.table)(tables)
    n = case.table.n_rows
    order = np.random.default_rng(seed).permutation(np.tile(np.arange(n), 2))
    twice = case.table.take(order)
    halves = twice.with_weights(twice.row_weights / 2)
    for table in (case.table.folded(), halves):
        other = Expectation(flat, table)(tables)
        np.testing.assert_allclose(other.counts, found.counts, rtol=1e-9, atol=1e-11)
        assert other.log_likelihood == pytest.approx(found.log_likelihood, rel=1e-9, abs=1e-11)


@given(cases(), st.integers(0, 10**6))
@lenient
def test_the_counts_of_every_family_sum_to_the_weight(case, seed):
    flat = case.flat
    step = Expectation(flat, case.table)
    for part in flat.split(step(random_tables(flat, seed)).counts):
        assert part.sum() == pytest.approx(case.weights.sum())
    assert step.total_weight == pytest.approx(case.weights.sum())


@given(cases(), st.integers(0, 10**6))
@lenient
def test_hard_completions_are_the_most_probable(case, seed):
    """The value is that of the best completions; the counts are those of rows that reach it."""
    flat = case.flat
    tables = random_tables(flat, seed)
    found = HardExpectation(flat, case.table)(tables)
    best = best_completions(flat.unpack(tables), case.codes, case.weights)
    assert found.log_likelihood == pytest.approx(best, rel=1e-9, abs=1e-11)
    used = found.counts > 0
    assert found.counts[used] @ np.log(tables[used]) == pytest.approx(best, rel=1e-9, abs=1e-11)


def test_columns_that_are_not_the_networks_do_not_matter():
    network = naive_bayes(2, 3)
    table = network.sample(20, seed=1).hide("H")
    flat = FlatTables(network)
    extra = table.with_column(Variable("Z", "ab"), np.arange(20) % 2)
    mine, other = (Expectation(flat, t)(flat.pack(network)) for t in (table, extra))
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
    mine, other = (Expectation(flat, t)(flat.pack(network)) for t in (table, turned))
    np.testing.assert_allclose(mine.counts, other.counts, rtol=1e-12)
    assert mine.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-12)


def test_vanishing_counts_are_still_normalised():
    """A state that EM drives out has counts below the smallest normal number on its way."""
    network = naive_bayes(2, 1)
    flat = FlatTables(network)
    tables = flat.normalised(np.array([1.0, 4e-309, 0.7, 0.3, 1e-309, 3e-309]))
    np.testing.assert_allclose(tables[4:], [0.25, 0.75], rtol=1e-9)
    np.testing.assert_allclose(flat.normalised(np.zeros(6)), 0.5)


@pytest.mark.parametrize("kind", [Expectation, HardExpectation])
def test_nothing_to_learn_from(kind):
    network = naive_bayes(2, 2)
    flat = FlatTables(network)
    table = network.sample(3, seed=1).hide("H")
    with pytest.raises(DataError, match="weights of all rows are zero"):
        kind(flat, table.with_weights(np.zeros(3)))
    with pytest.raises(DataError, match="none of the network's variables"):
        kind(flat, Table([Variable("Z", "ab")], [[0, 1]]))


@given(cases())
@lenient
def test_no_junction_tree_has_fewer_cells_than_the_bound(case):
    assert least_cells(case.network) <= JunctionTree(case.network).n_cells
