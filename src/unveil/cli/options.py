"""Options that several commands share; above all, how to read a table."""

from __future__ import annotations

import csv
import inspect
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from unveil.cli.live import waiting
from unveil.cli.outputs import writes_picture
from unveil.errors import DataError

if TYPE_CHECKING:
    from unveil.engines import PartedRows
    from unveil.table import Table

__all__ = [
    "Allowance",
    "Anneal",
    "Bins",
    "Command",
    "Compare",
    "CoursePicture",
    "Discretize",
    "Drop",
    "Family",
    "Ideal",
    "Jobs",
    "Method",
    "RowsFile",
    "Seed",
    "TableFile",
    "TimeLimit",
    "columns_named",
    "in_pieces",
    "prepared",
    "read_and_prepared",
    "read_rows",
    "reads_rows",
    "reads_table",
    "rows_prepared",
    "rows_words",
]

TableFile = Annotated[
    Path, typer.Argument(help="A table: CSV, TSV, Parquet, Feather or ARFF; .gz is fine.")
]
RowsFile = Annotated[
    Path,
    typer.Argument(
        help="A table: CSV, TSV, Parquet, Feather or ARFF; or rows that need not fit in memory: a "
        "Parquet file or folder, a DuckDB file."
    ),
]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Repeat a run exactly; fresh randomness if absent.")
]

TimeLimit = Annotated[
    float | None, typer.Option(min=0, help="Stop after so many seconds with the best so far.")
]
Jobs = Annotated[int | None, typer.Option(min=1, help="How many cores to use; all if not given.")]
Anneal = Annotated[
    str | None,
    typer.Option(
        help="Get out of local maxima by annealing the rows' weights: adversary or random."
    ),
]
Method = Annotated[
    str,
    typer.Option(
        help="em (several starts) or bottleneck (one run of information-bottleneck EM, which "
        "follows one solution from gamma = 0 to EM at gamma = 1)."
    ),
]
Compare = Annotated[
    int,
    typer.Option(min=0, help="With --method bottleneck: compare with so many random starts of EM."),
]
CoursePicture = Annotated[
    Path | None,
    typer.Option(
        help="With --method bottleneck: where to draw likelihood, information and states against "
        "gamma (.svg, .png, .pdf).",
        callback=writes_picture,
    ),
]
Drop = Annotated[
    list[str] | None, typer.Option(help="Columns to leave out: a name, or 'A,B'; repeatable.")
]
Discretize = Annotated[
    str | None,
    typer.Option(help="Cut continuous columns: equal_width, equal_frequency, kmeans, deviation."),
]
Family = Annotated[
    str,
    typer.Option(
        help="How continuous columns depend on their parents: linear, sigmoid, hyperbolic or "
        "reaction; with -multiplicative or -log-normal behind it, with that noise."
    ),
]
Ideal = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Score only so many additions per family: those most like the ideal parent.",
    ),
]
Bins = Annotated[int, typer.Option(min=1, help="Into how many bins a continuous column is cut.")]

OLD_METHODS = {"width": "equal_width", "frequency": "equal_frequency"}
"""Ways to cut, as they used to be called here."""


def prepared(
    data: Path,
    reading: dict[str, Any],
    drop: list[str] | None,
    method: str | None,
    n_bins: int,
    *,
    numbers: bool = False,
) -> Table:
    """The table in a file, ready to learn from."""
    return read_and_prepared(data, reading, drop, method, n_bins, numbers=numbers)[1]


def read_and_prepared(
    data: Path,
    reading: dict[str, Any],
    drop: list[str] | None,
    method: str | None,
    n_bins: int,
    *,
    numbers: bool = False,
) -> tuple[Table, Table]:
    """The table in a file as it is, and ready to learn from; `numbers` may stay continuous."""
    with waiting(f"reading {data.name}"):
        return _read_and_prepared(data, reading, drop, method, n_bins, numbers)


def _read_and_prepared(
    data: Path,
    reading: dict[str, Any],
    drop: list[str] | None,
    method: str | None,
    n_bins: int,
    numbers: bool,
) -> tuple[Table, Table]:
    from unveil.table import Table, prepare

    table = Table.read(data, **{k: v for k, v in reading.items() if k != "rows"})
    way = None if method is None else OLD_METHODS.get(method, method)
    away = columns_named(drop, table.names)
    asked_for = {*(reading.get("kinds") or ()), *(reading.get("states") or ())}
    ready = prepare(
        table, drop=away, discretize=way, n_bins=n_bins, keep=asked_for, numbers=numbers
    )
    return table, ready.table


def rows_prepared(
    data: Path,
    reading: dict[str, Any],
    drop: list[str] | None,
    method: str | None,
    n_bins: int,
    *,
    numbers: bool = False,
    n_jobs: int | None = None,
) -> Table | PartedRows:
    """The rows ready to learn from: a table, or parts where they do not fit in memory."""
    if not in_pieces(data, reading):
        return prepared(data, reading, drop, method, n_bins, numbers=numbers)
    from unveil.engines.installed import source_names
    from unveil.table.prepare import undecided

    asked = reading["rows"]
    with waiting(f"reading {data.name}"):
        names = source_names(data, asked["engine"], asked["table"], asked["query"])
        way = None if method is None else OLD_METHODS.get(method, method)
        rows = read_rows(
            data, reading, drop=columns_named(drop, names), discretize=way, n_bins=n_bins,
            n_jobs=n_jobs,
        )  # fmt: skip
    continuous = [v.name for v in rows.variables if not v.is_discrete]
    if continuous and not numbers:
        raise undecided(continuous)
    return rows


def rows_words(table: Table | PartedRows) -> str:
    """How many rows there are; of rows that were folded while they were read, how many at first."""
    if getattr(table, "weights", None) is None or table.total_weight == table.n_rows:
        return f"{table.n_rows:,} rows"
    return f"{table.n_rows:,} rows, standing for {table.total_weight:,.6g} cases"


def read_rows(
    data: Path, reading: dict[str, Any], *, only: Collection[str] | None = None, **ready: Any
) -> Table | PartedRows:
    """The table in a file or, of rows that are read in pieces, what `open_rows` gives.

    `only` are the columns that pieces are read for, as far as they are there.
    """
    own = {k: v for k, v in reading.items() if k != "rows"}
    if not in_pieces(data, reading):
        from unveil.table import Table

        return Table.read(data, **own)
    from unveil.engines import open_rows
    from unveil.engines.installed import source_names
    from unveil.table.places import tell

    if only is not None:
        asked = reading["rows"]
        names = source_names(data, asked["engine"], asked["table"], asked["query"])
        ready["columns"] = [name for name in names if name in only] or None
        away = [n for n in names if n not in only and n != own.get("weights")]
        if away and ready["columns"]:
            tell(f"columns that the structure does not have are left out: {', '.join(away)}")
    known = ("kinds", "missing", "weights", "states", "unknown")
    return open_rows(data, **{k: own[k] for k in known if k in own}, **reading["rows"], **ready)


def in_pieces(data: Path, reading: dict[str, Any]) -> bool:
    """Whether the rows are read in pieces; an error where something is asked of other files."""
    from unveil.engines.recognise import is_source

    asked = reading.get("rows", {})
    if is_source(data, asked.get("memory"), asked.get("engine")):
        return bool(asked)
    given = [f"--{name}" for name, value in asked.items() if value is not None]
    if given:
        raise DataError(
            f"{data}: {' and '.join(given)} {'is' if len(given) == 1 else 'are'} for rows that are "
            "read in pieces: a Parquet file or folder, or a DuckDB file"
        )
    return False


@dataclass(frozen=True)
class Allowance:
    """What is left of a time limit: reading the table counts, as everything the command does."""

    limit: float | None
    began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float | None:
        """The seconds left, or `None` without a limit."""
        spent = time.monotonic() - self.began
        return None if self.limit is None else max(0.0, self.limit - spent)

    def part(self, share: float) -> float | None:
        """A share of the seconds left."""
        return None if self.left is None else share * self.left


def columns_named(words: list[str] | None, known: Collection[str] = ()) -> list[str]:
    """The names in words such as 'A' or 'A,B'; a name with a comma in it stands in quotes.

    A word that is a name among the `known` ones is that name, commas and all.

    >>> columns_named(["a,b", "c, d"], ["c, d"]), columns_named(['"x,y",z'])
    (['a', 'b', 'c, d'], ['x,y', 'z'])
    """
    found: list[str] = []
    for word in words or ():
        if word in known:
            found.append(word)
        else:
            parts = next(csv.reader([word], skipinitialspace=True), [])
            found += [part.strip() for part in parts if part.strip()]
    return list(dict.fromkeys(found))


OLD_OPTIONS = {
    "--ess": "--equivalent-sample-size", "--bins": "--n-bins", "--criterion": "--score",
    "--jobs": "--n-jobs", "--starts": "--n-starts", "--classes": "--n-classes",
}  # fmt: skip
"""Options as they used to be called; still understood, not shown."""


class Command(TyperCommand):
    """A command that knows its options by their old names, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, old names of options replaced first."""
        own = {name for parameter in self.params for name in parameter.opts}
        return super().parse_args(ctx, [_renamed(word, own) for word in args])


def _renamed(word: str, options: set[str]) -> str:
    name, equals, value = word.partition("=")
    new = OLD_OPTIONS.get(name)
    return f"{new}{equals}{value}" if new in options and name not in options else word


def reads_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading a table.

    The command takes a last argument `reading`: the keyword arguments of `read_table` that the
    options stand for.
    """
    return _with_options(command, _reading)


def reads_rows(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a command that also takes rows in pieces: see `read_rows`."""
    return _with_options(command, _reading, _sources)


def _with_options(
    command: Callable[..., None], *makers: Callable[..., dict[str, Any]]
) -> Callable[..., None]:
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    own = [p.replace(annotation=hints[p.name]) for p in signature.parameters.values()]
    own = [p.replace(kind=p.KEYWORD_ONLY) for p in own if p.name != "reading"]
    added = [
        p.replace(annotation=get_type_hints(maker, include_extras=True)[p.name],
                  kind=p.KEYWORD_ONLY)
        for maker in makers
        for p in inspect.signature(maker).parameters.values()
    ]  # fmt: skip

    @wraps(command)
    def wrapped(**given: Any) -> None:
        reading: dict[str, Any] = {}
        for maker in makers:
            names = inspect.signature(maker).parameters
            reading |= maker(**{name: given.pop(name) for name in names if name in given})
        command(**given, reading=reading)

    both = [*own, *added]
    wrapped.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in both}
    return wrapped


def _reading(
    delimiter: Annotated[
        str | None, typer.Option(help="What separates the cells; found by itself if not given.")
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(help="A text that marks an empty cell, instead of the usual; repeatable."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="The column that says how often each row counts.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="How the file's letters are written, for example latin-1.")
    ] = None,
    header: Annotated[bool, typer.Option(help="Whether the first line holds the names.")] = True,
    discrete: Annotated[
        list[str] | None,
        typer.Option(help="Columns to read as discrete: a name, or 'A,B'; repeatable."),
    ] = None,
    continuous: Annotated[
        list[str] | None, typer.Option(help="Columns to read as continuous; repeatable.")
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="Columns to read as labels, exactly as written; repeatable."),
    ] = None,
    states: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=A,B,...",
            help="All states of a column, also those that no row shows; repeatable.",
        ),
    ] = None,
    unknown: Annotated[
        str,
        typer.Option(help="What a label that is not among the known states is: error, missing."),
    ] = "error",
    max_bytes: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Refuse a table larger than this once unpacked; 0 for no limit.",
            show_default="4 GiB",
        ),
    ] = None,
) -> dict[str, Any]:
    """The keyword arguments of `read_table` that the options stand for."""
    kinds: dict[str, str] = {}
    for kind, names in (("discrete", discrete), ("continuous", continuous), ("text", text)):
        for name in columns_named(names):
            if kinds.setdefault(name, kind) != kind:
                raise DataError(f"column {name!r} cannot be both {kinds[name]} and {kind}")
    chosen: dict[str, Any] = {"header": header, "kinds": kinds or None, "weights": weights}
    if delimiter is not None:
        chosen["delimiter"] = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if missing:
        chosen["missing"] = tuple(missing)
    if encoding is not None:
        chosen["encoding"] = encoding
    if states:
        chosen["states"] = dict(_declared(words) for words in states)
    if max_bytes is not None:
        chosen["max_bytes"] = max_bytes or None
    return chosen | {"unknown": unknown}


def _sources(
    table: Annotated[
        str | None, typer.Option(help="Which table of a DuckDB file to read; not needed for one.")
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(help="Read what this SQL gives, from a DuckDB file; see --engine."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Use no more memory than this, such as 2GiB; rows are read in pieces.",
            show_default="half of the machine's",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="Who reads the pieces: parquet, duckdb, dask or another that is installed. "
            "DuckDB calls the rows of Parquet files 'rows' in a --query."
        ),
    ] = None,
) -> dict[str, Any]:
    """What is asked of rows that are read in pieces."""
    return {"rows": {"table": table, "query": query, "memory": memory, "engine": engine}}


def _declared(words: str) -> tuple[str, list[Any]]:
    """The column and the labels of `COLUMN=A,B,...`; a label with a comma stands in quotes."""
    from unveil.table.text import typed_labels

    name, equals, rest = words.partition("=")
    labels = next(csv.reader([rest], skipinitialspace=True), [])
    if not (name and equals and all(labels) and labels):
        raise DataError(f"--states {words}: expected COLUMN=A,B,..., as in --states smoker=no,yes")
    return name, typed_labels([label.strip() for label in labels])
