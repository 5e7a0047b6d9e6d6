"""`keep_places`: a changed graph with every node where it was, so that a reader finds it again."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from unveil.graph.dag import DAG
from unveil.report.curves import Point
from unveil.report.layout import BOX_HEIGHT, BOX_WIDTH, GAP, Box, Layout, layout

__all__ = ["keep_places"]

BEND = 0.4
"""How far a curve bends, as a share of its length."""


def keep_places(
    dag: DAG,
    places: Mapping[str, Point],
    widths: Mapping[str, float] | None = None,
    height: float = BOX_HEIGHT,
) -> Layout:
    """The layout of a graph with nodes at the places they have; new ones where they would be.

    A new node is put at its place in a fresh layout, moved as its neighbours are on average, then
    aside until it covers no other. Arcs are simple curves. If no node has a place, or all have the
    place they would get, it is a fresh layout.

    >>> old = layout(DAG(["A", "B"], [("A", "B")]))
    >>> places = {name: (box.x, box.y) for name, box in old.boxes.items()}
    >>> turned = keep_places(DAG(["A", "B"], [("B", "A")]), places)
    >>> turned.boxes["A"] == old.boxes["A"]
    True
    """
    fresh = layout(dag, widths, height)
    if not any(name in places for name in dag.nodes):
        return fresh
    if all(_is_at(fresh.boxes[name], places.get(name)) for name in dag.nodes):
        return fresh  # its curves go round boxes
    boxes: dict[str, Box] = {}
    for name in dag.nodes:
        if name in places:
            wide = float((widths or {}).get(name, BOX_WIDTH))
            boxes[name] = Box(*places[name], wide, height)
    for name in dag.nodes:
        if name not in boxes:
            boxes[name] = _beside(_moved(dag, name, fresh, boxes), boxes)
    left = min(box.left for box in boxes.values())
    top = min(box.top for box in boxes.values())
    if left < 0 or top < 0:  # a new node stands out: the page grows to that side
        dx, dy = max(0.0, -left), max(0.0, -top)
        boxes = {n: Box(b.x + dx, b.y + dy, b.width, b.height) for n, b in boxes.items()}
    ordered = {name: boxes[name] for name in dag.nodes}
    return Layout(
        MappingProxyType(ordered),
        MappingProxyType({arc: _curve(ordered[arc[0]], ordered[arc[1]]) for arc in dag.arcs}),
        max(box.x + box.width / 2 for box in boxes.values()),
        max(box.y + box.height / 2 for box in boxes.values()),
        fresh.crossings,
    )


def _is_at(box: Box, place: Point | None) -> bool:
    return place is not None and abs(box.x - place[0]) + abs(box.y - place[1]) < 1e-6


def _moved(dag: DAG, name: str, fresh: Layout, boxes: Mapping[str, Box]) -> Box:
    """A new node, moved from its place in the fresh layout as its neighbours were."""
    near = [n for n in dag.neighbours(name) if n in boxes] or list(boxes)
    dx = sum(boxes[n].x - fresh.boxes[n].x for n in near) / len(near)
    dy = sum(boxes[n].y - fresh.boxes[n].y for n in near) / len(near)
    own = fresh.boxes[name]
    return Box(own.x + dx, own.y + dy, own.width, own.height)


def _beside(box: Box, others: Mapping[str, Box]) -> Box:
    """The box, moved to the right past every other that it would cover."""
    while covered := [b for b in others.values() if _overlap(box, b)]:
        right = max(b.x + b.width / 2 for b in covered)
        box = Box(right + GAP + box.width / 2, box.y, box.width, box.height)
    return box


def _overlap(a: Box, b: Box) -> bool:
    return (
        abs(a.x - b.x) < (a.width + b.width) / 2 + GAP / 2
        and abs(a.y - b.y) < (a.height + b.height) / 2 + GAP / 2
    )


def _curve(parent: Box, child: Box) -> tuple[Point, ...]:
    """A curve between the sides of two boxes that face each other."""
    rise = abs(parent.y - child.y) - (parent.height + child.height) / 2
    if rise > 0:
        down = 1.0 if child.y > parent.y else -1.0
        start = (parent.x, parent.y + down * parent.height / 2)
        end = (child.x, child.y - down * child.height / 2)
        pull = down * max(14.0, BEND * rise)
        return start, (start[0], start[1] + pull), (end[0], end[1] - pull), end
    right = 1.0 if child.x > parent.x else -1.0
    start = (parent.x + right * parent.width / 2, parent.y)
    end = (child.x - right * child.width / 2, child.y)
    # Neighbours in a row: the curve swings below, so that it does not run through those between.
    sag = min(60.0, 0.2 * abs(end[0] - start[0]))
    return start, (start[0] + right * 14, start[1] + sag), (end[0] - right * 14, end[1] + sag), end
