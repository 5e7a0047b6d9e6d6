"""How long a step will take: a range, from the size of the table and from steps that are done.

The seconds of a step are guessed as `exp(c) rows^a columns^b` after a second or two to begin; the
numbers come from `benchmarks/web.py --part forecast`. A guess is rarely right, so a range is told:
the guess times what earlier guesses were wrong by, from the smallest tenth to the largest. Whoever
serves on a slower machine gets a better range with every step that comes to its end.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.files import atomic_write

__all__ = ["Forecasts", "Size", "guess", "size_of"]

BEGIN = 1.5
"""Seconds until a step's process is there and has read the table."""
MOST = 60
"""So many of the last steps of a kind are remembered."""
ENOUGH = 8
"""From so many on, only this server's own count."""
TENTH = 0.1


@dataclass(frozen=True)
class Law:
    """`exp(constant) rows^rows columns^columns` seconds, and by what it was wrong, sorted."""

    constant: float
    rows: float
    columns: float
    wrong: tuple[float, ...]


LAWS: dict[str, Law] = {
    "classify states": Law(-1.428, 0.15, 1.0, (0.46, 0.61, 0.7, 0.7, 0.73, 0.75, 0.92, 0.94, 2.97)),
    "cluster states": Law(
        0.434, 0.35, 0.0, (0.47, 0.53, 0.66, 0.84, 0.88, 0.9, 1.07, 1.27, 1.54, 1.89)
    ),
    "discover numbers": Law(-2.317, 0.1, 1.1, (0.63, 0.89, 1.19, 1.36)),
    "discover states": Law(0.191, 0.2, 0.7, (0.5, 0.52, 0.52, 0.61, 0.69, 1.87, 2.88)),
    "learn gaps": Law(-2.082, 0.35, 0.3, (0.57, 0.59, 0.86, 1.38, 1.9)),
    "learn numbers": Law(-3.898, 0.3, 0.85, (0.62, 0.87, 1.02, 1.26, 1.28)),
    "learn states": Law(-0.758, 0.05, 0.4, (0.58, 0.74, 0.92, 0.94, 1.49, 1.65, 1.68)),
}
"""By task and kind of table: see `Size.kind`."""


@dataclass(frozen=True)
class Size:
    """What a forecast knows of a table: different rows, columns, and what they are made of."""

    rows: int
    columns: int
    kind: str
    """`states`, `gaps` (states with empty cells), or `numbers` (all columns, not cut)."""


def size_of(read: Mapping[str, Any], used: Mapping[str, Any], is_cut: bool) -> Size:
    """The size of a table: `read` is what reading it told, `used` the columns learned from."""
    n = len(used["names"])
    if used["numbers"] and len(used["numbers"]) == n and not is_cut:
        return Size(read["n_rows"], n, "numbers")
    return Size(read["n_distinct_rows"], n, "gaps" if used["n_missing"] else "states")


def guess(task: str, size: Size) -> float | None:
    """The seconds a step may take; none for a task that nothing is known of."""
    law = LAWS.get(f"{task} {size.kind}") or LAWS.get(f"{task} states")
    if law is None:
        return None
    rows, columns = math.log(max(size.rows, 1)), math.log(max(size.columns, 1))
    return BEGIN + math.exp(law.constant + law.rows * rows + law.columns * columns)


class Forecasts:
    """Ranges of seconds, from a file of what earlier guesses were wrong by."""

    def __init__(self, root: Path) -> None:
        self._path = root / "timings.json"

    def of(self, task: str, size: Size) -> tuple[float, float] | None:
        """From how many seconds to how many; none if nothing is known of the task."""
        guessed = guess(task, size)
        if guessed is None:
            return None
        law = LAWS.get(f"{task} {size.kind}") or LAWS[f"{task} states"]
        own = self._known().get(f"{task} {size.kind}", [])
        wrong = sorted(own if len(own) >= ENOUGH else [*law.wrong, *own])
        return guessed * _quantile(wrong, TENTH), guessed * _quantile(wrong, 1 - TENTH)

    def learn(self, task: str, size: Size, seconds: float) -> None:
        """Remember how long a step took; a disk that is full is no reason to fail."""
        guessed = guess(task, size)
        if guessed is None or seconds <= 0:
            return
        known = self._known()
        key = f"{task} {size.kind}"
        known[key] = [*known.get(key, []), round(seconds / guessed, 4)][-MOST:]
        with contextlib.suppress(OSError), atomic_write(self._path) as file:
            file.write(json.dumps(known))

    def _known(self) -> dict[str, list[float]]:
        try:
            told = json.loads(self._path.read_text(encoding="utf-8"))
            return {str(k): [float(x) for x in v] for k, v in told.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}


def _quantile(values: Sequence[float], share: float) -> float:
    """The value below which a share of them lies, between neighbours by proportion."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])
