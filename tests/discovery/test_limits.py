"""Limits bind inside of every phase: whoever is asked to stop does so within a step or two."""

from dataclasses import replace

import numpy as np
import pytest

from unveil import datasets
from unveil.discovery import Settings, discover, patience, procedure
from unveil.discovery.adaptation import adapt_candidate
from unveil.discovery.baseline import learn_observed, learn_without
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Place, Verdict
from unveil.discovery.check import check_candidate
from unveil.discovery.patience import graced, inside
from unveil.discovery.places import place_of_everything, places_with_a_signature
from unveil.discovery.polish import polish_candidate
from unveil.discovery.predictions import cross_validated
from unveil.discovery.procedure import Task, first_state
from unveil.discovery.starts import Star, first_look, graphs_at, started
from unveil.discovery.workers import Workers
from unveil.em import cheeseman_stutz
from unveil.hidden import choose_cardinality
from unveil.model import fit
from unveil.progress import Step, Ticker
from unveil.search.learn import learn

SETTINGS = Settings(soft=3)


@pytest.fixture(scope="module")
def bench():
    table = datasets.network("insurance").sample(200, seed=1)
    table = table.select(table.names[:9])
    network = fit(learn(table).dag, table, SETTINGS.prior)
    score = cheeseman_stutz(network, table, SETTINGS.prior)
    return Bench(network, score, table, table, SETTINGS, 1)


@pytest.fixture(scope="module")
def with_gaps(bench):
    table = bench.table.knock_out(0.1, seed=1)
    return Bench.of(bench.network, bench.score, table, SETTINGS, 1)


@pytest.fixture(scope="module")
def candidate(bench):
    return started(bench, Star(place_of_everything(bench, "H1"), 3, "cluster", 1), Ticker())


def look(bench, candidate, ticker):
    place = Place("H1", candidate.place.nodes[:4])
    first_look(bench, place, graphs_at(bench, place)[0], ticker)


WORKS = {
    "what was observed": lambda b, c, t: learn_observed(b.table, SETTINGS, 1, t),
    "without it": lambda b, c, t: learn_without(c.network, ["H1"], b.table, SETTINGS, 1, t),
    "places": lambda b, c, t: places_with_a_signature(b, "H1", t),
    "a star": lambda b, c, t: started(b, Star(c.place, 3, "cluster", 1), t),
    "first look": look,
    "adapting": adapt_candidate,
    "polishing": polish_candidate,
    "checking": lambda b, c, t: check_candidate(b, replace(c, verdict=Verdict.PAYS), t),
    "rows left out": lambda b, c, t: cross_validated(c.network, b.table, SETTINGS, 5, 1, t),
}


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("work", WORKS)
def test_a_listener_stops_it_inside(bench, with_gaps, candidate, monkeypatch, work, gaps):
    """It hears of steps inside of the work, and of none after it asked to stop."""
    monkeypatch.setattr(patience, "SECONDS", 0.0)
    heard = []

    def listener(step):
        heard.append(step.phase)
        return len(heard) < 2

    ticker = Ticker(listener)
    WORKS[work](with_gaps if gaps else bench, candidate, ticker.part("work"))
    assert ticker.reason == "asked to stop"
    assert len(heard) == 2
    assert all(phase.startswith("work: ") for phase in heard)


def test_small_steps_are_told_once_in_a_while(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr(patience, "SECONDS", 0.25)
    heard = []
    ticker = Ticker(heard.append, time_limit=10.0)
    limits = inside(ticker)
    assert limits["time_limit"] == 10.0
    for number in range(70):
        clock[0] = number / 64
        assert limits["progress"](Step("EM", number, 0.0))
    assert [step.iteration for step in heard] == [16, 32, 48, 64]
    clock[0] = 10.0
    assert not limits["progress"](Step("EM", 100, 0.0))


def test_numbers_of_states_are_tried_until_it_is_asked_to_stop():
    alarm = datasets.network("alarm")
    rows = alarm.sample(500, seed=1).without("HR")
    heard = []
    whole = choose_cardinality(rows, alarm.dag, "HR", progress=heard.append)
    assert len(heard) == len(whole.refined) > 1
    stopped = choose_cardinality(rows, alarm.dag, "HR", progress=lambda step: False)
    assert len(stopped.refined) == 1
    assert stopped.n_states in stopped.refined
    assert len(choose_cardinality(rows, alarm.dag, "HR", time_limit=0.0).refined) == 1


# Shares of the time ------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """A clock that somebody has to wind."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_the_first_network_takes_a_small_share(bench, clock, monkeypatch):
    def endless(table, settings, seed, ticker):
        while ticker.keep_going():
            clock[0] += 0.5
        return bench.network

    monkeypatch.setattr(procedure, "learn_observed", endless)
    whole = Ticker(None, 100.0)
    state = first_state(Task(bench.table, SETTINGS, 1, Workers(1), whole))
    assert clock[0] == 100 * procedure.FOR_THE_FIRST
    assert state.cut_short  # so the result says that time was too short
    assert whole.keep_going()


def test_predictions_that_were_stopped_say_nothing(bench, candidate, monkeypatch):
    monkeypatch.setattr(patience, "SECONDS", 0.0)
    stopped = Ticker(time_limit=0)
    args = candidate.network, bench.table, SETTINGS, 5, 1
    assert cross_validated(*args, stopped) is None
    assert cross_validated(*args, Ticker(lambda step: False)) is None
    assert cross_validated(*args).is_whole
    checked = check_candidate(bench, replace(candidate, verdict=Verdict.PAYS), stopped)
    assert checked.verdict is Verdict.PAYS
    assert np.isnan(checked.predicted)  # so it is not kept


def test_after_a_stop_there_is_time_for_a_last_look(clock):
    whole = Ticker(None, 100.0)
    part = whole.part(share=0.5)
    assert graced(part) is part
    clock[0] = 200.0
    assert graced(part).time_left() == 0.05 * 200
    assert graced(part).keep_going()
    clock[0] = 206.0
    assert graced(whole.part("another")).time_left() == 0.05 * 200 - 6
    clock[0] = 211.0
    assert not graced(part).keep_going()


@pytest.mark.parametrize("seconds", [4, 12])
def test_a_time_limit_binds_and_something_is_tried(monkeypatch, seconds):
    """Every look at the clock takes a hundredth of a second, so that no machine is too slow."""
    looks = [0]

    def monotonic():
        looks[0] += 1
        return looks[0] / 100

    table = datasets.network("alarm").sample(100, seed=1)
    monkeypatch.setattr("time.monotonic", monotonic)
    began = monotonic()
    report = discover(table, seed=1, time_limit=seconds, n_jobs=1, resamples=1)
    assert monotonic() - began < 1.1 * seconds + 1.5
    assert report.stopped == "time limit"
    assert len(report.discovery.rounds[0].candidates) > 0
    assert "Nothing was tried" not in report.summary


def test_a_run_that_tried_nothing_says_so():
    report = discover(datasets.table("college_plans"), seed=1, time_limit=0)
    assert report.summary.startswith("Nothing was tried: stopped by the time limit, before any")
    assert "none pays" not in report.summary
