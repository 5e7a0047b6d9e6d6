"""`unveil info`: what is in a file, and what looks odd about it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unveil.cli.models import is_network, network_from
from unveil.cli.options import reads_table
from unveil.cli.screen import say, show_table
from unveil.table import ColumnDescription, Table, describe
from unveil.table.variable import label_text

__all__ = ["info"]


@reads_table
def info(
    file: Annotated[str, typer.Argument(help="A table or a network; a bundled network by name.")],
    *,
    reading: dict[str, Any],
) -> None:
    """Describe a table or a network: kinds, states, missing cells, and what looks odd."""
    if is_network(file):
        network = network_from(file)
        say(network.describe())
        return
    _show(file, Table.read(file, **reading))


def _show(file: str, table: Table) -> None:
    found = describe(table)
    weight = "" if table.weights is None else f", standing for {table.total_weight:,.6g} cases"
    say(f"{file}: {found.n_rows:,} rows{weight}, {found.n_columns} columns")
    cells = found.n_rows * found.n_columns
    say(f"missing cells: {found.n_missing:,} ({found.n_missing / cells:.1%})")
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
