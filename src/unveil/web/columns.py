"""What is known of the columns of an analysis once its table was read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from unveil.web.asked import Asked
from unveil.web.forecast import Forecasts, Size, size_of
from unveil.web.store import Analysis, Job, State, Store

__all__ = ["forecast_of", "remember_seconds", "used_columns"]


def used_columns(store: Store, analysis: Analysis) -> dict[str, Any]:
    """The columns that are learned from, those of them that are numbers, and empty cells.

    `away` are columns that the program itself leaves out: identifiers and dates.
    """
    found = _last_reading(store, analysis)
    if found is None:
        return {"names": [], "numbers": [], "n_missing": 0, "away": []}
    result, asked = found
    away = {*asked.leave_out, asked.who, *result.get("away", [])}
    used = [c for c in result["columns"] if c["name"] not in away]
    return {
        "names": [c["name"] for c in used],
        "numbers": [c["name"] for c in used if c["kind"] == "continuous"],
        "n_missing": sum(c["n_missing"] for c in used),
        "away": list(result.get("away", [])),
    }


def forecast_of(store: Store, forecasts: Forecasts, analysis: Analysis) -> dict[str, Any]:
    """How long each step may take, in seconds from and to; nothing before the table was read."""
    size = _size(store, analysis, {})
    if size is None:
        return {"size": None, "seconds": {}}
    tasks = ("learn", "discover", "cluster", "classify")
    ranges = {task: forecasts.of(task, size) for task in tasks}
    told = {task: [round(x, 1) for x in r] for task, r in ranges.items() if r is not None}
    return {"size": asdict(size), "seconds": told}


def remember_seconds(store: Store, forecasts: Forecasts, analysis: Analysis, job: Job) -> None:
    """Let later forecasts know how long a job took that came to its end by itself."""
    size = _size(store, analysis, job.settings)
    seconds = job.ended - job.started
    in_time = seconds < 0.9 * float(job.settings.get("seconds", 0.0))
    if size is not None and job.state is State.DONE and in_time:
        forecasts.learn(job.task, size, seconds)


def _last_reading(store: Store, analysis: Analysis) -> tuple[dict[str, Any], Asked] | None:
    done = [j for j in store.jobs(analysis) if j.task == "read" and j.state is State.DONE]
    return (store.result(analysis, done[-1].number), Asked(**done[-1].asked)) if done else None


def _size(store: Store, analysis: Analysis, settings: dict[str, Any]) -> Size | None:
    found = _last_reading(store, analysis)
    if found is None:
        return None
    result, asked = found
    cut = settings.get("cut")
    is_cut = bool(asked.cut if cut is None else cut)
    return size_of(result, used_columns(store, analysis), is_cut)
