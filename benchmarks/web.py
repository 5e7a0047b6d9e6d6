"""The web pages under load: many people at once browse and ask the playground on ALARM.

    python benchmarks/web.py [--users 100] [--seconds 30] [--jobs 20]

Starts `unveil serve` on loopback in a folder of its own, learns ALARM's network, then lets so many
people at once look at pages and ask questions (with a second or so between two clicks), counts
answers, errors and seconds, queues so many jobs, and looks at the memory of the server. Needs
`unveil[web]`. The record goes to `benchmarks/results/web.json`.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import machine, versions, write_json

RESULTS = Path(__file__).parent / "results" / "web.json"
PAGES = ("", "/dependences", "/hidden", "/playground", "/take")
BETWEEN = (0.5, 1.5)
"""Seconds between two clicks of a person, at least and at most."""


class Server:
    """`unveil serve` in a process of its own."""

    def __init__(self, folder: str) -> None:
        words = [sys.executable, "-c", STARTED, folder]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.process.stdout.readline())
        assert found is not None
        self.port = int(found[1])

    def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """One request; its answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"content-type": "application/json"}
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, headers)
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

    def mebibytes(self) -> float:
        """What the server holds in memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def end(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(timeout=30)


# One machine plays all people, so the limits for one address are lifted; all others stay.
STARTED = """
import sys
from pathlib import Path
from unveil.web.limits import Limits
from unveil.web.serve import serve
limits = Limits(requests=1e6, burst=10**6, changes=1e6, changes_burst=10**6)
serve(Path(sys.argv[1]), port=0, limits=limits, ready=lambda address: print(address, flush=True))
"""


async def person(
    port: int, key: str, number: int, states: dict[str, int], until: float, seed: int,
    told: list[tuple[str, int, float]],
) -> None:  # fmt: skip
    """Somebody who looks at a page or asks a question, waits a moment, and does so again."""
    draw = random.Random(seed)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.sleep(draw.uniform(0, BETWEEN[1]))
    while time.monotonic() < until:
        if draw.random() < 0.3:
            kind, method, body = "page", "GET", ""
            path = f"/a/{key}{draw.choice(PAGES)}"
        else:
            kind, method, path = "question", "POST", f"/api/a/{key}/jobs/{number}/ask"
            given = {n: draw.randrange(states[n]) for n in draw.sample(sorted(states), 2)}
            body = json.dumps({"given": given})
        started = time.perf_counter()
        status = await _request(reader, writer, port, method, path, body)
        told.append((kind, status, time.perf_counter() - started))
        await asyncio.sleep(draw.uniform(*BETWEEN))
    writer.close()


async def _request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, method: str, path: str,
    body: str,
) -> int:  # fmt: skip
    """One request on an open connection; its status, once the whole answer is there."""
    head = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    writer.write(("\r\n".join(head) + "\r\n\r\n" + body).encode())
    await writer.drain()
    said = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"(?i)content-length: (\d+)", said)
    if length is not None:
        await reader.readexactly(int(length[1]))
    return int(said.split()[1])


async def crowd(
    server: Server, key: str, number: int, states: dict[str, int], users: int, seconds: float
) -> list[tuple[str, int, float]]:
    """Everybody at once; what each request was, its status and its seconds."""
    told: list[tuple[str, int, float]] = []
    until = time.monotonic() + seconds
    people = [person(server.port, key, number, states, until, i, told) for i in range(users)]
    await asyncio.gather(*people)
    return told


def summary(told: list[tuple[str, int, float]], kind: str) -> dict[str, Any]:
    """How many, how many failed, and how long they took; impossible findings are refused (422)."""
    took = sorted(1000 * t for k, _, t in told if k == kind)
    possible = [s for k, s, _ in told if k == kind]
    return {
        "answers": len(took),
        "right": possible.count(200),
        "errors": sum(status not in (200, 422) for status in possible),
        "impossible": sum(status == 422 for status in possible),
        "median_ms": round(statistics.median(took), 1),
        "p95_ms": round(took[int(0.95 * (len(took) - 1))], 1),
        "most_ms": round(took[-1], 1),
    }


def queued(server: Server, key: str, jobs: int) -> dict[str, Any]:
    """Jobs of several analyses queued at once; how long until all are done."""
    started = time.monotonic()
    keys = [server.ask("POST", "/api/examples/asia")["id"] for _ in range(-(-jobs // 3))]
    work = [(k, 1) for k in keys]
    while len(work) < jobs:
        answer = server.ask("POST", f"/api/a/{keys[len(work) % len(keys)]}/jobs", {"task": "learn"})
        assert answer["status"] == 200, answer
        work.append((keys[len(work) % len(keys)], answer["number"]))
    asked = time.monotonic() - started
    states = [server.finished(k, n)["state"] for k, n in work]
    return {
        "jobs": jobs, "done": states.count("done"), "seconds_to_queue": round(asked, 2),
        "seconds_in_all": round(time.monotonic() - started, 1),
    }  # fmt: skip


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--jobs", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        try:
            key = server.ask("POST", "/api/examples/alarm")["id"]
            number = server.ask("POST", f"/api/a/{key}/jobs", {"task": "learn"})["number"]
            assert server.finished(key, number)["state"] == "done"
            picture = server.ask("GET", f"/api/a/{key}/jobs/{number}/picture?bars=true")["after"]
            states = {n["name"]: len(n["states"]) for n in picture["nodes"]}
            server.ask("POST", f"/api/a/{key}/jobs/{number}/ask", {"given": {"BP": 0}})
            before = server.mebibytes()
            load = os.getloadavg()[0]
            told = asyncio.run(crowd(server, key, number, states, asked.users, asked.seconds))
            record = {
                "machine": machine(), "versions": versions(["fastapi", "uvicorn", "unveil"]),
                "load_of_the_machine_before": round(load, 1),
                "users": asked.users, "seconds": asked.seconds,
                "questions": summary(told, "question"), "pages": summary(told, "page"),
                "queue": queued(server, key, asked.jobs),
                "server_mebibytes": {"before": round(before), "after": round(server.mebibytes())},
            }  # fmt: skip
        finally:
            server.end()
    write_json(RESULTS, record)
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
