"""The same calls on parts and in memory give the same answers, whatever the number of workers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score.tables import tables

import unveil
from unveil import Table, open_rows
from unveil.em import cheeseman_stutz, fit_em, structural_em
from unveil.em.completion import complete_rows
from unveil.engines import PartedRows
from unveil.errors import DataError, SizeError
from unveil.evaluate import log_loss, usual_bic
from unveil.statistics import MemoryStatistics

from .conftest import parts_of


@pytest.fixture(scope="module", autouse=True)
def in_parts():
    """Nothing fits: whoever can work on parts has to."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PartedRows, "fits", lambda self: False)
        yield


@given(tables(), st.data())
@settings(max_examples=25, deadline=None)
def test_counts_and_distinct_assignments(table, data):
    n = len(table.names)
    rows = parts_of(table, data.draw(st.integers(1, min(4, table.n_rows))))
    sets = data.draw(st.lists(st.lists(st.integers(0, n - 1), unique=True), max_size=6))
    memory = MemoryStatistics(table)
    for ours, theirs in zip(rows.counts(sets), memory.counts(sets), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert rows.n_passes <= 1
    members = data.draw(st.lists(st.integers(0, n - 1), unique=True))
    ours, theirs = rows.distinct(members), memory.distinct(members)
    np.testing.assert_array_equal(ours.codes, theirs.codes)
    np.testing.assert_allclose(ours.weights, theirs.weights)


def numbers(n=400):
    random = np.random.default_rng(0)
    a, c = random.normal(size=n), random.integers(0, 3, n)
    b = a + random.normal(size=n)
    d = b * (c == 1) + c + random.normal(size=n)
    return Table.from_frame({"a": a, "b": b, "c": c, "d": d})


def test_moments():
    table = numbers()
    for by in ((), (2,)):
        ours, theirs = (
            e.moments([0, 1, 3], by) for e in (parts_of(table), MemoryStatistics(table))
        )
        np.testing.assert_allclose(ours.means, theirs.means, rtol=1e-12)
        np.testing.assert_allclose(ours.scatters, theirs.scatters, rtol=1e-10)


def test_learning(asia, asia_rows, folder):
    ours, theirs = unveil.learn(folder, seed=1), unveil.learn(asia_rows, seed=1)
    assert ours.dag == theirs.dag
    assert ours.search.score == pytest.approx(theirs.search.score, rel=1e-12)
    assert unveil.fit(asia, folder) == unveil.fit(asia, asia_rows)
    assert unveil.learn(folder, "bic", "hill-climbing").dag == unveil.learn(
        asia_rows, "bic", "hill-climbing"
    ).dag  # fmt: skip


def test_learning_takes_tens_of_passes():
    alarm = unveil.datasets.network("alarm")
    rows = parts_of(alarm.sample(2000, seed=1))
    unveil.learn(rows, "bic", "hill-climbing")
    assert 1 < rows.n_passes < 60


def test_learning_from_numbers():
    table = numbers()
    for names in (table.names, ("a", "b", "d")):
        ours, theirs = (
            unveil.learn(parts_of(table.select(names))),
            unveil.learn(table.select(names)),
        )
        assert ours.dag == theirs.dag
        assert ours.search.score == pytest.approx(theirs.search.score, rel=1e-10)


@pytest.fixture(scope="module")
def gappy(asia_rows):
    return asia_rows.take(np.arange(800)).knock_out(0.15, seed=2)


@pytest.mark.parametrize("n_workers", [1, 8])
def test_em(asia, gappy, n_workers):
    rows = parts_of(gappy, 7, n_workers)
    ours, theirs = fit_em(asia.dag, rows, seed=3, n_starts=2), fit_em(
        asia.dag, gappy, seed=3, n_starts=2
    )  # fmt: skip
    assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-12)
    assert ours.trace == pytest.approx(theirs.trace, rel=1e-12)
    assert ours.network == fit_em(asia.dag, parts_of(gappy, 7, 3), seed=3, n_starts=2).network
    assert unveil.fit(asia, rows, seed=1).log_likelihood(gappy) == pytest.approx(
        unveil.fit(asia, gappy, seed=1).log_likelihood(gappy), rel=1e-9
    )


def test_em_with_hidden_variables(asia, gappy):
    table = gappy.without("lung")
    how = {"hidden": {"lung": 2}, "seed": 1, "max_iterations": 30}
    ours, theirs = (fit_em(asia.dag, data, **how) for data in (parts_of(table), table))
    assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-12)
    hard = [fit_em(asia.dag, data, hard=True, **how) for data in (parts_of(table), table)]
    assert hard[0].log_likelihood == pytest.approx(hard[1].log_likelihood, rel=1e-12)


def test_em_of_numbers():
    table = numbers()
    dag = unveil.learn(table).dag
    gaps = table.knock_out(0.1, seed=1)
    start = unveil.fit(dag, table)
    how = {"max_iterations": 5, "seed": 1}
    ours, theirs = (fit_em(start, data, **how) for data in (parts_of(gaps), gaps))
    assert ours.trace == pytest.approx(theirs.trace, rel=1e-10)


def test_structural_em(gappy):
    rows, eight = parts_of(gappy, 4), parts_of(gappy, 4, 8)
    ours, theirs = structural_em(rows, seed=1), structural_em(gappy, seed=1)
    assert ours.dag == theirs.dag
    assert ours.score == pytest.approx(theirs.score, rel=1e-9)
    assert structural_em(eight, seed=1).network == ours.network
    assert unveil.learn(rows, seed=1).dag == ours.dag


def test_completed_rows_weigh_as_much(asia, gappy):
    completed = complete_rows(asia, parts_of(gappy), seed=1)
    assert completed.is_complete
    assert completed.total_weight == pytest.approx(gappy.n_rows)


def test_figures(asia, gappy):
    rows = parts_of(gappy)
    ours, theirs = log_loss(asia, rows), log_loss(asia, gappy)
    assert ours.bits == pytest.approx(theirs.bits, rel=1e-12)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=1e-6)
    assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-12)
    assert usual_bic(asia, rows) == pytest.approx(usual_bic(asia, gappy), rel=1e-12)
    assert cheeseman_stutz(asia, rows) == pytest.approx(cheeseman_stutz(asia, gappy), rel=1e-12)


def test_draws_are_decided_by_the_seed(asia_rows):
    rows, eight = parts_of(asia_rows, 7), parts_of(asia_rows, 7, 8)
    drawn = rows.sample(200, seed=4)
    assert drawn.n_rows == 200
    assert drawn == eight.sample(200, seed=4)
    assert drawn != rows.sample(200, seed=5)
    assert rows.sample(10**6, seed=1).n_rows == asia_rows.n_rows
    weighted = parts_of(asia_rows.folded(), 3).sample(20, seed=1)
    assert weighted.total_weight == 20
    assert asia_rows.names == weighted.names


def test_what_needs_single_rows_says_what_it_needs(asia, gappy):
    rows = parts_of(gappy)
    with pytest.raises(SizeError, match=r"this work goes over single rows.*need about"):
        fit_em(asia.dag, rows, anneal="random", seed=1)
    with pytest.raises(DataError, match=r"'asia' has .* missing cells; counting needs complete"):
        rows.counts([[0]])
    with pytest.raises(DataError, match=r"no column 'lug'.*Did you mean 'lung'"):
        rows.variable("lug")
    with pytest.raises(DataError, match="decided when they are opened"):
        unveil.learn(rows, discretize="equal_width")
    with pytest.raises(DataError, match=r"no column 'lug'.*Did you mean 'lung'"):
        unveil.learn(rows, drop="lug")
    with pytest.raises(DataError, match="memory and engine are for rows"):
        unveil.learn(gappy, memory="1GiB")
    with pytest.raises(SizeError):
        unveil.cross_validate(rows, lambda t: asia)


def hidden_rows(n=1500):
    random = np.random.default_rng(0)
    h = random.integers(0, 2, n)
    return Table.from_frame(
        {f"x{i}": (random.random(n) < np.where(h, 0.9, 0.1)).astype(int) for i in range(4)}
    )


def test_discovery_in_drawn_rows_is_judged_on_all(monkeypatch):
    table = hidden_rows()
    how = {"max_hidden": 1, "evidence": False, "straw_men": False, "seed": 1, "n_jobs": 1}
    report = unveil.discover(parts_of(table), sample=500, **how)
    whole = report.whole
    assert report.hidden == ("H1",)
    assert whole.is_sure
    assert (whole.n_cases, whole.n_drawn) == (1500, 500)
    # The rival is the best network that all rows give, not that of the drawn ones.
    best = unveil.learn(table, seed=1).search.score
    assert whole.score_without == pytest.approx(best, rel=1e-10)
    assert whole.gain > 15
    score = cheeseman_stutz(report.network, table)
    assert whole.score == pytest.approx(score, rel=1e-10)
    assert "All rows confirm" in report.summary
    monkeypatch.setattr("unveil.discovery.whole.DRAWN", 400)
    with pytest.warns(
        unveil.errors.UnveilWarning, match="candidates are looked for in 400 of them"
    ):
        again = unveil.discover(parts_of(table), time_limit=0, **how)
    assert again.whole is not None
    with pytest.raises(DataError, match="id and compare"):
        unveil.discover(parts_of(table), id="x0", **how)


def test_latent_classes(monkeypatch):
    table = hidden_rows()
    monkeypatch.setattr("unveil.em.mixture.call.DRAWN", 400)
    how = {"n_starts": 2, "seed": 1, "tolerance": 1e-10}
    with pytest.warns(unveil.errors.UnveilWarning, match="do not fit in memory"):
        ours = unveil.latent_classes(parts_of(table), [1, 2], **how)
    theirs = unveil.latent_classes(table, [1, 2], **how)
    assert ours.n_classes == theirs.n_classes == 2
    assert ours.best.log_likelihood == pytest.approx(theirs.best.log_likelihood, rel=1e-6)
    with pytest.raises(DataError, match="the score 'held-out' goes over single rows"):
        unveil.latent_classes(parts_of(table), 2, "held-out")


def test_folding_gives_the_table_in_memory(folder, asia_rows, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(PartedRows, "fits", lambda self: True)
    rows = open_rows(folder)
    assert isinstance(rows, Table)
    assert rows.n_rows == asia_rows.folded().n_rows
    assert rows.total_weight == 3000
    np.testing.assert_array_equal(
        *(MemoryStatistics(t).counts([range(8)])[0] for t in (rows, asia_rows))
    )
