"""`unveil predict` and `unveil impute`: posteriors and fillings for every row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unveil.cli.models import network_from
from unveil.cli.options import (
    RowsFile,
    Seed,
    TableFile,
    columns_named,
    in_pieces,
    reads_rows,
    reads_table,
)
from unveil.cli.outputs import writes_table
from unveil.cli.screen import say

__all__ = ["impute", "predict"]

Model = Annotated[str, typer.Argument(help="A network file, or the name of a bundled network.")]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write the table.", callback=writes_table)
]


@reads_rows
def predict(
    model: Model,
    data: RowsFile,
    output: Output,
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            help="Variables to predict, 'A' or 'A,B'; all hidden ones if absent.",
        ),
    ] = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Write the table with the posterior of some variables beside every row.

    A variable's own column, if there is one, is not used to predict it. Rows that are read in
    pieces are written part by part, to Parquet.
    """
    from unveil.infer import with_posteriors
    from unveil.infer.columns import default_targets
    from unveil.table import Table, write_table

    network = network_from(model)
    if in_pieces(data, reading):
        from unveil.infer import write_posteriors

        chosen = columns_named(of, network.names)
        n_rows, targets = write_posteriors(
            network, data, output, chosen, unknown=reading["unknown"], **reading["rows"]
        )
        say(f"{output}: {n_rows:,} rows with posteriors of {', '.join(targets)}")
        return
    table = Table.read(data, **{k: v for k, v in reading.items() if k != "rows"})
    targets = columns_named(of, network.names) or default_targets(network, table)
    write_table(with_posteriors(network, table, targets, reading["unknown"]), output)
    say(f"{output}: {table.n_rows:,} rows with posteriors of {', '.join(targets)}")


@reads_table
def impute(
    model: Model,
    data: TableFile,
    output: Output,
    draw: Annotated[
        bool, typer.Option(help="Draw from the posterior instead of the most probable filling.")
    ] = False,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Write the table with its empty cells filled in."""
    from unveil.infer import fill_in
    from unveil.table import Table, write_table

    table = Table.read(data, **reading)
    filled = fill_in(network_from(model), table, draw, seed, reading["unknown"])
    write_table(filled, output)
    say(f"{output}: {table.n_missing - filled.n_missing:,} empty cells filled in")
