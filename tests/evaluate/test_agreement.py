"""Hidden states beside a column that was kept out, against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from unveil import Network, Table, TableCPD, Variable
from unveil.errors import DataError
from unveil.evaluate import agreement, usual_bic


def certain(states, k):
    return np.eye(k)[states]


def test_counts_and_agreement_are_those_of_scikit_learn(random_seed):
    generator = np.random.default_rng(random_seed)
    truth = generator.integers(3, size=200)
    states = np.where(generator.random(200) < 0.7, truth, generator.integers(3, size=200))
    table = Table([Variable("truth", ["a", "b", "c"])], [truth])
    found = agreement("H1", [0, 1, 2], certain(states, 3), table, "truth")
    assert found.adjusted_rand == pytest.approx(adjusted_rand_score(truth, states))
    expected = [[((states == s) & (truth == v)).sum() for v in range(3)] for s in range(3)]
    np.testing.assert_array_equal(found.counts, expected)
    assert found.guessed == np.max(expected, axis=1).sum() / 200
    assert found.guessed_without == np.sum(expected, axis=0).max() / 200
    assert f"{found.guessed:.0%}" in found.words
    assert found.to_dict()["words"] == found.words


def test_a_weight_of_two_is_the_row_twice_and_gaps_do_not_count():
    truth, states = np.array([0, 1, 1, 0, 255], np.uint8), np.array([0, 1, 0, 0, 1])
    table = Table([Variable("t", ["no", "yes"])], [truth])
    weighted = agreement("H", [0, 1], certain(states, 2), table.with_weights([2, 1, 1, 1, 9]), "t")
    twice = [0, 0, 1, 2, 3, 4]
    plain = agreement("H", [0, 1], certain(states[twice], 2), table.take(twice), "t")
    np.testing.assert_array_equal(weighted.counts, plain.counts)
    assert weighted.adjusted_rand == pytest.approx(plain.adjusted_rand)
    assert weighted.counts.sum() == 5


def test_numbers_are_compared_in_three_parts():
    numbers = np.arange(90, dtype=float) + 0.5
    found = agreement(
        "H", [0, 1], certain((numbers > 45).astype(int), 2), Table([Variable("x")], [numbers]), "x"
    )
    assert found.counts.sum(axis=0).tolist() == [30, 30, 30]
    assert found.counts[0].tolist() == [30, 15, 0]


def test_a_posterior_of_other_rows_is_refused():
    table = Table([Variable("t", [0, 1])], [[0, 1]])
    with pytest.raises(DataError, match="2 rows"):
        agreement("H", [0, 1], certain([0, 1, 1], 2), table, "t")


def test_one_class_agrees_with_nothing_by_chance():
    table = Table([Variable("t", [0, 1])], [[0, 1, 0, 1]])
    found = agreement("H", [0, 1], certain([0, 0, 0, 0], 2), table, "t")
    assert found.adjusted_rand == 0.0
    assert found.guessed == found.guessed_without == 0.5


def test_bic_is_on_the_usual_scale():
    """-2 log L + d log N of a coin: two heads in four throws, one parameter."""
    table = Table([Variable("coin", ["h", "t"])], [[0, 1]], [2, 2])
    coin = Network([TableCPD(Variable("coin", ["h", "t"]), [], [0.5, 0.5])])
    assert usual_bic(coin, table) == pytest.approx(8 * np.log(2) + np.log(4))
