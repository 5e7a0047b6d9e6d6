"""Engines: the one in memory against a plain one, and whoever takes either."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import PlainEngine
from score.tables import random_table, tables

from unveil import DAG, PseudoCount
from unveil.errors import DataError
from unveil.model import ConditionalGaussianCPD, LinearGaussianCPD, TableCPD, fit
from unveil.model.kinds import kind_for
from unveil.statistics import MemoryStatistics, Reweightable, ScoreTerms, as_statistics, counting
from unveil.table import Table, Variable

lenient = settings(max_examples=30, deadline=None)


def mixed_table(seed=0, n=80):
    """Two discrete columns and two continuous ones far from zero, weighted."""
    random = np.random.default_rng(seed)
    d, e = random.integers(2, size=n), random.integers(3, size=n)
    u = 1e6 + random.normal(size=n) + d
    x = 2.0 * u - e + random.normal(size=n)
    variables = [Variable("d", "ab"), Variable("e", [0, 1, 2]), Variable("u"), Variable("x")]
    return Table(variables, [d, e, u, x], random.gamma(1.0, size=n))


@given(tables(), st.data())
@lenient
def test_many_sets_of_counts_in_one_call(table, data):
    n = len(table.names)
    sets = data.draw(st.lists(st.lists(st.integers(0, n - 1), unique=True, min_size=1), max_size=5))
    plain = PlainEngine(table)
    for fast, slow in zip(MemoryStatistics(table).counts(sets), plain.counts(sets), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-12)
    assert plain.n_calls == 1


@given(tables(), st.data())
@lenient
def test_distinct_assignments(table, data):
    n = len(table.names)
    members = data.draw(st.lists(st.integers(0, n - 1), unique=True))
    keys = data.draw(st.sampled_from([1 << 62, 5]))
    fast, slow = MemoryStatistics(table), PlainEngine(table).distinct(members)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "MOST_KEYS", keys)
        found = fast.distinct(members)
    np.testing.assert_array_equal(found.codes, slow.codes)
    np.testing.assert_allclose(found.weights, slow.weights)
    columns = [table.column(table.names[m]) for m in members]
    for row, which in enumerate(found.which):
        assert found.codes[which].tolist() == [int(c[row]) for c in columns]


@pytest.mark.parametrize("by", [(), (0,), (1, 0)])
def test_moments_by_configuration(by):
    table = mixed_table()
    found, plain = (e.moments([2, 3], by) for e in (MemoryStatistics(table), PlainEngine(table)))
    np.testing.assert_allclose(found.weights, plain.weights, rtol=1e-12)
    np.testing.assert_allclose(found.means, plain.means, rtol=1e-12)
    np.testing.assert_allclose(found.scatters, plain.scatters, rtol=1e-8, atol=1e-8)
    together = MemoryStatistics(table).moments([2, 3]).at(())
    np.testing.assert_allclose(found.pooled().mean, together.mean, rtol=1e-12)
    np.testing.assert_allclose(found.pooled().scatter, together.scatter, rtol=1e-8)
    twice = found + found
    np.testing.assert_allclose(twice.weights, 2 * found.weights)
    np.testing.assert_allclose(twice.scatters, 2 * found.scatters)


def test_what_engines_offer_besides():
    table = random_table(0, (2, 3), 20)
    memory, plain = MemoryStatistics(table), PlainEngine(table)
    assert isinstance(memory, Reweightable)
    assert isinstance(memory, ScoreTerms)
    assert not isinstance(plain, Reweightable)
    assert not isinstance(plain, ScoreTerms)
    assert as_statistics(plain) is plain
    assert as_statistics(table).variables == table.variables
    weights = np.arange(20.0)
    expected = MemoryStatistics(table.with_weights(weights)).counts([[0, 1]])
    np.testing.assert_array_equal(memory.with_weights(weights).counts([[0, 1]]), expected)


@pytest.mark.parametrize("prior", [None, PseudoCount(1.0)])
def test_fitting_through_any_engine(prior):
    table = mixed_table()
    arcs = [("e", "d"), ("d", "x"), ("u", "x"), ("e", "u")]
    dag = DAG(table.names, arcs)
    plain = PlainEngine(table)
    found, usual = fit(dag, plain, prior), fit(dag, table, prior)
    np.testing.assert_allclose(found.log_likelihood(table), usual.log_likelihood(table), rtol=1e-9)
    assert plain.n_calls == 3  # all counts at once, and moments of two families
    with pytest.raises(DataError, match="no column 'z'; it has 'd', 'e', 'u', 'x'"):
        fit(DAG(["z"]), plain)


def test_kinds_of_distributions():
    d, x, u = Variable("d", "ab"), Variable("x"), Variable("u")
    assert kind_for(d, [Variable("e", "ab")]) is TableCPD
    assert kind_for(x, [u]) is LinearGaussianCPD
    assert kind_for(x, [u, d]) is ConditionalGaussianCPD
    with pytest.raises(DataError, match="'d' has the continuous parent 'x'"):
        kind_for(d, [x])


def test_estimates_are_made_from_statistics_alone():
    table = mixed_table()
    d, e, u, x = table.variables
    memory = MemoryStatistics(table)
    cpd = ConditionalGaussianCPD.estimate(x, [d, u], memory.moments([2, 3], [0]))
    assert cpd == fit(DAG(table.names, [("d", "x"), ("u", "x")]), table).cpd("x")
    table_cpd = TableCPD.estimate(d, [e], memory.counts([[1, 0]])[0], PseudoCount(2.0))
    assert table_cpd == fit(DAG(table.names, [("e", "d")]), table, PseudoCount(2.0)).cpd("d")
    nothing = memory.with_weights(np.zeros(table.n_rows)).moments([2, 3]).at(())
    with pytest.raises(DataError, match="'x' cannot be fitted: its rows weigh nothing"):
        LinearGaussianCPD.estimate(x, [u], nothing)
