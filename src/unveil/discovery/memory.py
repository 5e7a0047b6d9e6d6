"""Rounds of a discovery as JSON and back, so that an interrupted one can go on.

Of everything tried the words and numbers are kept, of the candidate that won also its network (as a
text, in unveil's own format). The tree of merges is made again when it is read back: it follows
from the rows. The others come back without a network, as `Refused`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unveil.discovery.bench import complete_hidden
from unveil.discovery.candidates import Candidate, Place, Refused, Verdict
from unveil.discovery.procedure import Round
from unveil.errors import FormatError
from unveil.formats import dumps, loads
from unveil.hidden.agglomeration import agglomerate_states
from unveil.model.network import Network
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["rounds_as_json", "rounds_from_json"]


def rounds_as_json(rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """What there is to remember of rounds, as lists, dicts, texts and numbers."""
    return [
        {
            "before": dumps(r.before, "json"),
            "score_before": r.score_before,
            "candidates": [_as_json(c) for c in r.candidates],
            "kept": next((i for i, c in enumerate(r.candidates) if c is r.kept), None),
            "network": None if r.kept is None else dumps(r.kept.network, "json"),
        }
        for r in rounds
    ]


def rounds_from_json(records: Any, table: Table, seed: int) -> tuple[Round, ...]:
    """The rounds that `rounds_as_json` told of; a `FormatError` if the records are damaged."""
    try:
        return tuple(_round(record, table, seed) for record in records)
    except Exception as error:  # a damaged record can be wrong in any way
        raise FormatError(f"the records of earlier rounds are damaged: {error}") from error


def _round(record: dict[str, Any], table: Table, seed: int) -> Round:
    before = _network(record["before"], table)
    tried: list[Candidate | Refused] = [_refused(c) for c in record["candidates"]]
    kept = None
    if record["kept"] is not None:
        rows = complete_hidden(before, table, seed)
        network = _network(record["network"], table)
        kept = _candidate(record["candidates"][record["kept"]], network, rows)
        tried[record["kept"]] = kept
    return Round(before, float(record["score_before"]), tuple(tried), kept)


def _as_json(tried: Candidate | Refused) -> dict[str, Any]:
    return {
        "name": tried.name,
        "place": list(tried.place.nodes),
        "children": list(tried.children),
        "n_states": tried.n_states,
        "gain": tried.gain,
        "predicted": None if math.isnan(tried.predicted) else tried.predicted,
        "refined": {str(k): score for k, score in tried.refined.items()},
        "verdict": str(tried.verdict),
        "detail": tried.detail,
        "filled_in": tried.filled_in,
    }


def _told(record: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record that candidates and refusals have both."""
    return {
        "place": Place(str(record["name"]), tuple(record["place"])),
        "verdict": Verdict(record["verdict"]),
        "detail": str(record["detail"]),
        "gain": float(record["gain"]),
        "predicted": math.nan if record["predicted"] is None else float(record["predicted"]),
        "filled_in": bool(record["filled_in"]),
        "refined": {int(k): float(score) for k, score in record["refined"].items()},
    }


def _refused(record: dict[str, Any]) -> Refused:
    children, n_states = tuple(record["children"]), int(record["n_states"])
    return Refused(**_told(record), children=children, n_states=n_states)


def _network(written: Any, table: Table) -> Network:
    """The network that was written down; its observed variables must be the table's columns."""
    network = loads(str(written), "json")
    if _observed(network) != _observed(table):
        raise FormatError("a network is not about the columns of the table")
    return network


def _observed(known: Network | Table) -> set[Variable]:
    return {variable for variable in known.variables if not variable.hidden}


def _candidate(record: dict[str, Any], network: Network, rows: Table) -> Candidate:
    tree = agglomerate_states(rows, network.dag, str(record["name"]))
    return Candidate(**_told(record), network=network, agglomeration=tree)
