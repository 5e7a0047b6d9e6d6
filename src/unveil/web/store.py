"""`Store`: analyses as folders, one for each, under names that nobody can guess.

A folder holds `analysis.json`, the table as it was sent, and `jobs/1`, `jobs/2`, ...; each job has
`job.json` (what was asked, and how it stands), `events.jsonl` (its steps) and its results. All
files are written whole, so a server that is ended at any time finds all when it starts again.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from unveil.errors import UnveilError
from unveil.files import atomic_write

__all__ = ["Analysis", "Job", "NoSuchThing", "State", "Store"]

_ID = re.compile(r"[A-Za-z0-9_-]{22}")
DAY = 86_400.0


class NoSuchThing(UnveilError):
    """An analysis or a job that is not there: never made, or deleted."""


class State(StrEnum):
    """How a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self in (State.DONE, State.STOPPED, State.FAILED)


@dataclass(frozen=True)
class Job:
    """One piece of work: which task, with what settings, and how it stands."""

    number: int
    task: str
    settings: dict[str, Any]
    asked: dict[str, Any]
    """What was asked of the table when it began; see `unveil.web.asked`."""
    state: State = State.QUEUED
    problem: str = ""
    created: float = 0.0
    started: float = 0.0
    ended: float = 0.0


@dataclass(frozen=True)
class Analysis:
    """One table and all that was done with it; `folder` is where it is kept."""

    id: str
    name: str
    """What the person calls the table: the name of the file they sent."""
    file: str
    """What the file is called here: `table` with an ending from a fixed list."""
    created: float
    used: float
    asked: dict[str, Any] = field(default_factory=dict)
    example: str = ""
    folder: Path = Path()

    @property
    def table_path(self) -> Path:
        """The table as it was sent."""
        return self.folder / self.file

    def job_folder(self, number: int) -> Path:
        """Where a job keeps its files."""
        return self.folder / "jobs" / str(int(number))


class Store:
    """All analyses below a folder."""

    def __init__(self, root: Path, keep_days: float = 14.0) -> None:
        self.root = root
        self.keep_days = keep_days
        (root / "analyses").mkdir(parents=True, exist_ok=True, mode=0o700)

    def create(self, name: str, file: str, example: str = "") -> Analysis:
        """A new analysis with an empty folder; the table is still to come."""
        key, now = secrets.token_urlsafe(16), time.time()
        analysis = Analysis(key, name, file, now, now, {}, example, self._folder(key))
        analysis.folder.mkdir(mode=0o700)
        (analysis.folder / "jobs").mkdir()
        self.save(analysis)
        return analysis

    def get(self, key: str) -> Analysis:
        """The analysis of that name."""
        if not _ID.fullmatch(key):
            raise _gone()
        folder = self._folder(key)
        known = _read(folder / "analysis.json")
        if known is None:
            raise _gone()
        return Analysis(**known, folder=folder)

    def save(self, analysis: Analysis) -> None:
        """Remember an analysis as it is now."""
        known = {k: v for k, v in asdict(analysis).items() if k != "folder"}
        _write(analysis.folder / "analysis.json", known)

    def touch(self, analysis: Analysis) -> Analysis:
        """The analysis, used now; said on the disk at most once an hour."""
        if time.time() - analysis.used < 3600:
            return analysis
        touched = replace(analysis, used=time.time())
        self.save(touched)
        return touched

    def expires(self, analysis: Analysis) -> float:
        """When the analysis will be deleted, if nobody looks at it before (seconds since 1970)."""
        return analysis.used + self.keep_days * DAY

    def delete(self, analysis: Analysis) -> None:
        """Remove an analysis and everything of it."""
        # Renamed first: a folder that is half deleted is not an analysis any more.
        grave = analysis.folder.with_name(f".{analysis.id}")
        analysis.folder.rename(grave)
        shutil.rmtree(grave, ignore_errors=True)

    def expired(self) -> Iterator[Analysis]:
        """The analyses whose time is over."""
        now = time.time()
        return (a for a in self.all() if self.expires(a) < now)

    def all(self) -> Iterator[Analysis]:
        """Every analysis there is."""
        for folder in sorted((self.root / "analyses").iterdir()):
            if _ID.fullmatch(folder.name):
                try:
                    yield self.get(folder.name)
                except NoSuchThing:
                    continue

    def count(self) -> int:
        """How many analyses there are."""
        return sum(1 for _ in (self.root / "analyses").iterdir())

    def clear_graves(self) -> None:
        """Remove what was left of a deletion that was cut short."""
        for folder in (self.root / "analyses").glob(".*"):
            shutil.rmtree(folder, ignore_errors=True)

    # Jobs --------------------------------------------------------------------------------------

    def add_job(self, analysis: Analysis, task: str, settings: dict[str, Any]) -> Job:
        """A new job of an analysis, waiting for its turn."""
        number = max((job.number for job in self.jobs(analysis)), default=0) + 1
        job = Job(number, task, settings, analysis.asked, created=time.time())
        analysis.job_folder(number).mkdir(parents=True)
        self.save_job(analysis, job)
        return job

    def job(self, analysis: Analysis, number: int) -> Job:
        """The job of that number."""
        known = _read(analysis.job_folder(number) / "job.json")
        if known is None:
            raise NoSuchThing(f"this analysis has no step {number}; it may have been deleted.")
        kept = {f.name: known[f.name] for f in fields(Job) if f.name in known}
        return Job(**kept | {"state": State(known["state"])})

    def save_job(self, analysis: Analysis, job: Job) -> None:
        """Remember a job as it stands."""
        _write(analysis.job_folder(job.number) / "job.json", asdict(job))

    def jobs(self, analysis: Analysis) -> list[Job]:
        """The jobs of an analysis, the first one first."""
        folder = analysis.folder / "jobs"
        numbers = sorted(int(p.name) for p in folder.iterdir() if p.name.isdigit())
        found = []
        for number in numbers:
            try:
                found.append(self.job(analysis, number))
            except NoSuchThing:
                continue  # a folder that was made when the power went
        return found

    def n_jobs(self, analysis: Analysis) -> int:
        """How many jobs an analysis has."""
        return sum(1 for path in (analysis.folder / "jobs").iterdir() if path.name.isdigit())

    def result(self, analysis: Analysis, number: int) -> dict[str, Any]:
        """What a job found, as it wrote it down."""
        known = _read(analysis.job_folder(number) / "result.json")
        if known is None:
            raise NoSuchThing(f"step {number} has no result yet.")
        return known

    def _folder(self, key: str) -> Path:
        return self.root / "analyses" / key


def _gone() -> NoSuchThing:
    return NoSuchThing(
        "there is no such analysis: it was deleted, its time was over, or the link is not whole."
    )


def _read(path: Path) -> dict[str, Any] | None:
    try:
        known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return known


def _write(path: Path, known: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write(json.dumps(known, ensure_ascii=False))
