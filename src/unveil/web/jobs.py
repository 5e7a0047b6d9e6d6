"""`Jobs`: a queue with a bound and a fair order, and one process for every job that runs.

Of the analyses that wait, the one that was served longest ago comes first. What was running when
the server ended is put into the queue again when it starts; searches that remember their rounds go
on from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from unveil.errors import DataError
from unveil.web.columns import remember_seconds
from unveil.web.forecast import Forecasts
from unveil.web.limits import Limits
from unveil.web.store import Analysis, Job, NoSuchThing, State, Store
from unveil.web.tasks import TASKS

__all__ = ["Jobs", "TooMany"]

LOG = logging.getLogger("unveil.web")
Key = tuple[str, int]


class TooMany(DataError):
    """The queue is full."""


class Jobs:
    """The jobs of all analyses: `submit` and `stop` them; `start` and `close` the whole."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self.store, self.limits = store, limits
        self._queue: list[Key] = []
        self._running: dict[Key, asyncio.Task[None]] = {}
        self._processes: dict[Key, asyncio.subprocess.Process] = {}
        self._stopping: set[Key] = set()
        self._served: dict[str, float] = {}
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self.forecasts = Forecasts(store.root)

    # For pages ---------------------------------------------------------------------------------

    def submit(
        self,
        analysis: Analysis,
        task: str,
        settings: dict[str, Any],
        files: Mapping[str, Path] | None = None,
    ) -> Job:
        """A new job at the end of the queue; refused if the settings are wrong or it is full.

        `files` are moved into its folder, under these names.
        """
        if task not in TASKS:
            raise DataError(f"there is no task {task!r}; there are {', '.join(TASKS)}.")
        try:
            checked = TASKS[task].settings(**settings)
        except ValidationError as error:
            raise DataError(_in_words(error)) from None
        if "seconds" in type(checked).model_fields:
            checked = checked.model_copy(
                update={"seconds": min(checked.seconds, self.limits.job_seconds)}  # type: ignore[attr-defined]
            )
        own = [key for key in self._queue if key[0] == analysis.id]
        if self.store.n_jobs(analysis) >= self.limits.jobs_each:
            raise TooMany(
                f"this analysis has {self.limits.jobs_each} steps, as many as it may. Send the "
                "table again to go on."
            )
        if len(self._queue) >= self.limits.waiting or len(own) >= self.limits.waiting_each:
            raise TooMany(
                f"{len(self._queue)} jobs are waiting, {len(own)} of them yours. Try again when "
                "some are done, or stop one."
            )
        job = self.store.add_job(analysis, task, checked.model_dump())
        for name, path in (files or {}).items():
            path.rename(analysis.job_folder(job.number) / name)
        self._queue.append((analysis.id, job.number))
        self._wake.set()
        return job

    def place(self, analysis: Analysis, job: Job) -> int:
        """How many jobs come before this one; 0 if it runs or is next."""
        key = (analysis.id, job.number)
        return self._queue.index(key) if key in self._queue else 0

    def stop(self, analysis: Analysis, job: Job) -> Job:
        """Ask a job to end with the best so far; one that waits is taken out of the queue."""
        key = (analysis.id, job.number)
        if key in self._queue:
            self._queue.remove(key)
            return self._ended(analysis, job, State.STOPPED, "It was stopped before it began.")
        process = self._processes.get(key)
        if process is not None and process.returncode is None:
            if key in self._stopping:
                _end(process)  # asked twice: at once
            else:
                process.send_signal(signal.SIGTERM)
            self._stopping.add(key)
        return self.store.job(analysis, job.number)

    async def forget(self, analysis: Analysis) -> None:
        """End everything of an analysis, before it is deleted."""
        self._queue = [key for key in self._queue if key[0] != analysis.id]
        own = [key for key in self._running if key[0] == analysis.id]
        for key in own:
            self._stopping.add(key)
            _end(self._processes.get(key))
        self._served.pop(analysis.id, None)
        await asyncio.gather(*(self._running[key] for key in own), return_exceptions=True)

    # For the server ----------------------------------------------------------------------------

    async def start(self) -> None:
        """Take up what was left, and begin to work."""
        self.store.clear_graves()
        for analysis in self.store.all():
            for job in self.store.jobs(analysis):
                if not job.state.is_over and (analysis.id, job.number) not in self._queue:
                    self.store.save_job(analysis, replace(job, state=State.QUEUED))
                    self._queue.append((analysis.id, job.number))
        self._loop = asyncio.create_task(self._work())

    async def close(self) -> None:
        """End all processes; their jobs are taken up again by the next `start`."""
        if self._loop is not None:
            self._loop.cancel()
        for task in self._running.values():
            task.cancel()
        for process in self._processes.values():
            _end(process)
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _work(self) -> None:
        while True:
            while self._queue and len(self._running) < self.limits.at_once:
                key = self._next()
                self._queue.remove(key)
                task = asyncio.create_task(self._run(key))
                self._running[key] = task
                task.add_done_callback(lambda _, key=key: self._over(key))  # type: ignore[misc]
            self._wake.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), timeout=600)
            await self._delete_expired()

    def _next(self) -> Key:
        """The first job of the analysis that was served longest ago."""
        return min(self._queue, key=lambda key: (self._served.get(key[0], 0.0), key[1]))

    def _over(self, key: Key) -> None:
        self._running.pop(key, None)
        self._processes.pop(key, None)
        self._stopping.discard(key)
        self._wake.set()

    async def _delete_expired(self) -> None:
        for analysis in list(self.store.expired()):
            await self.forget(analysis)
            self.store.delete(analysis)

    async def _run(self, key: Key) -> None:
        try:
            analysis = self.store.get(key[0])
            job = self.store.job(analysis, key[1])
        except NoSuchThing:
            return
        self._served[key[0]] = time.monotonic()
        job = replace(job, state=State.RUNNING, started=time.time())
        self.store.save_job(analysis, job)
        code = await self._process(key, analysis, job)
        with contextlib.suppress(NoSuchThing, OSError):
            self.store.get(key[0])  # deleted meanwhile: nothing to say
            ended = self._ended(analysis, job, *self._outcome(key, analysis, job, code))
            remember_seconds(self.store, self.forecasts, analysis, ended)

    def _told(self, analysis: Analysis, job: Job) -> dict[str, Any]:
        """What the process of a job is told: see `worker.py`."""
        cores = os.cpu_count() or 1
        return {
            "folder": str(analysis.job_folder(job.number)), "task": job.task,
            "table": str(analysis.table_path), "name": analysis.name, "asked": job.asked,
            "settings": job.settings, "limits": asdict(self.limits),
            "n_jobs": max(1, cores // self.limits.at_once),
        }  # fmt: skip

    async def _process(self, key: Key, analysis: Analysis, job: Job) -> int:
        """Run the job's process to its end, or to the end of its time; its exit code."""
        told = self._told(analysis, job)
        with (analysis.job_folder(job.number) / "output.txt").open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "unveil.web.worker",
                stdin=asyncio.subprocess.PIPE, stdout=output, stderr=output,
                start_new_session=True,
            )  # fmt: skip
        self._processes[key] = process
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(json.dumps(told).encode())
            await process.stdin.drain()
        process.stdin.close()
        seconds = float(job.settings.get("seconds", self.limits.job_seconds))
        try:
            for wait, ending in ((seconds + self.limits.grace, signal.SIGTERM),
                                 (self.limits.grace, signal.SIGKILL)):  # fmt: skip
                try:
                    return await asyncio.wait_for(process.wait(), wait)
                except TimeoutError:
                    _end(process, ending)
            return await process.wait()
        finally:
            _end(process)
            await process.wait()

    def _outcome(self, key: Key, analysis: Analysis, job: Job, code: int) -> tuple[State, str]:
        folder = analysis.job_folder(job.number)
        if code == 0 and (folder / "result.json").exists():
            return (State.STOPPED if key in self._stopping else State.DONE), ""
        if key in self._stopping:
            return State.STOPPED, "It was stopped before there was anything to show."
        problem = folder / "problem.txt"
        if problem.exists():
            return State.FAILED, problem.read_text(encoding="utf-8")
        LOG.error("job %s of an analysis ended with code %s; see %s", job.task, code, folder)
        if code < 0:
            return State.FAILED, (
                "The process was ended, most likely for want of memory. Leave columns out, or send "
                "fewer rows."
            )
        return State.FAILED, (
            "This should not have happened: it is a fault of the program. Please report it, with "
            "what you did."
        )

    def _ended(self, analysis: Analysis, job: Job, state: State, problem: str) -> Job:
        job = replace(job, state=state, problem=problem, ended=time.time())
        self.store.save_job(analysis, job)
        return job


def _end(process: asyncio.subprocess.Process | None, how: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to a process and all it started."""
    if process is None or process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if how == signal.SIGKILL:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)


def _in_words(error: ValidationError) -> str:
    """What is wrong with settings, as a sentence."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"setting {where!r}: {first['msg'][:1].lower()}{first['msg'][1:]}."
