"""Small charts as SVG text: bars, bars before and after, lines.

Each function returns one `<svg>` element with text as text, tooltips on the marks and no
identifiers, ready for `Page.figure`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from unveil.errors import DataError
from unveil.report import colours
from unveil.report.picture_svg import FONTS
from unveil.report.text import escape, number, numbers, shorten, text_width

__all__ = ["bar_chart", "before_after_chart", "line_chart", "svg_of", "ticks"]

SIZE = 12.0
ROW, BAR = 24.0, 15.0


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from `low` to `high` at steps of 1, 2 or 5 times a power of ten.

    >>> ticks(0, 0.93)
    [0.0, 0.2, 0.4, 0.6, 0.8]
    >>> ticks(-130, 260)
    [-100.0, 0.0, 100.0, 200.0]
    """
    span = high - low
    if not span > 0:
        return [low]
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(i * step, digits) + 0.0 for i in range(first, last + 1)]


def bar_chart(
    rows: Sequence[tuple[str, float]], *, width: float = 520, most: float | None = None
) -> str:
    """Horizontal bars, one per `(label, value)`; values are zero or more.

    `most` is the value of a full bar; by default the largest value. Use 1 for probabilities.

    >>> bar_chart([("yes", 0.2), ("no", 0.8)], most=1).count("<rect")
    4
    """
    _check_values([value for _, value in rows])
    full = most if most is not None else max((v for _, v in rows), default=1.0)
    left = _label_room([label for label, _ in rows])
    texts = numbers([value for _, value in rows])
    right = max([text_width(t, SIZE) for t in texts], default=0.0) + 8
    scale = (width - left - right) / (full or 1.0)
    marks = []
    for i, ((label, value), value_text) in enumerate(zip(rows, texts, strict=True)):
        y = i * ROW + (ROW - BAR) / 2
        marks.append(
            f"<g><title>{escape(label)}: {number(value)}</title>{_row_label(label, left, i)}"
            f"{_bar('track', left, y, scale * full, BAR, colours.GRID)}"
            f"{_bar('bar', left, y, scale * value, BAR, colours.MAIN)}"
            f'<text class="value" x="{_n(width)}" y="{_n(_base(i))}" text-anchor="end" '
            f'fill="{colours.MUTED}">{value_text}</text></g>'
        )
    return svg_of("bars", width, len(rows) * ROW, marks)


def before_after_chart(
    rows: Sequence[tuple[str, float, float]],
    *,
    names: tuple[str, str] = ("before", "after"),
    width: float = 520,
    most: float | None = 1.0,
) -> str:
    """Pairs of bars, one per `(label, before, after)`, as for marginals with and without evidence.

    `most` is the value of a full bar (1 for probabilities); `None` takes the largest value.

    >>> "now" in before_after_chart([("yes", 0.2, 0.6), ("no", 0.8, 0.4)], names=("prior", "now"))
    True
    """
    _check_values([v for _, *pair in rows for v in pair])
    full = most if most is not None else max((max(b, a) for _, b, a in rows), default=1.0)
    left = _label_room([label for label, *_ in rows])
    right = max([text_width(number(v), SIZE) for _, *p in rows for v in p], default=0.0) + 12
    scale = (width - left - right) / (full or 1.0)
    head, row, thick = 26.0, 34.0, 11.0
    marks = [_legend(names, left)]
    for i, (label, *pair) in enumerate(rows):
        top = head + i * row
        middle = _n(top + 4 + thick + SIZE * 0.35)
        marks.append(
            f'<text class="label" x="{_n(left - 8)}" y="{middle}" text-anchor="end" '
            f'fill="{colours.INK}">{escape(shorten(label))}</text>'
        )
        for j, (name, value) in enumerate(zip(names, pair, strict=True)):
            y, kind = top + 4 + j * thick, ("before", "bar")[j]
            marks.append(
                f"<g><title>{escape(label)}, {escape(name)}: {number(value)}</title>"
                f"{_bar(kind, left, y, scale * value, thick - 1, _PAIR[j])}"
                f'<text class="value" x="{_n(left + scale * value + 6)}" y="{_n(y + 9)}" '
                f'font-size="10" fill="{colours.MUTED}">{number(value)}</text></g>'
            )
    return svg_of("bars", width, head + len(rows) * row, marks)


def line_chart(
    x: Sequence[float],
    y: Sequence[float],
    *,
    x_name: str = "",
    y_name: str = "",
    highlight: int | None = None,
    width: float = 520,
    height: float = 280,
) -> str:
    """A line through points, as for score against number of states or the trace of EM.

    `highlight` is the position of a point to bring out, such as the best one. Points that are not
    finite are left out. Marks are drawn while there are at most sixty points.

    >>> line_chart([2, 3, 4], [-310.5, -298.1, -301.7], highlight=1).count("<circle")
    3
    """
    if len(x) != len(y):
        raise DataError(f"a line needs as many x as y values, not {len(x)} and {len(y)}")
    points = [
        (i, float(a), float(b))
        for i, (a, b) in enumerate(zip(x, y, strict=True))
        if math.isfinite(a) and math.isfinite(b)
    ]
    x_low, x_high = _range([a for _, a, _ in points], margin=0.03)
    y_low, y_high = _range([b for *_, b in points], margin=0.08)
    x_ticks, y_ticks = ticks(x_low, x_high, 8), ticks(y_low, y_high)
    if all(float(a).is_integer() for _, a, _ in points):
        x_ticks = [t for t in x_ticks if t.is_integer()]
    left = max((text_width(number(t), SIZE) for t in y_ticks), default=0.0) + (34 if y_name else 14)
    right, top, bottom = 14.0, 10.0, 46.0 if x_name else 26.0

    def across(value: float) -> float:
        return left + (value - x_low) / (x_high - x_low) * (width - left - right)

    def down(value: float) -> float:
        return top + (y_high - value) / (y_high - y_low) * (height - top - bottom)

    floor = height - bottom
    marks = [
        f'<path class="grid" d="M{_n(left)},{_n(down(t))}H{_n(width - right)}" '
        f'stroke="{colours.GRID}"/><text class="value" x="{_n(left - 8)}" '
        f'y="{_n(down(t) + SIZE * 0.35)}" text-anchor="end" '
        f'fill="{colours.MUTED}">{number(t)}</text>'
        for t in y_ticks
    ]
    marks += [
        f'<path class="axis" d="M{_n(across(t))},{_n(floor)}v4" stroke="{colours.MUTED}"/>'
        f'<text class="value" x="{_n(across(t))}" y="{_n(floor + 18)}" text-anchor="middle" '
        f'fill="{colours.MUTED}">{number(t)}</text>'
        for t in x_ticks
    ]
    marks.append(
        f'<path class="axis" d="M{_n(left)},{_n(floor)}H{_n(width - right)}" '
        f'stroke="{colours.MUTED}"/>'
    )
    path = "L".join(f"{_n(across(a))},{_n(down(b))}" for _, a, b in points)
    if path:
        marks.append(
            f'<path class="line" d="M{path}" fill="none" stroke="{colours.MAIN}" '
            f'stroke-width="2" stroke-linejoin="round"/>'
        )
    for i, a, b in points:
        chosen = i == highlight
        if chosen or len(points) <= 60:
            marks.append(
                f'<circle class="{"marked" if chosen else "mark"}" cx="{_n(across(a))}" '
                f'cy="{_n(down(b))}" r="{6 if chosen else 3.5}" '
                f'fill="{colours.ACCENT if chosen else colours.MAIN}">'
                f"<title>{escape(x_name or 'x')} {number(a)}: {number(b)}</title></circle>"
            )
    if x_name:
        marks.append(
            f'<text class="label" x="{_n((left + width - right) / 2)}" y="{_n(height - 8)}" '
            f'text-anchor="middle" fill="{colours.INK}">{escape(x_name)}</text>'
        )
    if y_name:
        middle = _n((top + floor) / 2)
        marks.append(
            f'<text class="label" transform="translate(12 {middle}) rotate(-90)" '
            f'text-anchor="middle" fill="{colours.INK}">{escape(y_name)}</text>'
        )
    return svg_of("lines", width, height, marks)


_PAIR = (colours.BEFORE, colours.MAIN)


def _check_values(values: Sequence[float]) -> None:
    for value in values:
        if not (math.isfinite(value) and value >= 0):
            raise DataError(f"a bar needs a finite value of zero or more, not {value!r}")


def _range(values: Sequence[float], margin: float) -> tuple[float, float]:
    """The span of the values with a margin; a span of its own for a single value or none."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        half = abs(low) * 0.1 or 1.0
        return low - half, high + half
    return low - margin * (high - low), high + margin * (high - low)


def _label_room(labels: Sequence[str]) -> float:
    return max((text_width(shorten(label), SIZE) for label in labels), default=0.0) + 10


def _base(i: int) -> float:
    """The baseline of the text in row `i`."""
    return i * ROW + ROW / 2 + SIZE * 0.35


def _row_label(label: str, left: float, i: int) -> str:
    return (
        f'<text class="label" x="{_n(left - 8)}" y="{_n(_base(i))}" text-anchor="end" '
        f'fill="{colours.INK}">{escape(shorten(label))}</text>'
    )


def _bar(kind: str, x: float, y: float, width: float, height: float, fill: str) -> str:
    return (
        f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" width="{_n(max(width, 0.0))}" '
        f'height="{_n(height)}" rx="2" fill="{fill}"/>'
    )


def _legend(names: tuple[str, str], left: float) -> str:
    parts, x = [], left
    for name, kind, fill in zip(names, ("before", "bar"), _PAIR, strict=True):
        parts.append(
            f"{_bar(kind, x, 4, 11, 11, fill)}"
            f'<text class="label" x="{_n(x + 16)}" y="14" '
            f'fill="{colours.INK}">{escape(name)}</text>'
        )
        x += text_width(name, SIZE) + 36
    return "".join(parts)


def svg_of(kind: str, width: float, height: float, marks: Sequence[str]) -> str:
    """The marks as one `<svg>` element."""
    body = "\n".join(marks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart {kind}" role="img" '
        f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'font-family="{FONTS}" font-size="{_n(SIZE)}">\n{body}\n</svg>\n'
    )


def _n(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{round(value, 1) + 0.0:g}"
