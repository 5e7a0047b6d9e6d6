"""A live line of progress on the terminal, fed by the steps of any algorithm."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from unveil.progress import Listener, Step

__all__ = ["live_progress"]


@contextmanager
def live_progress(unit: str = "") -> Iterator[Listener | None]:
    """A listener that shows the latest step while the work goes on; `None` if nobody watches.

    Ctrl-C asks the work to stop with the best so far; a second one stops at once.
    """
    import signal
    import threading

    stop = {"asked": False}

    def interrupt(number: int, frame: object) -> None:
        if stop["asked"]:
            raise KeyboardInterrupt
        stop["asked"] = True
        print("\nstopping with the best so far (Ctrl-C again to give up)", file=sys.stderr)

    on_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, interrupt) if on_main else None
    try:
        if not sys.stderr.isatty():
            yield lambda step: not stop["asked"]
            return
        from rich.console import Console
        from rich.text import Text

        with Console(stderr=True).status("starting") as status:

            def show(step: Step) -> bool:
                status.update(Text(_line(step, unit)))
                return not stop["asked"]

            yield show
    finally:
        if on_main:
            signal.signal(signal.SIGINT, before)


def _line(step: Step, unit: str) -> str:
    objective = "" if step.objective != step.objective else f"  {step.objective:,.2f} {unit}"
    return f"{step.phase}: step {step.iteration}{objective}  {step.elapsed:.1f} s  {step.detail}"
