"""Text on the page: escaped, measured, cut to length, numbers written for people."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Sequence

__all__ = ["escape", "number", "numbers", "shorten", "text_width"]

_UNPRINTABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

_ASCII_WIDTHS = (
    "32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 "
    "53 100 68 69 70 77 63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 "
    "84 50 50 61 63 55 63 62 35 63 63 28 28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 "
    "64 84"
)
_WIDTHS = {chr(32 + i): int(w) / 100 for i, w in enumerate(_ASCII_WIDTHS.split())}
"""Advance widths of DejaVu Sans, in ems. It is wider than Arial or Helvetica, so a box measured
with it fits its label in either."""


def escape(text: str) -> str:
    """The text with everything that HTML or XML would read as markup spelled out.

    Characters that XML cannot hold at all become the replacement character.

    >>> escape('<b>&"x"')
    '&lt;b&gt;&amp;&quot;x&quot;'
    """
    return html.escape(_UNPRINTABLE.sub("\ufffd", text), quote=True)


def shorten(text: str, most: int = 28) -> str:
    """The text on one line, its middle left out when it is longer than `most` characters.

    >>> shorten("a_rather_long_name_for_a_column", most=16)
    'a_rather…_column'
    """
    line = " ".join(text.split()) or text
    if len(line) <= most:
        return line
    tail = (most - 1) // 2
    return f"{line[: most - 1 - tail]}…{line[-tail:]}"


def text_width(text: str, size: float) -> float:
    """A generous estimate of the width of a text in a sans-serif font of this size.

    >>> text_width("mm", 10) > 2 * text_width("ii", 10)
    True
    """
    return size * sum(_WIDTHS[c] if c in _WIDTHS else _other_width(c) for c in text)


def _other_width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(character) in "WF" else 0.68


def number(value: float) -> str:
    """A number for people: thousands separated, four digits that matter, no trailing zeros.

    >>> [number(x) for x in (0.25, 1234567, -0.000123, 1 / 3, 1e-9, float("nan"))]
    ['0.25', '1,234,567', '-0.000123', '0.3333', '1e-09', 'nan']
    """
    if not math.isfinite(value) or value == 0:
        return str(value) if value else "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def numbers(values: Sequence[float]) -> list[str]:
    """Numbers that stand below each other: all with the same decimals, as few as show them.

    The largest gets about four digits that matter and none gets more than four decimals.

    >>> numbers([985.93, 4, 0.25])
    ['985.9', '4.0', '0.2']
    >>> numbers([0.9, 0.1])
    ['0.9', '0.1']
    """
    finite = [abs(v) for v in values if math.isfinite(v)]
    most = max(finite, default=0.0)
    enough = max(0, min(4, 3 - math.floor(math.log10(most)))) if most else 0
    decimals = next(
        (d for d in range(enough) if all(abs(v - round(v, d)) < 1e-9 for v in finite)), enough
    )
    return [f"{v:,.{decimals}f}" if math.isfinite(v) else str(v) for v in values]
