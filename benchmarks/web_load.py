"""Many people at once browse and ask the playground on ALARM (`web.py --part load`)."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import statistics
import tempfile
import time
from typing import Any

from web_server import Server

__all__ = ["load"]

PAGES = ("", "/dependences", "/hidden", "/playground", "/take")
BETWEEN = (0.5, 1.5)
"""Seconds between two clicks of a person, at least and at most."""


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


def load(users: int = 100, seconds: float = 30.0, jobs: int = 20) -> dict[str, Any]:
    """So many people for so many seconds, then so many jobs."""
    with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
        key = server.ask("POST", "/api/examples/alarm")["id"]
        job = server.done(key, "learn")
        assert job["state"] == "done"
        number = job["number"]
        picture = server.ask("GET", f"/api/a/{key}/jobs/{number}/picture?bars=true")["after"]
        states = {n["name"]: len(n["states"]) for n in picture["nodes"]}
        server.ask("POST", f"/api/a/{key}/jobs/{number}/ask", {"given": {"BP": 0}})
        before = server.mebibytes()
        busy = os.getloadavg()[0]
        told = asyncio.run(crowd(server, key, number, states, users, seconds))
        return {
            "load_of_the_machine_before": round(busy, 1), "users": users, "seconds": seconds,
            "questions": summary(told, "question"), "pages": summary(told, "page"),
            "queue": queued(server, key, jobs),
            "server_mebibytes": {"before": round(before), "after": round(server.mebibytes())},
        }  # fmt: skip
