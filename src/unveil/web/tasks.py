"""What a job may do: a fixed list of tasks, each a call of the library that leaves files behind.

A task takes the table, what was asked and its own settings, and writes `result.json` last: a job
with a result is whole. Others of its files are those that the command line writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from unveil.records import as_json
from unveil.web.predicting import Classifying, Predicting, classify, predict
from unveil.web.work import TaskSettings, Work

__all__ = ["TASKS", "Task"]

PREVIEW_ROWS = 20
MOST_WISHES = 10_000
MOST_BARS = 8
"""A column's description tells so many of its commonest states."""


class Searching(TaskSettings):
    """Settings of everything that searches."""

    seconds: float = Field(default=300.0, gt=0)
    equivalent_sample_size: float = Field(default=1.0, gt=0, le=1e6)


class Reading(TaskSettings):
    """Settings of reading: none."""


class Learning(Searching):
    """Settings of the search for dependences."""

    max_parents: int | None = Field(default=None, ge=1, le=20)
    required: list[tuple[str, str]] = Field(default_factory=list, max_length=MOST_WISHES)
    forbidden: list[tuple[str, str]] = Field(default_factory=list, max_length=MOST_WISHES)
    tiers: list[list[str]] = Field(default_factory=list, max_length=MOST_WISHES)


class Discovering(Searching):
    """Settings of the search for hidden variables."""

    max_hidden: int = Field(default=3, ge=1, le=10)


class Clustering(TaskSettings):
    """Settings of latent classes: from one class to `most`."""

    seconds: float = Field(default=300.0, gt=0)
    most: int = Field(default=6, ge=1, le=30)
    score: Literal["bic", "aic", "cheeseman-stutz"] = "bic"


def read(work: Work, settings: Reading) -> None:
    """What was understood of a table: every column, what looks odd, the first rows."""
    from unveil.table.describe import describe
    from unveil.table.roles import role_of

    notes, table = work.heard(work.table)
    found = describe(table, most_common=MOST_BARS)
    rows = [table.row(i) for i in range(min(PREVIEW_ROWS, table.n_rows))]
    work.write(
        as_json(found)
        | {
            "warnings": notes,
            "roles": {n: r for n in table.names if (r := role_of(table, n)) is not None},
            "preview": [[as_json(row[name]) for name in table.names] for row in rows],
            "is_weighted": table.weights is not None,
        }
    )


def learn(work: Work, settings: Learning) -> None:
    """The dependences of a table: network, arcs and what each is worth."""
    import unveil
    from unveil.evaluate import arc_worth
    from unveil.graph.equivalence import completed_pdag
    from unveil.report import learn_page
    from unveil.table import describe
    from unveil.table.door import ready_table

    notes, table = _prepared(work, ready_table)
    with work.advising(table):
        learned = unveil.learn(
            table, equivalent_sample_size=settings.equivalent_sample_size,
            max_parents=settings.max_parents, constraints=_constraints(settings),
            seed=settings.seed, time_limit=settings.seconds, progress=work.progress,
            n_jobs=work.n_jobs,
        )  # fmt: skip
        arcs = arc_worth(learned.scores, learned.dag)
    learned.network.save(work.folder / "model.json")
    result = learned.search
    learn_page(
        learned.network, table_name=work.table_name, n_rows=table.n_rows,
        score_name=result.score_name, score=result.score, seconds=result.elapsed,
        search_name=result.search, arcs=arcs, notes=describe(table).sentences,
    ).write(work.folder / "report.html")  # fmt: skip
    fixed = set(completed_pdag(learned.dag).arcs)
    work.write(
        {
            "notes": notes,
            "score": result.score,
            "score_name": result.score_name,
            "search": result.search,
            "seconds": result.elapsed,
            "stopped": result.stopped,
            "n_rows": table.n_rows,
            "n_parameters": learned.network.n_parameters,
            "arcs": [as_json(a) | {"fixed": (a.parent, a.child) in fixed} for a in arcs],
        }
    )


def discover(work: Work, settings: Discovering) -> None:
    """Hidden variables of a table, with evidence and meaning; an interrupted run goes on."""
    from unveil.discovery import RunFolder, Settings
    from unveil.report import write_discovery
    from unveil.table.door import read_and_ready

    notes, (whole, table) = _prepared(work, read_and_ready)
    how = Settings(
        equivalent_sample_size=settings.equivalent_sample_size, max_hidden=settings.max_hidden
    )
    folder = RunFolder(work.folder, table, how, settings.seed)
    with work.advising(table):
        report = folder.discover(
            progress=work.progress, time_limit=settings.seconds, n_jobs=work.n_jobs
        ).with_rows(whole, work.asked.who or None)
    write_discovery(report, work.folder, work.table_name)
    folder.close(report)
    arcs = [as_json(a) for a in report.arcs()]
    work.write(as_json(_told(report)) | {"notes": notes, "arcs": arcs})


def cluster(work: Work, settings: Clustering) -> None:
    """Latent classes of the rows of a table."""
    import unveil
    from unveil.infer import with_posteriors
    from unveil.table.door import ready_table

    notes, table = _prepared(work, ready_table)
    with work.advising(table):
        found = unveil.latent_classes(
            table, list(range(1, settings.most + 1)), settings.score, seed=settings.seed,
            time_limit=settings.seconds, progress=work.progress,
        )  # fmt: skip
    found.network.save(work.folder / "model.json")
    with_posteriors(found.network, table, [found.name]).write(work.folder / "posteriors.csv")
    work.write(found.to_dict() | {"notes": notes})


@dataclass(frozen=True)
class Task:
    """A task: the call, its settings, and what it is called on pages."""

    call: Callable[[Work, Any], None]
    settings: type[TaskSettings]
    title: str


TASKS = {
    "read": Task(read, Reading, "Reading the table"),
    "learn": Task(learn, Learning, "Dependences"),
    "discover": Task(discover, Discovering, "Hidden variables"),
    "cluster": Task(cluster, Clustering, "Latent classes"),
    "classify": Task(classify, Classifying, "Classification"),
    "predict": Task(predict, Predicting, "Predictions"),
}
"""Everything a job can do, by name."""


def _prepared(work: Work, door: Callable[..., Any]) -> tuple[list[str], Any]:
    """What the library's door gives for the table, and what it said on the way."""
    return work.heard(lambda: door(work.table(), None, **work.asked.preparing()))


def _constraints(settings: Learning) -> Any:
    from unveil.search import Constraints

    return Constraints(
        required=settings.required, forbidden=settings.forbidden, tiers=settings.tiers
    )


def _told(report: Any) -> dict[str, Any]:
    """What the page of a discovery shows."""
    found = report.discovery
    return {
        "headline": report.headline,
        "summary": report.summary,
        "hidden": report.hidden,
        "gain": found.gain,
        "stopped": report.stopped,
        "seconds": found.elapsed,
        "n_rows": report.table.n_rows,
        "evidence": report.evidence,
        "meaning": {
            name: as_json(meaning)
            | {"values": as_json(meaning.values), "overall": as_json(meaning.overall)}
            for name, meaning in report.meaning.items()
        },
        "straw_men": [
            {"name": s.name, "score": s.score, "bits": s.held_out.bits} for s in report.straw_men
        ],
        "held_out": None if report.held_out is None else report.held_out.bits,
        "tried": [
            {
                "round": number, "name": c.name, "children": list(c.children), "states": c.n_states,
                "gain": c.gain, "verdict": c.words, "kept": c is r.kept,
            }
            for number, r in enumerate(found.rounds, start=1)
            for c in sorted(r.candidates, key=lambda c: -c.gain)
        ],
    }  # fmt: skip
