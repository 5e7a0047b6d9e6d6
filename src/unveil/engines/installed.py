"""The engines that are installed, and which of them takes the data.

Engines are found under the entry point group `unveil.engines`: each is a function that takes the
data and gives a source and a runner, or `None` if it is not for them.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from unveil.engines.ceiling import Ceiling
from unveil.engines.datasets import open_parquet
from unveil.engines.protocol import Runner, Source
from unveil.errors import DataError, did_you_mean
from unveil.files import no_such_file

__all__ = ["ENGINES", "Engine", "engines", "open_source", "source_names"]


class Engine(Protocol):
    """What stands under the entry point group `unveil.engines`."""

    def __call__(
        self, data: Any, table: str | None, query: str | None, n_jobs: int | None,
        ceiling: Ceiling,
    ) -> tuple[Source, Runner | None] | None:  # fmt: skip
        """A source and, if it brings one, a runner; `None` if the data are not for this engine."""


ENGINES = ("parquet", "duckdb", "dask")
"""The engines that come with unveil, in the order in which they are asked."""


@cache
def engines() -> dict[str, Any]:
    """All engines by name: those of unveil, and those under the entry point `unveil.engines`."""
    from unveil.engines.cluster import open_dask
    from unveil.engines.database import open_duckdb

    found: dict[str, Any] = {"parquet": open_parquet, "duckdb": open_duckdb, "dask": open_dask}
    for point in entry_points(group="unveil.engines"):
        found[point.name] = point.load()
    return found


def open_source(
    data: Any,
    table: str | None,
    query: str | None,
    engine: str | None,
    n_jobs: int | None,
    ceiling: Ceiling,
) -> tuple[Source, Runner | None]:
    """The source of the data by the engine asked for, or by the first that takes them."""
    known = engines()
    if engine is not None and engine not in known:
        raise DataError(
            f"there is no engine {engine!r}; there are {', '.join(known)}."
            + did_you_mean(engine, known)
        )
    for name in [engine] if engine else list(known):
        found: tuple[Source, Runner | None] | None = known[name](
            data, table, query, n_jobs, ceiling
        )
        if found is not None:
            return found
    is_path = isinstance(data, str | os.PathLike)
    if is_path and engine in (None, *ENGINES) and not os.path.exists(data):
        raise DataError(no_such_file(Path(data)))
    if is_path and os.path.isfile(data) and not os.path.getsize(data):
        raise DataError(f"{data}: the file is empty")
    what = f"the engine {engine!r} cannot read" if engine else "no engine reads"
    raise DataError(
        f"{what} {data if is_path else type(data).__name__}; rows are "
        "read in pieces from Parquet files and folders, DuckDB files and relations, pyarrow "
        "datasets and Dask data frames"
    )


def source_names(
    data: Any, engine: str | None = None, table: str | None = None, query: str | None = None
) -> tuple[str, ...]:
    """The names of the columns of a source."""
    source, _ = open_source(data, table, query, engine, None, Ceiling.of(None))
    return tuple(source.schema.names)
