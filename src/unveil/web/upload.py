"""Tables come in: from a browser, no larger than allowed, or from the examples."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from starlette.requests import ClientDisconnect

from unveil import datasets
from unveil.errors import DataError, SizeError
from unveil.web.asked import Asked
from unveil.web.limits import Limits
from unveil.web.store import Analysis, Store

__all__ = ["from_example", "receive", "save_stream", "shown_name"]

EXAMPLE_ROWS = 2_000
"""Rows drawn from an example that is a network."""
DRAINED = 4
"""A file is heard to its end up to so many times the limit: a browser that is still sending does
not hear why it is refused."""
LONGEST_NAME = 120
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


async def receive(
    store: Store, limits: Limits, name: str, stream: AsyncIterator[bytes]
) -> Analysis:
    """A new analysis of the table that comes through the stream; a refused one leaves nothing."""
    _check_room(store, limits)
    analysis = store.create(shown_name(name), "table.data")
    try:
        await save_stream(analysis.table_path, limits, stream)
    except BaseException:
        store.delete(analysis)
        raise
    return analysis


async def save_stream(path: Path, limits: Limits, stream: AsyncIterator[bytes]) -> None:
    """Write what comes through a stream to a file; no more, and no longer, than allowed."""
    size = 0
    try:
        async with asyncio.timeout(limits.upload_seconds):
            with path.open("wb") as file:
                while piece := await _next(stream, limits.stall_seconds):
                    size += len(piece)
                    if size <= limits.upload_bytes:
                        file.write(piece)
                    elif size > DRAINED * limits.upload_bytes:
                        break
    except TimeoutError:
        raise DataError(
            f"the file was not whole after {limits.upload_seconds:,.0f} seconds, or nothing came "
            f"for {limits.stall_seconds:,.0f}. Pack it (.csv.gz, .parquet), or send fewer rows."
        ) from None
    except ClientDisconnect:
        raise DataError("the connection was closed before the file was whole.") from None
    if size > limits.upload_bytes:
        raise _too_large(limits)
    if size == 0:
        raise DataError("the file is empty. Choose a table: CSV, TSV, Parquet or ARFF.")


async def _next(stream: AsyncIterator[bytes], seconds: float) -> bytes:
    """The next piece that is not empty; nothing at the end."""
    async with asyncio.timeout(seconds):
        async for piece in stream:
            if piece:
                return piece
    return b""


def _too_large(limits: Limits) -> SizeError:
    return SizeError(
        f"the file is larger than {limits.upload_bytes / 2**20:,.0f} MiB, the most that this "
        "server takes. Send fewer rows or columns, pack it (.csv.gz, .parquet), or use the program "
        "on the command line."
    )


def from_example(store: Store, limits: Limits, name: str) -> Analysis:
    """A new analysis with a bundled table, or with rows drawn from a bundled network."""
    known = datasets.entry(name)
    _check_room(store, limits)
    is_table = known.kind == "table"
    table = (
        datasets.table(name) if is_table else datasets.network(name).sample(EXAMPLE_ROWS, seed=1)
    )
    analysis = store.create(f"{name}.csv", "table.csv", example=name)
    table.write(analysis.table_path)
    asked = Asked(weights="weight") if table.weights is not None else Asked()
    analysis = replace(analysis, asked=asked.model_dump())
    store.save(analysis)
    return analysis


def _check_room(store: Store, limits: Limits) -> None:
    """Refuse a further table when there are too many, or when the disk is almost full."""
    if store.count() >= limits.analyses:
        raise SizeError("this server keeps as many analyses as it may; delete one of yours.")
    if shutil.disk_usage(store.root).free < limits.free_bytes:
        raise SizeError("this server has no space left for another table; delete one of yours.")


def shown_name(name: str) -> str:
    """What a file is called on pages: its last part, without what could not be printed."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return _CONTROL.sub(" ", last).strip()[:LONGEST_NAME] or "table"
