"""Rows left out of a very large table: some that are drawn stand for all."""

import numpy as np
import pytest

from unveil import Settings, datasets, learn
from unveil.discovery import predictions
from unveil.discovery.bench import Bench
from unveil.discovery.predictions import cross_validated, drawn_rows
from unveil.em.scores import hidden_scores
from unveil.model import fit
from unveil.progress import Ticker

SETTINGS = Settings()


def test_rows_are_drawn_only_where_different_ones_are_many(monkeypatch):
    rows = datasets.network("asia").sample(3000, seed=1)
    alarm = datasets.network("alarm").sample(1500, seed=1)
    assert drawn_rows(alarm, 1) is alarm
    monkeypatch.setattr(predictions, "MOST_ROWS", 500)
    assert drawn_rows(rows, 1) is rows  # few of them are different
    some = drawn_rows(alarm, 1)
    assert some.n_rows == 500
    assert some.names == alarm.names
    again = drawn_rows(alarm, 1)
    assert all(np.array_equal(some.column(n), again.column(n)) for n in some.names)


def test_drawn_rows_predict_about_as_all_do(monkeypatch):
    alarm = datasets.network("alarm")
    rows = alarm.sample(2000, seed=2)
    network = learn(rows).network
    whole = cross_validated(network, rows, SETTINGS, 5, 1)
    bench = Bench.of(network, hidden_scores(network, rows).cheeseman_stutz, rows, SETTINGS, 1)
    worse = network.dag.without_arc(*network.dag.arcs[0])
    poor = fit(worse, rows)
    gain = bench.saved(poor, Ticker()).bits
    monkeypatch.setattr(predictions, "MOST_ROWS", 1000)
    part = cross_validated(network, rows, SETTINGS, 5, 1)
    assert part.weights.sum() == 1000
    assert part.bits == pytest.approx(whole.bits, abs=4 * part.standard_error)
    fresh = Bench.of(network, bench.score, rows, SETTINGS, 1)
    assert fresh.saved(poor, Ticker()).bits == pytest.approx(gain, rel=0.5)
