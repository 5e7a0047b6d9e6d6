"""Progress as server-sent events: the steps of a job as they come, then how it ended.

Every event has the number of its line in `events.jsonl` as its id, so a browser that lost the
connection goes on where it was (`Last-Event-ID`). A comment now and then keeps the line open.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi.sse import ServerSentEvent

from unveil.web.jobs import Jobs
from unveil.web.store import Analysis, NoSuchThing

__all__ = ["follow"]

EVERY = 0.25
"""Seconds between two looks at the file."""


async def follow(
    jobs: Jobs, analysis: Analysis, number: int, after: int
) -> AsyncIterator[ServerSentEvent]:
    """The steps of a job from line `after` on, and its state whenever that changes."""
    path = analysis.job_folder(number) / "events.jsonl"
    state, place, line, offset = "", -1, 0, 0
    while True:
        try:
            job = jobs.store.job(analysis, number)
        except NoSuchThing:
            return
        now = jobs.place(analysis, job)
        lines, offset = _new_lines(path, offset)
        for text in lines:
            line += 1
            if line > after:
                yield ServerSentEvent(raw_data=text, event="step", id=str(line))
        if (job.state, now) != (state, place):
            state, place = job.state, now
            told = {"state": job.state, "place": now, "problem": job.problem}
            yield ServerSentEvent(raw_data=json.dumps(told), event="state")
        if job.state.is_over:
            return
        await asyncio.sleep(EVERY)


def _new_lines(path: Path, offset: int) -> tuple[list[str], int]:
    """The whole lines of a file behind an offset, and the offset behind them."""
    try:
        if os.path.getsize(path) <= offset:
            return [], offset
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read()
    except OSError:
        return [], offset
    end = data.rfind(b"\n") + 1
    return data[:end].decode().splitlines(), offset + end
