"""The one record of progress, and who may stop the work."""

import math

import pytest

from unveil.errors import UnveilWarning
from unveil.progress import Step, Ticker


class Clock:
    """A clock that moves when told."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr("time.monotonic", lambda: self.now)


def test_a_step_says_what_was_said():
    seen = []
    ticker = Ticker(seen.append)
    assert ticker.offer("climbing", 3, -10.5, change=0.5, temperature=2.0, detail="a -> b")
    (step,) = seen
    assert (step.phase, step.iteration, step.objective) == ("climbing", 3, -10.5)
    assert (step.change, step.temperature, step.detail) == (0.5, 2.0, "a -> b")
    assert step.elapsed >= 0
    with pytest.raises(AttributeError):
        step.phase = "falling"


def test_what_is_not_said_is_not_a_number():
    step = Step("climbing", 1, 0.0)
    assert math.isnan(step.change)
    assert math.isnan(step.temperature)
    assert step.detail == ""


def test_nobody_listens():
    ticker = Ticker()
    assert ticker.offer("climbing", 1, 0.0)
    assert ticker.keep_going()
    assert ticker.reason is None
    assert ticker.time_left() is None


@pytest.mark.parametrize("answer", [None, True, 0, "", []])
def test_only_false_itself_stops(answer):
    ticker = Ticker(lambda step: answer)
    assert ticker.offer("climbing", 1, 0.0)
    assert ticker.reason is None


def test_a_listener_may_ask_to_stop():
    steps = []

    def listener(step):
        steps.append(step)
        return step.iteration < 2

    ticker = Ticker(listener)
    assert ticker.offer("climbing", 1, 0.0)
    assert not ticker.offer("climbing", 2, 0.0)
    assert ticker.reason == "asked to stop"
    assert not ticker.keep_going()
    assert len(steps) == 2


def test_time_is_up(monkeypatch):
    clock = Clock(monkeypatch)
    ticker = Ticker(time_limit=10)
    assert ticker.keep_going()
    assert ticker.time_left() == 10
    clock.now += 9
    assert (ticker.elapsed, ticker.time_left()) == (9, 1)
    assert ticker.offer("climbing", 1, 0.0)
    clock.now += 1
    assert not ticker.offer("climbing", 2, 0.0)
    assert ticker.reason == "time limit"
    clock.now += 5
    assert ticker.time_left() == 0


def test_elapsed_is_told(monkeypatch):
    clock = Clock(monkeypatch)
    seen = []
    ticker = Ticker(seen.append)
    clock.now += 2.5
    ticker.offer("climbing", 1, 0.0)
    assert seen[0].elapsed == 2.5


def test_the_first_reason_stays(monkeypatch):
    clock = Clock(monkeypatch)
    ticker = Ticker(lambda step: False, time_limit=10)
    ticker.offer("climbing", 1, 0.0)
    clock.now += 20
    assert not ticker.keep_going()
    assert ticker.reason == "asked to stop"


def test_no_time_at_all():
    assert not Ticker(time_limit=0).keep_going()


def test_a_broken_listener_does_not_break_the_work():
    calls = []

    def listener(step):
        calls.append(step)
        raise ZeroDivisionError("oops")

    ticker = Ticker(listener)
    with pytest.warns(UnveilWarning) as caught:
        assert ticker.offer("climbing", 1, 0.0)
    assert [str(w.message) for w in caught] == [
        "the progress listener failed with ZeroDivisionError: oops. "
        "It will not be called again; the work goes on."
    ]
    assert ticker.offer("climbing", 2, 0.0)
    assert len(calls) == 1


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_person_who_leaves_is_let_go(stop):
    def listener(step):
        raise stop

    with pytest.raises(stop):
        Ticker(listener).offer("climbing", 1, 0.0)
