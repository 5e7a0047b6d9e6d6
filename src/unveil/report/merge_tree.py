"""The tree of merges of an agglomeration as SVG: who joined whom, and at what price (Fig. 5.1)."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.report import colours
from unveil.report.picture_svg import FONTS
from unveil.report.text import escape, shorten, text_width

__all__ = ["merge_tree"]

SIZE, ROW, STEP = 11.0, 17.0, 26.0


def merge_tree(
    leaves: Sequence[str],
    merges: Sequence[tuple[int, int, float]],
    chosen: int,
    most_leaves: int = 40,
) -> str:
    """A drawing of merges from left (leaves) to right (one state).

    A merge joins leaf numbers `kept` and `gone` and changes the score by a number of nats, shown
    as a tooltip; merges made while more than `chosen` states were left are drawn strong. With more
    than `most_leaves` leaves, the first merges are carried out before drawing starts.

    >>> merge_tree(["a", "b", "c"], [(0, 1, 2.5), (0, 2, -7.0)], 2).count("<path")
    2
    """
    groups = {i: [name] for i, name in enumerate(leaves)}
    done = 0
    while len(groups) > most_leaves:
        kept, gone, _ = merges[done]
        groups[kept] += groups.pop(gone)
        done += 1
    order = _leaf_order(list(groups), merges[done:])
    labels = {i: _label(groups[i]) for i in groups}
    left = max(text_width(text, SIZE) for text in labels.values()) + 10
    place = {i: ((row + 0.5) * ROW, left) for row, i in enumerate(order)}
    alive, marks = len(groups), []
    step = min(STEP, 560 / max(1, len(groups)))
    x = left
    for kept, gone, change in merges[done:]:
        x += step
        (y1, x1), (y2, x2) = place[kept], place[gone]
        strong = alive > chosen
        colour = colours.MAIN if strong else colours.BEFORE
        words = f"{alive} to {alive - 1} states: score {change:+.2f} nats"
        marks.append(
            f'<path d="M{_n(x1)} {_n(y1)}H{_n(x)}V{_n(y2)}H{_n(x2)}" '
            f'fill="none" stroke="{colour}" stroke-width="{2 if strong else 1.2}">'
            f"<title>{escape(words)}</title></path>"
        )
        place[kept] = ((y1 + y2) / 2, x)
        alive -= 1
    for i, text in labels.items():
        y = order.index(i)
        marks.append(
            f'<text x="{_n(left - 6)}" y="{_n((y + 0.5) * ROW + SIZE * 0.35)}" '
            f'text-anchor="end">{escape(text)}</text>'
        )
    width, height = x + 20, len(order) * ROW + 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width)}" font-family="{FONTS}" font-size="{SIZE:g}" '
        f'fill="{colours.INK}">' + "".join(marks) + "</svg>"
    )


def _leaf_order(leaves: list[int], merges: Sequence[tuple[int, int, float]]) -> list[int]:
    """Leaves in an order in which merged groups are neighbours, so that no lines cross."""
    groups = {i: [i] for i in leaves}
    for kept, gone, _ in merges:
        groups[kept] = groups[kept] + groups.pop(gone)
    return next(iter(groups.values()))


def _label(names: Sequence[str]) -> str:
    return shorten(names[0], 30) if len(names) == 1 else f"{len(names)} assignments"


def _n(value: float) -> str:
    """A coordinate."""
    return f"{value:.1f}"
