"""`unveil cluster`: latent classes of the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.live import live_progress
from unveil.cli.options import (
    Bins,
    Discretize,
    Drop,
    Seed,
    TableFile,
    TimeLimit,
    prepared,
    reads_table,
)
from unveil.cli.screen import note, say, show_table
from unveil.errors import DataError

if TYPE_CHECKING:
    from unveil.em.mixture import MixtureResult
    from unveil.table import Table

__all__ = ["cluster"]


@reads_table
def cluster(
    data: TableFile,
    classes: Annotated[
        str, typer.Option(help="How many classes: a number, a list '2,3,5' or a range '2..10'.")
    ] = "1..6",
    criterion: Annotated[
        str, typer.Option(help="What chooses: bic, aic, cheeseman-stutz or held-out.")
    ] = "bic",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write the network (.json, .bif, ...)."),
    ] = None,
    assignments: Annotated[
        Path | None, typer.Option(help="Where to write each row's class (.csv, .parquet, ...).")
    ] = None,
    starts: Annotated[int, typer.Option(min=1, help="How many times EM starts.")] = 10,
    equivalent_sample_size: Annotated[
        float | None,
        typer.Option(help="Equivalent sample size of a prior; maximum likelihood if not given."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Also the log-loss by so many folds of held-out rows.")
    ] = None,
    name: Annotated[str, typer.Option(help="What the hidden variable is called.")] = "class",
    drop: Drop = None,
    discretize: Discretize = None,
    n_bins: Bins = 3,
    time_limit: TimeLimit = None,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Sort the rows into latent classes and choose how many there are."""
    from unveil.em.mixture import latent_classes
    from unveil.model import EquivalentSampleSize

    table = prepared(data, reading, drop, discretize, n_bins)
    size = equivalent_sample_size
    prior = None if size is None else EquivalentSampleSize(size)
    with live_progress("nats") as listener:
        found = latent_classes(
            table, _numbers(classes), criterion, starts,  # type: ignore[arg-type]
            prior, name, folds,
            seed=seed, progress=listener, time_limit=time_limit,
        )  # fmt: skip
    say(f"{data}: {table.n_rows:,} rows, {table.n_columns} columns")
    _show(found)
    if output is not None:
        found.network.save(output)
        say(f"network written to {output}")
    if assignments is not None:
        _assigned(found, table).write(assignments)
        say(f"classes written to {assignments}")


def _numbers(words: str) -> list[int]:
    """The numbers of classes that '4', '2,3,5' or '2..10' stands for."""
    numbers: list[int] = []
    try:
        for part in words.split(","):
            low, dots, high = part.partition("..")
            numbers += range(int(low), int(high if dots else low) + 1)
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise DataError(
            f"--classes {words}: give a number like 4, a list like 2,3,5 or a range like 2..10"
        )
    return numbers


def _show(found: MixtureResult) -> None:
    held = any(m.held_out is not None for m in found.mixtures)
    head = ["classes", "log-likelihood", "parameters", "BIC", "AIC", "Cheeseman-Stutz"]
    rows = []
    for m in found.mixtures:
        mark = " *" if m.n_classes == found.n_classes else ""
        numbers = [f"{x:,.2f}" for x in (m.bic, m.aic, m.cheeseman_stutz)]
        row = [f"{m.n_classes}{mark}", f"{m.log_likelihood:,.2f}", str(m.n_parameters), *numbers]
        if held:
            row.append("" if m.held_out is None else f"{m.held_out.bits:.4f}")
        rows.append([*row, f"{m.n_reached} of {len(m.starts)}"])
    show_table([*head, *(["held-out bits"] if held else []), "starts at best"], rows)
    plural = "" if found.n_classes == 1 else "es"
    say(f"{found.n_classes} class{plural} chosen by {found.criterion} (seed {found.seed})")
    for profile in found.profiles:
        say(f"  {profile.words}")
    for sentence in found.notes:
        note(sentence)


def _assigned(found: MixtureResult, table: Table) -> Table:
    """The table with the most probable class of every row and its probability."""
    import numpy as np

    from unveil.table import Variable

    posterior = found.network.posterior(table, of=found.name)[found.name]
    variable = found.network.variable(found.name).as_hidden(False)
    with_class = table.with_column(variable, posterior.argmax(axis=1))
    sure = f"P({found.name})"
    return with_class.with_column(Variable(sure), np.round(posterior.max(axis=1), 6))
