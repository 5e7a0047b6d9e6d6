"""`unveil learn`: a network from a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.limits import Forbid, NoChildren, NoParents, Require, Tier, constraints_of
from unveil.cli.live import live_progress
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
    reads_rows,
    rows_prepared,
    rows_words,
)
from unveil.cli.outputs import writes_file, writes_network, writes_picture
from unveil.cli.screen import note, say, show_table
from unveil.errors import DataError

if TYPE_CHECKING:
    from unveil.engines import PartedRows
    from unveil.evaluate import ArcConfidence, ArcWorth
    from unveil.graph import DAG
    from unveil.search import Constraints, Learned
    from unveil.table import Table

__all__ = ["learn"]


@reads_rows
def learn(
    data: RowsFile,
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
        str | None,
        typer.Option(
            help="bdeu, bic, mdl, aic, k2, fnml, qnml or likelihood; for continuous columns bic, "
            "mdl, aic, bge or likelihood.",
            show_default="bdeu; where columns are continuous bic, or mdl if rows are few",
        ),
    ] = None,
    equivalent_sample_size: Annotated[
        str,
        typer.Option(
            help="Equivalent sample size of bdeu or bge: a number, or b-course for its choice."
        ),
    ] = "1",
    search: Annotated[
        str,
        typer.Option(
            help="combined, hill-climbing, tabu, equivalence, exact, chow-liu, order or annealing."
        ),
    ] = "combined",
    local: Annotated[
        str,
        typer.Option(help="Inside of families: table, tree, default, noisy-or, or auto: the best."),
    ] = "table",
    start: Annotated[
        str | None, typer.Option(help="A network file, or a bundled one, where the search begins.")
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(min=0, help="So many times the best graph is shaken and searched from again."),
    ] = None,
    sensitivity: Annotated[
        Path | None,
        typer.Option(
            help="Where to draw how the graph depends on the equivalent sample size (.png, ...).",
            callback=writes_picture,
        ),
    ] = None,
    max_parents: Annotated[
        int | None, typer.Option(help="At most so many parents for any variable.")
    ] = None,
    require: Require = None,
    forbid: Forbid = None,
    tier: Tier = None,
    no_parents: NoParents = None,
    no_children: NoChildren = None,
    drop: Drop = None,
    discretize: Discretize = None,
    n_bins: Bins = 3,
    family: Family = "linear",
    ideal: Ideal = None,
    bootstrap: Annotated[
        int, typer.Option(help="Learn from so many resampled tables to see how sure each arc is.")
    ] = 0,
    average: Annotated[
        int,
        typer.Option(min=0, help="Average over so many of the best networks to see the same."),
    ] = 0,
    anneal: Anneal = None,
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
    from unveil.search.learn import default_score

    table = rows_prepared(data, reading, drop, discretize, n_bins, numbers=True, n_jobs=n_jobs)
    name = score or default_score(table).name
    settings: dict[str, Any] = {
        "score": score_named(name, _sample_size(equivalent_sample_size, table)),
        "search": search,
        "local": local,
        "constraints": constraints_of(
            table.names, require, forbid, tier, no_parents, no_children, max_parents
        ),
        "family": family,
        "ideal": ideal,
        "seed": seed,
        "n_jobs": n_jobs,
        "anneal": anneal,
    }
    if start is not None:
        settings["start"] = _start(start, table)
    if restarts is not None:
        settings["restarts"] = restarts
    _tell_of_parts(table)
    if not table.is_complete:
        note(f"{_n_empty(table):,.0f} cells are empty: learning by structural EM")
    if score is None and default_score(table).name == "mdl":
        note(
            f"{table.n_rows:,} row{'s' * (table.n_rows != 1)} for {table.n_columns} columns: "
            "scored by mdl, which predicts rows left out better than bic where rows are few "
            "(--score bic takes that)"
        )
    with live_progress("nats") as listener:
        learned = learn_network(table, progress=listener, time_limit=allowance.left, **settings)
    arcs = arc_worth(learned.scores, learned.dag)
    if bootstrap and average:
        raise DataError("--bootstrap and --average both say how sure each arc is; take one of them")
    sure = _confidence(table, settings, bootstrap) if bootstrap else None
    if average:
        sure = _averaged(learned, settings["constraints"], average, allowance.left)
    if sure is not None:
        arcs = tuple(replace(a, confidence=sure.of(a.parent, a.child)) for a in arcs)
    _summary(str(data), table, learned, arcs, sure)
    if output is not None:
        learned.network.save(output)
        say(f"network written to {output}")
    _pictures(learned, arcs, data, table, picture, page)
    if sensitivity is not None:
        _draw_sensitivity(table, settings, sensitivity, time_limit)


def _tell_of_parts(table: Table | PartedRows) -> None:
    from unveil.engines import PartedRows

    if isinstance(table, PartedRows):
        note(
            f"{table.n_rows:,} rows do not fit in memory: they are gone over in "
            f"{len(table.parts):,} parts, {table.n_stored:,} rows after folding equal ones"
        )


def _sample_size(words: str, table: Table | PartedRows) -> float:
    """The equivalent sample size that a number, or `b-course`, stands for."""
    from unveil.score.bdeu import b_course_sample_size

    if words == "b-course":
        return b_course_sample_size(table.variables)
    try:
        return float(words)
    except ValueError:
        raise DataError(
            f"--equivalent-sample-size {words}: give a number, or b-course for half the mean "
            "number of states"
        ) from None


def _start(name: str, table: Table | PartedRows) -> DAG:
    """The arcs of a network among the columns of the table."""
    from unveil.cli.models import network_from
    from unveil.graph import DAG

    dag = network_from(name).dag
    left = [n for n in dag.nodes if n not in table]
    if left:
        note(f"variables of {name} that have no column are left out: {', '.join(left)}")
    return DAG(table.names, [(a, b) for a, b in dag.arcs if a in table and b in table])


def _draw_sensitivity(
    table: Table | PartedRows, settings: dict[str, Any], path: Path, time_limit: float | None
) -> None:
    from unveil.report import draw_sensitivity
    from unveil.search import sample_size_sensitivity
    from unveil.table.door import as_table

    table = as_table(table)
    if not table.is_complete:
        raise DataError("--sensitivity needs a table without empty cells")
    if settings["score"].name != "bdeu":
        raise DataError(
            "--sensitivity is about the equivalent sample size of bdeu; take that score"
        )
    aside = ("score", "local", "family", "ideal", "anneal")
    searched = {k: v for k, v in settings.items() if k not in aside}
    with live_progress("nats") as listener:
        found = sample_size_sensitivity(table, progress=listener, time_limit=time_limit, **searched)
    say(str(found))
    draw_sensitivity(found, path)
    say(f"picture drawn to {path}")


def _confidence(
    table: Table | PartedRows, settings: dict[str, Any], n_samples: int
) -> ArcConfidence:
    from unveil.evaluate import bootstrap_arcs
    from unveil.learning import learn as learn_network

    with live_progress() as listener:
        return bootstrap_arcs(
            _whole_rows(table), lambda rows: learn_network(rows, **settings).dag, n_samples,
            settings["seed"], listener,
        )  # fmt: skip


def _averaged(
    learned: Learned, constraints: Constraints, n_structures: int, time_limit: float | None
) -> ArcConfidence:
    from unveil.evaluate import average_arcs

    with live_progress("nats") as listener:
        return average_arcs(
            learned.scores, learned.search.dag, n_structures, constraints, listener, time_limit
        )


def _whole_rows(table: Table | PartedRows) -> Table:
    import numpy as np

    from unveil.table.door import as_table

    table = as_table(table)
    gaps = np.any([table.missing(n) for n in table.names], axis=0)
    if gaps.any():
        note(f"the bootstrap uses the {int((~gaps).sum()):,} rows without empty cells only")
    return table.take(~gaps)


def _summary(
    name: str,
    table: Table | PartedRows,
    learned: Learned,
    arcs: tuple[ArcWorth, ...],
    sure: ArcConfidence | None,
) -> None:
    from unveil.evaluate import log_loss
    from unveil.model.network import COMPACT

    result = learned.search
    say(f"{name}: {rows_words(table)}, {table.n_columns} columns")
    say(f"{learned.network!r}")
    say(
        f"{result.search}, {result.score_name} score {result.score:,.2f} nats, "
        f"{result.elapsed:.2f} s, {result.stopped}"
    )
    compact = [cpd.kind for cpd in learned.network.cpds.values() if cpd.kind in COMPACT]
    if compact:
        words = [f"{compact.count(k)} as a {COMPACT[k]}" for k in COMPACT if k in compact]
        say(f"compact distributions: {', '.join(words)}")
    if result.annealed is not None:
        say(f"{result.annealed}")
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
    table: Table | PartedRows,
    picture: Path | None,
    page: Path | None,
) -> None:
    from unveil.engines import PartedRows
    from unveil.evaluate import path_diagram
    from unveil.table import describe

    if picture is None and page is None:
        return
    numbers = any(not v.is_discrete for v in learned.network.variables)
    some = table.sample() if isinstance(table, PartedRows) else table
    if some is not table:
        note(f"the picture and the page look at {some.n_rows:,} rows drawn from all")
    paths = path_diagram(learned.network, some) if numbers else None
    if picture is not None:
        from unveil.report import draw
        from unveil.report.paths_part import node_captions, path_labels

        most = max((arc.loss for arc in arcs), default=1.0)
        strength = {(a.parent, a.child): max(a.loss, 0.0) / most for a in arcs}
        draw(
            learned.network, picture, strength=strength, title=data.name,
            labels=path_labels(paths) or None, captions=node_captions(paths),
        )  # fmt: skip
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
            notes=describe(some).sentences,
            bic=usual_bic(learned.network, table),
            paths=paths,
        ).write(page)
        say(f"page written to {page}")


def _n_empty(table: Table | PartedRows) -> float:
    """How many cells are empty; a row that stands for several cases counts as often."""
    from unveil.table import Table

    if isinstance(table, Table):
        return float(sum(table.row_weights[table.missing(n)].sum() for n in table.names))
    return table.n_missing
