"""`unveil sample`: rows drawn from a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unveil.cli.models import network_from
from unveil.cli.options import Seed
from unveil.cli.outputs import writes_table
from unveil.cli.screen import say

__all__ = ["sample"]


def sample(
    model: Annotated[str, typer.Argument(help="A network file, or the name of a bundled network.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Where to write: .csv, .tsv, .parquet, ...",
            callback=writes_table,
        ),
    ],
    rows: Annotated[int, typer.Option("--rows", "-n", min=1, help="How many rows.")] = 1000,
    seed: Seed = None,
    missing: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of cells to knock out at random.")
    ] = 0.0,
    keep_hidden: Annotated[
        bool, typer.Option(help="Write the columns of hidden variables too.")
    ] = False,
) -> None:
    """Draw rows from a network and write them as a table.

    Hidden variables are drawn but not written, unless --keep-hidden is given.
    """
    import numpy as np

    from unveil.table import write_table

    network = network_from(model)
    generator = np.random.default_rng(seed)
    table = network.sample(rows, generator)
    if network.hidden and not keep_hidden:
        table = table.without(network.hidden)
    if missing:
        table = table.knock_out(missing, seed=generator)
    write_table(table, output)
    say(f"{output}: {rows:,} rows of {table.n_columns} variables drawn from {network!r}")
