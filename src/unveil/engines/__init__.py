"""Tables that do not fit: Parquet, DuckDB and Dask, read in pieces and worked on part by part.

- `protocol.py`: the contract: sources give pieces, runners work on parts; sums in a fixed tree
- `door.py`: `open_rows`, and the engines that are installed
- `datasets.py`, `database.py`, `cluster.py`: Parquet and pyarrow datasets, DuckDB, Dask
- `columns.py`: the first pass, what the columns are; `coding.py`: Arrow rows as coded parts
- `store.py`: coded parts between passes; `ceiling.py`: how much memory may be used
- `rows.py`: `PartedRows`, the engine that counts
- `runners.py`: work on threads of this process; `reading.py`: batches as tables of exact size
"""

from unveil.engines.ceiling import Ceiling
from unveil.engines.door import ENGINES, Engine, engines, open_rows, opened
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
