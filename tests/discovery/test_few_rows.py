"""Continuous hidden parents where rows are few for the columns."""

from __future__ import annotations

import numpy as np
import pytest

from unveil import Table, Variable
from unveil.discovery.continuous.call import discover_numbers
from unveil.discovery.continuous.few import clearly_better, few_rows, find_in_few
from unveil.discovery.continuous.procedure import find_hidden_parents
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.evidence import gain_in_words
from unveil.em.lines import Observed
from unveil.evaluate import log_loss
from unveil.evaluate.log_loss import LogLoss
from unveil.progress import Ticker

SETTINGS = NumberSettings()


def below_one(rows=12, columns=40, seed=3, more=500):
    """Columns below one hidden parent: few rows, and further ones."""
    generator = np.random.default_rng(seed)
    weights = generator.choice([-1, 1], columns) * generator.uniform(1, 2, columns)
    h = generator.normal(size=(rows + more, 1))
    values = h * weights + generator.normal(size=(rows + more, columns))
    names = [f"g{i:02d}" for i in range(columns)]
    return tuple(
        Table.from_frame(dict(zip(names, part.T, strict=True)))
        for part in (values[:rows], values[rows:])
    )


def test_one_parent_of_forty_columns_shows_in_twelve_rows():
    table, new = below_one()
    report = discover_numbers(table, seed=1, resamples=2, compare=False)
    assert report.hidden == ("H1",)
    assert len(report.network.dag.children("H1")) > 30
    assert clearly_better(report.left_out)
    assert log_loss(report.network, new).bits < log_loss(report.baseline, new).bits - 20
    assert report.evidence["H1"].held_out.bits > 20
    assert "without hidden variables, one with no arcs was taken" in report.headline


def test_two_parents_are_told_apart_each_with_evidence():
    generator = np.random.default_rng(4)
    own = np.arange(30) % 2
    values = 1.5 * generator.normal(size=(25, 2))[:, own] + generator.normal(size=(25, 30))
    table = Table.from_frame({f"x{i:02d}": column for i, column in enumerate(values.T)})
    report = discover_numbers(table, seed=1, resamples=0, compare=False)
    found = {frozenset(report.network.dag.children(h)) for h in report.hidden}
    assert len(found) == 2
    for children in found:
        parity = [int(c[1:]) % 2 for c in children]
        assert max(np.mean(parity), 1 - np.mean(parity)) > 0.8
    assert set(report.evidence) == {"H1", "H2"}


@pytest.mark.parametrize("noise", ["normal", "t3"])
def test_nothing_hidden_is_not_claimed(noise):
    generator = np.random.default_rng(5)
    draw = {"normal": generator.normal, "t3": lambda size: generator.standard_t(3, size=size)}
    values = draw[noise](size=(20, 30))
    for i in range(1, 30):
        values[:, i] += 0.8 * values[:, generator.integers(i)]
    table = Table.from_frame({f"x{i:02d}": column for i, column in enumerate(values.T)})
    report = discover_numbers(table, seed=1, resamples=0, compare=False)
    assert report.hidden == ()
    assert "20 rows for 30 columns are few" in report.headline


def test_gaps_weights_and_a_column_that_hardly_varies():
    table, _ = below_one()
    holed = find_hidden_parents(Observed.of(table.knock_out(0.05, seed=1)), SETTINGS)
    assert np.isfinite(holed.graph.score)
    rare = np.zeros(12)
    rare[4] = 1.0
    odd = table.select(table.names[:9]).with_column(Variable("rare"), rare)
    found = find_hidden_parents(Observed.of(odd), SETTINGS)
    assert np.isfinite(found.baseline.score)
    heavy = Table(table.variables, [table.column(n) for n in table.names], np.full(12, 0.5))
    assert few_rows(Observed.of(heavy))
    assert np.isfinite(find_hidden_parents(Observed.of(heavy), SETTINGS).graph.score)


def test_without_time_nothing_is_claimed():
    table, _ = below_one()
    found = find_in_few(Observed.of(table), SETTINGS, Ticker(time_limit=0.0))
    assert found.chosen is found.without
    assert found.saved is None
    late = discover_numbers(table, seed=1, time_limit=0.0)
    assert late.hidden == ()
    assert "time limit" in late.headline
    none = find_in_few(Observed.of(table), NumberSettings(max_hidden=0), Ticker())
    assert none.with_hidden is None


def test_many_rows_are_judged_as_before():
    table, _ = below_one(rows=200, columns=6)
    observed = Observed.of(table)
    assert not few_rows(observed)
    assert find_hidden_parents(observed, SETTINGS).tried[0].how != "two layers and sparse arcs"


def test_how_sure_rows_left_out_have_to_be():
    noise = np.random.default_rng(1).normal(size=12)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    for mean, sure in ((0.4, False), (0.6, True)):  # Student's t: 1.796 / sqrt(12) = 0.518
        assert clearly_better(LogLoss.of(noise + mean, np.ones(12))) is sure
    assert not clearly_better(None)


def test_a_score_that_is_lost_is_told_as_such():
    assert gain_in_words("H1", -10 * np.log(2)).endswith("more to describe with H1 than without")
