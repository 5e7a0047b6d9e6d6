"""`unveil convert`: networks and tables from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unveil.cli.models import is_network, network_from
from unveil.cli.naming import NewNames, NewStates, renamed
from unveil.cli.options import reads_table
from unveil.cli.outputs import writes_any, writes_network, writes_table
from unveil.cli.screen import say
from unveil.errors import DataError

__all__ = ["convert"]


@reads_table
def convert(
    source: Annotated[str, typer.Argument(help="A network or table file, or a bundled network.")],
    target: Annotated[
        Path,
        typer.Argument(help="Where to write; the ending chooses the format.", callback=writes_any),
    ],
    name: NewNames = None,
    state_names: NewStates = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Convert a network (json, bif, xmlbif, net, xdsl, uai, dot) or a table (csv, parquet, ...)."""
    from unveil.formats import save
    from unveil.table import read_table, write_table

    if is_network(source):
        writes_network(target)
        network = renamed(network_from(source), name, state_names)
        save(network, target)
        say(f"{target}: {network!r}")
    elif name or state_names:
        raise DataError(
            f"{source} is a table; --name and --state-names are for the variables of a network"
        )
    else:
        writes_table(target)
        table = read_table(source, **reading)
        write_table(table, target)
        say(f"{target}: {table!r}")
