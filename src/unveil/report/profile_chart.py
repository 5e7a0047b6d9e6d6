"""`profile_chart`: how probable every value is in every state of a hidden variable, as SVG text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.report import colours
from unveil.report.picture_svg import FONTS
from unveil.report.text import escape, shorten, text_width

__all__ = ["Profile", "profile_chart"]

SIZE = 12.0
ROW, BAR, HEAD, GAP = 19.0, 11.0, 40.0, 12.0
COLUMN, VALUE = 104.0, 42.0
"""The width of a full bar, and of the percentage behind it."""
MOST_VALUES = 8
"""A column with more values shows those that differ most between the states."""


@dataclass(frozen=True)
class Profile:
    """A column to show: its values, and their shares in every state and overall.

    `shares` has shape (n_states, n_values), `overall` (n_values,); `remark` stands beside the name.
    """

    name: str
    values: Sequence[str]
    shares: npt.NDArray[np.float64]
    overall: npt.NDArray[np.float64]
    remark: str = ""


def profile_chart(states: Sequence[tuple[str, str]], profiles: Sequence[Profile]) -> str:
    """A bar for the share of each value in each state; a stroke shows the share in all rows.

    `states` are the headings, each with a line below it. Bars that reach beyond the stroke are
    strong: these values are commoner in the state than elsewhere.

    >>> shares = np.array([[0.9, 0.1], [0.3, 0.7]])
    >>> smokes = Profile("smokes", ["no", "yes"], shares, shares.mean(axis=0))
    >>> profile_chart([("H1 = 0", "half"), ("H1 = 1", "half")], [smokes]).count('class="bar"')
    2
    """
    shown = [_fewer_values(p) for p in profiles]
    names = [text_width(shorten(v), SIZE) for p in shown for v in p.values]
    heads = [text_width(shorten(p.name), SIZE) * 1.1 for p in shown]
    left = max([*names, *heads, 60.0]) + 14
    starts = [left + i * (COLUMN + VALUE + GAP) for i in range(len(states))]
    marks = [_heading(x, *words) for x, words in zip(starts, states, strict=True)]
    y = HEAD + 8
    for profile in shown:
        marks.append(_group(profile, y, left, starts))
        y += ROW * (len(profile.values) + 1) + GAP
    width, height = left + len(states) * (COLUMN + VALUE + GAP), y
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart profiles" role="img" '
        f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'style="min-width:{_n(min(width, 0.7 * width))}px" '
        f'font-family="{FONTS}" font-size="{_n(SIZE)}">\n' + "\n".join(marks) + "\n</svg>\n"
    )


def _fewer_values(profile: Profile) -> Profile:
    """The profile with at most `MOST_VALUES` values, in their order, and a word about the rest."""
    n_values = len(profile.values)
    if n_values <= MOST_VALUES:
        return profile
    differing = np.abs(profile.shares - profile.overall).max(axis=0)
    kept = np.sort(np.argsort(-differing, kind="stable")[:MOST_VALUES])
    remark = ", ".join([*[profile.remark] * bool(profile.remark), f"{MOST_VALUES} of {n_values}"])
    return Profile(
        profile.name, [profile.values[i] for i in kept], profile.shares[:, kept],
        profile.overall[kept], remark + " values",
    )  # fmt: skip


def _heading(x: float, words: str, below: str) -> str:
    return (
        f'<text class="label" x="{_n(x)}" y="14" font-weight="600" fill="{colours.INK}">'
        f"{escape(shorten(words, 22))}</text>"
        f'<text class="value" x="{_n(x)}" y="31" fill="{colours.MUTED}">{escape(below)}</text>'
    )


def _group(profile: Profile, top: float, left: float, starts: Sequence[float]) -> str:
    """The rows of one column, with its name above them."""
    remark = (
        f'<text class="value" x="{_n(left)}" y="{_n(top + 13)}" '
        f'fill="{colours.MUTED}">{escape(profile.remark)}</text>'
    )
    parts = [
        f'<text class="label" x="{_n(left - 10)}" y="{_n(top + 13)}" font-weight="600" '
        f'text-anchor="end" fill="{colours.INK}">{escape(shorten(profile.name))}</text>',
        remark,
    ]
    for i, value in enumerate(profile.values):
        y = top + ROW * (i + 1)
        parts.append(
            f'<text class="label" x="{_n(left - 10)}" y="{_n(y + 13)}" text-anchor="end" '
            f'fill="{colours.INK}">{escape(shorten(value))}</text>'
        )
        overall = float(profile.overall[i])
        for x, shares in zip(starts, profile.shares, strict=True):
            words = f"{profile.name} = {value}"
            parts.append(_share(x, y, float(shares[i]), overall, words))
    return "\n".join(parts)


def _share(x: float, y: float, share: float, overall: float, words: str) -> str:
    """A bar on its track, the stroke of the overall share, and the percentage."""
    kind, fill = ("bar", colours.MAIN) if share > overall else ("before", colours.BEFORE)
    top, stroke = y + (ROW - BAR) / 2, x + COLUMN * min(max(overall, 0.0), 1.0)
    return (
        f"<g><title>{escape(words)}: {share:.1%}, overall {overall:.1%}</title>"
        f'<rect class="track" x="{_n(x)}" y="{_n(top)}" width="{_n(COLUMN)}" height="{_n(BAR)}" '
        f'rx="2" fill="{colours.GRID}"/>'
        f'<rect class="{kind}" x="{_n(x)}" y="{_n(top)}" width="{_n(COLUMN * share)}" '
        f'height="{_n(BAR)}" rx="2" fill="{fill}"/>'
        f'<path class="overall" d="M{_n(stroke)},{_n(top - 2)}v{_n(BAR + 4)}" '
        f'stroke="{colours.INK}" stroke-width="1.4"/>'
        f'<text class="value" x="{_n(x + COLUMN + VALUE)}" y="{_n(y + 13)}" text-anchor="end" '
        f'fill="{colours.MUTED}">{_percent(share)}</text></g>'
    )


def _percent(share: float) -> str:
    if 0 < share < 0.005:
        return "&lt;1%"
    return "&gt;99%" if 0.995 < share < 1 else f"{share:.0%}"


def _n(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{round(value, 1) + 0.0:g}"
