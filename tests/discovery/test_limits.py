"""Limits bind inside of every phase: whoever is asked to stop does so within a step or two."""

import pytest

from unveil import datasets, fit
from unveil.discovery import Settings, patience
from unveil.discovery.adaptation import adapt_candidate
from unveil.discovery.baseline import learn_observed, learn_without
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Place
from unveil.discovery.check import check_candidate
from unveil.discovery.patience import inside
from unveil.discovery.places import place_of_everything, places_with_a_signature
from unveil.discovery.polish import polish_candidate
from unveil.discovery.starts import Star, first_look, graphs_at, started
from unveil.em import cheeseman_stutz
from unveil.hidden import choose_cardinality
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
    "without it": lambda b, c, t: learn_without(c.network, "H1", b.table, SETTINGS, 1, t),
    "places": lambda b, c, t: places_with_a_signature(b, "H1", t),
    "a star": lambda b, c, t: started(b, Star(c.place, 3, "cluster", 1), t),
    "first look": look,
    "adapting": adapt_candidate,
    "polishing": polish_candidate,
    "checking": check_candidate,
}


# Of complete rows only predictions are checked, which are made even when all was stopped.
@pytest.mark.parametrize(
    ("work", "gaps"),
    [(work, gaps) for work in WORKS for gaps in (False, True) if work != "checking" or gaps],
)
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
