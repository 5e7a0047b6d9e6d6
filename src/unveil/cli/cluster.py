"""`unveil cluster`: latent classes of the rows of a table."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.live import live_progress
from unveil.cli.naming import class_name, class_states
from unveil.cli.options import (
    Allowance,
    Anneal,
    Bins,
    Compare,
    CoursePicture,
    Discretize,
    Drop,
    Method,
    RowsFile,
    Seed,
    TimeLimit,
    columns_named,
    in_pieces,
    read_and_prepared,
    reads_rows,
    rows_prepared,
    rows_words,
)
from unveil.cli.outputs import writes_file, writes_network, writes_table
from unveil.cli.screen import note, say, show_table
from unveil.errors import DataError
from unveil.files import atomic_write

if TYPE_CHECKING:
    from unveil.em.mixture import ClassRegression, MixtureResult
    from unveil.table import Table

__all__ = ["cluster"]

MOST_LINES = 60
"""A table of probabilities longer than this is left to --summary."""


@reads_rows
def cluster(
    data: RowsFile,
    n_classes: Annotated[
        str | None,
        typer.Option(
            help="How many classes: a number, a list '2,3,5' or a range '2..10'; 1..6, or as many "
            "as --state-names names, if not given."
        ),
    ] = None,
    score: Annotated[
        str,
        typer.Option(
            help="What chooses: bic, aic, cheeseman-stutz, held-out, completion, laplace or "
            "effective-bic."
        ),
    ] = "bic",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write the network (.json, .bif, ...).",
            callback=writes_network,
        ),
    ] = None,
    assignments: Annotated[
        Path | None,
        typer.Option(
            help="Where to write each row's class (.csv, .parquet, ...).", callback=writes_table
        ),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(help="Where to write all figures (.json).", callback=writes_file(".json")),
    ] = None,
    n_starts: Annotated[int, typer.Option(min=1, help="How many times EM starts.")] = 10,
    start: Annotated[
        str,
        typer.Option(
            help="Where EM starts: cluster (hard clusters of the rows), random, both (half of "
            "each) or k-means (where probabilistic K-means ends)."
        ),
    ] = "both",
    equivalent_sample_size: Annotated[
        float | None,
        typer.Option(help="Equivalent sample size of a prior; maximum likelihood if not given."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Also the log-loss by so many folds of held-out rows.")
    ] = None,
    held_out: Annotated[
        float | None, typer.Option(help="The same by leaving out this fraction of the rows once.")
    ] = None,
    bootstrap: Annotated[
        int,
        typer.Option(
            min=0, help="Also test each number of classes against one fewer, by so many samples."
        ),
    ] = 0,
    name: Annotated[
        str, typer.Option(help="What the hidden variable is called, for example severity.")
    ] = "class",
    state_names: Annotated[
        str | None,
        typer.Option(help="What its classes are called, the largest first: 'low,high'."),
    ] = None,
    covariate: Annotated[
        list[str] | None,
        typer.Option(help="Columns that class membership depends on; repeatable."),
    ] = None,
    max_iterations: Annotated[int, typer.Option(min=1, help="At most so many EM steps.")] = 2000,
    tolerance: Annotated[
        float, typer.Option(help="EM stops when it gains less than this part of its objective.")
    ] = 1e-9,
    drop: Drop = None,
    discretize: Discretize = None,
    n_bins: Bins = 3,
    method: Method = "em",
    compare: Compare = 0,
    course: CoursePicture = None,
    anneal: Anneal = None,
    time_limit: TimeLimit = None,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Sort the rows into latent classes and choose how many there are."""
    allowance = Allowance(time_limit)
    from unveil.em.mixture import latent_classes

    if course is not None and method != "bottleneck":
        raise DataError("--course draws the course of gamma, so it needs --method bottleneck")
    away = [*(drop or ()), *(covariate or ())]
    read: Any
    table: Any
    if in_pieces(data, reading):
        if covariate or assignments is not None:
            raise DataError(
                "--covariate and --assignments are for tables in memory; write the network with "
                "-o, and then the classes of all rows with unveil predict"
            )
        read = table = rows_prepared(data, reading, away, discretize, n_bins)
    else:
        read, table = read_and_prepared(data, reading, away, discretize, n_bins)
    explaining = columns_named(covariate, read.names)
    with live_progress("nats") as listener:
        found = latent_classes(
            table, None if n_classes is None else _numbers(n_classes), score, n_starts,  # type: ignore[arg-type]
            name=class_name(name), equivalent_sample_size=equivalent_sample_size,
            folds=folds, held_out=held_out, max_iterations=max_iterations, tolerance=tolerance,
            seed=seed, progress=listener, time_limit=allowance.left, anneal=anneal,
            state_names=class_states(state_names), bootstrap=bootstrap, start=start,
            method=method, compare=compare,
        )  # fmt: skip
        if explaining:
            found = found.with_covariates(table, read.select(explaining), listener)
    say(f"{data}: {rows_words(table)}, {table.n_columns} columns")
    _show(found)
    _say_annealed(found)
    if found.regression is not None:
        _show_regression(found.regression)
    names = class_states(state_names)
    if names is not None and len(names) != found.n_classes:
        note(
            f"{', '.join(names)} are names for {len(names)} classes, and {found.n_classes} were "
            f"chosen; say --n-classes {len(names)} to have as many"
        )
    if output is not None:
        found.network.save(output)
        say(f"network written to {output}")
    if assignments is not None:
        _assigned(found, table).write(assignments)
        say(f"classes written to {assignments}")
    if course is not None:
        _drawn(found, course)
    if summary is not None:
        with atomic_write(summary) as file:
            file.write(json.dumps(found.to_dict(), indent=1, ensure_ascii=False))
        say(f"figures written to {summary}")


def _say_annealed(found: MixtureResult) -> None:
    """What annealing the weights has brought over the best of the starts."""
    starts = found.best.starts
    alone = [start.objective for start in starts if not start.kind.startswith("annealed")]
    for start in starts:
        if start.kind.startswith("annealed") and alone:
            gain = max(0.0, start.objective - max(alone))
            say(f"weights {start.kind}: {gain:,.4f} nats more than the best start")


def _drawn(found: MixtureResult, picture: Path) -> None:
    """The course of the chosen mixture, unless it has a single class."""
    from unveil.report import draw_course

    if not found.best.course:
        note("a single class was chosen, so there is no course of gamma to draw")
        return
    draw_course(found.best.course, picture)
    say(f"course of gamma drawn to {picture}")


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
            f"--n-classes {words}: give a number like 4, a list like 2,3,5 or a range like 2..10"
        )
    return numbers


def _show(found: MixtureResult) -> None:
    from unveil.em.mixture.words import figure_lines

    held = any(m.held_out is not None for m in found.mixtures)
    head = ["classes", "log-likelihood", "parameters", "BIC", "usual BIC", "AIC", "Cheeseman-Stutz"]
    rows = []
    for m in found.mixtures:
        mark = " *" if m.n_classes == found.n_classes else ""
        numbers = [f"{x:,.2f}" for x in (m.bic, -2 * m.bic, m.aic, m.cheeseman_stutz)]
        row = [f"{m.n_classes}{mark}", f"{m.log_likelihood:,.2f}", str(m.n_parameters), *numbers]
        if held:
            row.append("" if m.held_out is None else f"{m.held_out.bits:.4f}")
        row += [f"{m.criterion:,.2f}"] if m.criterion is not None else []
        rows.append([*row, f"{m.n_reached} of {len(m.starts)}"])
    head += ["held-out bits"] if held else []
    head += [found.score_name] if found.best.criterion is not None else []
    show_table([*head, "starts at best"], rows)
    _show_fit(found)
    plural = "" if found.n_classes == 1 else "es"
    say(f"{found.n_classes} class{plural} chosen by {found.score_name} (seed {found.seed})")
    for profile in found.profiles:
        say(f"  {profile.words}")
    _show_probabilities(found)
    for line in figure_lines(found):
        say(line)
    for sentence in found.notes:
        note(sentence)


def _show_fit(found: MixtureResult) -> None:
    """How well the cells are reproduced and how surely rows are told apart, for every number."""
    from unveil.em.mixture.words import many

    say()
    tested = any(m.test is not None for m in found.mixtures)
    head = ["classes", "G2", "X2", "degrees of freedom", "relative entropy", "classification error"]
    rows = []
    for m in found.mixtures:
        fit = m.goodness
        counts = ["", "", ""] if fit is None else [
            f"{fit.g2:,.2f}", f"{fit.x2:,.2f}", many(fit.degrees_of_freedom)
        ]  # fmt: skip
        row = [str(m.n_classes), *counts, _number(m.certainty.relative_entropy),
               _number(m.certainty.classification_error)]  # fmt: skip
        rows.append([*row, *([_number(m.test.p_value) if m.test else ""] if tested else [])])
    show_table([*head, *(["bootstrap p"] if tested else [])], rows)


def _show_regression(logit: ClassRegression) -> None:
    """The coefficients of every class against the first, with standard errors."""
    from unveil.table.variable import label_text

    say()
    first, *others = [label_text(label) for label in logit.classes]
    say(f"log-odds of class membership against class {first} (standard errors; {logit.stopped}):")
    head = ["", *(f"class {label}" for label in others)]
    pairs = zip(logit.coefficients.T, logit.standard_errors.T, logit.terms, strict=True)
    show_table(
        head,
        [[term, *(_with_error(v, e) for v, e in zip(value[1:], error[1:], strict=True))]
         for value, error, term in pairs],
    )  # fmt: skip
    say(
        f"log-likelihood given the covariates {logit.log_likelihood:,.2f}, "
        f"{logit.n_parameters} parameters"
    )


def _show_probabilities(found: MixtureResult) -> None:
    """The share of every class and P(state | class), with standard errors."""
    from unveil.em.mixture.fit import table_values
    from unveil.table.variable import label_text

    variables = found.table.variables
    if sum(v.n_states for v in variables) > MOST_LINES:
        return
    errors = found.standard_errors
    none = [None] * found.n_classes
    root = found.network.variable(found.name)
    shares = zip(found.best.shares, none if errors is None else errors.shares, strict=True)
    rows = [["share", *(_with_error(*pair) for pair in shares)]]
    for v in variables:
        table = table_values(found.network, v.name)
        for s, state in enumerate(v.labels):
            own = none if errors is None else errors.columns[v.name][:, s]
            cells = (_with_error(*pair) for pair in zip(table[:, s], own, strict=True))
            rows.append([f"{v.name} = {label_text(state)}", *cells])
    say()
    show_table(["", *(f"{found.name} = {label_text(x)}" for x in root.labels)], rows)


def _with_error(value: float, error: float | None) -> str:
    """`0.286 (0.040)`; without an error where there is none."""
    if error is None or math.isnan(error):
        return f"{value:.3f}"
    return f"{value:.3f} ({error:.3f})"


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _assigned(found: MixtureResult, table: Table) -> Table:
    """The table with the most probable class of every row and its probability."""
    import numpy as np

    from unveil.table import Variable

    posterior = found.network.posterior(table, of=found.name)[found.name]
    variable = found.network.variable(found.name).as_hidden(False)
    with_class = table.with_column(variable, posterior.argmax(axis=1))
    sure = f"P({found.name})"
    return with_class.with_column(Variable(sure), np.round(posterior.max(axis=1), 6))
