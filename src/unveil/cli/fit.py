"""`unveil fit`: parameters for a known structure, from a table with or without gaps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.live import live_progress
from unveil.cli.models import network_from
from unveil.cli.options import Allowance, Seed, TableFile, TimeLimit, reads_table
from unveil.cli.outputs import writes_network
from unveil.cli.screen import note, say, show_table

if TYPE_CHECKING:
    from unveil.em import EMResult
    from unveil.model import EquivalentSampleSize, Network
    from unveil.table import Table

__all__ = ["fit"]


@reads_table
def fit(
    data: TableFile,
    structure: Annotated[
        str, typer.Option(help="A network file, or a bundled network, whose arcs are kept.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write the network (.json, .bif, ...).",
            callback=writes_network,
        ),
    ] = None,
    equivalent_sample_size: Annotated[
        float, typer.Option(help="Equivalent sample size of the prior.")
    ] = 1.0,
    maximum_likelihood: Annotated[
        bool, typer.Option("--maximum-likelihood", help="No prior: the likeliest parameters.")
    ] = False,
    n_starts: Annotated[int, typer.Option(min=1, help="How many times EM starts.")] = 5,
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
    from unveil.em import refit
    from unveil.model import EquivalentSampleSize
    from unveil.table import Table

    allowance = Allowance(time_limit)
    model, table = network_from(structure), Table.read(data, **reading)
    prior = None if maximum_likelihood else EquivalentSampleSize(equivalent_sample_size)
    with live_progress("nats") as listener:
        found = refit(
            model, table, prior, unknown=reading["unknown"], declared=reading.get("states", ()),
            n_starts=n_starts, max_iterations=max_iterations, tolerance=tolerance, seed=seed,
            progress=listener, time_limit=allowance.left,
        )  # fmt: skip
    used = found.table
    say(f"{data}: {used.n_rows:,} rows, {used.n_columns} of {len(model.names)} variables")
    if found.em is None:
        say(f"complete table, counted ({_kind(prior)})")
    else:
        _starts(found.em, prior)
    _summary(found.network, used)
    if output is not None:
        found.network.save(output)
        say(f"network written to {output}")


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
