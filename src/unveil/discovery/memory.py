"""Rounds of a discovery as JSON and back, so that an interrupted one can go on.

Of everything tried the words and numbers are kept, of the candidate that won also its network (as a
text, in unveil's own format). The tree of merges is made again when it is read back: it follows
from the rows. The others come back without a network, as `Refused`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unveil.discovery.bench import complete_hidden
from unveil.discovery.candidates import Candidate
from unveil.discovery.procedure import Round
from unveil.discovery.told import network_about, numbers_as_json, tried_from_json, with_tree
from unveil.errors import FormatError
from unveil.formats import dumps
from unveil.table.core import Table

__all__ = ["rounds_as_json", "rounds_from_json"]


def rounds_as_json(rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """What there is to remember of rounds, as lists, dicts, texts and numbers."""
    return [
        {
            "before": dumps(r.before, "json"),
            "score_before": r.score_before,
            "candidates": [numbers_as_json(c) for c in r.candidates],
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
    before = network_about(table, record["before"])
    tried = [tried_from_json(c) for c in record["candidates"]]
    kept = None
    if record["kept"] is not None:
        rows = complete_hidden(before, table, seed)
        words = record["candidates"][record["kept"]] | {"network": str(record["network"])}
        network_about(table, record["network"])
        candidate = tried_from_json(words)
        assert isinstance(candidate, Candidate)
        tried[record["kept"]] = kept = with_tree(candidate, rows)
    return Round(before, float(record["score_before"]), tuple(tried), kept)
