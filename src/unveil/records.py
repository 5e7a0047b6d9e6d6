"""Results told: as JSON, as HTML for notebooks, as files.

A result record derives from `Record` and so has `to_dict()`. What a record does not show in its
`repr` (rows, caches) it does not tell either; `told` names properties to tell beside the fields.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from enum import Enum
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from unveil.errors import did_you_mean
from unveil.files import atomic_write

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Record", "as_json", "changed", "html_table"]

T = TypeVar("T", bound="DataclassInstance")


class Record:
    """A dataclass that can be told as JSON, shown in a notebook and saved to a file."""

    told: ClassVar[tuple[str, ...]] = ()
    """Properties that `to_dict` tells beside the fields."""

    def to_dict(self) -> dict[str, Any]:
        """Everything the record shows, as dicts, lists, texts and numbers, ready for JSON."""
        return _fields(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network of the result to a model file; a result without one, as JSON.

        The name's ending chooses the format of a model file, as in `Network.save`.
        """
        network = getattr(self, "network", None)
        if network is not None:
            network.save(path)
            return
        with atomic_write(path) as file:
            file.write(json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n")

    def _repr_html_(self) -> str:
        """What a notebook shows: the text of the result, and the picture of its network."""
        network = getattr(self, "network", None)
        picture = "" if network is None else network._repr_html_()
        return f"<pre>{escape(str(self))}</pre>{picture}"


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for notebooks; every text in it is escaped.

    >>> html_table("", ["x"], [["<1"]])
    '<table><tr><th>x</th></tr><tr><td>&lt;1</td></tr></table>'
    """
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    lines = [[f"<th>{escape(cell)}</th>" for cell in head]]
    lines += [[f"<td>{escape(cell)}</td>" for cell in row] for row in rows]
    body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    return f"<table>{caption}{body}</table>"


def changed(settings: T, changes: Mapping[str, Any], owner: str) -> T:
    """The settings with some of their fields changed; `owner` is what has them, for the error."""
    known = [field.name for field in dataclasses.fields(settings)]
    for name in changes:
        if name not in known:
            raise TypeError(
                f"{owner} has no setting {name!r}; there are {', '.join(known)}."
                + did_you_mean(name, known)
            )
    return dataclasses.replace(settings, **changes) if changes else settings


def as_json(value: Any) -> Any:
    """The value as dicts, lists, texts, numbers, booleans and `None`.

    Arrays become lists of lists, enumerations their values, paths texts, sets sorted lists, records
    dicts of what they show, keys texts. JSON knows neither NaN nor infinity: both are `None`.

    >>> as_json({1: np.array([0.5, np.nan]), "at": PurePath("a") / "b"})
    {'1': [0.5, None], 'at': 'a/b'}
    """
    if value is None or (isinstance(value, (str, bool, int)) and not isinstance(value, Enum)):
        return value
    for kind, telling in _KINDS:
        if isinstance(value, kind):
            return telling(value)
    if hasattr(value, "to_dict"):
        return as_json(value.to_dict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    raise TypeError(f"a {type(value).__name__} cannot be told as JSON")


def _fields(record: Any) -> dict[str, Any]:
    shown = [field.name for field in dataclasses.fields(record) if field.repr]
    return {name: as_json(getattr(record, name)) for name in [*shown, *getattr(record, "told", ())]}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


_KINDS: tuple[tuple[Any, Any], ...] = (
    (Enum, lambda value: as_json(value.value)),
    ((float, np.floating), _number),
    (np.bool_, bool),
    (np.integer, int),
    (np.ndarray, lambda value: as_json(value.tolist())),
    (PurePath, str),
    (Mapping, lambda value: {_key(key): as_json(item) for key, item in value.items()}),
    (Set, lambda value: sorted(as_json(item) for item in value)),
    ((list, tuple), lambda value: [as_json(item) for item in value]),
)
"""How each kind is told; the first that fits counts."""


def _key(key: Any) -> str:
    return str(key.value if isinstance(key, Enum) else key)
