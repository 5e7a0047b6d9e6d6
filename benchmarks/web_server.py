"""`unveil serve` in a process of its own, for the benchmarks of the web pages."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

__all__ = ["Server"]

# One machine plays all people, so the limits for one address are lifted; all others stay.
STARTED = """
import json, sys
from pathlib import Path
from unveil.web.limits import Limits
from unveil.web.serve import serve
lifted = {"requests": 1e6, "burst": 10**6, "changes": 1e6, "changes_burst": 10**6}
limits = Limits(**lifted | json.loads(sys.argv[2]))
serve(Path(sys.argv[1]), port=0, limits=limits, ready=lambda address: print(address, flush=True))
"""


class Server:
    """`unveil serve` in a process of its own; `limits` are other than usual ones."""

    def __init__(self, folder: str, **limits: Any) -> None:
        words = [sys.executable, "-c", STARTED, folder, json.dumps(limits)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.process.stdout.readline())
        assert found is not None
        self.port = int(found[1])

    def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """One request; its answer. A body of bytes is sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"content-type": "application/json"}
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body)
        connection.request(method, path, sent, headers)
        answer = connection.getresponse()
        told = json.loads(answer.read() or b"{}")
        connection.close()
        return {"status": answer.status} | told

    def finished(self, key: str, number: int, seconds: float = 600) -> dict[str, Any]:
        """A job when it is over."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            job = self.ask("GET", f"/api/a/{key}/jobs/{number}")
            if job["state"] in ("done", "failed", "stopped"):
                return job
            time.sleep(0.2)
        raise TimeoutError(f"job {number}")

    def done(self, key: str, task: str, **settings: Any) -> dict[str, Any]:
        """A job, started and waited for."""
        answer = self.ask("POST", f"/api/a/{key}/jobs", {"task": task, "settings": settings})
        assert answer["status"] == 200, answer
        return self.finished(key, answer["number"])

    def mebibytes(self) -> float:
        """What the server holds in memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def end(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(timeout=30)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
