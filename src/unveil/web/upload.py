"""Tables come in: from a browser, no larger than allowed, or from the examples."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import PurePosixPath

from unveil import datasets
from unveil.errors import DataError, SizeError
from unveil.web.asked import Asked
from unveil.web.limits import Limits
from unveil.web.store import Analysis, Store

__all__ = ["from_example", "receive"]

EXAMPLE_ROWS = 2_000
"""Rows drawn from an example that is a network."""
LONGEST_NAME = 120
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


async def receive(
    store: Store, limits: Limits, name: str, stream: AsyncIterator[bytes]
) -> Analysis:
    """A new analysis of the table that comes through the stream; a refused one leaves nothing."""
    _check_room(store, limits)
    analysis = store.create(_shown_name(name), "table.data")
    try:
        size = 0
        with analysis.table_path.open("wb") as file:
            async for piece in stream:
                size += len(piece)
                if size > limits.upload_bytes:
                    raise SizeError(
                        f"the file is larger than {limits.upload_bytes / 2**20:,.0f} MiB, the most "
                        "that this server takes. Send fewer rows or columns, pack it (.csv.gz, "
                        ".parquet), or use the program on the command line."
                    )
                file.write(piece)
        if size == 0:
            raise DataError("the file is empty. Choose a table: CSV, TSV, Parquet or ARFF.")
    except BaseException:
        store.delete(analysis)
        raise
    return analysis


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
    if store.count() >= limits.analyses:
        raise SizeError("this server keeps as many analyses as it may; delete one of yours.")


def _shown_name(name: str) -> str:
    """What a file is called on pages: its last part, without what could not be printed."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return _CONTROL.sub(" ", last).strip()[:LONGEST_NAME] or "table"
