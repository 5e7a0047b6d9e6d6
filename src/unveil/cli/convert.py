"""`unveil convert`: networks and tables from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unveil.cli.models import is_network, network_from
from unveil.cli.options import (
    Continuous,
    Delimiter,
    Discrete,
    Encoding,
    Header,
    Missing,
    Text,
    Weights,
    reading,
)
from unveil.cli.screen import say

__all__ = ["convert"]


def convert(
    source: Annotated[str, typer.Argument(help="A network or table file, or a bundled network.")],
    target: Annotated[Path, typer.Argument(help="Where to write; the ending chooses the format.")],
    delimiter: Delimiter = None,
    missing: Missing = None,
    weights: Weights = None,
    encoding: Encoding = None,
    header: Header = True,
    discrete: Discrete = None,
    continuous: Continuous = None,
    text: Text = None,
) -> None:
    """Convert a network (json, bif, xmlbif, net, xdsl, uai, dot) or a table (csv, parquet, ...)."""
    from unveil.formats import save
    from unveil.table import read_table, write_table

    if is_network(source):
        network = network_from(source)
        save(network, target)
        say(f"{target}: {network!r}")
    else:
        options = reading(delimiter, missing, weights, encoding, header, discrete, continuous, text)
        table = read_table(source, **options)
        write_table(table, target)
        say(f"{target}: {table!r}")
