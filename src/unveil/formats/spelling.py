"""Names and labels that a format cannot spell: written plainly, with the truth in a note beside.

Every format has its own idea of what a name or a state may look like. What does not fit is written
in a plain, unique spelling, and a *note* (one line of JSON in a comment or property, which other
programs skip) keeps what was lost: the name, the labels with their types, the cuts of labels that
are intervals, the hidden mark.
Ordinary networks need no notes, so their files stay plain.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.errors import DataError, FormatError, UnveilWarning
from unveil.model.network import Network
from unveil.table.variable import Label, Variable, label_text

__all__ = ["NOTE", "Spelling", "Written", "checked_variable", "to_json"]

NOTE = "unveil:"
"""How a note begins, in the formats that keep it in a comment."""


@dataclass(frozen=True)
class Written:
    """A variable as a file spells it; `note` is empty when nothing is lost."""

    name: str
    labels: list[str]
    note: str


@dataclass(frozen=True)
class Spelling:
    """What a format accepts: patterns for whole names and labels, and words it keeps for itself."""

    names: re.Pattern[str]
    labels: re.Pattern[str]
    reserved: frozenset[str] = frozenset()

    def written(self, network: Network) -> dict[str, Written]:
        """Every variable of the network as this format spells it."""
        names = self._spelled(network.names, self.names)
        pairs = zip(network.variables, names, strict=True)
        return {variable.name: self._written(variable, name) for variable, name in pairs}

    def written_title(self, network: Network, untitled: str) -> tuple[str, str]:
        """The network's name as this format spells it, and a note of what that loses."""
        title = self._spelled([network.name], self.names)[0] if network.name else untitled
        lost: dict[str, Any] = {}
        if network.name not in ("", title) or network.name == untitled:
            lost["name"] = network.name
        if network.description:
            lost["description"] = network.description
        return title, to_json(lost) if lost else ""

    def read_title(self, title: str, untitled: str, note: str, place: str) -> tuple[str, str]:
        """The name and description of a network: the inverse of `written_title`."""
        known = _read_note(note, place)
        name, description = known.get("name"), known.get("description")
        title = "" if title == untitled else title
        return (
            name if isinstance(name, str) else title,
            description if isinstance(description, str) else "",
        )

    def variable(self, name: str, labels: Sequence[str], note: str, place: str) -> Variable:
        """The variable that was written under this name with these labels and this note."""
        known = _read_note(note, place)
        true_name = known.get("name")
        states = self._noted_states(known.get("states"), labels, place)
        return checked_variable(
            true_name if isinstance(true_name, str) and true_name else name,
            states,
            known.get("hidden") is True,
            place,
            _noted_cuts(known, states, place),
        )

    def _written(self, variable: Variable, name: str) -> Written:
        labels = self._label_spellings(variable.labels)
        lost: dict[str, Any] = {}
        if name != variable.name:
            lost["name"] = variable.name
        if variable.cuts is not None:
            lost["cuts"] = list(variable.cuts)
        if list(variable.labels) != labels or variable.cuts is not None:
            lost["states"] = list(variable.labels)
        if variable.hidden:
            lost["hidden"] = True
        return Written(name, labels, to_json(lost) if lost else "")

    def _label_spellings(self, labels: Iterable[Label]) -> list[str]:
        return self._spelled([label_text(label) for label in labels], self.labels)

    def _noted_states(self, noted: Any, labels: Sequence[str], place: str) -> Sequence[Label]:
        if noted is None:
            return labels
        known = isinstance(noted, list) and all(isinstance(x, str | int | float) for x in noted)
        if known and self._label_spellings(noted) == list(labels):
            return list(noted)
        # Another program renamed or reordered the states since; what it wrote is what counts.
        warnings.warn(
            f"{place}: the note of the original states no longer fits the states "
            f"{', '.join(labels[:8])}; using these as they are",
            UnveilWarning,
            stacklevel=2,
        )
        return labels

    def _spelled(self, texts: Sequence[str], fits: re.Pattern[str]) -> list[str]:
        """Texts that fit as they are; the others in a plain spelling that nobody else has."""
        plain = [self._fits(text, fits) for text in texts]
        # A text that fits keeps its spelling the first time, so that only newcomers must move.
        taken = {text for text, is_plain in zip(texts, plain, strict=True) if is_plain}
        kept: set[str] = set()
        numbers: dict[str, int] = {}
        spelled = []
        for text, is_plain in zip(texts, plain, strict=True):
            if is_plain and text not in kept:
                kept.add(text)
                spelled.append(text)
                continue
            stem = candidate = self._plain_stem(text, fits)
            while candidate in taken:
                numbers[stem] = numbers.get(stem, 1) + 1
                candidate = f"{stem}_{numbers[stem]}"
            taken.add(candidate)
            spelled.append(candidate)
        return spelled

    def _fits(self, text: str, fits: re.Pattern[str]) -> bool:
        return fits.fullmatch(text) is not None and text.lower() not in self.reserved

    def _plain_stem(self, text: str, fits: re.Pattern[str]) -> str:
        stem = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
        return stem if self._fits(stem, fits) else f"x_{stem}".rstrip("_")


def checked_variable(
    name: str,
    states: Sequence[Label] | None,
    hidden: bool,
    place: str,
    cuts: Sequence[float] | None = None,
) -> Variable:
    """The variable, or an error that says where in the file it stands."""
    try:
        return Variable(name, states, hidden, cuts)
    except DataError as error:
        raise FormatError(f"{place}: {error}") from None


def to_json(fields: Mapping[str, Any]) -> str:
    """One line of ASCII JSON without slashes and equals signs, which other readers trip over."""
    try:
        return json.dumps(fields, allow_nan=False).replace("/", "\\/").replace("=", "\\u003d")
    except ValueError:
        raise FormatError(
            "a state label is an infinite or undefined number (inf or nan); files cannot hold "
            "it. Relabel that state first."
        ) from None


def _noted_cuts(known: Mapping[str, Any], states: Sequence[Label], place: str) -> Any:
    """The cuts of the note, as long as they fit the states of the file."""
    cuts = known.get("cuts")
    if cuts is None:
        return None
    try:
        if known.get("states") == list(states):
            return Variable("x", states, cuts=cuts).cuts
        reason = "its states are others"
    except DataError as error:
        reason = str(error)
    warnings.warn(
        f"{place}: the note of the cuts between the states is ignored ({reason})",
        UnveilWarning,
        stacklevel=2,
    )
    return None


def _read_note(note: str, place: str) -> dict[str, Any]:
    if not note:
        return {}
    try:
        fields = json.loads(note)
    except (ValueError, RecursionError):
        fields = None
    if isinstance(fields, dict):
        return fields
    warnings.warn(
        f"{place}: the unveil note {note[:40]!r} is damaged and was ignored",
        UnveilWarning,
        stacklevel=2,
    )
    return {}
