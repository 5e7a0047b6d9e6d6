"""`unveil predict` and `unveil impute`: posteriors and fillings for every row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.models import network_from
from unveil.cli.options import Seed, TableFile, reads_table
from unveil.cli.screen import say
from unveil.errors import DataError

if TYPE_CHECKING:
    from unveil.model import Network
    from unveil.table import Table

__all__ = ["impute", "predict"]

Model = Annotated[str, typer.Argument(help="A network file, or the name of a bundled network.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to write the table.")]


@reads_table
def predict(
    model: Model,
    data: TableFile,
    output: Output,
    of: Annotated[
        list[str] | None,
        typer.Option("--of", help="A variable to predict; all hidden ones if absent; repeatable."),
    ] = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Write the table with the posterior of some variables beside every row.

    A variable's own column, if there is one, is not used to predict it.
    """
    import numpy as np

    from unveil.table import Table, Variable, write_table

    network = network_from(model)
    table = Table.read(data, **reading)
    _shared(network, table)
    targets = of or [n for n in network.names if n not in table or network.variable(n).hidden]
    if not targets:
        raise DataError("say which variable to predict: --of NAME (all of them have a column)")
    aside = targets if len(targets) == 1 else []  # nothing asks for the labels of this column
    known = table.like(
        [v for v in network.variables if v.name not in aside], unknown=reading["unknown"]
    )
    for target in targets:
        variable = network.variable(target)
        given = known.without(target) if target in known else known
        found = network.posterior(given, of=target)
        best = found[target].argmax(axis=1).astype(np.int64)
        table = table.with_column(Variable(f"predicted {target}", variable.labels), best)
        for s, label in enumerate(variable.labels):
            table = table.with_column(Variable(f"P({target}={label})"), found[target][:, s])
    write_table(table, output)
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
    from unveil.infer import draw_missing
    from unveil.table import Table, write_table

    network = network_from(model)
    table = Table.read(data, **reading)
    inside = _shared(network, table)
    known = table.select(inside).like(network, unknown=reading["unknown"])
    filled = draw_missing(network, known, seed) if draw else network.most_probable(known).table
    result = table
    for name in inside:
        result = result.with_column(filled.variable(name), filled.column(name))
    write_table(result, output)
    say(f"{output}: {table.n_missing - result.n_missing:,} empty cells filled in")


def _shared(network: Network, table: Table) -> list[str]:
    """The columns that the network knows; an error if there is none."""
    shared = [n for n in table.names if n in network.names]
    if not shared:
        raise DataError(
            f"the table has none of the network's variables; it has {list(table.names)[:8]}, "
            f"the network {list(network.names)[:8]}"
        )
    return shared
