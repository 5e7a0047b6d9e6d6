"""The one record of progress, and who may stop the work."""

import math

import pytest

from unveil.errors import UnveilWarning
from unveil.progress import Step, Ticker, run


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


# Parts ------------------------------------------------------------------------------------------


def test_a_part_tells_the_same_listener(monkeypatch):
    clock = Clock(monkeypatch)
    seen = []
    whole = Ticker(seen.append)
    clock.now += 3
    part = whole.part("round 2").part("EM")
    clock.now += 1
    assert part.offer("start 1", 7, -1.5)
    assert (seen[0].phase, seen[0].iteration, seen[0].elapsed) == ("round 2: EM: start 1", 7, 4)
    assert part.elapsed == 1


def test_a_part_has_a_share_of_what_is_left(monkeypatch):
    clock = Clock(monkeypatch)
    whole = Ticker(time_limit=100)
    clock.now += 20
    part = whole.part("looking", share=0.25)
    assert part.time_left() == 20
    assert whole.part(time_limit=5).time_left() == 5
    assert whole.part(share=0.01, time_limit=5).time_left() == pytest.approx(0.8)
    clock.now += 20
    assert not part.keep_going()
    assert part.reason == "time limit"
    assert whole.keep_going()


def test_without_a_limit_a_part_has_none():
    assert Ticker().part(share=0.1).time_left() is None


def test_when_the_whole_stops_so_does_the_part():
    whole = Ticker(lambda step: step.iteration < 2)
    part, other = whole.part("a"), whole.part("b")
    assert part.offer("", 1, 0.0)
    assert not part.offer("", 2, 0.0)
    assert not other.keep_going()
    assert (whole.reason, part.reason, other.reason) == ("asked to stop",) * 3


def test_a_call_takes_a_listener_or_a_part():
    seen = []
    assert Ticker.of(seen.append).offer("a", 1, 0.0)
    assert Ticker.of(Ticker(seen.append).part("b"), 10).offer("c", 1, 0.0)
    assert [s.phase for s in seen] == ["a", "b: c"]
    assert Ticker.of(None, 3).time_left() <= 3
    assert Ticker.of(Ticker(time_limit=2), 100).time_left() <= 2


# The loop ---------------------------------------------------------------------------------------


def count(state):
    return state + 1, Step("counting", state + 1, float(state + 1))


def test_a_run_ends_with_a_reason():
    found = run(count, 0, lambda state, info: "stalled" if state == 4 else None)
    assert (found.state, found.stopped) == (4, "stalled")
    assert [s.objective for s in found.trace] == [1.0, 2.0, 3.0, 4.0]


def test_a_run_has_a_cap_and_makes_one_step_at_least():
    never = lambda state, info: None  # noqa: E731
    assert run(count, 0, never, max_steps=3).stopped == "iteration cap"
    stopped = run(count, 0, never, Ticker(time_limit=0))
    assert (stopped.state, stopped.stopped) == (1, "time limit")


def test_a_run_can_be_taken_up_again():
    until = lambda state, info: "converged" if state == 6 else None  # noqa: E731
    first = run(count, 0, until, Ticker(lambda step: step.iteration < 2))
    assert (first.state, first.stopped) == (2, "asked to stop")
    assert run(count, first.state, until).state == run(count, 0, until).state == 6
