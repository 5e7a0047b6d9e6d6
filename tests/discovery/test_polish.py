"""Larger changes: a column that comes before the hidden variable may become its child."""

from dataclasses import replace

import numpy as np
import pytest

from unveil import Constraints, Table, Variable, fit
from unveil.discovery import Settings, afresh
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Place
from unveil.discovery.polish import _gains_of_children, _turned_children, polish_candidate
from unveil.em import fit_em
from unveil.graph import DAG
from unveil.progress import Ticker

NAMES = "abcde"
BEFORE = [("H1", "a"), ("H1", "b"), ("c", "H1"), ("d", "c"), ("e", "a")]


@pytest.fixture(scope="module")
def rows():
    """Four children of one variable, the fourth of them a child of `e` as well."""
    random = np.random.default_rng(5)
    mood = random.integers(0, 2, 900)
    odds = np.where(mood == 1, 0.9, 0.15)
    columns = {n: (random.random(900) < odds).astype(int) for n in "abc"}
    columns["e"] = random.integers(0, 2, 900)
    columns["d"] = (random.random(900) < 0.5 * odds + 0.4 * columns["e"]).astype(int)
    return Table([Variable(n, [0, 1]) for n in NAMES], [columns[n] for n in NAMES])


def candidate_of(rows, constraints=None):
    settings = Settings(constraints=constraints or Constraints())
    alone = fit(DAG([*NAMES], [("a", "b"), ("c", "a"), ("d", "c")]), rows, settings.prior)
    bench = Bench.of(alone, settings.score_of(alone, rows), rows, settings, 1)
    dag = DAG([*NAMES, "H1"], BEFORE)
    network = fit_em(dag, rows, settings.prior, {"H1": 2}, n_starts=2, seed=1).network
    gain = settings.score_of(network, rows) - bench.score
    return bench, Candidate(place=Place("H1", ("a", "b", "c")), network=network, gain=gain)


def test_what_comes_before_it_is_told_apart(rows):
    bench, candidate = candidate_of(rows)
    free, above = _gains_of_children(bench, candidate, bench_completed(bench, candidate))
    assert sorted(free) == ["a", "b", "e"]
    assert sorted(above) == ["c", "d"]
    assert above["c"] > 50


def bench_completed(bench, candidate):
    states = candidate.network.posterior(bench.table, of="H1")["H1"].argmax(axis=1)
    hidden = Variable("H1", [0, 1], hidden=True)
    return bench.table.with_column(hidden, states)


def test_a_column_before_it_becomes_its_child(rows):
    bench, candidate = candidate_of(rows)
    first = _turned_children(bench, candidate, Ticker())[0]
    assert {"a", "b", "c"} <= set(first.network.dag.children("H1"))
    assert not first.network.dag.parents("H1")
    better = polish_candidate(bench, candidate, Ticker())
    assert better.gain > candidate.gain


def test_arcs_that_are_asked_for_stay(rows):
    bench, candidate = candidate_of(rows, Constraints(required=[("d", "c")], no_parents=["d"]))
    for turned in _turned_children(bench, candidate, Ticker()):
        assert turned.network.dag.has_arc("d", "c")
        assert not turned.network.dag.parents("d")


def test_folds_polish_all_that_they_are_told(rows, monkeypatch):
    """What is behind at first may be ahead when polished."""
    bench, candidate = candidate_of(rows)
    behind = replace(candidate, place=Place("H1", ("a", "b")), gain=1.0)
    ahead = replace(candidate, gain=2.0)
    known = {("a", "b"): behind, ("a", "b", "c"): ahead}
    polished = replace(
        behind,
        gain=3.0,
        network=fit(
            DAG([*NAMES, "H1"], [("H1", "a"), ("H1", "b")]), bench_completed(bench, candidate)
        ),
    )
    monkeypatch.setattr(afresh, "_found_at", lambda _, place, __: known[place.nodes])
    monkeypatch.setattr(afresh, "polish_candidate", lambda _, c, __: polished if c is behind else c)
    monkeypatch.setattr(afresh, "put_cleanly", lambda *_, **__: [])
    found = afresh.found_afresh(bench, [ahead.place, behind.place], Ticker())
    assert found is polished.network
