"""The process of one job: `python -m unveil.web.worker FOLDER TASK ...`, started by `jobs.py`.

It has limits of its own (memory, and interrupts that mean "stop with the best so far"), tells its
steps to `events.jsonl`, and ends with whoever started it. Exit codes: 0 there is a result, 1
refused (`problem.txt` says why), 3 a fault.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from unveil.errors import UnveilError
from unveil.files import atomic_write
from unveil.progress import Step
from unveil.web.asked import Asked
from unveil.web.limits import Limits
from unveil.web.predicting import SENT
from unveil.web.tasks import TASKS
from unveil.web.work import Work

__all__ = ["Telling", "do", "main"]

EVERY = 0.15
"""Seconds between two events of a phase, at least."""
MOST_PHASES = 1_000


class Telling:
    """A listener that writes steps to a file, and knows whether somebody asked to stop."""

    def __init__(self, path: Path) -> None:
        self.asked_to_stop = False
        self._file = path.open("a", encoding="utf-8")
        self._last: dict[str, float] = {}

    def __call__(self, step: Step) -> bool:
        now = time.monotonic()
        if now - self._last.get(step.phase, 0.0) >= EVERY:
            if len(self._last) > MOST_PHASES:
                self._last.clear()
            self._last[step.phase] = now
            told = {k: v for k, v in vars(step).items() if v == v and v not in ("", float("inf"))}
            self._file.write(json.dumps(told) + "\n")
            self._file.flush()
        return not self.asked_to_stop

    def __enter__(self) -> Telling:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def stop(self, *_: Any) -> None:
        """Ask the work to end with the best so far."""
        self.asked_to_stop = True


def main() -> int:
    """Do the job that is described on standard input."""
    job: dict[str, Any] = json.load(sys.stdin)
    _limit_memory(Limits(**job["limits"]).job_bytes)
    with Telling(Path(job["folder"]) / "events.jsonl") as telling:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, telling.stop)
        _end_with(os.getppid(), telling)
        return do(job, telling)


def do(job: dict[str, Any], telling: Telling) -> int:
    """Do a job; its exit code."""
    task = TASKS[job["task"]]
    folder, limits = Path(job["folder"]), Limits(**job["limits"])
    work = Work(
        Path(job["table"]), str(job["name"]), Asked(**job["asked"]), folder, limits, telling,
        int(job["n_jobs"]),
    )  # fmt: skip
    try:
        task.call(work, task.settings(**job["settings"]))
    except UnveilError as error:
        # People know the table by the name they gave it, not by where it is kept.
        said = error.said("web").replace(str(work.table_path), work.table_name)
        sent = str(job["settings"].get("name", "the file"))
        return _refused(folder, said.replace(str(folder / SENT), sent))
    except MemoryError:
        return _refused(
            folder,
            f"this needs more memory than one job may have here ({limits.job_bytes / 2**30:.1f} "
            "GiB). Leave columns out, cut numbers into fewer bins, or send fewer rows.",
        )
    except OSError as error:
        return _refused(folder, f"the server could not write its files: {error.strerror or error}.")
    except Exception:
        traceback.print_exc()
        return 3
    return 0


def _refused(folder: Path, problem: str) -> int:
    with atomic_write(folder / "problem.txt") as file:
        file.write(problem)
    return 1


def _limit_memory(n_bytes: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


def _end_with(parent: int, telling: Telling) -> None:
    """Stop when the server is gone: nobody would read the result before it starts again."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        telling.stop()
        time.sleep(10.0)
        os._exit(3)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
