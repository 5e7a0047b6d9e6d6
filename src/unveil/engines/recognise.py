"""Which data are read in pieces: a folder of Parquet, a database, a lazy frame, a large file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from unveil.engines.ceiling import Ceiling
from unveil.engines.reading import begins

__all__ = ["is_source"]


def is_source(data: Any, memory: Any = None, engine: str | None = None) -> bool:
    """Whether the data are read in pieces: a folder, a database, a lazy frame, a large file.

    A Parquet file is, if its cells may not fit below the ceiling, or if a ceiling or an engine is
    asked for.
    """
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        if path.is_dir():
            return True
        if not path.is_file():
            return False
        kind = _kind(path)
        if kind == "duckdb":
            return True
        if kind != "parquet":
            return False
        return memory is not None or engine is not None or _is_large(path)
    return type(data).__module__.partition(".")[0] in LAZY and not _is_eager(data)


LAZY = {"pyarrow", "_pyarrow", "duckdb", "_duckdb", "dask", "dask_expr"}


def _is_eager(data: Any) -> bool:
    """Whether it is an Arrow table or the like, which are in memory already."""
    if type(data).__module__.startswith("pyarrow"):
        import pyarrow.dataset as ds

        return not isinstance(data, ds.Dataset)
    return False


def _kind(path: Path) -> str | None:
    if begins(path, b"PAR1"):
        return "parquet"
    return "duckdb" if begins(path, b"DUCK", 8) else None


def _is_large(path: Path) -> bool:
    """Whether a Parquet file in memory would take more than what may be used."""
    import pyarrow.parquet as parquet

    try:
        about = parquet.ParquetFile(path).metadata
    except Exception:  # whoever reads it says what is wrong with it
        return False
    cells = 8 * about.num_rows * about.num_columns
    unpacked = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    return 3 * max(cells, unpacked) > Ceiling.of(None).room
