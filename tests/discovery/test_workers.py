"""Work handed out to other processes gives what it gives here, and can be stopped."""

import signal

import pytest
from joblib import parallel_config

from unveil import EquivalentSampleSize, datasets
from unveil.discovery import Settings, processes
from unveil.discovery.adaptation import adapted
from unveil.discovery.bench import Bench
from unveil.discovery.places import random_place
from unveil.discovery.starts import Star, started
from unveil.discovery.workers import Workers
from unveil.em import cheeseman_stutz
from unveil.model import fit
from unveil.progress import Ticker
from unveil.search.learn import learn

PRIOR = EquivalentSampleSize(1.0)


def start_at_random(bench, seed, ticker):
    star = Star(random_place(bench, "H1", seed), 2, "random", seed)
    return [adapted(bench, started(bench, star, ticker), "full", ticker)]


@pytest.fixture(scope="module")
def bench():
    table = datasets.network("asia").sample(200, seed=1)
    network = fit(learn(table).dag, table, PRIOR)
    score = cheeseman_stutz(network, table, PRIOR)
    return Bench(network, score, table, table, Settings(), 1)


def test_other_processes_give_the_same(bench):
    here = Workers(1).in_turn(start_at_random, bench, range(4), Ticker())
    there = Workers(2, 0.0).in_turn(start_at_random, bench, range(4), Ticker())
    assert [c.gain for found in here for c in found] == [c.gain for found in there for c in found]
    assert [found[0].network for found in here] == [found[0].network for found in there]


def squared(bench, number, ticker):
    return number**2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_gives_what_comes_of_every_item_until_stopped(bench, n_jobs):
    workers = Workers(n_jobs, 0.0)
    assert list(workers.each(squared, bench, range(5), Ticker(), "number")) == [0, 1, 4, 9, 16]
    stopped = Ticker(lambda step: not step.detail.startswith("number 3"))
    assert list(workers.each(squared, bench, range(5), stopped, "number")) == [0, 1, 4]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_listener_hears_every_step_and_may_stop(bench, n_jobs):
    heard = []

    def listener(step):
        if step.phase != "try":
            return True
        heard.append((step.phase, step.iteration))
        return step.iteration < 3

    ticker = Ticker(listener).part("try")
    done = Workers(n_jobs, 0.0).in_turn(start_at_random, bench, range(6), ticker)
    assert len(done) == 3
    assert heard == [("try", 1), ("try", 2), ("try", 3)]


@pytest.mark.parametrize(("share", "n_done"), [(0.25, 3), (1.0, 10)])
def test_work_takes_no_more_than_its_share_of_the_time(bench, monkeypatch, share, n_done):
    """Ten items of a second each; ten seconds are left, and some of them not for this work."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    whole = Ticker(None, 10.5)
    part = whole.part("try", share)

    def a_second(bench, item, ticker):
        clock[0] += 1.0
        return []

    assert len(Workers(1).in_turn(a_second, bench, range(10), part)) == n_done
    assert part.reason == ("time limit" if n_done < 10 else None)
    assert whole.reason is None


def test_short_work_starts_no_processes(bench, monkeypatch):
    monkeypatch.setattr(processes, "_Process", None)
    assert len(Workers(2).in_turn(start_at_random, bench, range(3), Ticker())) == 3
    assert Workers(2).in_turn(start_at_random, bench, [], Ticker()) == []


@pytest.mark.parametrize("backend", ["threading", "sequential"])
def test_inside_of_other_parallel_work_interrupts_stay_as_they_are(bench, backend):
    before = signal.getsignal(signal.SIGINT)
    with parallel_config(backend):
        assert len(Workers(2, 0.0).in_turn(start_at_random, bench, range(4), Ticker())) == 4
    assert signal.getsignal(signal.SIGINT) is before
