"""Parameters from counts: closed forms, priors, weights, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import (
    DAG,
    EquivalentSampleSize,
    Network,
    PriorNetwork,
    PseudoCount,
    Table,
    TableCPD,
    Variable,
)
from unveil.errors import DataError, ModelError, SizeError, UnveilError
from unveil.model import fit
from unveil.statistics.counting import family_counts

U = Variable("u", ["a", "b", "c"])
V = Variable("v", [0, 1])
X = Variable("x", ["lo", "mid", "hi"])
DAG_X = DAG(["u", "v", "x"], [("u", "x"), ("v", "x")])


def table_of(seed, n_rows=60, weighted=True):
    """Rows in which the parents are never (c, 1)."""
    generator = np.random.default_rng(seed)
    u, v = generator.integers(3, size=n_rows), generator.integers(2, size=n_rows)
    v[u == 2] = 0
    weights = generator.gamma(1.0, size=n_rows) if weighted else None
    return Table([U, V, X], [u, v, generator.integers(3, size=n_rows)], weights)


def counts_by_hand(table, names):
    shape = [table.variable(name).n_states for name in names]
    counts = np.zeros(shape)
    for i in range(table.n_rows):
        counts[tuple(int(table.column(name)[i]) for name in names)] += table.row_weights[i]
    return counts


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=25, deadline=None)
def test_maximum_likelihood_is_the_share_of_the_weight(seed, weighted):
    table = table_of(seed, weighted=weighted)
    network = fit(DAG_X, table)
    counts = counts_by_hand(table, ["u", "v", "x"])
    parents = [p.name for p in network.cpd("x").parents]
    got = network.cpd("x").with_parent_order(["u", "v"]).values
    assert sorted(parents) == ["u", "v"]
    for u, v in np.ndindex(3, 2):
        total = counts[u, v].sum()
        expected = counts[u, v] / total if total else np.full(3, 1 / 3)
        np.testing.assert_allclose(got[u, v], expected, rtol=1e-12)
    assert counts[2, 1].sum() == 0
    np.testing.assert_allclose(
        network.cpd("v").values, counts.sum(axis=(0, 2)) / counts.sum(), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("prior", "alpha"),
    [
        (PseudoCount(1.0), 1.0),
        (PseudoCount(0.25), 0.25),
        (EquivalentSampleSize(1.0), 1 / 18),
        (EquivalentSampleSize(36.0), 2.0),
    ],
)
def test_the_posterior_mean_adds_imagined_cases(prior, alpha):
    table = table_of(3)
    counts = counts_by_hand(table, ["u", "v", "x"])
    expected = (counts + alpha) / (counts.sum(axis=-1, keepdims=True) + 3 * alpha)
    got = fit(DAG_X, table, prior).cpd("x").with_parent_order(["u", "v"]).values
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_a_prior_network_imagines_its_own_marginals(joint_of):
    generator = np.random.default_rng(1)
    prior_network = Network(
        [
            TableCPD(V, [X], generator.dirichlet([1, 1], size=3)),
            TableCPD(X, [], generator.dirichlet([1, 1, 1])),
            TableCPD(U, [V, X], generator.dirichlet([1, 1, 1], size=(2, 3))),
        ]
    )
    size = 12.0
    prior = PriorNetwork(prior_network, size)
    joint = joint_of(prior_network)  # axes v, x, u
    np.testing.assert_allclose(
        prior.pseudo_counts(X, [U, V]), size * joint.transpose(2, 0, 1), rtol=1e-12
    )
    np.testing.assert_allclose(prior.pseudo_counts(V, []), size * joint.sum(axis=(1, 2)))
    table = table_of(5)
    alpha = size * joint.transpose(2, 0, 1)
    counts = counts_by_hand(table, ["u", "v", "x"]) + alpha
    got = fit(DAG_X, table, prior).cpd("x").with_parent_order(["u", "v"]).values
    np.testing.assert_allclose(got, counts / counts.sum(axis=-1, keepdims=True), rtol=1e-12)


@given(st.integers(0, 10**6), st.sampled_from([None, PseudoCount(0.5), EquivalentSampleSize(3.0)]))
@settings(max_examples=20, deadline=None)
def test_weight_two_is_the_row_twice(seed, prior):
    table = table_of(seed, n_rows=20, weighted=False)
    times = np.random.default_rng(seed).integers(0, 4, size=20)
    repeated = table.take(np.repeat(np.arange(20), times))
    weighted = table.with_weights(times.astype(float))
    if times.sum() == 0:
        return
    here, there = fit(DAG_X, weighted, prior), fit(DAG_X, repeated, prior)
    folded = fit(DAG_X, repeated.folded(), prior)
    for name in "uvx":
        np.testing.assert_allclose(here.cpd(name).values, there.cpd(name).values, rtol=1e-12)
        np.testing.assert_allclose(here.cpd(name).values, folded.cpd(name).values, rtol=1e-12)


def test_maximum_likelihood_is_the_most_likely(random_seed):
    table = table_of(random_seed)
    best = fit(DAG_X, table).log_likelihood(table)
    for size in (0.1, 1.0, 10.0):
        assert fit(DAG_X, table, EquivalentSampleSize(size)).log_likelihood(table) < best


def test_counts_and_their_shape():
    table = table_of(2)
    np.testing.assert_allclose(
        family_counts(table, X, [V, U]), counts_by_hand(table, ["v", "u", "x"]), rtol=1e-12
    )
    np.testing.assert_allclose(family_counts(table, X, []), counts_by_hand(table, ["x"]))


def test_no_rows_teach_nothing():
    network = fit(DAG_X, table_of(0).take([]))
    assert (network.cpd("x").values == 1 / 3).all()
    posterior_mean = fit(DAG_X, table_of(0).take([]), PseudoCount(1.0)).cpd("x").values
    np.testing.assert_allclose(posterior_mean, 1 / 3, rtol=1e-15)


def test_columns_outside_the_graph_do_not_matter():
    table = table_of(0)
    assert fit(DAG(["u"]), table) == fit(DAG(["u"]), table.select(["u"]))


# What is refused -------------------------------------------------------------------------------


def test_a_missing_cell_is_named():
    table = Table([U, V, X], [[0, 1], [1, 0], [2, -1]])
    with pytest.raises(DataError) as caught:
        fit(DAG_X, table)
    assert str(caught.value) == (
        "column 'x' has 1 missing cells (the first in row 2); "
        "fitting by counting needs complete rows"
    )


def test_an_absent_column_is_named():
    with pytest.raises(UnveilError, match="no column 'z'"):
        fit(DAG(["u", "z"]), table_of(0))


def test_a_discrete_child_of_a_continuous_parent_is_refused():
    table = Table([U, Variable("age")], [[0, 1], [31.5, 44.0]])
    with pytest.raises(DataError, match="'u' has the continuous parent 'age'"):
        fit(DAG(["u", "age"], [("age", "u")]), table)


@pytest.mark.parametrize("number", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("kind", [PseudoCount, EquivalentSampleSize])
def test_a_prior_needs_a_positive_number(kind, number):
    with pytest.raises(ModelError, match=f"must be a positive number, got {number}"):
        kind(number)


def test_a_prior_network_must_know_the_states():
    prior = PriorNetwork(Network([TableCPD.uniform(Variable("u", ["a", "b"]))]))
    with pytest.raises(ModelError) as caught:
        fit(DAG(["u"]), table_of(0), prior)
    assert str(caught.value) == (
        "the prior network has other states for 'u' than the table: "
        "['a', 'b'] against ['a', 'b', 'c']"
    )
    with pytest.raises(ModelError, match="size must be a positive number, got 0"):
        PriorNetwork(Network([TableCPD.uniform(U)]), 0)


def test_an_absurd_family_is_refused_before_it_is_counted():
    wide = [Variable(f"p{i}", range(200)) for i in range(5)]
    table = Table([*wide, V], [[0]] * 6)
    dag = DAG([v.name for v in table.variables], [(v.name, "v") for v in wide])
    with pytest.raises(SizeError, match="the table of 'v' given 5 parents would have"):
        fit(dag, table)
