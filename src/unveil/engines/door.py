"""`open_rows`: from wherever many rows are to a table, if they fit, or to parts.

Engines are found under the entry point group `unveil.engines`: each is a class whose `open` takes
the data and gives a source and a runner, or `None` if it is not for it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from unveil.engines.ceiling import Ceiling
from unveil.engines.coding import coded, folded, joined, row_bytes
from unveil.engines.columns import Columns, look, too_many_labels
from unveil.engines.datasets import DatasetSource
from unveil.engines.protocol import Piece, Runner, Source
from unveil.engines.reading import begins
from unveil.engines.rows import SAMPLE_ROWS, PartedRows
from unveil.engines.runners import ThreadRunner
from unveil.engines.store import Remote, Store
from unveil.errors import DataError, Hint, did_you_mean
from unveil.table.core import Table
from unveil.table.cuts import CUTTERS
from unveil.table.discretize import cut_variables
from unveil.table.door import as_table
from unveil.table.options import Kinds, Reading, States, Unknown
from unveil.table.places import tell
from unveil.table.roles import Role, labels_role, numbers_role
from unveil.table.text import DEFAULT_MISSING
from unveil.table.variable import Variable
from unveil.table.weights import named_like_weights

__all__ = [
    "ENGINES",
    "Engine",
    "Memory",
    "engines",
    "is_source",
    "open_rows",
    "open_source",
    "opened",
    "rows_of",
    "source_names",
]

Memory = int | float | str | None
"""A ceiling: bytes, or a text such as `2GiB`."""
FOLDS = 0.6
"""Equal rows are folded where that leaves at most this share of them."""
MERGES = 0.9
"""Folded parts are merged as long as that leaves at most this share of their rows."""


class Engine(Protocol):
    """What stands under the entry point group `unveil.engines`."""

    def __call__(
        self, data: Any, table: str | None, query: str | None, n_jobs: int | None,
        ceiling: Ceiling,
    ) -> tuple[Source, Runner | None] | None:  # fmt: skip
        """A source and, if it brings one, a runner; `None` if the data are not for this engine."""


@dataclass(frozen=True)
class Opened:
    """A source with its pieces and what is known of its columns."""

    source: Source
    pieces: Sequence[Piece]
    runner: Runner
    ceiling: Ceiling
    columns: Columns
    part_rows: int


def open_rows(
    data: Any,
    *,
    table: str | None = None,
    query: str | None = None,
    weights: str | None = None,
    drop: Sequence[str] | str = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
    kinds: Kinds = None,
    missing: Collection[str] = DEFAULT_MISSING,
    columns: Sequence[str] | None = None,
    states: States | None = None,
    like: Any = None,
    unknown: Unknown = "error",
    memory: Memory = None,
    engine: str | None = None,
    n_jobs: int | None = None,
    spool: str | os.PathLike[str] | None = None,
    seed: int = 0,
) -> Table | PartedRows:
    """Many rows ready to learn from: a table in memory where they fit, otherwise in parts.

    `data` is the path of a Parquet file or folder, of a DuckDB file (with the name of a `table` in
    it, or a `query`), a pyarrow dataset, a DuckDB relation or a Dask data frame. The rows are read
    twice, in pieces: to see what the columns are, by the rules for tables in memory, and to code
    them. Equal rows are folded where that makes them fewer. If what is left can be worked on in
    memory below the ceiling, it is a weighted `Table`; otherwise `PartedRows`, whose parts stay in
    files of a temporary folder in `spool`. Either can be given to `unveil.learn`, `fit`, `fit_em`,
    `discover` and the other calls that take tables.

    `memory` is the ceiling for the whole process (`"2GiB"`; half of the machine's if not given).
    `engine` is `parquet`, `duckdb`, `dask` or another that is installed; by default the one that
    the data belong to. `n_jobs` is how many parts are worked on at once. `seed` draws the rows for
    cuts where there are too many to sort.

    As in `unveil.table.read_table`: `weights` names the column that says how often a row counts,
    `kinds` says what columns are, `missing` which texts are missing cells, `columns` which columns
    to take, `states` the states of some, `like` a network or table whose states are taken, and
    `unknown` what another label is. As in `unveil.learn`: the columns of `drop` are left out, and
    so are identifiers and dates unless `keep` names them; `discretize` cuts continuous columns into
    `n_bins` bins.

    >>> import tempfile
    >>> from unveil import datasets
    >>> path = tempfile.mkdtemp() + "/rows.parquet"
    >>> datasets.network("asia").sample(5000, seed=1).write(path)
    >>> open_rows(path).total_weight
    5000.0
    """
    ceiling = Ceiling.of(memory)
    source, runner = open_source(data, table, query, engine, n_jobs, ceiling)
    n_columns = len(source.schema.names)
    part_rows = ceiling.part_rows(n_columns)
    runner = runner or ThreadRunner(ceiling.n_workers(n_columns, n_jobs))
    ask = Reading.asked(
        source.name, kinds, () if missing is DEFAULT_MISSING else missing, weights, columns,
        None, states, like, unknown,
    )  # fmt: skip
    away = [drop] if isinstance(drop, str) else list(drop)
    ask = _without(ask, list(source.schema.names), away, source.name)
    pieces = source.pieces()
    found = Opened(
        source, pieces, runner, ceiling, look(source, pieces, ask, runner, part_rows), part_rows
    )
    asked_for = {*keep, *ask.states, *({} if isinstance(kinds, str) else kinds or {})}
    found = _prepared(found, asked_for, discretize, n_bins, seed)
    rows = _coded_rows(found, spool)
    if not rows.fits():
        return rows
    whole = rows.as_table()
    return whole if whole.weights is None or len(rows.parts) < 2 else folded(whole)


def opened(
    data: Any,
    weights: Any = None,
    memory: Memory = None,
    engine: str | None = None,
    **options: Any,
) -> Any:
    """The data as they are, unless they are a source that `open_rows` is for."""
    if isinstance(data, PartedRows):
        return _asked_again(data, weights, options)
    if not is_source(data, memory, engine):
        if memory is not None or engine is not None:
            raise DataError(
                "memory and engine are for rows that are read in pieces: the path of a Parquet "
                "file or folder or of a DuckDB file, a pyarrow dataset, a DuckDB relation or a "
                f"Dask data frame; not {type(data).__name__}"
                + (f" ({data})" if isinstance(data, str | os.PathLike) else "")
            )
        return data
    if weights is not None and not isinstance(weights, str):
        raise DataError(
            "the weights of rows that are read in pieces are a column; give its name as weights"
        )
    return open_rows(data, weights=weights, memory=memory, engine=engine, **options)


def _asked_again(rows: PartedRows, weights: Any, options: dict[str, Any]) -> PartedRows:
    """Rows that are open already, without the columns to drop; the rest is said when opening."""
    if weights is not None or options.get("discretize") is not None:
        raise DataError(
            "weights and cuts of rows in parts are decided when they are opened:",
            hint=Hint("open_rows(..., weights=..., discretize=...).", "--weights, --discretize."),
        )
    drop = options.get("drop") or ()
    away = [drop] if isinstance(drop, str) else list(drop)
    for name in away:
        rows.variable(name)  # which says what there is
    left = [name for name in rows.names if name not in away]
    if not left:
        raise DataError("all columns are dropped, which leaves nothing to learn from")
    return rows.select(left) if away else rows


def rows_of(
    data: Any, weights: Any = None, memory: Memory = None, engine: str | None = None
) -> Table | PartedRows:
    """The table behind the data, or their parts where they do not fit; see `open_rows`."""
    found = opened(data, weights, memory, engine)
    if isinstance(found, PartedRows):
        return found.as_table() if found.fits() else found
    return as_table(found, weights if found is data else None)


def is_source(data: Any, memory: Any = None, engine: str | None = None) -> bool:
    """Whether the data are read in pieces: a folder, a database, a lazy frame, a large file.

    A Parquet file is, if its cells may not fit below the ceiling, or if a ceiling or an engine is
    asked for.
    """
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        if path.is_dir():
            return any(path.rglob("*.parquet")) or any(path.rglob("*.pq"))
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


# Engines -----------------------------------------------------------------------------------------


def _parquet(
    data: Any, table: str | None, query: str | None, n_jobs: int | None, ceiling: Ceiling
) -> tuple[Source, Runner | None] | None:
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        if not path.exists():
            from unveil.files import no_such_file

            raise DataError(no_such_file(path))
        if path.is_file() and _kind(path) != "parquet":
            return None
        if table or query:
            raise DataError(
                "a table or a query is asked of a DuckDB file; DuckDB reads Parquet, too:",
                hint=Hint(
                    "engine='duckdb', query='SELECT * FROM rows'.",
                    "--engine duckdb --query 'SELECT * FROM rows'.",
                ),
            )
        return DatasetSource.of_path(path), None
    import pyarrow.dataset as ds

    if isinstance(data, ds.Dataset):
        return DatasetSource(data, "the dataset"), None
    return None


ENGINES = ("parquet", "duckdb", "dask")
"""The engines that come with unveil, in the order in which they are asked."""


@cache
def engines() -> dict[str, Any]:
    """All engines by name: those of unveil, and those under the entry point `unveil.engines`."""
    from unveil.engines.cluster import open_dask
    from unveil.engines.database import open_duckdb

    found: dict[str, Any] = {"parquet": _parquet, "duckdb": open_duckdb, "dask": open_dask}
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
    what = f"the engine {engine!r} cannot read" if engine else "no engine reads"
    raise DataError(
        f"{what} {data if isinstance(data, str | os.PathLike) else type(data).__name__}; rows are "
        "read in pieces from Parquet files and folders, DuckDB files and relations, pyarrow "
        "datasets and Dask data frames"
    )


def source_names(
    data: Any, engine: str | None = None, table: str | None = None, query: str | None = None
) -> tuple[str, ...]:
    """The names of the columns of a source."""
    source, _ = open_source(data, table, query, engine, None, Ceiling.of(None))
    return tuple(source.schema.names)


# Preparing, as `unveil.table.prepare` does -------------------------------------------------------


def _without(ask: Reading, names: list[str], drop: Sequence[str], source: str) -> Reading:
    for name in drop:
        if name not in names:
            raise DataError(
                f"{source}: there is no column {name!r} to leave out; the columns are "
                f"{', '.join(map(repr, names[:12]))}." + did_you_mean(name, names)
            )
    if not drop:
        return ask
    kept = [n for n in ask.columns or names if n not in drop]
    if not kept:
        raise DataError("all columns are dropped, which leaves nothing to learn from")
    return replace(ask, columns=kept)


def _prepared(
    found: Opened, keep: Collection[str], discretize: str | None, n_bins: int, seed: int
) -> Opened:
    """The same without identifiers and dates, continuous columns cut if that is asked for."""
    if discretize is not None and discretize not in CUTTERS:
        raise DataError(
            f"discretize is one of {', '.join(CUTTERS)}, not {discretize!r}."
            + did_you_mean(discretize, CUTTERS)
        )
    columns = found.columns
    away = dict.fromkeys(columns.identifiers, Role.IDENTIFIER)
    for name in columns.identifiers:
        if name in keep:
            raise too_many_labels(name)
    for variable in columns.variables:
        role = None if variable.name in keep else _role(columns, variable)
        if role is not None:
            away[variable.name] = role
    kept = [v for v in columns.variables if v.name not in away]
    if not kept:
        away, kept = dict.fromkeys(columns.identifiers, Role.IDENTIFIER), list(columns.variables)
    for name, role in away.items():
        tell(
            f"column {name!r} looks like {role} and is left out",
            Hint(f"(keep=[{name!r}] keeps it)", f"(--discrete {name} keeps it)"),
        )
    for v in kept:
        if named_like_weights(v.name) and v.name not in keep and columns.ask.weights is None:
            tell(
                f"column {v.name!r} has a name that often says how often each row counts; if so, "
                "read the rows with",
                Hint(f"weights={v.name!r}", f"--weights {v.name}"),
            )
    for v in kept:
        if columns.n_missing[v.name] == columns.n_rows:
            raise DataError(
                f"column {v.name!r} has no values, so nothing can be learned about it; leave it "
                "out with",
                hint=Hint(f"drop=[{v.name!r}]", f"--drop {v.name}"),
            )
    continuous = [v.name for v in kept if not v.is_discrete]
    if continuous and discretize is not None:
        cut = {v.name: v for v in _cut(found, continuous, discretize, n_bins, seed)}
        kept = [cut.get(v.name, v) for v in kept]
    ask = replace(columns.ask, variables={v.name: v for v in kept}, columns=None)
    return replace(found, columns=replace(columns, variables=tuple(kept), ask=ask))


def _role(columns: Columns, variable: Variable) -> Role | None:
    name = variable.name
    present = columns.n_rows - columns.n_missing[name]
    if variable.is_discrete:
        return labels_role(variable.labels, present)
    head = columns.head.column(name)
    role = numbers_role(name, head[~np.isnan(head)])
    low, high = columns.spans[name]
    if role is Role.ROW_NUMBER and high - low + 1 < present:
        return None  # only at the beginning
    return role


def _cut(
    found: Opened, names: list[str], method: str, n_bins: int, seed: int
) -> Iterator[Variable]:
    """The columns cut, by their numbers in all rows or in rows drawn from all pieces."""
    columns = found.columns
    share = min(1.0, SAMPLE_ROWS / columns.n_rows)
    if share < 1:
        tell(
            f"{found.source.name}: continuous columns are cut by about {SAMPLE_ROWS:,} rows drawn "
            f"from {columns.n_rows:,}"
        )
    weights = columns.ask.weights
    wanted = [*names, *([] if weights is None else [weights])]
    ask = replace(columns.ask, variables={n: columns.variable(n) for n in names})
    seeds = np.random.default_rng(seed).integers(2**63, size=len(found.pieces)).tolist()
    items = list(zip(found.pieces, seeds, strict=True))
    drawn = found.runner.each(_drawn, items, tuple(wanted), ask, found.part_rows, share)
    some = joined([table for tables in drawn for table in tables])
    if share < 1 and method == "equal_width":
        ends = [np.append(some.column(n), columns.spans[n]) for n in names]
        some = Table(some.variables, ends)
    return iter(cut_variables(some, names, method=method, n_bins=n_bins))


def _drawn(
    item: tuple[Piece, int], wanted: tuple[str, ...], ask: Reading, part_rows: int, share: float
) -> list[Table]:
    piece, seed = item
    generator = np.random.default_rng(seed)
    found = []
    for table in piece.tables(wanted, part_rows):
        rows = coded(table, ask)
        found.append(rows if share == 1 else rows.take(generator.random(rows.n_rows) < share))
    return found


# Coding ------------------------------------------------------------------------------------------


def _coded_rows(found: Opened, spool: Any) -> PartedRows:
    """The second pass: all pieces as coded parts, folded where that makes them fewer."""
    columns, runner, ceiling = found.columns, found.runner, found.ceiling
    store = Store(ceiling.kept, spool)
    weights = columns.ask.weights
    wanted = (*(v.name for v in columns.variables), *([] if weights is None else [weights]))
    first, rest = found.pieces[:1], found.pieces[1:]
    folds = all(v.is_discrete for v in columns.variables)
    shared = wanted, columns.ask, found.part_rows
    parts = runner.keep(_code, first, *shared, folds, store=store)
    if rest:
        folds = folds and any(part.weighted for part in parts)
        parts += runner.keep(_code, rest, *shared, folds, store=store)
    if folds and not any(isinstance(part, Remote) for part in parts):
        parts = _merged(parts, store, ceiling, found.part_rows)
    missing = {v.name: columns.n_missing[v.name] for v in columns.variables}
    rows = PartedRows(
        parts, columns.variables, columns.n_rows, missing, columns.n_rows, runner, ceiling,
        found.source.name, store,
    )  # fmt: skip
    if weights is not None:
        rows.total_weight = rows.weigh()
    return rows


def _code(
    piece: Piece, wanted: tuple[str, ...], ask: Reading, part_rows: int, fold: bool
) -> Iterator[Table]:
    """The parts of a piece; each is folded if that leaves few enough of its rows."""
    own = replace(ask, source=piece.name)
    for arrow in piece.tables(wanted, part_rows):
        table = coded(arrow, own)
        if fold:
            few = folded(table)
            table = few if few.n_rows <= FOLDS * table.n_rows else table
        yield table


def _merged(parts: list[Any], store: Store, ceiling: Ceiling, part_rows: int) -> list[Any]:
    """The parts with equal rows of neighbours folded, again and again while that pays."""
    if not parts:
        return parts
    size = row_bytes(parts[0].load())
    going = len(parts) > 1
    while going:
        going, left, after = False, list(parts), []
        while left:
            one = left.pop(0)
            if not left or (one.n_rows + left[0].n_rows) * (4 * size + 40) > 0.5 * ceiling.room:
                after.append(one)
                continue
            other = left.pop(0)
            both = folded(joined([one.load(), other.load()]))
            if both.n_rows > MERGES * (one.n_rows + other.n_rows):
                after += [one, other]
                continue
            store.drop(one)
            store.drop(other)
            after.append(store.put(both))
            going = len(after) > 1 or bool(left)
        parts = after
    return [piece for part in parts for piece in _split(part, store, part_rows)]


def _split(part: Any, store: Store, part_rows: int) -> list[Any]:
    """Parts of no more rows than every part may have."""
    if part.n_rows <= part_rows:
        return [part]
    table = part.load()
    store.drop(part)
    starts = range(0, table.n_rows, part_rows)
    return [
        store.put(table.take(np.arange(start, min(start + part_rows, table.n_rows))))
        for start in starts
    ]
