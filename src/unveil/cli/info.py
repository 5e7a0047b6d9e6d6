"""`unveil info`: what is in a file, and what looks odd about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unveil.cli.models import is_network, network_from
from unveil.cli.options import in_pieces, reads_rows
from unveil.cli.screen import say, show_table
from unveil.table import ColumnDescription, Table, TableDescription, describe
from unveil.table.variable import label_text

__all__ = ["info"]


@reads_rows
def info(
    file: Annotated[
        str,
        typer.Argument(
            help="A table, a folder of Parquet, a DuckDB file or a network; a bundled network by "
            "name."
        ),
    ],
    *,
    reading: dict[str, Any],
) -> None:
    """Describe a table or a network: kinds, states, missing cells, and what looks odd."""
    if is_network(file):
        network = network_from(file)
        say(network.describe())
        return
    if in_pieces(Path(file), reading):
        from unveil.engines.describe import describe_rows

        known = ("kinds", "missing", "weights", "states", "unknown")
        asked = {k: reading[k] for k in known if k in reading}
        _show(file, describe_rows(file, **asked, **reading["rows"]))
        return
    own = {k: v for k, v in reading.items() if k != "rows"}
    _show(file, describe(Table.read(file, **own)))


def _show(file: str, found: TableDescription) -> None:
    weighted = found.total_weight != found.n_rows
    weight = f", standing for {found.total_weight:,.6g} cases" if weighted else ""
    say(f"{file}: {found.n_rows:,} rows{weight}, {found.n_columns} columns")
    cells = found.n_rows * found.n_columns
    say(f"missing cells: {found.n_missing:,} ({found.n_missing / cells:.1%})")
    if found.n_distinct_rows is not None:
        say(f"distinct rows: {found.n_distinct_rows:,}")
    say()
    show_table(
        ["column", "kind", "states", "missing", "values"],
        [
            (
                column.name,
                column.kind,
                "" if column.n_states is None else f"{column.n_states:,}",
                f"{column.missing_share:.1%}" if column.n_missing else "",
                _values(column),
            )
            for column in found.columns
        ],
    )
    if found.sentences:
        say()
        say("what looks odd:")
        for sentence in found.sentences:
            say(f"- {sentence}")


def _values(column: ColumnDescription) -> str:
    if column.kind == "continuous":
        if column.mean is None:
            return "no values"
        return f"{column.minimum:.6g} to {column.maximum:.6g}, mean {column.mean:.6g}"
    shown = ", ".join(f"{_short(label_text(label))} {share:.0%}" for label, share in column.common)
    return shown + (", ..." if column.n_distinct > len(column.common) else "")


def _short(text: str, most: int = 24) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
