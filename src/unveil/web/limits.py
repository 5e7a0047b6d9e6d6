"""`Limits`: how much anybody may ask of the server; all in one place."""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["Limits"]

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What the server allows.

    - `upload_bytes`: the size of a file as it is sent; `table_bytes`: unpacked; `upload_seconds`:
      how long the sending may take
    - `request_bytes`: the size of any other request; `request_seconds`: how long its sending may
      take; `stall_seconds`: how long nothing may come of a file
    - `head_seconds`: how long the head of a request may take; `taking_seconds`: how long a client
      may not take its answer; `connections`: how many may be open; `uploads`: files sent at once
    - `free_bytes`: space on the disk below which no table is taken
    - `max_rows`, `max_columns`: those of a table
    - `job_seconds`: the longest a job may be given; `grace`: seconds after that (or after a wish to
      stop) until it is ended
    - `job_bytes`: memory of one job
    - `at_once`: jobs that run at the same time; `waiting`: jobs in the queue; `waiting_each`: jobs
      of one analysis in it
    - `jobs_each`: all jobs of one analysis, done ones too
    - `keep_days`: an analysis is deleted so long after it was last used
    - `analyses`: how many there may be
    - `requests`, `burst`: requests of one client per second, on average and at once
    - `changes`, `changes_burst`: the same for those that upload or start something
    """

    upload_bytes: int = 100 * MEBIBYTE
    table_bytes: int = 1024 * MEBIBYTE
    upload_seconds: float = 900.0
    request_bytes: int = 2 * MEBIBYTE
    request_seconds: float = 30.0
    stall_seconds: float = 30.0
    head_seconds: float = 15.0
    taking_seconds: float = 60.0
    connections: int = 400
    uploads: int = 8
    free_bytes: int = 256 * MEBIBYTE
    max_rows: int = 2_000_000
    max_columns: int = 2_000
    job_seconds: float = 1800.0
    grace: float = 60.0
    job_bytes: int = 8 * 1024 * MEBIBYTE
    at_once: int = max(1, (os.cpu_count() or 1) // 2)
    waiting: int = 40
    waiting_each: int = 4
    jobs_each: int = 200
    keep_days: float = 14.0
    analyses: int = 2_000
    requests: float = 60.0
    burst: int = 300
    changes: float = 1.0
    changes_burst: int = 30
