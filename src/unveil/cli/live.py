"""A live line of progress on the terminal, and what Ctrl-C means while it is there.

The line is drawn by a thread of its own, so that its clock runs on while a single step takes long:
when a large file is read, or kernels are compiled after an installation.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from unveil.cli.screen import note
from unveil.progress import Listener, Step

__all__ = ["INTERRUPTION", "Line", "heeding", "live_progress", "waiting"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and the polite request to end that other programs send: both mean the same here."""
COMPILING = "compiling for this machine, once after an installation"
NOTICEABLE = 1.0
"""Where nobody watches, compiling is told of once it has taken so many seconds."""


@dataclass
class Interruption:
    """Whether somebody asked the program to stop with the best so far."""

    asked: bool = False


INTERRUPTION = Interruption()
"""That of this run of the program; its exit code tells."""


@dataclass
class Compiling:
    """How long kernels have been compiled for, and whether it was told."""

    since: float | None = None
    seconds: float = 0.0
    told: bool = False

    def heard(self, begins: bool) -> None:
        """Compiling begins or ends."""
        now = time.monotonic()
        if not begins and self.since is not None:
            self.seconds += now - self.since
        self.since = now if begins else None
        if self.seconds > NOTICEABLE and not self.told and not sys.stderr.isatty():
            self.told = True
            note(f"{COMPILING}; this takes up to a minute")


COMPILED = Compiling()
"""That of this run of the program."""


@dataclass
class Line:
    """What the terminal shows while work goes on; drawn anew many times a second."""

    words: str = "starting"
    unit: str = ""
    began: float = field(default_factory=time.monotonic)

    def show(self, step: Step) -> None:
        """Tell of the latest step."""
        objective = ""
        if step.objective == step.objective:
            objective = f"  {step.objective:,.2f} {self.unit}"
        detail = f"  {step.detail}" if step.detail else ""
        self.words = f"{step.phase}: step {step.iteration}{objective}{detail}"

    def __str__(self) -> str:
        """The words and how long it has taken, by now."""
        busy = "" if COMPILED.since is None else f"  ({COMPILING})"
        return f"{time.monotonic() - self.began:.1f} s  {self.words}{busy}"

    def __rich__(self) -> Any:
        from rich.text import Text

        return Text(str(self), no_wrap=True, overflow="ellipsis")


@contextmanager
def live_progress(unit: str = "") -> Iterator[Listener | None]:
    """A listener that shows the latest step while the work goes on.

    Ctrl-C (or a request to end) asks the work to stop with the best so far; a second one stops at
    once.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if INTERRUPTION.asked:
            raise KeyboardInterrupt
        INTERRUPTION.asked = True
        print("\nstopping with the best so far (Ctrl-C again to give up)", file=sys.stderr)

    line = Line(unit=unit)

    def show(step: Step) -> bool:
        line.show(step)
        return not INTERRUPTION.asked

    with heeding(SIGNALS, interrupt), _drawn(line):
        yield show


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show the words and a running clock while something is done that has no steps."""
    with _drawn(Line(words)):
        yield


@contextmanager
def _drawn(line: Line) -> Iterator[None]:
    """The line on the terminal, if somebody watches."""
    from unveil.kernels.waiting import while_compiling

    with ExitStack() as stack:
        stack.enter_context(while_compiling(COMPILED.heard))
        if sys.stderr.isatty():
            from rich.console import Console

            stack.enter_context(Console(stderr=True).status(line))
        yield


@contextmanager
def heeding(
    numbers: tuple[signal.Signals, ...], handler: Callable[[int, FrameType | None], None]
) -> Iterator[None]:
    """Have signals handled so, for the moment; where this is not the main thread, they are not."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, signal.SIG_DFL if earlier is None else earlier)
