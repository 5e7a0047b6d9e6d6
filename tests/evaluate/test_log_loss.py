"""Bits per row, their standard error, and folds that deal every case exactly once."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import DAG, Network, PseudoCount, Table, TableCPD, Variable
from unveil.errors import DataError
from unveil.evaluate import LogLoss, cross_validate, log_loss, paired_gain
from unveil.evaluate.log_loss import fold_tables
from unveil.model import fit

COIN = Variable("coin", ["heads", "tails"])
DIE = Variable("die", range(1, 7))


def coin(p):
    return Network([TableCPD(COIN, [], [p, 1 - p])])


def tosses(heads, tails):
    return Table([COIN], [[0] * heads + [1] * tails])


# Bits ------------------------------------------------------------------------------------------


def test_a_fair_coin_costs_a_bit_and_a_fair_die_log_six():
    loss = log_loss(coin(0.5), tosses(3, 4))
    assert loss.bits == 1.0
    assert loss.standard_error == 0.0
    die = Network([TableCPD.uniform(DIE)])
    assert log_loss(die, die.sample(10, seed=0)).bits == pytest.approx(math.log2(6))


def test_the_standard_error_is_that_of_a_mean():
    loss = log_loss(coin(0.25), tosses(30, 10))
    bits = np.array([2.0] * 30 + [-math.log2(0.75)] * 10)
    np.testing.assert_allclose(loss.per_row, bits)
    assert loss.bits == pytest.approx(bits.mean())
    assert loss.standard_error == pytest.approx(bits.std(ddof=1) / math.sqrt(40))
    assert str(loss) == f"{bits.mean():.4f} bits per row (standard error {loss.standard_error:.4f})"


def test_a_row_of_weight_w_is_w_rows():
    weighted = log_loss(coin(0.25), Table([COIN], [[0, 1]], [30, 10]))
    plain = log_loss(coin(0.25), tosses(30, 10))
    assert weighted.bits == pytest.approx(plain.bits, rel=1e-14)
    assert weighted.standard_error == pytest.approx(plain.standard_error, rel=1e-12)
    assert weighted.weights.tolist() == [30, 10]


def test_an_impossible_row_costs_everything_and_one_row_has_no_error():
    loss = log_loss(coin(1.0), tosses(1, 1))
    assert (loss.bits, loss.standard_error) == (math.inf, math.inf)
    assert log_loss(coin(0.5), tosses(1, 0)).standard_error == 0.0


def test_an_impossible_row_of_no_weight_costs_nothing():
    loss = log_loss(coin(1.0), Table([COIN], [[0, 1]], [3.0, 0.0]))
    assert (loss.bits, loss.standard_error) == (0.0, 0.0)


@pytest.mark.parametrize("table", [tosses(0, 0), Table([COIN], [[0, 1]], [0.0, 0.0])])
def test_no_rows_have_no_mean(table):
    with pytest.raises(DataError, match="no row has any weight"):
        log_loss(coin(0.5), table)


# Gains -----------------------------------------------------------------------------------------


def test_a_gain_is_paired_row_by_row():
    table = tosses(30, 10)
    better, worse = log_loss(coin(0.75), table), log_loss(coin(0.5), table)
    gain = paired_gain(better, worse)
    difference = worse.per_row - better.per_row
    assert gain.bits == pytest.approx(worse.bits - better.bits)
    assert gain.bits > 0
    assert gain.standard_error == pytest.approx(difference.std(ddof=1) / math.sqrt(40))
    assert paired_gain(worse, better).bits == pytest.approx(-gain.bits)
    assert paired_gain(better, better).standard_error == 0


def test_different_rows_cannot_be_paired():
    with pytest.raises(DataError, match="different rows: 40 and 3"):
        paired_gain(log_loss(coin(0.5), tosses(30, 10)), log_loss(coin(0.5), tosses(3, 0)))


# Folds -----------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=12).filter(lambda w: sum(w) >= 4),
    st.integers(2, 4),
    st.integers(0, 10**6),
)
@settings(max_examples=50, deadline=None)
def test_whole_weights_are_dealt_case_by_case(weights, folds, seed):
    """Every case is left out once and learned from in all the other folds; folds are even."""
    table = Table([Variable("row", range(len(weights)))], [range(len(weights))], weights)
    held = np.zeros(len(weights))
    sizes = []
    for training, held_out in fold_tables(table, folds, seed):
        both = np.zeros(len(weights))
        np.add.at(both, training.column("row").astype(int), training.row_weights)
        np.add.at(both, held_out.column("row").astype(int), held_out.row_weights)
        assert both.tolist() == weights
        np.add.at(held, held_out.column("row").astype(int), held_out.row_weights)
        sizes.append(held_out.total_weight)
    assert held.tolist() == weights
    assert len(sizes) == folds
    assert max(sizes) - min(sizes) <= 1


def test_fractional_weights_are_dealt_whole():
    weights = np.random.default_rng(0).gamma(1.0, size=30)
    table = Table([Variable("row", range(30))], [range(30)], weights)
    seen = []
    for training, held_out in fold_tables(table, 5, 1):
        codes = held_out.column("row").astype(int)
        np.testing.assert_array_equal(held_out.row_weights, weights[codes])
        assert not set(codes) & set(training.column("row").astype(int).tolist())
        seen += codes.tolist()
    assert sorted(seen) == list(range(30))


def test_every_row_is_predicted_once_by_the_other_folds():
    """The learner remembers what it saw; a row it saw must not be among those it predicts."""
    rows = Variable("row", range(20))
    table = Table([rows], [range(20)])
    trained = []

    def learner(training):
        trained.append(set(training.column("row").tolist()))
        return fit(DAG(["row"]), training, PseudoCount(1.0))

    loss = cross_validate(table, learner, folds=4, seed=0)
    assert len(trained) == 4
    assert all(len(seen) == 15 for seen in trained)
    # Never seen: (0 + 1) / (15 + 20). A leak would make it 2 / 35.
    np.testing.assert_allclose(loss.per_row, math.log2(35))
    assert loss.weights.sum() == 20


def test_leaving_one_out_by_hand():
    table = tosses(3, 2)
    loss = cross_validate(table, lambda t: fit(DAG(["coin"]), t, PseudoCount(1.0)), folds=5, seed=0)
    expected = [-math.log2((2 + 1) / 6)] * 3 + [-math.log2((1 + 1) / 6)] * 2
    assert loss.bits == pytest.approx(np.mean(expected))
    assert loss.standard_error == pytest.approx(np.std(expected, ddof=1) / math.sqrt(5))
    folded = cross_validate(
        table.folded(), lambda t: fit(DAG(["coin"]), t, PseudoCount(1.0)), folds=5, seed=3
    )
    assert folded.bits == pytest.approx(loss.bits)


def test_the_time_limit_of_a_cross_validation_binds():
    """Folds of 50 ms each: those done in time count, and the result says that not all were."""
    table = tosses(30, 20)

    def slow(training):
        time.sleep(0.05)
        return fit(DAG(["coin"]), training, PseudoCount(1.0))

    began = time.monotonic()
    loss = cross_validate(table, slow, folds=40, seed=0, time_limit=0.4)
    assert time.monotonic() - began < 1.2
    assert 1 <= len(loss.folds) <= 8
    assert loss.n_folds == 40
    assert loss.stopped == "time limit"
    assert not loss.is_whole
    assert len(cross_validate(table, slow, folds=3, seed=0, time_limit=0.0).folds) == 1


def test_folds_by_seed():
    table = tosses(30, 20)

    def dealt(seed):
        return [held.column("coin").sum() for _, held in fold_tables(table, 5, seed)]

    assert dealt(1) == dealt(1)
    assert any(dealt(1) != dealt(seed) for seed in range(2, 6))


@pytest.mark.parametrize("folds", [0, 1, 6, -2])
def test_too_few_or_too_many_folds(folds):
    with pytest.raises(DataError, match=f"between 2 and the 5 cases, got {folds}"):
        list(fold_tables(tosses(3, 2), folds, 0))


def test_log_loss_is_a_record():
    loss = LogLoss.of(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    assert (loss.bits, loss.standard_error) == (2.0, 1.0)
    with pytest.raises(AttributeError):
        loss.bits = 3
