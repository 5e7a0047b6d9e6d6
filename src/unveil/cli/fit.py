"""`unveil fit`: parameters for a known structure, from a table with or without gaps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.live import live_progress
from unveil.cli.models import network_from
from unveil.cli.options import (
    Allowance,
    Anneal,
    Compare,
    CoursePicture,
    Method,
    RowsFile,
    Seed,
    TimeLimit,
    read_rows,
    reads_rows,
    rows_words,
)
from unveil.cli.outputs import writes_network
from unveil.cli.screen import note, say, show_table
from unveil.errors import DataError

if TYPE_CHECKING:
    from unveil.bottleneck import Bottlenecked
    from unveil.em import EMResult
    from unveil.engines import PartedRows
    from unveil.model import EquivalentSampleSize, Network
    from unveil.table import Table

__all__ = ["fit"]

MOST_POINTS = 25
"""A course of more steps is told in part."""


@reads_rows
def fit(
    data: RowsFile,
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
    method: Method = "em",
    adapt_states: Annotated[
        bool,
        typer.Option(
            "--adapt-states",
            help="With --method bottleneck: learn how many states the hidden variables have, at "
            "most --max-states.",
        ),
    ] = False,
    max_states: Annotated[
        int, typer.Option(min=2, help="With --adapt-states: at most so many states.")
    ] = 20,
    held_out: Annotated[
        float | None,
        typer.Option(
            help="With --method bottleneck: stop at the gamma that predicts this fraction of the "
            "rows best."
        ),
    ] = None,
    compare: Compare = 0,
    course: CoursePicture = None,
    anneal: Anneal = None,
    accelerate: Annotated[
        bool, typer.Option("--accelerate", help="Three steps of EM at a time, and further.")
    ] = False,
    time_limit: TimeLimit = None,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Learn the parameters of a known structure.

    Complete tables are counted. Missing cells, and variables of the structure that have no
    column, are summed over by EM, which starts at the structure's own parameters and then anew
    from random ones, or by one run of information-bottleneck EM.
    """
    from unveil.em import refit
    from unveil.model import EquivalentSampleSize

    allowance = Allowance(time_limit)
    model = network_from(structure)
    table = read_rows(data, reading, like=model, keep=model.names, only=model.names)
    prior = None if maximum_likelihood else EquivalentSampleSize(equivalent_sample_size)
    options: dict[str, Any] = {"n_starts": n_starts, "anneal": anneal, "accelerate": accelerate}
    own = {"held_out": held_out, "compare": compare, "max_states": max_states}
    if method == "bottleneck":
        if anneal is not None or accelerate:
            raise DataError("--anneal and --accelerate belong to --method em; leave them out")
        options = {**own, "adapt_states": adapt_states}
    elif adapt_states or held_out is not None or compare or course is not None:
        raise DataError(
            "--adapt-states, --held-out, --compare and --course belong to --method bottleneck"
        )
    with live_progress("nats") as listener:
        found = refit(
            model, table, prior, unknown=reading["unknown"], declared=reading.get("states", ()),
            max_iterations=max_iterations, tolerance=tolerance, seed=seed, progress=listener,
            time_limit=allowance.left, method=method, **options,
        )  # fmt: skip
    used = found.table
    say(f"{data}: {rows_words(used)}, {used.n_columns} of {len(model.names)} variables")
    if found.bottleneck is not None:
        _course(found.bottleneck, course)
    elif found.em is None:
        lines = not any(v.is_discrete for v in found.network.variables)
        say(
            "complete table, least squares"
            if lines
            else f"complete table, counted ({_kind(prior)})"
        )
        if anneal is not None:
            note("complete rows have one maximum, so there was nothing to anneal")
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
    if result.annealed is not None:
        say(f"{result.annealed}")
    say(f"seed {result.seed}")


def _course(found: Bottlenecked, picture: Path | None) -> None:
    """The course of gamma in a few lines, and drawn."""
    say(f"information-bottleneck EM, posterior {found.posterior}:")
    told = found.course if len(found.course) <= MOST_POINTS else found.course[:: -(
        -len(found.course) // MOST_POINTS)]  # fmt: skip
    rows: list[tuple[str, ...]] = [
        (
            f"{p.gamma:.4f}", f"{p.log_likelihood:,.2f}", f"{sum(p.information):.4f}",
            " ".join(map(str, p.n_states)), " ".join(map(str, p.effective)), p.what,
        )
        for p in told
    ]  # fmt: skip
    head = ["gamma", "log-likelihood", "I(T;Y) nats", "states", "told apart", ""]
    if found.course[0].held_out is not None:
        head.insert(2, "held out, nats per row")
        rows = [(*r[:2], f"{p.held_out:.4f}", *r[2:]) for r, p in zip(rows, told, strict=True)]
    show_table(head, rows)
    for line in str(found).splitlines():
        say(line)
    say(f"seed {found.seed}")
    if picture is not None:
        from unveil.report import draw_course

        likelihoods = () if found.random is None else found.random.log_likelihoods
        draw_course(found.course, picture, max(likelihoods, default=None))
        say(f"course of gamma drawn to {picture}")


def _summary(fitted: Network, table: Table | PartedRows) -> None:
    from unveil.evaluate import log_loss

    say(f"{fitted!r}")
    loss = log_loss(fitted, table)
    say(f"log-likelihood: {loss.log_likelihood:,.4f} nats")
    say(f"log-loss on these rows: {loss}")
