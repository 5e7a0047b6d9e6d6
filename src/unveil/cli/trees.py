"""`unveil trees`: models with many hidden variables, arranged as a tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.live import live_progress
from unveil.cli.options import (
    Allowance,
    Bins,
    Discretize,
    Drop,
    Seed,
    TableFile,
    TimeLimit,
    read_and_prepared,
    reads_table,
)
from unveil.cli.outputs import writes_file, writes_network
from unveil.cli.screen import note, say, show_table
from unveil.errors import DataError, did_you_mean
from unveil.files import atomic_write

if TYPE_CHECKING:
    from unveil.table import Table
    from unveil.trees import HiddenTree

__all__ = ["trees"]

MOST_LINES = 40
"""An outline longer than this is cut; --summary has all of it."""


@reads_table
def trees(
    data: TableFile,
    model: Annotated[
        str,
        typer.Option(
            help="hidden-chow-liu (a hidden variable behind every column), hierarchy (one above "
            "every group of columns), mixture-of-trees or naive-bayes."
        ),
    ] = "hidden-chow-liu",
    n_states: Annotated[int, typer.Option(help="How many states each hidden variable has.")] = 4,
    n_trees: Annotated[int, typer.Option(help="How many classes a mixture of trees has.")] = 2,
    groups: Annotated[
        str | None,
        typer.Option(
            help="The groups of a hierarchy: a JSON file of nested lists of column names, the JSON "
            "itself, or quadrants:16x16x4 for images of 16 x 16 pixels in four levels."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write the network (.json, .bif, ...).",
            callback=writes_network,
        ),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(help="Where to write all figures (.json).", callback=writes_file(".json")),
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(
            help="Rows that say when to stop: another table, or the part of the rows to keep, 0.1."
        ),
    ] = None,
    equivalent_sample_size: Annotated[
        float | None, typer.Option(help="Equivalent sample size of the prior; 1 if not given.")
    ] = None,
    n_starts: Annotated[int, typer.Option(min=1, help="How many times EM starts.")] = 1,
    max_iterations: Annotated[int, typer.Option(min=1, help="At most so many EM steps.")] = 500,
    tolerance: Annotated[
        float, typer.Option(help="EM stops when it gains less than this part of its objective.")
    ] = 1e-7,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="How often EM first goes over the rows in parts; 20 from 2000 rows on, else 0.",
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="How many rows a part has.")] = 200,
    patience: Annotated[
        int,
        typer.Option(min=1, help="For how many steps rows of validation may get no better."),
    ] = 10,
    drop: Drop = None,
    discretize: Discretize = None,
    n_bins: Bins = 3,
    time_limit: TimeLimit = None,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Fit a tree of hidden variables above the columns, by EM."""
    from unveil.trees.call import MODELS

    if model not in MODELS:
        raise DataError(
            f"--model {model}: choose one of {', '.join(MODELS)}." + did_you_mean(model, MODELS)
        )
    if (groups is None) == (model == "hierarchy"):
        raise DataError(
            "a hierarchy needs --groups: a JSON file of nested lists of column names"
            if groups is None
            else f"--groups are for --model hierarchy, not {model}"
        )
    allowance = Allowance(time_limit)
    _, table = read_and_prepared(data, reading, drop, discretize, n_bins)
    given: dict[str, Any] = {"n_states": n_states}
    if model == "mixture-of-trees":
        given = {"n_trees": n_trees}
    if groups is not None:
        given["groups"] = groups
    fit: Any = MODELS[model]
    with live_progress("nats") as listener:
        found = fit(
            table, **given, validation=_validation(validation, table, reading),
            equivalent_sample_size=equivalent_sample_size, n_starts=n_starts,
            max_iterations=max_iterations, tolerance=tolerance, epochs=epochs,
            batch_size=batch_size, patience=patience, seed=seed, progress=listener,
            time_limit=allowance.left,
        )  # fmt: skip
    say(f"{data}: {table.n_rows:,} rows, {table.n_columns} columns")
    _show(found)
    if output is not None:
        found.network.save(output)
        say(f"network written to {output}")
    if summary is not None:
        with atomic_write(summary) as file:
            file.write(json.dumps(found.to_dict(), indent=1, ensure_ascii=False))
        say(f"figures written to {summary}")


def _validation(words: str | None, table: Table, reading: dict[str, Any]) -> Table | float | None:
    """The part of the rows that a number says, or the table in a file."""
    if words is None:
        return None
    try:
        return float(words)
    except ValueError:
        from unveil.table import Table

        return Table.read(words, **{**reading, "like": table})


def _show(found: HiddenTree) -> None:
    lines = found.outline.splitlines()
    for line in lines[:MOST_LINES]:
        say(line)
    if len(lines) > MOST_LINES:
        say(f"... {len(lines) - MOST_LINES} more lines; --summary has them all")
    rows = [
        (
            str(i),
            f"{start.log_likelihood:,.2f}",
            "" if start.validation is None else f"{start.validation:,.4f}",
            str(start.n_iterations),
            start.stopped,
        )
        for i, start in enumerate(found.starts, 1)
    ]
    show_table(
        ["start", "log-likelihood", "nats a row of validation", "iterations", "stopped"], rows
    )
    say(f"{found}")
    say(f"seed {found.seed}")
    if found.stopped == "iteration cap":
        note("EM did not converge; allow it more with --max-iterations")
