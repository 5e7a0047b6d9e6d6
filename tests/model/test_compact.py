"""What compact distributions share: fitting with a structure kept, states in another order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import EquivalentSampleSize, Network, PseudoCount, Table, TableCPD, Variable
from unveil.errors import ModelError, UnveilWarning
from unveil.model import DefaultTableCPD, NoisyOrCPD, Split, TreeCPD, fit
from unveil.model.table_cpd import table_of

A, B = Variable("a", [0, 1]), Variable("b", ["x", "y", "z"])
C = Variable("c", ["no", "yes"])
TREE = Split(0, (((0, 2), 0), ((1,), Split(1, (((0,), 1), ((1,), 2))))))
ROWS = [[0.7, 0.3], [0.1, 0.9], [0.5, 0.5]]
COMPACT = {
    "tree": TreeCPD(C, [B, A], TREE, ROWS),
    "default": DefaultTableCPD(C, [B, A], [[2, 1], [0, 0]], ROWS),
    "noisy-or": NoisyOrCPD(C, [B, A], 0, [1, 0], [[0.2, 0, 0.7], [0, 0.4]], 0.1),
}
every_kind = pytest.mark.parametrize("cpd", COMPACT.values(), ids=COMPACT)


@every_kind
def test_many_rows_bring_the_parameters_back(cpd):
    """Parents are kept in the order of the distribution, whatever the order of the nodes."""
    network = Network([TableCPD.uniform(A), TableCPD.uniform(B), cpd])
    rows = network.sample(40_000, seed=1)
    fitted = fit(network, rows, EquivalentSampleSize(1.0))
    assert fitted.cpd("c").parents == cpd.parents
    assert fitted.cpd("c").local_structure == cpd.local_structure
    np.testing.assert_allclose(fitted.cpd("c").values, cpd.values, atol=0.02)


@every_kind
def test_a_table_gives_the_distribution_back(cpd):
    again = cpd.with_values(cpd.values)
    np.testing.assert_allclose(again.values, cpd.values, atol=1e-14)
    assert table_of(cpd) is table_of(cpd)


@every_kind
@pytest.mark.parametrize(("axis", "order"), [(0, [2, 0, 1]), (1, [1, 0]), (2, [1, 0])])
def test_states_in_another_order(cpd, axis, order):
    permuted = cpd.permuted(axis, order)
    np.testing.assert_allclose(permuted.values, np.take(cpd.values, order, axis=axis))
    assert permuted.n_parameters == cpd.n_parameters


@every_kind
def test_other_numbers_of_states_are_told(cpd):
    network = Network([TableCPD.uniform(A), TableCPD.uniform(B), cpd])
    wider = Variable("b", ["w", "x", "y", "z"])
    rows = Table([A, wider, C], [np.arange(40) % 2, np.arange(40) % 4, np.arange(40) % 2])
    with pytest.warns(UnveilWarning, match="local structure of c is for other numbers"):
        assert fit(network, rows).cpd("c").kind == "table"


@given(st.integers(0, 10**6), st.sampled_from([EquivalentSampleSize(2.0), PseudoCount(1.0), None]))
@settings(max_examples=20, deadline=None)
def test_groups_are_estimated_from_their_counts_together(seed, prior):
    """A leaf has (S + alpha) / sum, S and alpha those of its configurations (Eq. 2.12)."""
    counts = np.random.default_rng(seed).gamma(1.0, size=(3, 2, 2))
    fitted = COMPACT["tree"].refitted(counts, prior)
    for leaf, inside in enumerate([[(0, 0), (0, 1), (2, 0), (2, 1)], [(1, 0)], [(1, 1)]]):
        n = sum(counts[u] for u in inside)
        if isinstance(prior, EquivalentSampleSize):
            n = n + len(inside) * 2.0 / 12
        n = n + (1.0 if isinstance(prior, PseudoCount) else 0.0)
        np.testing.assert_allclose(fitted.rows[leaf], n / n.sum())


def test_trees_that_are_none_are_refused():
    with pytest.raises(ModelError, match="each state that can come there once"):
        TreeCPD(C, [B], Split(0, (((0,), 0), ((1,), 1))), [[0.5, 0.5]] * 2)
    with pytest.raises(ModelError, match="numbered from 0"):
        TreeCPD(C, [A], Split(0, (((0,), 0), ((1,), 0))), [[0.5, 0.5]])
    with pytest.raises(ModelError, match="asks for parent 3"):
        TreeCPD(C, [A], Split(3, (((0,), 0), ((1,), 1))), [[0.5, 0.5]] * 2)
    with pytest.raises(ModelError, match=r"sum to 0\.6"):
        TreeCPD(C, [A], 0, [[0.5, 0.1]])
    with pytest.raises(ModelError, match="expected 2 numbers, got 1"):
        TreeCPD.from_dict(C, [A], {"tree": [1.0]})
    with pytest.raises(ModelError, match="'branches'"):
        TreeCPD.from_dict(C, [A], {"tree": {"parent": 0}})
    deep = [0.5, 0.5]
    for _ in range(400):
        deep = {"parent": 0, "branches": [{"states": [0, 1], "then": deep}]}
    with pytest.raises(ModelError, match="expected a list"):
        TreeCPD.from_dict(C, [A], {"tree": deep})


def test_default_tables_that_are_none_are_refused():
    with pytest.raises(ModelError, match="listed twice"):
        DefaultTableCPD(C, [A], [[0], [0]], [[0.5, 0.5]] * 3)
    with pytest.raises(ModelError, match="not there"):
        DefaultTableCPD(C, [A], [[2]], [[0.5, 0.5]] * 2)
    with pytest.raises(ModelError, match="2 configurations and 1 rows"):
        DefaultTableCPD.from_dict(C, [A], {"given": [[0], [1]], "values": [[0.5, 0.5]]})


def test_default_tables_without_parents():
    alone = DefaultTableCPD(C, [], np.zeros((0, 0)), [[0.25, 0.75]])
    assert alone.values.tolist() == [0.25, 0.75]
    listed = DefaultTableCPD(C, [], [[]], [[0.25, 0.75]])
    assert (listed.has_default, listed.n_parameters) == (False, 1)


def test_numbers_that_are_too_large_are_refused():
    huge = {"effect": 1, "leak": 10**400, "neutral": [0], "links": [[0, 0.5]]}
    with pytest.raises(ModelError, match="expected probabilities"):
        NoisyOrCPD.from_dict(C, [A], huge)
    with pytest.raises(ModelError, match="expected probabilities"):
        TreeCPD.from_dict(C, [A], {"tree": [10**400, 0]})


def test_parents_that_are_never_asked_for():
    tree = TreeCPD(C, [B, A], Split(1, (((0,), 0), ((1,), 1))), ROWS[:2])
    assert tree.used == (A,)
    fewer = tree.with_parents([A])
    np.testing.assert_allclose(np.stack([fewer.values] * 3), tree.values)
    with pytest.raises(ModelError, match="cannot be left out"):
        tree.with_parents([B])
