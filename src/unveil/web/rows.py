"""`page_of_rows`: a page of a table of rows, sorted; read once and kept for the next page."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.errors import DataError, did_you_mean

if TYPE_CHECKING:
    import pyarrow

__all__ = ["PER_PAGE", "page_of_rows"]

PER_PAGE = 50


def page_of_rows(path: Path, sort: str, down: bool, page: int) -> dict[str, Any]:
    """The rows of one page, as lists of cells; `sort` names a column, `down` the largest first."""
    table = _sorted(path, path.stat().st_mtime, sort, down)
    start = (page - 1) * PER_PAGE
    return {
        "columns": table.column_names,
        "rows": [list(row.values()) for row in table.slice(start, PER_PAGE).to_pylist()],
        "page": page,
        "n_pages": max(1, -(-table.num_rows // PER_PAGE)),
        "n_rows": table.num_rows,
        "sort": sort,
        "down": down,
    }


@lru_cache(maxsize=4)
def _read(path: Path, stamp: float) -> pyarrow.Table:
    import pyarrow.csv

    return pyarrow.csv.read_csv(path)


@lru_cache(maxsize=4)
def _sorted(path: Path, stamp: float, sort: str, down: bool) -> pyarrow.Table:
    table = _read(path, stamp)
    if not sort:
        return table
    if sort not in table.column_names:
        raise DataError(
            f"there is no column {sort[:80]!r}.{did_you_mean(sort, table.column_names)}"
        )
    return table.sort_by([(sort, "descending" if down else "ascending")])
