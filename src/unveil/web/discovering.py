"""The task of the trail for hidden variables: discrete ones, or continuous ones behind numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from unveil.records import as_json
from unveil.web.searching import MOST_WISHES, Searching
from unveil.web.work import Work

if TYPE_CHECKING:
    from unveil.discovery import DiscoveryReport
    from unveil.discovery.continuous import NumbersReport
    from unveil.table import Table

__all__ = ["Discovering", "discover"]

FEW, MANY = 3, 30
"""At most so many hidden variables unless said: in a table of states, in one of numbers."""


class Discovering(Searching):
    """Settings of the search for hidden variables; `places` are columns to try one behind."""

    max_hidden: int | None = Field(default=None, ge=1, le=MANY)
    n_states: int | None = Field(default=None, ge=2, le=20)
    places: list[list[str]] = Field(default_factory=list, max_length=MOST_WISHES)


def discover(work: Work, settings: Discovering) -> None:
    """Hidden variables of a table, with evidence and meaning; an interrupted run goes on.

    A run over numbers begins anew.
    """
    from unveil.discovery.call import is_numbers

    ready = settings.ready(work)
    with work.advising(ready.table):
        numbers = is_numbers(ready.table) and not ready.is_cut
        behind = _behind_numbers if numbers else _behind_states
        more, told = work.heard(lambda: behind(work, settings, ready.whole, ready.table))
    notes = list(dict.fromkeys([*ready.notes, *more]))
    work.write(told | {"notes": notes, "numbers": numbers})


def _behind_states(
    work: Work, settings: Discovering, whole: Table, table: Table
) -> dict[str, Any]:  # fmt: skip
    from unveil.discovery import RunFolder, Settings
    from unveil.report import write_discovery

    how = Settings(
        equivalent_sample_size=settings.equivalent_sample_size,
        max_hidden=settings.max_hidden or FEW, n_states=settings.n_states,
        max_parents=settings.max_parents, anneal=settings.anneal or None,
        constraints=settings.constraints(), places=settings.places,
    )  # fmt: skip
    folder = RunFolder(work.folder, table, how, settings.seed)
    report = folder.discover(
        progress=work.progress, time_limit=settings.seconds, n_jobs=work.n_jobs
    ).with_rows(whole, work.asked.who or None)
    write_discovery(report, work.folder, work.table_name)
    folder.close(report)
    return as_json(_states_told(report)) | {"arcs": [as_json(a) for a in report.arcs()]}


def _behind_numbers(
    work: Work, settings: Discovering, whole: Table, table: Table
) -> dict[str, Any]:  # fmt: skip
    from unveil.discovery import NumberSettings, discover_numbers
    from unveil.discovery.continuous.loadings import arc_weights
    from unveil.report import write_numbers

    settings.refuse_wishes()
    how = NumberSettings(max_hidden=settings.max_hidden or MANY, max_parents=settings.max_parents)
    report = discover_numbers(
        table, how, seed=settings.seed, progress=work.progress, time_limit=settings.seconds
    ).with_rows(whole, work.asked.who or None)
    write_numbers(report, work.folder, work.table_name)
    weights = arc_weights(report.network, table)
    arcs = [
        {
            "parent": parent, "child": child, "loss": None, "weight": weight,
            "words": f"weight {weight:+.3f} in standard units",
        }
        for (parent, child), weight in weights.items()
    ]  # fmt: skip
    return as_json(_numbers_told(report)) | {"arcs": as_json(arcs)}


def _states_told(report: DiscoveryReport) -> dict[str, Any]:
    """What the page of a discovery in a table of states shows."""
    found = report.discovery
    return _both_told(report) | {
        "score": found.score,
        "gain": found.gain,
        "seconds": found.elapsed,
        "meaning": {
            name: as_json(meaning)
            | {"values": as_json(meaning.values), "overall": as_json(meaning.overall)}
            for name, meaning in report.meaning.items()
        },
        "tried": [
            {
                "round": number, "name": c.name, "children": list(c.children), "states": c.n_states,
                "gain": c.gain, "verdict": c.words, "kept": c is r.kept,
            }
            for number, r in enumerate(found.rounds, start=1)
            for c in sorted(r.candidates, key=lambda c: -c.gain)
        ],
    }  # fmt: skip


def _numbers_told(report: NumbersReport) -> dict[str, Any]:
    """What the page of a discovery in a table of numbers shows."""
    return _both_told(report) | {
        "score": report.score,
        "gain": report.gain,
        "needed": report.needed,
        "seconds": report.elapsed,
        "loadings": report.loadings,
        "tried": [
            {
                "how": t.how, "hidden": len(t.graph.hidden), "arcs": t.graph.dag.n_arcs,
                "gain": t.gain, "kept": bool(report.hidden) and t is report.tried[0],
            }
            for t in report.tried
        ],
    }  # fmt: skip


ON_PAGES = {
    "See `unveil learn --local auto`.": "See the page Dependences, More: inside of families.",
    "see `unveil cluster`.": "see the page Latent classes.",
}
"""Where a command is named, the page that does the same."""


def _on_pages(words: str) -> str:
    for command, page in ON_PAGES.items():
        words = words.replace(command, page)
    return words


def _both_told(report: DiscoveryReport | NumbersReport) -> dict[str, Any]:
    return {
        "headline": _on_pages(report.headline),
        "summary": _on_pages(report.summary),
        "hidden": report.hidden,
        "stopped": report.stopped,
        "n_rows": report.table.n_rows,
        "evidence": report.evidence,
        "straw_men": [
            {"name": s.name, "score": s.score, "bits": s.held_out.bits} for s in report.straw_men
        ],
        "held_out": None if report.held_out is None else report.held_out.bits,
    }
