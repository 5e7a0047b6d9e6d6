"""What a job may do: a fixed list of tasks, each a call of the library that leaves files behind.

A task takes the table, what was asked and its own settings, and writes `result.json` last: a job
with a result is whole. Others of its files are those that the command line writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from unveil.records import as_json
from unveil.web.discovering import Discovering, discover
from unveil.web.predicting import Classifying, Predicting, classify, predict
from unveil.web.searching import Cutting, Searching
from unveil.web.work import TaskSettings, Work

if TYPE_CHECKING:
    from unveil.model.network import Network

__all__ = ["TASKS", "Task"]

PREVIEW_ROWS = 20
MOST_BARS = 8
"""A column's description tells so many of its commonest states."""


class Reading(TaskSettings):
    """Settings of reading: none."""


class Learning(Searching):
    """Settings of the search for dependences; `local` is what families may be made of.

    Arcs are averaged over the best `average` networks.
    """

    local: Literal["table", "tree", "default", "noisy-or", "auto"] = "table"
    average: int = Field(default=0, ge=0, le=1000)


class Clustering(Cutting):
    """Settings of latent classes: from one class to `most`."""

    most: int = Field(default=6, ge=1, le=30)
    score: Literal["bic", "aic", "cheeseman-stutz"] = "bic"


def read(work: Work, settings: Reading) -> None:
    """What was understood of a table: every column, what looks odd, the first rows."""
    from unveil.table.describe import describe
    from unveil.table.prepare import without_identifiers
    from unveil.table.roles import role_of

    notes, table = work.heard(work.table)
    found = describe(table, most_common=MOST_BARS)
    _, (_, away) = work.heard(lambda: without_identifiers(table, work.asked.keep))
    rows = [table.row(i) for i in range(min(PREVIEW_ROWS, table.n_rows))]
    work.write(
        as_json(found)
        | {
            "warnings": notes,
            "roles": {n: r for n in table.names if (r := role_of(table, n)) is not None},
            "away": list(away),
            "preview": [[as_json(row[name]) for name in table.names] for row in rows],
            "is_weighted": table.weights is not None,
        }
    )


def learn(work: Work, settings: Learning) -> None:
    """The dependences of a table: network, arcs and what each is worth."""
    import unveil
    from unveil.evaluate import arc_worth, average_arcs, path_diagram
    from unveil.graph.equivalence import completed_pdag
    from unveil.report import learn_page
    from unveil.table import describe

    ready = settings.ready(work)
    table = ready.table
    with work.advising(table):
        more, learned = work.heard(
            lambda: unveil.learn(
                table, equivalent_sample_size=settings.equivalent_sample_size,
                max_parents=settings.max_parents, constraints=settings.constraints(),
                local=settings.local, anneal=settings.anneal or None, seed=settings.seed,
                time_limit=settings.seconds, progress=work.progress, n_jobs=work.n_jobs,
            )
        )  # fmt: skip
        arcs = arc_worth(learned.scores, learned.dag)
    network, result = learned.network, learned.search
    sure = None
    if settings.average:
        sure = average_arcs(
            learned.scores, result.dag, settings.average, settings.constraints(), work.progress,
            settings.seconds,
        )  # fmt: skip
    network.save(work.folder / "model.json")
    lines = any(not v.is_discrete for v in network.variables)
    paths = path_diagram(network, table) if lines else None
    learn_page(
        network, table_name=work.table_name, n_rows=table.n_rows, score_name=result.score_name,
        score=result.score, seconds=result.elapsed, search_name=result.search, arcs=arcs,
        notes=describe(table).sentences, paths=paths,
    ).write(work.folder / "report.html")  # fmt: skip
    fixed = set(completed_pdag(learned.dag).arcs)
    weights = {} if paths is None else paths.weights
    work.write(
        {
            "notes": list(dict.fromkeys([*ready.notes, *more])),
            "score": result.score,
            "score_name": result.score_name,
            "search": result.search,
            "seconds": result.elapsed,
            "stopped": result.stopped,
            "n_rows": table.n_rows,
            "n_parameters": network.n_parameters,
            "checks": [] if paths is None else as_json(paths.checks),
            "compact": _compact(network),
            "n_averaged": 0 if sure is None else sure.n_samples,
            "arcs": [
                as_json(a)
                | {
                    "fixed": (a.parent, a.child) in fixed,
                    "weight": as_json(weights.get((a.parent, a.child))),
                    "joined": None if sure is None else sure.of(a.parent, a.child),
                    "this_way": None if sure is None else sure.direction(a.parent, a.child),
                }
                for a in arcs
            ],
        }
    )


def cluster(work: Work, settings: Clustering) -> None:
    """Latent classes of the rows of a table."""
    import unveil
    from unveil.infer import with_posteriors

    ready = settings.ready(work)
    table = ready.table
    with work.advising(table):
        found = unveil.latent_classes(
            table, list(range(1, settings.most + 1)), settings.score, seed=settings.seed,
            time_limit=settings.seconds, progress=work.progress,
        )  # fmt: skip
    found.network.save(work.folder / "model.json")
    with_posteriors(found.network, table, [found.name]).write(work.folder / "posteriors.csv")
    work.write(found.to_dict() | {"notes": ready.notes})


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


def _compact(network: Network) -> dict[str, str]:
    """What the distributions that are smaller than a table are, by name."""
    from unveil.model.network import COMPACT

    kinds = {name: cpd.kind for name, cpd in network.cpds.items()}
    return {name: COMPACT[kind] for name, kind in kinds.items() if kind in COMPACT}
