"""`unveil fit`: parameters for a known structure, from a table with or without gaps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.live import live_progress
from unveil.cli.models import network_from
from unveil.cli.options import Seed, TableFile, TimeLimit, reads_table
from unveil.cli.screen import note, say, show_table

if TYPE_CHECKING:
    from unveil.em import EMResult
    from unveil.graph import DAG
    from unveil.model import EquivalentSampleSize, Network
    from unveil.table import Table, Variable

__all__ = ["fit"]


@reads_table
def fit(
    data: TableFile,
    structure: Annotated[
        str, typer.Option(help="A network file, or a bundled network, whose arcs are kept.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write the network (.json, .bif, ...)."),
    ] = None,
    equivalent_sample_size: Annotated[
        float, typer.Option(help="Equivalent sample size of the prior.")
    ] = 1.0,
    maximum_likelihood: Annotated[
        bool, typer.Option("--maximum-likelihood", help="No prior: the likeliest parameters.")
    ] = False,
    starts: Annotated[int, typer.Option(min=1, help="How many times EM starts.")] = 5,
    max_iterations: Annotated[int, typer.Option(min=1, help="At most so many EM steps.")] = 500,
    tolerance: Annotated[
        float, typer.Option(help="EM stops when it gains less than this part of its objective.")
    ] = 1e-8,
    time_limit: TimeLimit = None,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Learn the parameters of a known structure.

    Complete tables are counted. Missing cells, and variables of the structure that have no
    column, are summed over by EM, which starts at the structure's own parameters and then anew
    from random ones.
    """
    from unveil.em import fit_em
    from unveil.model import EquivalentSampleSize, Network
    from unveil.table import Table

    model = network_from(structure)
    table = _known_columns(Table.read(data, **reading), model, reading)
    prior = None if maximum_likelihood else EquivalentSampleSize(equivalent_sample_size)
    say(f"{data}: {table.n_rows:,} rows, {table.n_columns} of {len(model.names)} variables")
    if table.n_columns == len(model.names) and table.is_complete:
        fitted = Network.fit(model.dag, table, prior)
        say(f"complete table, counted ({_kind(prior)})")
    else:
        first, hidden = _first(model, table, prior)
        with live_progress("nats") as listener:
            result = fit_em(
                first, table, prior, hidden, n_starts=starts, max_iterations=max_iterations,
                tolerance=tolerance, seed=seed, progress=listener, time_limit=time_limit,
            )  # fmt: skip
        fitted = result.network
        _starts(result, prior)
    _summary(fitted, table)
    if output is not None:
        fitted.save(output)
        say(f"network written to {output}")


def _known_columns(table: Table, model: Network, reading: dict[str, Any]) -> Table:
    """The table's columns that the structure has, coded by its states or those of `--states`."""
    from unveil.errors import DataError

    inside = [name for name in model.names if name in table]
    if not inside:
        raise DataError(
            f"the table has none of the structure's variables ({', '.join(model.names[:6])}, ...); "
            f"its columns are {', '.join(table.names[:6])}"
        )
    outside = [name for name in table.names if name not in inside]
    if outside:
        note(f"columns that the structure does not have are left out: {', '.join(outside)}")
    declared = reading.get("states", {})
    variables = [(table if n in declared else model).variable(n) for n in inside]
    return table.select(inside).conform(variables, unknown=reading["unknown"])


def _first(
    model: Network, table: Table, prior: EquivalentSampleSize | None
) -> tuple[Network | DAG, dict[str, Variable] | None]:
    """Where EM starts: at the structure's parameters, unless the states are others."""
    if all(model.variable(n).states == table.variable(n).states for n in table.names):
        return model if prior is None else _blended(model, prior), None
    note("other states than the structure has were declared: EM starts from random parameters")
    return model.dag, {n: model.variable(n) for n in model.names if n not in table}


def _blended(model: Network, prior: EquivalentSampleSize) -> Network:
    """The structure's parameters without zeros, which no prior could ever have meant."""
    from unveil.model import Network, TableCPD

    cpds = []
    for cpd in model.cpds.values():
        if isinstance(cpd, TableCPD) and (cpd.values == 0).any():
            values = 0.999 * cpd.values + 0.001 / cpd.variable.n_states
            cpd = TableCPD(cpd.variable, cpd.parents, values)
        cpds.append(cpd)
    return Network(cpds, model.name, model.description)


def _kind(prior: EquivalentSampleSize | None) -> str:
    if prior is None:
        return "maximum likelihood"
    return f"posterior mean, equivalent sample size {prior.size:g}"


def _starts(result: EMResult, prior: EquivalentSampleSize | None) -> None:
    say(f"EM ({_kind(prior)}): {len(result.trace)} iterations, {result.stopped}")
    rows = [
        (str(i), start.kind, f"{start.log_likelihood:,.4f}", str(start.n_iterations), start.stopped)
        for i, start in enumerate(result.starts, 1)
    ]
    show_table(["start", "kind", "log-likelihood", "iterations", "stopped"], rows)
    if result.stopped != "converged":
        note(f"EM did not converge ({result.stopped}); allow it more with --max-iterations")
    say(f"seed {result.seed}")


def _summary(fitted: Network, table: Table) -> None:
    from unveil.evaluate import log_loss

    say(f"{fitted!r}")
    say(f"log-likelihood: {fitted.log_likelihood(table):,.4f} nats")
    say(f"log-loss on these rows: {log_loss(fitted, table)}")
