"""`response_chart`: children against a hidden parent, rows as dots, the curve through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.report import colours
from unveil.report.charts import SIZE, svg_of
from unveil.report.text import escape, shorten

__all__ = ["Response", "response_chart"]

Numbers = npt.NDArray[np.float64]

WIDE, TALL, GAP, HEAD = 170.0, 110.0, 16.0, 20.0
"""The size of a panel, the room between panels, and the height of its name."""
MOST_DOTS = 250
"""A panel shows so many rows at most, evenly spread."""


@dataclass(frozen=True, eq=False)
class Response:
    """A panel: the child's name, where the curve runs, and the rows."""

    name: str
    curve: tuple[Numbers, Numbers]
    rows: tuple[Numbers, Numbers]


def response_chart(panels: Sequence[Response], across: int = 3) -> str:
    """Panels side by side, `across` in a line: the parent to the right, the child upwards.

    >>> x = np.linspace(-2, 2, 5)
    >>> response_chart([Response("a", (x, x**3), (x, x**3))]).count("<circle")
    5
    """
    marks = []
    for i, panel in enumerate(panels):
        left, top = (i % across) * (WIDE + GAP), (i // across) * (TALL + HEAD + GAP)
        marks.append(_panel(panel, left, top))
    lines = -(-len(panels) // across)
    width = min(across, max(len(panels), 1)) * (WIDE + GAP) - GAP
    return svg_of("responses", width, max(lines * (TALL + HEAD + GAP) - GAP, 1.0), marks)


def _panel(panel: Response, left: float, top: float) -> str:
    seen = ~(np.isnan(panel.rows[0]) | np.isnan(panel.rows[1]))
    x, y = panel.rows[0][seen], panel.rows[1][seen]
    step = max(1, -(-len(x) // MOST_DOTS))
    x, y = x[::step], y[::step]
    xs, ys = np.concatenate([x, panel.curve[0]]), np.concatenate([y, panel.curve[1]])

    def at(values: Numbers, all_: Numbers, start: float, size: float) -> Numbers:
        low, high = float(all_.min()), float(all_.max())
        return start + size * (values - low) / ((high - low) or 1.0)

    across, up = left + 4, top + HEAD + TALL - 4
    dots = "".join(
        f'<circle class="dot" cx="{a:.1f}" cy="{b:.1f}" r="1.6" fill="{colours.MUTED}" '
        'fill-opacity="0.45"/>'
        for a, b in zip(at(x, xs, across, WIDE - 8), at(y, ys, up, 8 - TALL), strict=True)
    )
    points = zip(
        at(panel.curve[0], xs, across, WIDE - 8), at(panel.curve[1], ys, up, 8 - TALL), strict=True
    )
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    return (
        f'<g><text class="label" x="{left:.1f}" y="{top + SIZE:.1f}" fill="{colours.INK}">'
        f"{escape(shorten(panel.name))}</text>"
        f'<rect class="frame" x="{left:.1f}" y="{top + HEAD:.1f}" width="{WIDE:.1f}" '
        f'height="{TALL:.1f}" fill="none" stroke="{colours.GRID}"/>{dots}'
        f'<polyline class="curve" points="{line}" fill="none" stroke="{colours.ACCENT}" '
        'stroke-width="2"/></g>'
    )
