"""`unveil learn`: a network from a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.live import live_progress
from unveil.cli.options import (
    Allowance,
    Bins,
    Discretize,
    Drop,
    Jobs,
    Seed,
    TableFile,
    TimeLimit,
    prepared,
    reads_table,
)
from unveil.cli.outputs import writes_file, writes_network, writes_picture
from unveil.cli.screen import note, say, show_table
from unveil.errors import DataError

if TYPE_CHECKING:
    from unveil.evaluate import ArcConfidence, ArcWorth
    from unveil.search import Constraints, Learned
    from unveil.table import Table

__all__ = ["learn"]

Arc = Annotated[list[str] | None, typer.Option(help="An arc as 'A -> B'; repeatable.")]


@reads_table
def learn(
    data: TableFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write the network (.json, .bif, ...).",
            callback=writes_network,
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="Where to draw the network (.png, .svg, .pdf).", callback=writes_picture),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Where to write a page about it (.html).", callback=writes_file(".html", ".htm")
        ),
    ] = None,
    score: Annotated[
        str, typer.Option(help="bdeu, bic, mdl, aic, k2, fnml, qnml or likelihood.")
    ] = "bdeu",
    equivalent_sample_size: Annotated[
        float, typer.Option(help="Equivalent sample size of bdeu.")
    ] = 1.0,
    search: Annotated[
        str,
        typer.Option(
            help="combined, hill-climbing, tabu, equivalence, exact, chow-liu or annealing."
        ),
    ] = "combined",
    max_parents: Annotated[
        int | None, typer.Option(help="At most so many parents for any variable.")
    ] = None,
    require: Arc = None,
    forbid: Arc = None,
    tier: Annotated[
        list[str] | None,
        typer.Option(help="Variables of one point in time, 'A,B,C'; repeat in order of time."),
    ] = None,
    drop: Drop = None,
    discretize: Discretize = None,
    n_bins: Bins = 3,
    bootstrap: Annotated[
        int, typer.Option(help="Learn from so many resampled tables to see how sure each arc is.")
    ] = 0,
    time_limit: TimeLimit = None,
    n_jobs: Jobs = None,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Learn the structure and parameters of a Bayesian network; empty cells are fine."""
    allowance = Allowance(time_limit)
    from unveil.evaluate import arc_worth
    from unveil.learning import learn as learn_network
    from unveil.learning import score_named

    table = prepared(data, reading, drop, discretize, n_bins)
    settings: dict[str, Any] = {
        "score": score_named(score, equivalent_sample_size),
        "search": search,
        "constraints": _constraints(max_parents, require, forbid, tier),
        "seed": seed,
        "n_jobs": n_jobs,
    }
    if not table.is_complete:
        note(f"{table.n_missing:,} cells are empty: learning by structural EM")
    with live_progress("nats") as listener:
        learned = learn_network(table, progress=listener, time_limit=allowance.left, **settings)
    arcs = arc_worth(learned.scores, learned.dag)
    sure = _confidence(table, settings, bootstrap) if bootstrap else None
    if sure is not None:
        arcs = tuple(replace(a, confidence=sure.of(a.parent, a.child)) for a in arcs)
    _summary(str(data), table, learned, arcs, sure)
    if output is not None:
        learned.network.save(output)
        say(f"network written to {output}")
    _pictures(learned, arcs, data, table, picture, page)


def _constraints(
    max_parents: int | None,
    require: list[str] | None,
    forbid: list[str] | None,
    tiers: list[str] | None,
) -> Constraints:
    from unveil.search import Constraints

    return Constraints(
        required=[_arc(word) for word in require or ()],
        forbidden=[_arc(word) for word in forbid or ()],
        tiers=[[name.strip() for name in tier.split(",")] for tier in tiers or ()],
        max_parents=max_parents,
    )


def _arc(words: str) -> tuple[str, str]:
    parent, arrow, child = words.partition("->")
    if not arrow or not parent.strip() or not child.strip():
        raise DataError(f"an arc is written as 'A -> B', not {words!r}")
    return parent.strip(), child.strip()


def _confidence(table: Table, settings: dict[str, Any], n_samples: int) -> ArcConfidence:
    from unveil.evaluate import bootstrap_arcs
    from unveil.learning import learn as learn_network

    with live_progress() as listener:
        return bootstrap_arcs(
            _whole_rows(table), lambda rows: learn_network(rows, **settings).dag, n_samples,
            settings["seed"], listener,
        )  # fmt: skip


def _whole_rows(table: Table) -> Table:
    import numpy as np

    gaps = np.any([table.missing(n) for n in table.names], axis=0)
    if gaps.any():
        note(f"the bootstrap uses the {int((~gaps).sum()):,} rows without empty cells only")
    return table.take(~gaps)


def _summary(
    name: str,
    table: Table,
    learned: Learned,
    arcs: tuple[ArcWorth, ...],
    sure: ArcConfidence | None,
) -> None:
    from unveil.evaluate import log_loss

    result = learned.search
    say(f"{name}: {table.n_rows:,} rows, {table.n_columns} columns")
    say(f"{learned.network!r}")
    say(
        f"{result.search}, {result.score_name} score {result.score:,.2f} nats, "
        f"{result.elapsed:.2f} s, {result.stopped}"
    )
    say(f"log-loss on these rows: {log_loss(learned.network, table)}")
    say()
    head = ["arc", "worth"] + (["joined in", "this way"] if sure else [])
    rows = []
    for arc in arcs:
        row = [f"{arc.parent} -> {arc.child}", arc.words]
        if sure:
            row += [f"{sure.of(arc.parent, arc.child):.0%}",
                    f"{sure.direction(arc.parent, arc.child):.0%}"]  # fmt: skip
        rows.append(row)
    if rows:
        show_table(head, rows)
    elif result.stopped == "converged":
        say("no arc is worth its parameters: the columns look independent of each other")
    else:
        say("no arc was found before the search stopped")


def _pictures(
    learned: Learned,
    arcs: tuple[ArcWorth, ...],
    data: Path,
    table: Table,
    picture: Path | None,
    page: Path | None,
) -> None:
    from unveil.table import describe

    if picture is not None:
        from unveil.report import draw

        most = max((arc.loss for arc in arcs), default=1.0)
        strength = {(a.parent, a.child): max(a.loss, 0.0) / most for a in arcs}
        draw(learned.network, picture, strength=strength, title=data.name)
        say(f"picture drawn to {picture}")
    if page is not None:
        from unveil.evaluate import usual_bic
        from unveil.report import learn_page

        result = learned.search
        learn_page(
            learned.network,
            table_name=data.name,
            n_rows=table.n_rows,
            score_name=result.score_name,
            score=result.score,
            seconds=result.elapsed,
            search_name=result.search,
            arcs=arcs,
            notes=describe(table).sentences,
            bic=usual_bic(learned.network, table),
        ).write(page)
        say(f"page written to {page}")
