"""Smooth arcs: cubic Bezier curves from the foot of a parent, past other boxes, to its child."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Pass", "Point", "along", "arc_curve", "arrowhead"]

Point = tuple[float, float]


class Pass(NamedTuple):
    """The place of a long arc in a layer that it passes, with `room` to drift to either side."""

    x: float
    top: float
    bottom: float
    room: float


DIRECTNESS = 0.75
"""How an arc leaves and enters a box: at 1 headed for the other end, at 0 upright."""


def arc_curve(start: Point, end: Point, passes: Sequence[Pass] = ()) -> tuple[Point, ...]:
    """The control points of an arc: first point, then three for every cubic piece.

    `passes` are the places kept free for a long arc in the layers between.
    Down the page, x is a monotone piecewise cubic of y (slopes by the harmonic mean, Fritsch and
    Butland 1984), so an arc never swings out and never turns back.

    >>> arc_curve((0, 0), (0, 30))
    ((0, 0), (0.0, 10.0), (0.0, 20.0), (0, 30))
    """
    centres = [start, *((x, (top + bottom) / 2) for x, top, bottom, _ in passes), end]
    secants = [(x1 - x0) / (y1 - y0) for (x0, y0), (x1, y1) in itertools.pairwise(centres)]
    knots = [(start, secants[0] * DIRECTNESS)]
    for (x, top, bottom, room), before, after in zip(passes, secants, secants[1:], strict=False):
        half = (bottom - top) / 2
        slope = max(-room / half, min(room / half, _gentle(before, after)))
        knots += [((x - slope * half, top), slope), ((x + slope * half, bottom), slope)]
    knots.append((end, secants[-1] * DIRECTNESS))
    points: list[Point] = [start]
    for ((x0, y0), slope0), ((x1, y1), slope1) in itertools.pairwise(knots):
        third = (y1 - y0) / 3
        points += [(x0 + slope0 * third, y0 + third), (x1 - slope1 * third, y1 - third), (x1, y1)]
    return tuple(points)


def arrowhead(
    points: Sequence[Point], length: float, width: float
) -> tuple[tuple[Point, ...], tuple[Point, Point, Point]]:
    """The curve cut short, and the triangle that ends it: tip first, then its two corners.

    The last control point moves back along with the end, so the line meets the head straight.
    """
    (bx, by), (tx, ty) = points[-2], points[-1]
    size = ((tx - bx) ** 2 + (ty - by) ** 2) ** 0.5 or 1.0
    dx, dy = (tx - bx) / size, (ty - by) / size
    back = (tx - dx * length, ty - dy * length)
    side = (-dy * width / 2, dx * width / 2)
    shaft = (*points[:-2], (bx - dx * length / 2, by - dy * length / 2), back)
    corners = (back[0] + side[0], back[1] + side[1]), (back[0] - side[0], back[1] - side[1])
    return shaft, ((tx, ty), *corners)


def along(points: Sequence[Point], share: float) -> Point:
    """The point at a share of the pieces of a curve: 0 at its start, 1 at its end.

    >>> along([(0, 0), (0, 10), (0, 20), (0, 30)], 0.5)
    (0.0, 15.0)
    """
    n_pieces = (len(points) - 1) // 3
    piece = min(int(share * n_pieces), n_pieces - 1)
    t = share * n_pieces - piece
    own = points[3 * piece : 3 * piece + 4]
    parts = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    x, y = (sum(w * point[i] for w, point in zip(parts, own, strict=True)) for i in (0, 1))
    return x, y


def _gentle(before: float, after: float) -> float:
    """A slope that keeps the curve monotone: none at a turn, else the harmonic mean."""
    return 0.0 if before * after <= 0 else 2 * before * after / (before + after)
