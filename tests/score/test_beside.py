"""Families of completed rows: the same scores, whoever scored those of the columns shown."""

import numpy as np
import pytest

from unveil import BIC, Table, Variable, datasets
from unveil.score import BDeu, FamilyScores
from unveil.score.beside import FamiliesBeside, families_beside
from unveil.search import combined_search


@pytest.fixture(scope="module")
def rows():
    """Rows with a hidden column filled in twice, each time with half of the weight or so."""
    random = np.random.default_rng(1)
    shown = datasets.network("asia").sample(300, seed=1).with_weights(random.gamma(2.0, size=300))
    twice = shown.take(np.repeat(np.arange(300), 2))
    share = random.random(300)
    weights = twice.row_weights * np.column_stack([share, 1 - share]).ravel()
    hidden = Variable("a hidden one", [0, 1], hidden=True)
    completed = twice.with_column(hidden, np.tile([0, 1], 300)).with_weights(weights)
    return shown, completed.select(sorted(completed.names))


def test_toggles_and_families_are_those_of_all_columns(rows):
    shown, completed = rows
    beside, plain = families_beside(shown, completed, BDeu(1)), FamilyScores(completed, BDeu(1))
    assert isinstance(beside, FamiliesBeside)
    families = [(3, ()), (3, (1, 2)), (0, (4,)), (5, (0, 2)), (2, (0,))]
    np.testing.assert_allclose(beside.many(families), plain.many(families), atol=1e-8)
    for family in families:
        np.testing.assert_allclose(beside.toggles(*family), plain.toggles(*family), atol=1e-8)


def test_a_search_ends_at_the_same_graph(rows):
    shown, completed = rows
    beside = combined_search(families_beside(shown, completed, BDeu(1)))
    plain = combined_search(FamilyScores(completed, BDeu(1)))
    assert beside.score == pytest.approx(plain.score)
    assert beside.dag == plain.dag


def test_what_was_scored_stays_with_the_table(rows):
    shown, completed = rows
    first = families_beside(shown, completed, BDeu(2))
    first.toggles(3, (1,))
    n = first.shown.n_scored
    again = families_beside(shown, completed, BDeu(2))
    again.toggles(3, (1,))
    assert again.shown is first.shown
    assert again.shown.n_scored == n


def test_penalties_that_know_all_variables_and_gaps_see_all_columns(rows):
    shown, completed = rows
    assert not isinstance(families_beside(shown, completed, BIC()), FamiliesBeside)
    gaps = shown.knock_out(0.1, seed=1)
    assert not isinstance(families_beside(gaps, completed, BDeu(1)), FamiliesBeside)
    assert isinstance(gaps, Table)


def test_other_weights_have_other_scores(rows):
    """Annealing reweights rows: nothing that was scored under other weights may come back."""
    shown, completed = rows
    families_beside(shown, completed, BDeu(1)).toggles(3, (1,))
    halved = shown.with_weights(shown.row_weights / 2)
    both = completed.with_weights(completed.row_weights / 2)
    beside, plain = families_beside(halved, both, BDeu(1)), FamilyScores(both, BDeu(1))
    np.testing.assert_allclose(beside.toggles(3, (1,)), plain.toggles(3, (1,)), atol=1e-8)
