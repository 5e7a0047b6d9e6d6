"""`unveil classify`: a network that predicts one column, how well, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unveil.cli.live import live_progress
from unveil.cli.options import Drop, Seed, TableFile, TimeLimit, columns_named, reads_table
from unveil.cli.outputs import writes_folder
from unveil.cli.screen import note, say, show_table

__all__ = ["classify"]


@reads_table
def classify(
    data: TableFile,
    target: Annotated[str, typer.Option("--class", help="The column to predict.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The folder for the results.", callback=writes_folder),
    ] = Path("out"),
    model: Annotated[
        str, typer.Option(help="auto, naive, tan, kdb, network, hidden or discover.")
    ] = "auto",
    parameters: Annotated[
        str, typer.Option(help="auto, generative (counted) or discriminative.")
    ] = "auto",
    numbers: Annotated[
        str, typer.Option(help="Continuous columns: auto, cut (by the class) or gaussian.")
    ] = "auto",
    selective: Annotated[
        bool, typer.Option("--selective", help="Drop predictors that do harm.")
    ] = False,
    k: Annotated[
        int, typer.Option("--k", min=1, help="Most parents beside the class (kdb, network).")
    ] = 2,
    n_states: Annotated[int, typer.Option(min=2, help="Hidden states in a class (hidden).")] = 2,
    strength: Annotated[
        float | None, typer.Option(help="Strength of the prior; chosen if not given.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    predict: Annotated[
        Path | None,
        typer.Option(help="Another table, to be predicted instead of this one."),
    ] = None,
    resume: Annotated[
        bool, typer.Option(help="Go on from what an earlier run in the same folder tried.")
    ] = True,
    drop: Drop = None,
    time_limit: TimeLimit = None,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Predict a column from the others; Ctrl-C keeps the best so far.

    Writes report.html (how well, and why), model.json (the network) and predictions.csv.
    """
    from unveil.classify import TrialFolder
    from unveil.report import write_classification
    from unveil.table import Table

    table = Table.read(data, **reading)
    table.position(target)
    rows = table if predict is None else Table.read(predict, **_without_weights(reading))
    kept = [*(reading.get("kinds") or ()), *(reading.get("states") or ())]
    settings: dict[str, Any] = {
        "model": model, "parameters": parameters, "numbers": numbers, "selective": selective,
        "k": k, "n_states": n_states, "strength": strength, "folds": folds,
        "drop": columns_named(drop, table.names), "keep": kept,
    }  # fmt: skip
    folder = TrialFolder(output, table, target, settings, seed, resume)
    if folder.known:
        note(f"going on from the run in {output} (use --no-resume to start afresh)")
    with live_progress() as listener:
        learned = folder.learn(progress=listener, time_limit=time_limit)
    say(f"{data}: {learned.n_rows:,} rows, {len(learned.predictors)} predictors used")
    say(str(learned))
    if learned.importances:
        say()
        head = ["predictor", "bits lost without it", "95% interval"]
        lines = [
            (i.predictor, f"{i.bits:.4f}", f"{i.bits_interval[0]:.4f} to {i.bits_interval[1]:.4f}")
            for i in learned.importances[:10]
        ]
        show_table(head, lines)
    page = write_classification(learned, rows, output, data.name)
    if learned.stopped != "converged":
        note(f"stopped early ({learned.stopped}); run again to go on from here")
    say(f"the report is {page}")


def _without_weights(reading: dict[str, Any]) -> dict[str, Any]:
    """How to read rows to predict: they count once each, and may lack columns."""
    return {**reading, "weights": None, "kinds": None, "states": None} | {"unknown": "missing"}
