"""The line of progress: a clock that runs by itself, and a word about compiling."""

import io
import re
import subprocess
import sys
import time

import pytest
from rich.console import Console

from unveil.cli import live
from unveil.cli.live import Compiling, Line
from unveil.kernels.compiled import compiled
from unveil.kernels.waiting import while_compiling
from unveil.progress import Step


def halved(x):
    return x / 2


def test_the_clock_runs_on_while_no_step_comes():
    """One step that takes long: the line is drawn by a thread of its own."""
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, width=100)
    line = Line(unit="nats")
    with console.status(line, refresh_per_second=20):
        line.show(Step("EM", 3, -10.5, detail="fold 1 of 5"))
        time.sleep(0.7)
    clock = re.findall(r"(\d\.\d) s  EM: step 3  -10.50 nats  fold 1 of 5", drawn.getvalue())
    assert len(set(clock)) > 2


def test_compiling_is_heard_of_and_what_is_kept_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    heard = []
    with while_compiling(heard.append):
        compiled(halved)(3.0)
        assert heard == [True, False]
        compiled(halved)(3.0)
    assert heard == [True, False]
    compiled(halved)(3)
    assert heard == [True, False]


def test_the_line_says_that_it_is_compiling_while_it_does(monkeypatch):
    state = Compiling()
    monkeypatch.setattr(live, "COMPILED", state)
    state.heard(True)
    assert str(Line("starting")).endswith("s  starting  (compiling for this machine, once after an "
                                          "installation)")  # fmt: skip
    state.heard(False)
    assert str(Line("starting")).endswith("s  starting")


def test_where_nobody_watches_compiling_is_noted_once(monkeypatch, capsys):
    now = iter([0.0, 0.4, 1.0, 2.0, 3.0, 9.0])
    monkeypatch.setattr("unveil.cli.live.time.monotonic", lambda: next(now))
    state = Compiling()
    state.heard(True)
    state.heard(False)
    assert capsys.readouterr().err == ""
    for begins in (True, False, True, False):
        state.heard(begins)
    assert capsys.readouterr().err.count("note: compiling for this machine, once after") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_on_a_terminal_the_first_use_says_that_it_compiles(tmp_path):
    """`learn` in a terminal of its own with nothing compiled; stopped as soon as it was seen."""
    import os
    import pty

    data = tmp_path / "rows.csv"
    data.write_text("a,b\n" + "x,y\nz,w\n" * 20)
    ours, theirs = pty.openpty()
    program = [sys.executable, "-c", "from unveil.cli import main; main()", "learn", str(data)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "COLUMNS": "160"}
    child = subprocess.Popen(program, stderr=theirs, stdout=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    seen = ""
    try:
        while "compiling for this machine" not in seen:
            try:
                seen += os.read(ours, 4096).decode(errors="replace")
            except OSError:
                break
    finally:
        child.kill()
        child.wait()
        os.close(ours)
    assert "compiling for this machine" in seen
