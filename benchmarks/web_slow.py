"""Clients that keep connections busy with almost nothing (`web.py --part slow`).

More connections than the server keeps are opened in every way that holds one: nothing is sent, a
byte of the head now and then, a body that does not end, a file that stands still, an answer that is
not taken. Meanwhile somebody else asks a question again and again, each time on a new connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

from web_server import Server

__all__ = ["slow"]

EACH = 150
"""Connections of every kind."""
ASKED = 80
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def beginnings(port: int, key: str, number: int) -> dict[str, bytes]:
    """What a slow client of every kind sends before it becomes slow."""
    host = f"Host: 127.0.0.1:{port}\r\n"
    length = "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    file = f"/api/a/{key}/jobs/{number}/files/report.html"
    return {
        "silent": b"",
        "slow head": f"GET / HTTP/1.1\r\n{host}".encode(),
        "slow body": f"POST /api/a/{key}/jobs/{number}/ask HTTP/1.1\r\n{host}{length}{{".encode(),
        "slow file": f"POST /api/analyses?name=x HTTP/1.1\r\n{host}{length}a,b".encode(),
        "takes nothing": f"GET {file} HTTP/1.1\r\n{host}\r\n".encode() * 20,
    }


async def hold(port: int, first: bytes, kept: list[Streams]) -> None:
    """Open a connection, begin, and keep it."""
    with contextlib.suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        if first:
            writer.write(first)
            await writer.drain()
        kept.append((reader, writer))


async def trickle(kept: list[Streams], is_over: Callable[[], bool]) -> None:
    """A byte on every connection now and then."""
    while not is_over():
        for _, writer in kept:
            if not writer.is_closing():
                with contextlib.suppress(OSError):
                    writer.write(b"x")
        await asyncio.sleep(2.0)


async def ask(port: int, path: str) -> tuple[int, float]:
    """One question on a new connection: its status (0 if there was none) and its seconds."""
    began = time.perf_counter()
    body = json.dumps({"given": {"smoke": 0}})
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    status = 0
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write((head + body).encode())
            status = int((await reader.read()).split()[1])
            writer.close()
    return status, time.perf_counter() - began


async def siege(server: Server, key: str, number: int) -> dict[str, Any]:
    """Everybody at once; how the others fared, and how many connections were left at the end."""
    kept: list[Streams] = []
    path = f"/api/a/{key}/jobs/{number}/ask"
    over = False
    for first in beginnings(server.port, key, number).values():
        await asyncio.gather(*(hold(server.port, first, kept) for _ in range(EACH)))
    held = len(kept)
    slowly = asyncio.create_task(trickle(kept, lambda: over))
    told, most = [], _sockets(server.process.pid)
    for _ in range(ASKED):
        told.append(await ask(server.port, path))
        most = max(most, _sockets(server.process.pid))
        await asyncio.sleep(0.25)
    over = True
    await slowly
    for _, writer in kept:
        writer.close()
    took = sorted(1000 * seconds for _, seconds in told)
    return {
        "slow_connections": held, "questions": len(told),
        "right": sum(status == 200 for status, _ in told),
        "median_ms": round(statistics.median(took), 1), "most_ms": round(took[-1], 1),
        "most_open_files_of_the_server": most,
        "open_files_at_the_end": _sockets(server.process.pid),
    }  # fmt: skip


def _sockets(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def slow() -> dict[str, Any]:
    """The siege of a server with its usual limits."""
    with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
        key = server.ask("POST", "/api/examples/asia")["id"]
        number = server.done(key, "learn")["number"]
        before = server.mebibytes()
        told = asyncio.run(siege(server, key, number))
        return told | {"server_mebibytes": {"before": round(before),
                                            "after": round(server.mebibytes())}}  # fmt: skip
