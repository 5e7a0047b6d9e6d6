"""`unveil discover`: the main job, from a table to a folder with a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.live import live_progress
from unveil.cli.options import (
    Bins,
    Discretize,
    Drop,
    Family,
    Ideal,
    Jobs,
    Seed,
    TableFile,
    TimeLimit,
    columns_named,
    read_and_prepared,
    reads_table,
)
from unveil.cli.outputs import writes_folder
from unveil.cli.screen import note, say

if TYPE_CHECKING:
    from unveil.table import Table

__all__ = ["discover"]


@reads_table
def discover(
    data: TableFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The folder for the results.", callback=writes_folder),
    ] = Path("out"),
    max_hidden: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="At most so many hidden variables.",
            show_default="3, or 30 in a table of numbers",
        ),
    ] = None,
    n_states: Annotated[
        int | None, typer.Option(min=2, help="A fixed number of states for hidden variables.")
    ] = None,
    adapt: Annotated[
        str, typer.Option(help="Adapt the structure: em (not), blanket (around), full.")
    ] = "full",
    soft: Annotated[
        int, typer.Option(help="Use arc confidence over so many resampled tables as signature.")
    ] = 0,
    equivalent_sample_size: Annotated[
        float, typer.Option(help="Equivalent sample size of the scores.")
    ] = 1.0,
    max_parents: Annotated[int | None, typer.Option(help="At most so many parents.")] = None,
    resamples: Annotated[int, typer.Option(min=0, help="Resampled tables to test stability.")] = 10,
    straw_men: Annotated[bool, typer.Option(help="Compare with simpler explanations.")] = True,
    resume: Annotated[
        bool, typer.Option(help="Go on from what an earlier run in the same folder found.")
    ] = True,
    blocks: Annotated[
        bool,
        typer.Option(
            "--blocks", help="Leave out blocks of neighbouring rows, for rows in order of time."
        ),
    ] = False,
    id: Annotated[
        str | None,
        typer.Option("--id", help="The column that says who a row is; nothing is learned from it."),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(help="Columns to keep out and compare the hidden states with; repeatable."),
    ] = None,
    drop: Drop = None,
    discretize: Discretize = None,
    n_bins: Bins = 3,
    family: Family = "linear",
    ideal: Ideal = None,
    time_limit: TimeLimit = None,
    jobs: Jobs = None,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Find hidden variables in a table; Ctrl-C keeps the best so far.

    In a table of numbers hidden variables are continuous, unless --discretize cuts its columns.
    """
    from unveil.discovery import RunFolder, Settings
    from unveil.discovery.call import is_numbers
    from unveil.report import write_discovery

    aside = dict.fromkeys([*(drop or ()), *(compare or ()), *([] if id is None else [id])])
    read, table = read_and_prepared(data, reading, list(aside), discretize, n_bins, numbers=True)
    if is_numbers(table, discretize):
        options = {
            "max_hidden": max_hidden or 30, "max_parents": max_parents, "family": family,
            "ideal": ideal, "blocks": blocks,
        }  # fmt: skip
        _numbers(
            data, output, read, table, id, options, compare=straw_men, resamples=resamples,
            seed=seed, time_limit=time_limit,
        )  # fmt: skip
        return
    settings = Settings(
        equivalent_sample_size=equivalent_sample_size,
        adapt=adapt,  # type: ignore[arg-type]
        max_hidden=max_hidden or 3, n_states=n_states,
        max_parents=max_parents, soft=soft, blocks=blocks,
    )  # fmt: skip
    folder = RunFolder(output, table, settings, seed, resume)
    if folder.resumed:
        note(f"going on from the run in {output} (use --no-resume to start afresh)")
    with live_progress("nats") as listener:
        report = folder.discover(
            progress=listener, straw_men=straw_men, resamples=resamples, time_limit=time_limit,
            n_jobs=jobs,
        )  # fmt: skip
    report = report.with_rows(read, id, columns_named(compare, read.names))
    say(report.summary)
    for found in report.agreements:
        say(found.words)
    page = write_discovery(report, output, data.name)
    folder.close(report)
    if report.stopped != "converged":
        more = "run again to go on from here" if report.hidden else "run again to look further"
        note(f"stopped early ({report.stopped}); {more}")
    say(f"the report is {page}")


def _numbers(
    data: Path,
    output: Path,
    read: Table,
    table: Table,
    id: str | None,
    options: dict[str, Any],
    **how: Any,
) -> None:
    """Continuous hidden parents of a table of numbers."""
    from unveil.discovery import NumberSettings, discover_numbers
    from unveil.report import write_numbers
    from unveil.table.order import tell_of_order

    settings = NumberSettings(**options)
    if not settings.blocks:
        tell_of_order(table)
    with live_progress("nats") as listener:
        report = discover_numbers(table, settings, progress=listener, **how)
    report = report.with_rows(read, id)
    say(report.summary)
    page = write_numbers(report, output, data.name)
    if report.stopped != "converged":
        note(f"stopped early ({report.stopped})")
    say(f"the report is {page}")
