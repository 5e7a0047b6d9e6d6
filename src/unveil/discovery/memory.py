"""Rounds of a discovery as JSON and back, so that an interrupted one can go on.

Of every candidate the words and numbers are kept, of the one that won also its network (as a text,
in unveil's own format). The tree of merges is made again when it is read back: it follows from the
rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from unveil.discovery.evaluation import Candidate, complete_hidden
from unveil.discovery.procedure import Round
from unveil.errors import FormatError
from unveil.formats import dumps, loads
from unveil.hidden.agglomeration import agglomerate_states
from unveil.table.core import Table

__all__ = ["rounds_as_json", "rounds_from_json"]


def rounds_as_json(rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """What there is to remember of rounds, as lists, dicts, texts and numbers."""
    return [
        {
            "before": dumps(r.before, "json"),
            "score_before": r.score_before,
            "candidates": [_candidate_as_json(c) for c in r.candidates],
            "kept": next((i for i, c in enumerate(r.candidates) if c is r.kept), None),
            "network": _written(r.kept),
        }
        for r in rounds
    ]


def rounds_from_json(records: Any, table: Table, seed: int) -> tuple[Round, ...]:
    """The rounds that `rounds_as_json` told of; a `FormatError` if the records are damaged."""
    try:
        return tuple(_round(record, table, seed) for record in records)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FormatError(f"the records of earlier rounds are damaged: {error}") from error


def _round(record: dict[str, Any], table: Table, seed: int) -> Round:
    before = loads(record["before"], "json")
    candidates = [_candidate(c) for c in record["candidates"]]
    kept = None
    if record["kept"] is not None:
        network = loads(record["network"], "json")
        kept = candidates[record["kept"]]
        rows = complete_hidden(before, table, seed)
        tree = agglomerate_states(rows, network.dag, kept.name)
        kept = candidates[record["kept"]] = replace(kept, network=network, agglomeration=tree)
    return Round(before, float(record["score_before"]), tuple(candidates), kept)


def _written(kept: Candidate | None) -> str | None:
    return None if kept is None or kept.network is None else dumps(kept.network, "json")


def _candidate_as_json(candidate: Candidate) -> dict[str, Any]:
    kept = vars(candidate) | {
        "place": sorted(candidate.place),
        "refined": {str(k): score for k, score in candidate.refined.items()},
        "predicted": None if candidate.predicted != candidate.predicted else candidate.predicted,
    }
    return {k: v for k, v in kept.items() if k not in ("network", "agglomeration")}


def _candidate(record: dict[str, Any]) -> Candidate:
    return Candidate(
        name=str(record["name"]),
        children=tuple(record["children"]),
        n_states=int(record["n_states"]),
        gain=float(record["gain"]),
        network=None,
        agglomeration=None,
        refined={int(k): float(score) for k, score in record["refined"].items()},
        verdict=str(record["verdict"]),
        place=frozenset(record["place"]),
        anew=bool(record["anew"]),
        predicted=float("nan") if record["predicted"] is None else float(record["predicted"]),
    )
