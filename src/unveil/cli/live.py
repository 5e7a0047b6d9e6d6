"""A live line of progress on the terminal, and what Ctrl-C means while it is there."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from unveil.progress import Listener, Step

__all__ = ["INTERRUPTION", "heeding", "live_progress"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and the polite request to end that other programs send: both mean the same here."""


@dataclass
class Interruption:
    """Whether somebody asked the program to stop with the best so far."""

    asked: bool = False


INTERRUPTION = Interruption()
"""That of this run of the program; its exit code tells."""


@contextmanager
def live_progress(unit: str = "") -> Iterator[Listener | None]:
    """A listener that shows the latest step while the work goes on; `None` if nobody watches.

    Ctrl-C (or a request to end) asks the work to stop with the best so far; a second one stops at
    once.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if INTERRUPTION.asked:
            raise KeyboardInterrupt
        INTERRUPTION.asked = True
        print("\nstopping with the best so far (Ctrl-C again to give up)", file=sys.stderr)

    with heeding(SIGNALS, interrupt):
        if not sys.stderr.isatty():
            yield lambda step: not INTERRUPTION.asked
            return
        from rich.console import Console
        from rich.text import Text

        with Console(stderr=True).status("starting") as status:

            def show(step: Step) -> bool:
                status.update(Text(_line(step, unit)))
                return not INTERRUPTION.asked

            yield show


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


def _line(step: Step, unit: str) -> str:
    objective = "" if step.objective != step.objective else f"  {step.objective:,.2f} {unit}"
    return f"{step.phase}: step {step.iteration}{objective}  {step.elapsed:.1f} s  {step.detail}"
