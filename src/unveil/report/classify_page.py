"""`classify_page`: how well a column is predicted, and why, as a page; and all as files."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unveil.report.page import Cell, Page
from unveil.report.picture import svg_text
from unveil.report.probability_table import add_distribution, family
from unveil.report.square_chart import square_chart, weight_chart
from unveil.table.variable import Label, label_text

if TYPE_CHECKING:
    from unveil.classify import Judgement, LearnedClassifier, Weighing
    from unveil.table import Table

__all__ = ["classify_page", "write_classification"]

MOST_DRAWN = 60
"""A network with more variables is not drawn: nobody could read the picture."""
MOST_CELLS = 12
"""So many of the strongest weights of a row are shown."""
MOST_CURVES = 4
"""With more classes than this, only the ROC curves of the most frequent ones are drawn."""
MOST_CLASSES = 10
"""With more classes than this, the commonest mistakes are listed instead of a confusion matrix."""
MOST_MISTAKES = 15


def write_classification(
    learned: LearnedClassifier,
    table: Table,
    folder: str | os.PathLike[str],
    table_name: str = "table",
) -> Path:
    """The page `report.html`, written beside `model.json` and `predictions.csv`.

    `table` are the rows to predict: every one gets its most probable class and the probability of
    each class beside it.
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    learned.network.save(path / "model.json")
    learned.classifier.with_predictions(table).write(path / "predictions.csv")
    classify_page(learned, table, table_name).write(path / "report.html")
    return path / "report.html"


def classify_page(learned: LearnedClassifier, table: Table, table_name: str = "table") -> Page:
    """The page of a classifier: how well it predicts, what tells, why single rows, what was tried.

    `table` has the rows that are explained on it.
    """
    page = Page(f"Predicting {learned.target} in {table_name}", _headline(learned))
    if learned.stopped != "converged":
        page.notice(f"Stopped early ({learned.stopped}): this is the best so far.")
    page.facts(_facts(learned))
    if learned.judgement is not None:
        _add_judgement(page, learned.judgement)
    _add_importances(page, learned)
    _add_network(page, learned)
    _add_rows(page, learned, table)
    _add_trials(page, learned)
    notes = [*learned.notes, *_notes(learned)]
    if notes:
        page.section("Worth knowing").items(notes)
    return page


def _headline(learned: LearnedClassifier) -> str:
    found = learned.judgement
    if found is None:
        return f"{learned.recipe.words}, learned from {learned.n_rows:,} rows; not judged."
    gain = (found.default_log_loss - found.log_loss) / math.log(2)
    words = (
        f"{found.accuracy:.1%} of rows left out are predicted right; always saying the most "
        f"frequent class would get {found.default_rate:.1%}."
    )
    if gain <= 0:
        return f"{words} The other columns tell nothing about it that would help with new rows."
    return f"{words} The other columns save {gain:.3f} bits a row about it."


def _facts(learned: LearnedClassifier) -> list[tuple[str, Cell]]:
    found = learned.judgement
    facts: list[tuple[str, Cell]] = []
    if found is not None:
        default = found.default_log_loss / math.log(2)
        facts += [
            ("accuracy (default)", f"{found.accuracy:.1%} ({found.default_rate:.1%})"),
            ("log-loss in bits (default)", f"{found.bits:.3f} ({default:.3f})"),
            ("AUC", f"{found.area:.3f}"),
            ("judged by", found.method),
        ]
    return [
        *facts,
        ("rows", learned.n_rows),
        ("classes", len(learned.classes)),
        ("predictors used", len(learned.predictors)),
    ]


def _add_judgement(page: Page, found: Judgement) -> None:
    page.section("How well it predicts")
    low, high = (found.accuracy + s * 1.96 * found.accuracy_error for s in (-1, 1))
    page.text(
        f"Every row was predicted without having been learned from ({found.method}). Accuracy "
        f"{found.accuracy:.1%}, between {max(low, 0):.1%} and {min(high, 1):.1%} with 95% "
        f"confidence; log-loss {found.bits:.4f} bits per row ({found.log_loss:.4f} nats)."
    )
    _add_confusion(page, found)
    figures = [
        (
            square_chart(
                [b.predicted for b in found.calibration],
                [b.observed for b in found.calibration],
                x_name="probability said", y_name="share that came true", marks=True,
            ),
            f"Calibration: on the dashed line, what is said is what happens "
            f"(mean distance {found.calibration_error:.3f})",
        )
    ]  # fmt: skip
    shown = found.roc[1:] if len(found.roc) == 2 else found.roc
    often = sorted(shown, key=lambda c: -found.confusion[found.classes.index(c.label)].sum())
    figures += [
        (
            square_chart(
                curve.false_alarms.tolist(), curve.hits.tolist(), x_name="false alarms",
                y_name="hits",
            ),
            f"ROC curve of {label_text(curve.label)}: area {curve.area:.3f}",
        )
        for curve in often[:MOST_CURVES]
    ]  # fmt: skip
    page.figures(figures)


def _add_confusion(page: Page, found: Judgement) -> None:
    names = [label_text(c) for c in found.classes]
    totals = found.confusion.sum(axis=1)
    if len(names) <= MOST_CLASSES:
        rows: list[list[Cell]] = [
            [name, *(round(float(x), 2) for x in row), f"{row[i] / max(total, 1e-300):.0%}"]
            for i, (name, row, total) in enumerate(zip(names, found.confusion, totals, strict=True))
        ]
        page.table(
            ["true class", *(f"said {name}" for name in names), "right"], rows,
            caption="Confusion: rows of each class, by what was said of them",
        )  # fmt: skip
        return
    wrong = found.confusion - np.diag(np.diag(found.confusion))
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_MISTAKES]
    pairs = [np.unravel_index(place, wrong.shape) for place in order]
    rows = [
        [names[i], names[j], round(float(wrong[i, j]), 2), f"{wrong[i, j] / totals[i]:.0%}"]
        for i, j in pairs
        if wrong[i, j] > 0
    ]
    page.table(
        ["true class", "said", "rows", "of its class"], rows, caption="The commonest mistakes"
    )


def _add_importances(page: Page, learned: LearnedClassifier) -> None:
    if not learned.importances:
        return
    page.section("What tells the class")
    page.text(
        "What rows left out lose when a predictor is not known, with 95% intervals. Below zero, "
        "they are predicted better without it."
    )
    rows: list[list[Cell]] = [
        [
            found.predictor,
            round(found.bits, 4),
            f"{found.bits_interval[0]:.4f} to {found.bits_interval[1]:.4f}",
            round(100 * found.accuracy, 2),
            f"{100 * found.accuracy_interval[0]:.2f} to {100 * found.accuracy_interval[1]:.2f}",
        ]
        for found in learned.importances
    ]
    page.table(
        ["predictor", "bits per row", "interval", "accuracy, points", "interval "], rows,
        sortable=True,
    )  # fmt: skip


def _add_network(page: Page, learned: LearnedClassifier) -> None:
    network = learned.network
    page.section("The network").text(f"The model is: {learned.recipe.words}.")
    if len(network.names) <= MOST_DRAWN:
        page.figure(
            svg_text(network, highlight=[learned.target]),
            f"{learned.target} and what it is predicted from; parents above children."
            + (" Hidden variables are dashed." if network.hidden else ""),
        )
    for name, cpd in network.cpds.items():
        page.open_details(name, family(cpd))
        if cpd.parents:
            add_distribution(page, cpd)
        else:
            page.text(*cpd.describe().splitlines())
        page.close_details()


def _add_rows(page: Page, learned: LearnedClassifier, table: Table) -> None:
    chosen = _rows_to_explain(learned, table)
    if not chosen:
        return
    page.section("Why: some rows explained")
    page.text(
        "The weight of each cell in bits for the class that is said: one bit doubles its odds. "
        "What was known beforehand and all weights add up to the log-odds in the end."
    )
    some = table.take([row for _, row in chosen])
    for (words, row), found in zip(chosen, learned.classifier.explanations(some), strict=True):
        truth = table.labels(learned.target)[row] if learned.target in table else None
        known = "" if truth is None else f", truly {label_text(truth)}"
        title = f"Row {row + 1}: {label_text(found.label)} with probability {found.probability:.3f}"
        page.open_details(title, f"{words}{known}", shown=True)
        page.figure(weight_chart(_bars(found)))
        page.close_details()


def _bars(found: Weighing) -> list[tuple[str, float]]:
    known = [w for w in found.strongest if w.value is not None]
    bars = [("beforehand", found.before)]
    bars += [(f"{w.predictor} = {_text(w.value)}", w.bits) for w in known[:MOST_CELLS]]
    rest = known[MOST_CELLS:]
    if rest:
        bars.append((f"{len(rest)} more cells", sum(w.bits for w in rest)))
    return [*bars, ("in all", found.after)]


def _text(value: Label | None) -> str:
    return "" if value is None else label_text(value)


def _rows_to_explain(learned: LearnedClassifier, table: Table) -> list[tuple[str, int]]:
    """The surest row, the one in most doubt and, where the class is known, the worst mistake."""
    if table.n_rows == 0:
        return []
    some = table.take(range(min(table.n_rows, 20_000)))
    shares = learned.classifier.probabilities(some)
    best = shares.max(axis=1)
    found = {"the surest": int(best.argmax()), "the most doubtful": int(best.argmin())}
    if learned.target in some:
        labels: dict[Label | None, int] = {x: code for code, x in enumerate(learned.classes)}
        truth = np.array([labels.get(label, -1) for label in some.labels(learned.target)])
        known = truth >= 0
        own = np.where(known, shares[np.arange(len(truth)), np.maximum(truth, 0)], 1.0)
        if (own < best).any():
            found["the worst mistake"] = int(own.argmin())
    seen: dict[int, str] = {}
    for words, row in found.items():
        seen.setdefault(row, words)
    return [(words, row) for row, words in seen.items()]


def _add_trials(page: Page, learned: LearnedClassifier) -> None:
    if not learned.trials:
        return
    page.section("What was tried")
    page.text("Every way of learning, on the same rows left out; the one with the least log-loss.")
    rows: list[list[Cell]] = [
        [
            trial.recipe.words,
            round(trial.log_loss / math.log(2), 4),
            f"± {trial.error / math.log(2):.4f}",
            f"{trial.accuracy:.1%}",
            f"{trial.n_folds} folds" + (f", {trial.note}" if trial.note else ""),
        ]
        for trial in sorted(learned.trials, key=lambda t: t.log_loss)
    ]
    page.table(["model", "log-loss, bits", "error", "accuracy", "seen"], rows)


def _notes(learned: LearnedClassifier) -> list[str]:
    notes = []
    if learned.n_without_class:
        notes.append(
            f"{learned.n_without_class:,} rows have no class (or no weight): nothing was learned "
            "from them; they are predicted like all others."
        )
    if learned.left_out:
        notes.append(f"Not used: {', '.join(learned.left_out)}.")
    notes.append(f"Seed {learned.seed}.")
    return notes
