"""Leaving rows out in one pass is leaving them out one by one; kernels and networks agree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import Table, Variable
from unveil.classify.classifier import Classifier
from unveil.classify.columns import Columns, columns_of, with_cuts
from unveil.classify.cuts import class_cuts
from unveil.classify.families import (
    best_strength,
    family_scores,
    left_out_scores,
    log_share,
    shares,
)
from unveil.classify.networks import counted_network
from unveil.classify.search import State, conditional_search, selected
from unveil.classify.structure import Structure, k_dependence, naive, tree_augmented


def random_columns(seed, n=40, k=3, weights=False, numbers=True):
    random = np.random.default_rng(seed)
    y = random.integers(k, size=n)
    y[:k] = range(k)
    a = (y + random.integers(2, size=n)) % 4
    b = (a + random.integers(3, size=n)) % 3
    c = random.integers(2, size=n)
    variables = [
        Variable("a", list("pqrs")),
        Variable("b", list("xyz")),
        Variable("c", ["no", "yes"]),
    ]
    cells = [a, b, c]
    if numbers:
        x = random.normal(y, 1.0)
        x[5] = np.nan
        variables.append(Variable("x"))
        cells.append(x)
    mass = random.integers(1, 4, n).astype(float) if weights else None
    target = Variable("y", [f"c{i}" for i in range(k)])
    return Columns(Table([*variables, target], [*cells, y], mass), target)


STRUCTURES = {
    "naive": lambda c: naive(c),
    "tan": tree_augmented,
    "kdb": lambda c: k_dependence(c, 2),
    "general": lambda c: Structure({"a": ("c", "b"), "b": ("c",)}, ("c",)),
    "class below": lambda c: Structure({"a": ()}, ("b", "c")),
}


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("weighted", [False, True])
def test_one_pass_is_leaving_rows_out_one_by_one(name, weighted):
    columns = random_columns(1, weights=weighted)
    structure = STRUCTURES[name](columns)
    found = shares(left_out_scores(columns, structure, 2.0))
    weights = columns.weights
    for row in range(columns.n_rows):
        rest = weights.copy()
        rest[row] -= 1.0
        others = columns.take(columns.table.with_weights(rest))
        network = counted_network(others, structure, 2.0)
        alone = columns.table.take([row]).without("y")
        expected = Classifier(network, "y").probabilities(alone)[0]
        np.testing.assert_allclose(found[row], expected, rtol=1e-9)


def test_a_weight_of_two_is_the_row_twice():
    columns = random_columns(2, weights=True)
    rows = np.repeat(np.arange(columns.n_rows), columns.weights.astype(int))
    twice = columns.take(columns.table.with_weights(None).take(rows))
    structure = k_dependence(columns, 2)
    assert structure == k_dependence(twice, 2)
    once, apart = (left_out_scores(c, structure, 1.0) for c in (columns, twice))
    np.testing.assert_allclose(once[rows], apart, rtol=1e-9)
    assert log_share(columns, once) == pytest.approx(log_share(twice, apart))
    assert best_strength(columns, structure) == best_strength(twice, structure)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_changed_states_are_states_from_scratch(seed):
    columns = random_columns(seed, n=30)
    state = State.of(columns, naive(columns), 1.0)
    for structure in (
        tree_augmented(columns),
        Structure({"a": ("b",), "b": ()}, ("c",)),
        naive(columns).without("x"),
    ):
        state = state.changed(structure)
        np.testing.assert_allclose(state.value, State.of(columns, structure, 1.0).value)


def test_searches_end_at_legal_structures_that_gain():
    columns = random_columns(3, n=400, numbers=False)
    start = State.of(columns, naive(columns), 1.0).value
    found = conditional_search(columns, 1.0)
    assert found.is_acyclic
    assert State.of(columns, found, 1.0).value >= start
    fewer = selected(columns, naive(columns), 1.0)
    assert State.of(columns, fewer, 1.0).value >= start
    assert "c" not in fewer.used  # which is noise


def test_a_xor_is_found_by_the_search_and_by_no_naive_bayes():
    random = np.random.default_rng(1)
    a, b = random.integers(2, size=(2, 400))
    table = Table.from_frame({"a": a, "b": b, "y": a ^ b})
    columns = columns_of(table, "y")
    found = conditional_search(columns, 1.0)
    assert log_share(columns, left_out_scores(columns, found, 1.0)) / 400 > -0.05
    assert log_share(columns, left_out_scores(columns, naive(columns), 1.0)) / 400 < -0.65


def test_the_tree_is_the_best_of_all_trees():
    columns = random_columns(4, numbers=False)
    from unveil.classify.structure import information

    between, _ = information(columns)
    names = columns.discrete
    tree = tree_augmented(columns)
    weight = sum(
        between[names.index(n), names.index(p)] for n, ps in tree.parents.items() for p in ps
    )
    pairs = [between[0, 1] + between[0, 2], between[0, 1] + between[1, 2]]
    pairs.append(between[0, 2] + between[1, 2])
    assert weight == pytest.approx(max(pairs))


@pytest.mark.parametrize("seed", range(5))
def test_perfect_structures_are_perfect(seed):
    columns = random_columns(seed, numbers=False)
    parents = k_dependence(columns, 2, perfect=True).parents
    for own in parents.values():
        for p in own:
            for q in own:
                assert p == q or p in parents[q] or q in parents[p]


def test_counts_of_a_class_are_those_of_the_course():
    """(N_ijk + alpha_ijk) / (N_ij + alpha_ij), by hand, for one predictor."""
    table = Table.from_frame({"x": ["a", "a", "b", "b"], "y": ["n", "n", "n", "p"]})
    columns = columns_of(table, "y")
    network = counted_network(columns, naive(columns), 1.0)
    share = (2 + 0.5) / (4 + 1)  # P(x = a) with the prior of weight one spread over two states
    assert network.cpd("x").values[0, 0] == pytest.approx((2 + share) / (3 + 1))
    assert network.cpd("y").values[0] == pytest.approx((3 + 0.5) / (4 + 1))


# Cuts ------------------------------------------------------------------------------------------


def test_cuts_by_the_principle_of_fayyad_and_irani():
    x = np.arange(60.0)
    y = np.where(x < 20, 0, np.where(x < 40, 1, 0))
    assert class_cuts(x, y, np.ones(60), 2) == (19.5, 39.5)
    assert class_cuts(x, np.arange(60) % 2, np.ones(60), 2) == ()
    assert class_cuts([np.nan, 1.0], [0, 1], np.ones(2), 2) == ()
    random = np.random.default_rng(1)
    assert class_cuts(random.normal(size=300), random.integers(2, size=300), np.ones(300), 2) == ()


def test_one_cut_is_kept_when_it_saves_more_than_it_costs():
    """The inequality itself, on a table of ten rows with one row on the wrong side."""
    x, y = np.arange(10.0), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    found = class_cuts(x, y, np.ones(10), 2)
    before = -(0.5 * np.log2(0.5)) * 2
    after = 0.6 * -(1 / 6 * np.log2(1 / 6) + 5 / 6 * np.log2(5 / 6))
    cost = (np.log2(9) + np.log2(7) - (2 * before - 0 - 2 * after / 0.6)) / 10
    assert (before - after > cost) == (3.5 in found)


def test_numbers_are_cut_and_gaps_stay_told():
    random = np.random.default_rng(1)
    y = random.integers(2, size=200)
    x = y * 3 + random.normal(size=200)
    x[:9] = np.nan
    columns = with_cuts(
        columns_of(Table.from_frame({"x": x, "noise": random.normal(size=200), "y": y}), "y")
    )
    assert columns.names == ("x",)
    assert columns.variables[0].states[-1] == "(empty)"
    assert len(columns.variables[0].cuts) >= 1
    assert (columns.codes("x")[:9] == columns.size("x") - 1).all()


def test_missing_numbers_say_nothing():
    columns = random_columns(1)
    scores = family_scores(columns, "x", (), 1.0)
    assert (scores[5] == 0).all()
