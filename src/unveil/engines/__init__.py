"""Tables that do not fit: Parquet, DuckDB and Dask, read in pieces and worked on part by part.

- `protocol.py`: the contract: sources give pieces, runners work on parts; sums in a fixed tree
- `door.py`: `open_rows`; `recognise.py`: which data are read in pieces; `installed.py`: the engines
- `datasets.py`, `database.py`, `frames.py`: Parquet and pyarrow datasets, DuckDB, Dask frames;
  `schemas.py`: one schema for many files; `unchanged.py`: files that must stay as they were
- `columns.py`: the first pass, what the columns are; `prepare.py`: which are left out or cut
- `second_pass.py`: all pieces as coded parts; `coding.py`: Arrow rows as coded tables
- `store.py`: coded parts between passes; `ceiling.py`: how much memory may be used
- `rows.py`: `PartedRows`, the engine that counts; `on_parts.py`: what is done with one part
- `runners.py`: work on threads of this process; `cluster.py`: on the workers of a Dask cluster
- `reading.py`: batches as tables of exact size, and the error for what cannot be read
"""

from unveil.engines.ceiling import Ceiling
from unveil.engines.door import open_rows, opened
from unveil.engines.installed import ENGINES, Engine, engines
from unveil.engines.protocol import Piece, Runner, Source, tree_sum
from unveil.engines.rows import PartedRows
from unveil.engines.runners import ThreadRunner

__all__ = [
    "ENGINES",
    "Ceiling",
    "Engine",
    "PartedRows",
    "Piece",
    "Runner",
    "Source",
    "ThreadRunner",
    "engines",
    "open_rows",
    "opened",
    "tree_sum",
]
