"""Processes that work for another: nothing is lost when they die, none is left when it does."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from unveil.discovery import processes
from unveil.discovery.workers import Workers
from unveil.errors import UnveilWarning
from unveil.progress import Step, Ticker

BENCH = SimpleNamespace(score=0.0)
HERE = os.getpid()


def number(bench, item, ticker):
    return [item]


def who(bench, item, ticker):
    return [os.getpid()]


def dies_once(bench, item, ticker):
    """Item 2 ends the first process that works on it."""
    n, flag = item
    if n == 2 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [n]


def dies_always(bench, item, ticker):
    if item == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return [item]


def breaks(bench, item, ticker):
    if item == 2:
        raise LookupError("item 2")
    return [item]


def works_until_stopped(bench, item, ticker):
    """Steps of work, forever; only the first item is short."""
    while item and ticker.tell(Step("work", 0, 0.0)):
        time.sleep(0.01)
    return [os.getpid()]


def naps(bench, item, ticker):
    time.sleep(0.3)
    return [item]


def in_turn(work, items, ticker=None, n_jobs=2):
    with Workers(n_jobs, 0.0) as workers:
        return [
            found[0] if found else None
            for found in workers.in_turn(work, BENCH, items, ticker or Ticker())
        ]


def test_they_are_others_and_kept(monkeypatch):
    with Workers(2, 0.0) as workers:
        first = {found[0] for found in workers.in_turn(who, BENCH, range(20), Ticker())}
        second = {found[0] for found in workers.in_turn(who, BENCH, range(20), Ticker())}
    assert HERE in first
    assert len(first | second) in (2, 3)  # one of the two may have had nothing to do


def test_a_process_that_dies_takes_nothing_with_it(tmp_path):
    items = [(n, tmp_path / "flag") for n in range(6)]
    assert in_turn(dies_once, items) == [0, 1, 2, 3, 4, 5]
    assert (tmp_path / "flag").exists()


def test_what_ends_every_process_is_left_out_with_a_word():
    with pytest.warns(UnveilWarning, match="the process that worked on it ended twice"):
        assert in_turn(dies_always, range(6)) == [0, 1, None, 3, 4, 5]


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false"])
def test_where_no_process_can_be_started_the_work_is_done_here(monkeypatch, program):
    monkeypatch.setattr(processes, "get_executable", lambda: program)
    assert in_turn(who, range(4)) == [HERE] * 4


def test_what_others_cannot_be_told_is_done_here():
    assert in_turn(lambda bench, item, ticker: [item], range(4)) == [0, 1, 2, 3]


def test_errors_come_back():
    with pytest.raises(LookupError, match="item 2"):
        in_turn(breaks, range(6))


@pytest.mark.parametrize("by", ["listener", "time limit"])
def test_stopped_they_stop_and_serve_again(by):
    asked = []

    def listener(step):
        asked.append(step.phase)
        return by != "listener" or len(asked) < 3

    limit = 1.5 if by == "time limit" else None
    with Workers(2, 0.0) as workers:
        assert len(workers.in_turn(number, BENCH, range(8), Ticker())) == 8
        pids = {p._process.pid for p in workers._processes._processes}
        began = time.monotonic()
        done = workers.in_turn(works_until_stopped, BENCH, range(8), Ticker(listener, limit))
        assert time.monotonic() - began < (limit or 0) + processes.PATIENCE
        assert len(done) < 8
        # A listener is asked while nothing else happens.
        assert "side by side" in asked
        after = {found[0] for found in workers.in_turn(who, BENCH, range(8), Ticker())}
        assert after <= pids | {HERE}


# In programs of their own -----------------------------------------------------------------------

SCRIPT = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from types import SimpleNamespace
from tests.discovery.test_processes import naps
from unveil.discovery.workers import Workers
from unveil.progress import Ticker
print("ready", flush=True)
with Workers(2, 0.0) as workers:
    print(workers.in_turn(naps, SimpleNamespace(score=0.0), range(12), Ticker()), flush=True)
"""

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


def children_of(pid):
    """The processes that this one started, by /proc."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(stat.parent.name))
    return found


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)
    return answer


@pytest.fixture
def program(tmp_path):
    """A script without a guard around what it does, in a process group of its own."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    begun = subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert begun.stdout.readline() == "ready\n"
    yield begun
    if begun.poll() is None:
        begun.kill()
    begun.communicate()


@needs_proc
def test_interrupts_are_ignored_from_birth(program):
    """Ctrl-C goes to the whole group, again and again while the processes start."""
    wait_for(lambda: children_of(program.pid))
    for _ in range(100):
        os.killpg(program.pid, signal.SIGINT)
        time.sleep(0.01)
    out, err = program.communicate(timeout=60)
    assert (out, err) == (f"{[[n] for n in range(12)]}\n", "")


@needs_proc
@pytest.mark.parametrize(
    ("number", "seconds"), [(signal.SIGKILL, 0.0), (signal.SIGKILL, 2.0), (signal.SIGTERM, 2.0)]
)
def test_there_are_no_orphans(program, number, seconds):
    pids = wait_for(lambda: found if len(found := children_of(program.pid)) == 2 else None)
    time.sleep(seconds)
    program.send_signal(number)
    program.wait(timeout=60)
    wait_for(lambda: not any(map(is_running, pids)))


def test_interrupts_are_heard_here_afterwards():
    """Held back while a process starts, not lost."""
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with processes._interrupts_held_back():
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            assert heard == []
        assert heard == [1]
    finally:
        signal.signal(signal.SIGINT, before)
