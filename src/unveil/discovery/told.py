"""What was tried as JSON and back: words and numbers, and the network (in unveil's own format)."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

from unveil.bottleneck.course import Point
from unveil.discovery.candidates import Candidate, Place, Refused, Verdict
from unveil.errors import FormatError
from unveil.formats import dumps, loads
from unveil.hidden.agglomeration import agglomerate_states
from unveil.model.network import Network
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["network_about", "numbers_as_json", "tried_as_json", "tried_from_json", "with_tree"]


def tried_as_json(tried: Candidate | Refused) -> dict[str, Any]:
    """All there is to remember of one that was tried."""
    if isinstance(tried, Refused):
        return numbers_as_json(tried)
    network = dumps(tried.network, "json")
    return numbers_as_json(tried) | {"network": network, "anew": tried.anew}


def _followed(tried: Candidate | Refused) -> dict[str, Any]:
    """What is to be told of a course in gamma, if there is one."""
    if not isinstance(tried, Candidate) or not tried.course:
        return {}
    return {"course": [asdict(p) for p in tried.course], "others": list(tried.others)}


def _course(record: dict[str, Any]) -> dict[str, Any]:
    points: list[dict[str, Any]] = [
        {k: tuple(x) if isinstance(x, list) else x for k, x in point.items()}
        for point in record.get("course", ())
    ]
    return {"course": tuple(Point(**p) for p in points), "others": tuple(record.get("others", ()))}


def tried_from_json(record: dict[str, Any]) -> Candidate | Refused:
    """What `tried_as_json` told of; without a network it is a refusal.

    The tree of merges follows from the rows, see `with_tree`.
    """
    if "network" not in record:
        return _refused(record)
    network = loads(record["network"], "json")
    return Candidate(
        **_told(record), **_course(record), network=network, anew=bool(record.get("anew", False))
    )


def network_about(table: Table, written: Any) -> Network:
    """The network that was written down; its observed variables must be the table's columns."""
    network = loads(str(written), "json")
    if _observed(network) != _observed(table):
        raise FormatError("a network is not about the columns of the table")
    return network


def _observed(known: Network | Table) -> set[Variable]:
    return {variable for variable in known.variables if not variable.hidden}


def with_tree(candidate: Candidate, rows: Table) -> Candidate:
    """The candidate with the tree of merges of its own graph, made of rows without gaps."""
    if candidate.agglomeration is not None or candidate.place.is_followed:
        return candidate
    tree = agglomerate_states(rows, candidate.network.dag, candidate.name)
    return replace(candidate, agglomeration=tree)


def numbers_as_json(tried: Candidate | Refused) -> dict[str, Any]:
    """The words and numbers of one that was tried, without its network."""
    return {
        "name": tried.name,
        "place": list(tried.place.nodes),
        "start": tried.place.start,
        "children": list(tried.children),
        "n_states": tried.n_states,
        "gain": tried.gain,
        "predicted": _or_none(tried.predicted),
        "error": _or_none(tried.error),
        "refined": {str(k): score for k, score in tried.refined.items()},
        "verdict": str(tried.verdict),
        "detail": tried.detail,
        "filled_in": tried.filled_in,
        **_followed(tried),
    }


def _told(record: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record that candidates and refusals have both."""
    return {
        "place": Place(
            str(record["name"]), tuple(record["place"]), record.get("start", "agglomerated")
        ),
        "verdict": Verdict(record["verdict"]),
        "detail": str(record["detail"]),
        "gain": float(record["gain"]),
        "predicted": _or_nan(record["predicted"]),
        "error": _or_nan(record.get("error")),
        "filled_in": bool(record["filled_in"]),
        "refined": {int(k): float(score) for k, score in record["refined"].items()},
    }


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number


def _or_nan(number: Any) -> float:
    return math.nan if number is None else float(number)


def _refused(record: dict[str, Any]) -> Refused:
    children, n_states = tuple(record["children"]), int(record["n_states"])
    return Refused(**_told(record), children=children, n_states=n_states)
