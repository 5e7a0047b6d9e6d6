"""`loadings_chart`: the weights of a hidden variable on its children, as bars to both sides."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.report import colours
from unveil.report.charts import BAR, ROW, SIZE, svg_of
from unveil.report.text import escape, shorten, text_width

__all__ = ["loadings_chart"]


def loadings_chart(
    rows: Sequence[tuple[str, float, float]], *, width: float = 560, most: float = 1.0
) -> str:
    """A bar per `(child, weight, bits)`, to the right for weights above zero, else to the left.

    `most` is the weight of a full bar unless some weight is larger.

    >>> loadings_chart([("a", 0.9, 1.2), ("b", -0.4, 0.1)]).count('class="bar')
    2
    """
    full = max([abs(weight) for _, weight, _ in rows], default=most)
    full = max(full, most)
    left = max([text_width(shorten(name), SIZE) for name, _, _ in rows], default=0.0) + 12
    right = text_width("+0.00, 0.00 bits", SIZE) + 12
    half = (width - left - right) / 2
    middle = left + half
    height = len(rows) * ROW
    marks = [
        f'<line class="axis" x1="{middle:.1f}" y1="0" x2="{middle:.1f}" y2="{height:.1f}" '
        f'stroke="{colours.MUTED}"/>'
    ]
    for i, (name, weight, bits) in enumerate(rows):
        y, base = i * ROW + (ROW - BAR) / 2, i * ROW + ROW / 2 + SIZE * 0.35
        length = half * abs(weight) / full
        x = middle if weight >= 0 else middle - length
        kind, fill = ("bar", colours.MAIN) if weight >= 0 else ("bar below", colours.ACCENT)
        marks.append(
            f"<g><title>{escape(name)}: {weight:+.3f}, {bits:.3f} bits</title>"
            f'<text class="label" x="{left - 8:.1f}" y="{base:.1f}" text-anchor="end" '
            f'fill="{colours.INK}">{escape(shorten(name))}</text>'
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{length:.1f}" height="{BAR:.1f}" '
            f'rx="2" fill="{fill}"/>'
            f'<text class="value" x="{width:.1f}" y="{base:.1f}" text-anchor="end" '
            f'fill="{colours.MUTED}">{weight:+.2f}, {bits:.2f} bits</text></g>'
        )
    return svg_of("loadings", width, height, marks)
