"""`square_chart` and `weight_chart`: curves in the unit square, and weights for and against."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.errors import DataError
from unveil.report import colours
from unveil.report.charts import SIZE, svg_of
from unveil.report.text import escape, number, shorten, text_width

__all__ = ["square_chart", "weight_chart"]

TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
ROW, BAR = 24.0, 15.0


def square_chart(
    x: Sequence[float],
    y: Sequence[float],
    *,
    x_name: str,
    y_name: str,
    marks: bool = False,
    side: float = 300,
) -> str:
    """A curve from shares to shares, with the diagonal; as for ROC curves and calibration.

    >>> square_chart([0, 0.1, 1], [0, 0.8, 1], x_name="a", y_name="b", marks=True).count("<circle")
    3
    """
    if len(x) != len(y):
        raise DataError(f"a curve needs as many x as y values, not {len(x)} and {len(y)}")
    left, top, bottom, right = 58.0, 10.0, 46.0, 16.0

    def across(value: float) -> str:
        return f"{left + value * side:.1f}"

    def down(value: float) -> str:
        return f"{top + (1 - value) * side:.1f}"

    parts = []
    for tick in TICKS:
        parts.append(
            f'<path class="grid" d="M{across(0)},{down(tick)}H{across(1)}M{across(tick)},{down(0)}'
            f'V{down(1)}" stroke="{colours.GRID}" fill="none"/>'
            f'<text class="value" x="{left - 8:.1f}" y="{float(down(tick)) + 4:.1f}" '
            f'text-anchor="end" fill="{colours.MUTED}">{number(tick)}</text>'
            f'<text class="value" x="{across(tick)}" y="{float(down(0)) + 18:.1f}" '
            f'text-anchor="middle" fill="{colours.MUTED}">{number(tick)}</text>'
        )
    parts.append(
        f'<path class="axis" d="M{across(0)},{down(0)}L{across(1)},{down(1)}" '
        f'stroke="{colours.MUTED}" stroke-dasharray="4 4" fill="none"/>'
    )
    path = "L".join(f"{across(a)},{down(b)}" for a, b in zip(x, y, strict=True))
    parts.append(
        f'<path class="line" d="M{path}" fill="none" stroke="{colours.MAIN}" stroke-width="2" '
        'stroke-linejoin="round"/>'
    )
    if marks:
        parts += [
            f'<circle class="mark" cx="{across(a)}" cy="{down(b)}" r="4" fill="{colours.MAIN}">'
            f"<title>{escape(x_name)} {number(a)}: {number(b)}</title></circle>"
            for a, b in zip(x, y, strict=True)
        ]
    parts.append(
        f'<text class="label" x="{across(0.5)}" y="{top + side + bottom - 8:.1f}" '
        f'text-anchor="middle" fill="{colours.INK}">{escape(x_name)}</text>'
        f'<text class="label" transform="translate(14 {down(0.5)}) rotate(-90)" '
        f'text-anchor="middle" fill="{colours.INK}">{escape(y_name)}</text>'
    )
    return svg_of("lines", left + side + right, top + side + bottom, parts)


def weight_chart(rows: Sequence[tuple[str, float]], *, width: float = 560) -> str:
    """Bars to the right for weights above zero and to the left for those below, one per row.

    >>> weight_chart([("odor = foul", 5.2), ("ring = one", -0.4)]).count("<rect")
    2
    """
    left = max((text_width(shorten(label, 40), SIZE) for label, _ in rows), default=0.0) + 10
    texts = [f"{value:+.2f}" for _, value in rows]
    room = max((text_width(t, SIZE) for t in texts), default=0.0) + 8
    most = max((abs(value) for _, value in rows), default=1.0) or 1.0
    half = max((width - left) / 2 - room, 40.0)
    zero = left + room + half
    parts = [
        f'<path class="axis" d="M{zero:.1f},0V{len(rows) * ROW:.1f}" stroke="{colours.MUTED}"/>'
    ]
    for i, ((label, value), text) in enumerate(zip(rows, texts, strict=True)):
        size = abs(value) / most * half
        start = zero if value >= 0 else zero - size
        kind, fill = ("bar", colours.MAIN) if value >= 0 else ("before", colours.BEFORE)
        base = i * ROW + ROW / 2 + SIZE * 0.35
        end, anchor = (zero + size + 6, "start") if value >= 0 else (zero - size - 6, "end")
        parts.append(
            f"<g><title>{escape(label)}: {text} bits</title>"
            f'<text class="label" x="{left - 8:.1f}" y="{base:.1f}" text-anchor="end" '
            f'fill="{colours.INK}">{escape(shorten(label, 40))}</text>'
            f'<rect class="{kind}" x="{start:.1f}" y="{i * ROW + (ROW - BAR) / 2:.1f}" '
            f'width="{size:.1f}" height="{BAR}" rx="2" fill="{fill}"/>'
            f'<text class="value" x="{end:.1f}" y="{base:.1f}" text-anchor="{anchor}" '
            f'fill="{colours.MUTED}">{text}</text></g>'
        )
    return svg_of("bars", width, len(rows) * ROW, parts)
