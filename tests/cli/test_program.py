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


def start(*words, **options):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Jobs in the background of a shell are born deaf to Ctrl-C; the program must hear it.
    pipes["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen([str(PROGRAM), *map(str, words)], **(pipes | options))


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


def interrupted(folder, *words):
    """Start discovering, press Ctrl-C once the log shows that it is at work."""
    log = folder / "log.jsonl"
    done = start("discover", *words, "-o", folder, "--seed", "1", "--jobs", "1")
    try:
        wait_for(lambda: done.poll() is not None or (log.exists() and "round 1" in log.read_text()))
        assert done.poll() is None, done.communicate()[1]
        os.kill(done.pid, signal.SIGINT)
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
    assert code == 0
    assert "note: stopped early (asked to stop); run again to look further" in err
    assert set(load(tmp_path / "out" / "model.json").names) >= {"asia", "tub", "smoke"}
    assert (tmp_path / "out" / "report.html").exists()


def open_for_writing(pipe):
    """The writing end of a named pipe, or `None` while nobody reads from it."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


def test_ctrl_c_where_there_is_no_best_so_far(tmp_path):
    """While a table is read, say: it stops with exit code 130 and one word."""
    pipe = tmp_path / "slow.csv"
    os.mkfifo(pipe)
    done = start("learn", pipe)
    ends = []
    try:
        # A writer can open the pipe once the program reads from it.
        wait_for(lambda: done.poll() is not None or ends.append(open_for_writing(pipe)) or ends[-1])
        time.sleep(0.2)
        os.kill(done.pid, signal.SIGINT)
        _, err = done.communicate(timeout=60)
    finally:
        if done.poll() is None:
            done.kill()
            done.communicate()
        for end in filter(None, ends):
            os.close(end)
    assert err == "unveil: stopped\n"
    assert done.returncode == 130
