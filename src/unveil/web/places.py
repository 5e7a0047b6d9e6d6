"""`Places`: where nodes were last drawn, kept with the analysis, so that they stay there."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping

from unveil.files import atomic_write
from unveil.report.curves import Point
from unveil.web.store import Analysis

__all__ = ["Places"]

MOST = 4_000
"""So many places are remembered; those of the last network first."""


class Places:
    """The places of the networks of one task; boxes with bars have others than those without.

    Networks of different tasks are too unlike for the same places.
    """

    def __init__(self, analysis: Analysis, task: str, bars: bool) -> None:
        self._path = analysis.folder / f"places-{task}{'-bars' if bars else ''}.json"

    def known(self) -> dict[str, Point]:
        """Where nodes are, by name; nothing if no network was drawn."""
        try:
            told = json.loads(self._path.read_text(encoding="utf-8"))
            return {str(name): (float(x), float(y)) for name, (x, y) in told.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def keep(self, places: Mapping[str, Point]) -> None:
        """Remember places; nodes that are not among them keep theirs.

        A disk that is full is no reason not to show a picture.
        """
        known = self.known()
        wanted = dict(places) | {n: at for n, at in known.items() if n not in places}
        wanted = dict(list(wanted.items())[:MOST])
        if wanted != known:
            with contextlib.suppress(OSError), atomic_write(self._path) as file:
                file.write(json.dumps(wanted, ensure_ascii=False))
