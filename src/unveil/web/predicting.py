"""The tasks of the classification trail: learn to predict a column, and predict rows."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from unveil.errors import DataError
from unveil.records import as_json
from unveil.web.work import TaskSettings, Work

__all__ = ["SENT", "Classifying", "Predicting", "classify", "predict"]

SENT = "rows.data"
"""The file of rows that came with a job."""


class Classifying(TaskSettings):
    """Settings of a classifier: the class, and how it is learned."""

    seconds: float = Field(default=300.0, gt=0)
    target: str = Field(min_length=1, max_length=500)
    model: Literal["auto", "naive", "tan", "kdb", "network", "hidden", "discover"] = "auto"


class Predicting(TaskSettings):
    """Settings of a prediction: which step learned, and what the sent file is called."""

    of: int = Field(ge=1, le=100_000)
    name: str = Field(default="rows", max_length=300)


def classify(work: Work, settings: Classifying) -> None:
    """A network that predicts a column, and how well; a run that was cut short goes on."""
    from unveil.classify import TrialFolder
    from unveil.report import write_classification

    notes, table = work.heard(work.table)
    asked = work.asked.preparing()
    away = [name for name in asked["drop"] if name != settings.target]
    folder = TrialFolder(
        work.folder, table, settings.target,
        {"model": settings.model, "drop": away, "keep": asked["keep"]}, settings.seed,
    )  # fmt: skip
    more, learned = work.heard(
        lambda: folder.learn(progress=work.progress, time_limit=settings.seconds)
    )
    write_classification(learned, table, work.folder, work.table_name)
    work.write(learned.to_dict() | {"words": learned.recipe.words, "notes": [
        *dict.fromkeys([*notes, *more, *learned.notes])
    ]})  # fmt: skip


def predict(work: Work, settings: Predicting) -> None:
    """Rows of another file with their predicted class."""
    from unveil.table import Table

    sent = work.folder / SENT
    if not sent.exists():
        raise DataError("no rows came with this job; send a file of them.")
    classifier, _ = classifier_of(work.folder.parent / str(settings.of))
    known = [classifier.network.variable(name) for name in classifier.predictors]

    def predicted() -> Any:
        rows = Table.read(sent, like=known, unknown="missing", max_bytes=work.limits.table_bytes)
        return classifier.with_predictions(work.checked(rows))

    notes, table = work.heard(predicted)
    table.write(work.folder / "predictions.csv")
    shares = {
        str(label): float((table.column(f"predicted {classifier.target}") == code).mean())
        for code, label in enumerate(classifier.classes)
    }
    work.write(
        {
            "n_rows": table.n_rows, "name": settings.name, "of": settings.of,
            "target": classifier.target, "shares": as_json(shares), "notes": notes,
        }
    )  # fmt: skip


def classifier_of(folder: Any) -> tuple[Any, dict[str, Any]]:
    """The classifier that a step learned, from its folder, and what was told of it."""
    import json

    from unveil.classify import Classifier

    try:
        told = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        return Classifier.load(folder / "model.json", told["target"]), told
    except (OSError, ValueError, KeyError):
        raise DataError(f"step {folder.name} has no classifier.") from None
