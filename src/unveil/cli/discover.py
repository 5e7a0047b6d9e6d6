"""`unveil discover`: the main job, from a table to a folder with a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.limits import (
    ArcPenalty,
    Forbid,
    NoChildren,
    NoParents,
    Require,
    Tier,
    constraints_of,
)
from unveil.cli.live import live_progress
from unveil.cli.naming import NewNames, NewStates, new_names, new_states
from unveil.cli.options import (
    Allowance,
    Anneal,
    Bins,
    Discretize,
    Drop,
    Family,
    Ideal,
    Jobs,
    RowsFile,
    Seed,
    TimeLimit,
    columns_named,
    in_pieces,
    read_and_prepared,
    reads_rows,
    rows_prepared,
)
from unveil.cli.outputs import writes_folder
from unveil.cli.screen import note, say
from unveil.errors import DataError
from unveil.seeds import seed_or_fresh

if TYPE_CHECKING:
    from unveil.table import Table

__all__ = ["discover"]

FOR_THE_REPORT = 0.1
"""The share of a time limit that is kept for writing what was found."""


@reads_rows
def discover(
    data: RowsFile,
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
    method: Annotated[
        str,
        typer.Option(
            help="Where candidates come from: signatures in the network, bottleneck "
            "(information-bottleneck EM over all columns), or auto: the bottleneck for complete "
            "tables of 80 columns or more with at most 100 rows for each."
        ),
    ] = "auto",
    adapt: Annotated[
        str, typer.Option(help="Adapt the structure: em (not), blanket (around), full.")
    ] = "full",
    soft: Annotated[
        int, typer.Option(help="Use arc confidence over so many resampled tables as signature.")
    ] = 0,
    equivalent_sample_size: Annotated[
        float, typer.Option(help="Equivalent sample size of the scores.")
    ] = 1.0,
    score: Annotated[
        str, typer.Option(help="bdeu, bic, mdl, aic, k2, fnml, qnml or likelihood.")
    ] = "bdeu",
    max_parents: Annotated[int | None, typer.Option(help="At most so many parents.")] = None,
    require: Require = None,
    forbid: Forbid = None,
    tier: Tier = None,
    no_parents: NoParents = None,
    no_children: NoChildren = None,
    arc_penalty: ArcPenalty = 0.0,
    start: Annotated[
        Path | None,
        typer.Option(help="A network file to start from; with hidden variables: to go on from."),
    ] = None,
    place: Annotated[
        list[str] | None,
        typer.Option(help="Columns to try a hidden variable behind first, 'A,B,C'; repeatable."),
    ] = None,
    max_luck: Annotated[
        float,
        typer.Option(help="How often luck alone may gain as much as a hidden variable has to."),
    ] = 0.05,
    resamples: Annotated[int, typer.Option(min=0, help="Resampled tables to test stability.")] = 10,
    folds: Annotated[
        int, typer.Option(min=2, help="Parts of the table left out in turn for the evidence.")
    ] = 5,
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
    name: NewNames = None,
    state_names: NewStates = None,
    drop: Drop = None,
    discretize: Discretize = None,
    n_bins: Bins = 3,
    family: Family = "linear",
    ideal: Ideal = None,
    anneal: Anneal = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=100,
            help="Look for candidates in so many rows drawn from all, and judge them on all.",
            show_default="all, or 10,000 of more than 20,000",
        ),
    ] = None,
    time_limit: TimeLimit = None,
    n_jobs: Jobs = None,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Find hidden variables in a table; Ctrl-C keeps the best so far.

    In a table of numbers hidden variables are continuous, unless --discretize cuts its columns.
    """
    allowance = Allowance(time_limit)
    from unveil.discovery import RunFolder, Settings
    from unveil.discovery.call import is_numbers, refuse_states
    from unveil.discovery.naming import check_names, named
    from unveil.discovery.whole import drawn_rows, in_memory
    from unveil.formats import load
    from unveil.report import write_discovery
    from unveil.score import ArcPenalty as Penalty
    from unveil.table import Table

    aside = dict.fromkeys([*(drop or ()), *(compare or ()), *([] if id is None else [id])])
    ready = data, reading, list(aside), discretize, n_bins
    read: Any
    table: Any
    if in_pieces(data, reading):
        if id is not None or compare:
            raise DataError("--id and --compare are for tables in memory; use unveil predict")
        read = table = in_memory(rows_prepared(*ready, numbers=True, n_jobs=n_jobs))
    else:
        read, table = read_and_prepared(*ready, numbers=True)
    rows = None if isinstance(table, Table) else table
    if rows is not None or (sample is not None and is_numbers(table, discretize)):
        seed = seed_or_fresh(seed)
        read = table = drawn_rows(table, sample, seed)
        sample = None
    if rows is not None and table.total_weight >= rows.total_weight:
        rows = None
    if is_numbers(table, discretize):
        options = {
            "max_hidden": max_hidden or 30, "max_parents": max_parents, "family": family,
            "ideal": ideal, "blocks": blocks,
        }  # fmt: skip
        refuse_states(compare, state_names)
        _numbers(
            data, output, read, table, id, new_names(name), options, compare=straw_men,
            resamples=resamples, folds=folds, seed=seed,
            time_limit=allowance.part(1 - FOR_THE_REPORT),
        )  # fmt: skip
        return
    settings = Settings(
        equivalent_sample_size=equivalent_sample_size, score=score,
        adapt=adapt,  # type: ignore[arg-type]
        method=method,  # type: ignore[arg-type]
        max_hidden=max_hidden or 3, n_states=n_states,
        max_parents=max_parents, soft=soft, blocks=blocks, anneal=anneal,
        constraints=constraints_of(table.names, require, forbid, tier, no_parents, no_children),
        max_luck=max_luck,
        structure_prior=Penalty(arc_penalty) if arc_penalty else None,
        start=None if start is None else load(start),
        places=[columns_named([words], table.names) for words in place or ()],
    )  # fmt: skip
    names = check_names(new_names(name), new_states(state_names), read.names)
    folder = RunFolder(output, table, settings, seed, resume, sample)
    if folder.resumed:
        note(f"going on from the run in {output} (use --no-resume to start afresh)")
    with live_progress("nats") as listener:
        report = folder.discover(
            progress=listener, straw_men=straw_men, resamples=resamples, folds=folds,
            time_limit=allowance.part(1 - FOR_THE_REPORT), n_jobs=n_jobs, everything=rows,
        )  # fmt: skip
    as_found = report
    report = named(report.with_rows(read, id, columns_named(compare, read.names)), names)
    say(report.summary)
    for found in report.agreements:
        say(found.words)
    try:
        page = write_discovery(report, output, data.name)
    except BaseException:
        folder.close(as_found, written=False)
        raise
    folder.close(as_found)
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
    names: dict[str, str],
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
    report = report.with_rows(read, id).named(names)
    say(report.summary)
    page = write_numbers(report, output, data.name)
    if report.stopped != "converged":
        note(f"stopped early ({report.stopped})")
    say(f"the report is {page}")
