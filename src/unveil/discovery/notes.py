"""`Notes`: what was done in a round, item by item, so that nothing of it has to be done again.

Work on an item depends on the network it is tried against, the phase and the item (the table, the
settings and the seed are those of the run). A digest of these is the key, so notes are found again
wherever the work comes past the same point, and are never mistaken for something else. Work that
was cut short is not noted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unveil.discovery.candidates import Candidate, Refused
from unveil.discovery.told import network_about, tried_as_json, tried_from_json
from unveil.errors import FormatError
from unveil.formats import dumps, loads
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["Notes", "Page"]

Found = list[Candidate | Refused]


class Notes:
    """Results by a key; `changed`, if set, is called whenever there is one more.

    >>> notes = Notes()
    >>> notes.network("baseline") is None, notes.as_json()
    (True, {})
    """

    def __init__(self, records: Mapping[str, Any] | None = None) -> None:
        self._records = dict(records or {})
        self.changed: Callable[[], object] | None = None

    def found(self, key: str) -> Found | None:
        """What is noted of an item, if anything."""
        record = self._records.get(key)
        return None if record is None else [tried_from_json(c) for c in record]

    def note_found(self, key: str, found: Found) -> None:
        """Note what was found at an item."""
        self._note(key, [tried_as_json(c) for c in found])

    def network(self, key: str) -> Network | None:
        """The network that is noted, if any."""
        record = self._records.get(key)
        return None if record is None else loads(record, "json")

    def note_network(self, key: str, network: Network) -> None:
        """Note a network."""
        self._note(key, dumps(network, "json"))

    def forget(self) -> None:
        """Forget everything: a round is over."""
        self._records.clear()

    def as_json(self) -> dict[str, Any]:
        """All of it, as lists, dicts, texts and numbers."""
        return dict(self._records)

    def check(self, table: Table) -> None:
        """Read everything once; a `FormatError` if it is damaged or not about this table."""
        try:
            for record in self._records.values():
                for written in [record] if isinstance(record, str) else _networks(record):
                    network_about(table, written)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"the notes of an earlier run are damaged: {error}") from error

    def _note(self, key: str, record: Any) -> None:
        self._records[key] = record
        if self.changed is not None:
            self.changed()


def _networks(record: Any) -> list[Any]:
    """The networks in the notes of an item, all of which can be read."""
    for tried in record:
        tried_from_json(tried)
    return [tried["network"] for tried in record if "network" in tried]


class Page:
    """The notes of one phase: what came of its items, by their numbers."""

    def __init__(self, notes: Notes, network: Network, title: str, items: Sequence[Any]) -> None:
        before = hashlib.sha256(dumps(network, "json").encode()).hexdigest()
        self._notes = notes
        self._keys = [_key(before, title, item) for item in items]

    def known(self) -> dict[int, Found]:
        """What is noted already."""
        found = {i: self._notes.found(key) for i, key in enumerate(self._keys)}
        return {i: of_item for i, of_item in found.items() if of_item is not None}

    def note(self, number: int, found: Found) -> None:
        """Note what came of an item."""
        self._notes.note_found(self._keys[number], found)


def _key(before: str, title: str, item: Any) -> str:
    """A text that differs where the network without the candidate, the phase or the item does."""
    told = tried_as_json(item) if isinstance(item, Candidate | Refused) else repr(item)
    return hashlib.sha256(json.dumps([before, title, told]).encode()).hexdigest()[:32]
