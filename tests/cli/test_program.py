"""The installed program in a process of its own: exit codes, Ctrl-C, a reader that leaves."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unveil import datasets, load

PROGRAM = Path(sys.executable).parent / "unveil"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="unveil is not installed here")


def start(*words, program=(str(PROGRAM),), **options):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Jobs in the background of a shell are born deaf to Ctrl-C; the program must hear it.
    pipes["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen([*program, *map(str, words)], **(pipes | options))


# The same program, but it starts workers however fast the machine is.
EAGER = """
from unveil.cli import main
from unveil.discovery.workers import Workers
Workers.__init__.__defaults__ = (None, 0.0)
main()
"""


def run(*words):
    done = start(*words)
    out, err = done.communicate(timeout=60)
    assert "Traceback" not in err
    return done.returncode, out, err


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_exit_codes(tmp_path):
    assert run("--version")[0] == 0
    code, out, err = run("info", tmp_path / "nope.csv")
    assert (code, out) == (1, "")
    assert err.startswith("unveil: ")
    assert run("lern")[0] == 2


def test_debug_shows_the_traceback(tmp_path):
    done = start("--debug", "info", tmp_path / "nope.csv")
    _, err = done.communicate(timeout=60)
    assert done.returncode == 1
    assert "Traceback (most recent call last)" in err
    assert "DataError" in err


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["info", "alarm"], ["--version"], []])
def test_a_reader_that_leaves_is_no_error(words, unbuffered):
    """`unveil info alarm | head -1`: the pipe is closed, seen at once or on the way out."""
    reading, writing = os.pipe()
    os.close(reading)
    done = start(*words, stdout=writing, env=os.environ | {"PYTHONUNBUFFERED": unbuffered})
    os.close(writing)
    _, err = done.communicate(timeout=60)
    assert err == ""
    assert done.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_no_room_for_the_output():
    with Path("/dev/full").open("w") as full:
        done = start("info", "asia", stdout=full)
        _, err = done.communicate(timeout=60)
    assert done.returncode == 1
    assert "No space left on device. Make room there" in err
    assert err.count("\n") == 1


def has_workers(pid):
    """Whether a process has started others, by /proc."""
    return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text())


def interrupted(folder, *words, jobs=1, number=signal.SIGINT):
    """Start discovering, press Ctrl-C once it is at work (as the log or the first worker shows).

    Ctrl-C in a terminal goes to all processes of the group.
    """
    log = folder / "log.jsonl"
    program = (str(PROGRAM),) if jobs == 1 else (sys.executable, "-c", EAGER)
    words = ["discover", *words, "-o", folder, "--seed", "1", "--n-jobs", jobs]
    done = start(*words, program=program, start_new_session=True)

    def at_work():
        return has_workers(done.pid) if jobs > 1 else log.exists() and "round 1" in log.read_text()

    try:
        wait_for(lambda: done.poll() is not None or at_work())
        assert done.poll() is None, done.communicate()[1]
        if number == signal.SIGINT:
            os.killpg(done.pid, number)
        else:
            os.kill(done.pid, number)
        _, err = done.communicate(timeout=60)
    finally:
        if done.poll() is None:
            done.kill()
            done.communicate()
    return done.returncode, err


def test_ctrl_c_keeps_the_best_so_far(tmp_path):
    path = tmp_path / "asia.csv"
    datasets.network("asia").sample(300, seed=1).write(path)
    code, err = interrupted(tmp_path / "out", path, "--resamples", "1")
    assert "Traceback" not in err
    assert "stopping with the best so far (Ctrl-C again to give up)" in err
    assert code == 130
    assert "note: stopped early (asked to stop); run again to look further" in err
    assert set(load(tmp_path / "out" / "model.json").names) >= {"asia", "tub", "smoke"}
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_workers_start_nothing_is_lost(tmp_path, number):
    path = tmp_path / "insurance.csv"
    datasets.network("insurance").sample(500, seed=1).write(path)
    out = tmp_path / "out"
    code, err = interrupted(out, path, "--no-straw-men", jobs=2, number=number)
    assert "Traceback" not in err
    assert (
        err.strip().splitlines()
        == [
            "stopping with the best so far (Ctrl-C again to give up)",
            "note: stopped early (asked to stop); run again to look further",
        ]
        or "run again to go on from here" in err
    )
    assert code == 130
    assert (out / "report.html").exists()
    assert len(load(out / "model.json").names) >= 27


def open_for_writing(pipe):
    """The writing end of a named pipe, or `None` while nobody reads from it."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_where_there_is_no_best_so_far(tmp_path, number):
    """While a table is read, say: it stops with exit code 130 and one word."""
    pipe = tmp_path / "slow.csv"
    os.mkfifo(pipe)
    done = start("learn", pipe)
    ends = []
    try:
        # A writer can open the pipe once the program reads from it.
        wait_for(lambda: done.poll() is not None or ends.append(open_for_writing(pipe)) or ends[-1])
        time.sleep(0.2)
        os.kill(done.pid, number)
        _, err = done.communicate(timeout=60)
    finally:
        if done.poll() is None:
            done.kill()
            done.communicate()
        for end in filter(None, ends):
            os.close(end)
    assert err == "unveil: stopped\n"
    assert done.returncode == 130
