"""`layout`: a DAG on the page, parents above children (Sugiyama, Tagawa and Toda 1981).

The steps, a file each: layers with short arcs (`layering`), few crossings (`crossings`), places
within the layers (`placement`), smooth arcs (`curves`). Pieces of the graph that are not connected
are laid out one by one and packed here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from unveil.graph.dag import DAG
from unveil.graph.names import Pair
from unveil.graph.order import Links, closure, reversed_links
from unveil.report.crossings import Layers, count_crossings, reduce_crossings
from unveil.report.curves import Pass, Point, arc_curve
from unveil.report.layering import folded, layers_of
from unveil.report.placement import place_layers, spread

__all__ = ["Box", "Layout", "layout"]

BOX_WIDTH, BOX_HEIGHT = 80.0, 30.0
GAP = 16.0
"""Free space between neighbours in a layer."""
LANE = 6.0
"""The width kept free for a long arc that passes a layer."""
MOST_ROOM = 80.0
"""The farthest that a long arc may drift from its place where there is nothing beside it."""
PORT = 9.0
"""The distance between the ends of two arcs at the same box, where there is room."""
LAYER_GAP, STEEPEST_SHARE, MOST_LAYER_GAP = 42.0, 0.16, 120.0
"""The space between layers: more where arcs run far to the side, so that none lies too flat."""
PAGE_WIDTH = 1000.0
"""A layer up to this wide is left alone."""
ASPECT = 1.8
"""Width to height that packing aims for."""


@dataclass(frozen=True)
class Box:
    """A node on the page: its centre and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        """The left edge."""
        return self.x - self.width / 2

    @property
    def top(self) -> float:
        """The upper edge; y grows down the page."""
        return self.y - self.height / 2


@dataclass(frozen=True)
class Layout:
    """Where everything is: a box per node, Bezier control points per arc, the size of the page."""

    boxes: Mapping[str, Box]
    arcs: Mapping[Pair, tuple[Point, ...]]
    width: float
    height: float
    crossings: int


@dataclass(frozen=True)
class _Cut:
    """A connected DAG whose long arcs are cut into steps from one layer to the next."""

    layers: Layers
    up: list[list[int]]
    down: list[list[int]]
    chains: dict[tuple[int, int], list[int]]
    """For each arc (parent, child): the extra nodes it passes through."""


def layout(
    dag: DAG, widths: Mapping[str, float] | None = None, height: float = BOX_HEIGHT
) -> Layout:
    """The DAG laid out in layers; the same graph and widths always give the same picture.

    `widths` are the widths of the boxes by node name (`BOX_WIDTH` if absent), `height` that of all.

    >>> found = layout(DAG.from_parents({"A": [], "B": "A", "C": "A"}))
    >>> found.boxes["A"].y < found.boxes["B"].y == found.boxes["C"].y
    True
    >>> found.crossings
    0
    """
    wide = [float((widths or {}).get(node, BOX_WIDTH)) for node in dag.nodes]
    pieces = [_lay_out(dag, members, wide, height) for members in _components(dag)]
    return _packed(dag, pieces)


def _components(dag: DAG) -> list[list[int]]:
    """The connected pieces, each in node order; the pieces by their first node."""
    links = [(*p, *c) for p, c in zip(dag.parent_positions, dag.child_positions, strict=True)]
    pieces, seen = [], set[int]()
    for node in range(dag.n_nodes):
        if node not in seen:
            piece = sorted({node} | closure(links, [node]))
            seen.update(piece)
            pieces.append(piece)
    return pieces


def _lay_out(
    dag: DAG, members: Sequence[int], all_widths: Sequence[float], height: float
) -> Layout:
    """One connected piece, its upper left corner at (0, 0)."""
    local = {node: i for i, node in enumerate(members)}
    parents = [[local[p] for p in dag.parent_positions[node]] for node in members]
    names = [dag.nodes[node] for node in members]
    widths = [all_widths[node] for node in members]
    limit = _limit(widths, height)
    cut = _cut(parents, folded(layers_of(parents), parents, [w + GAP for w in widths], limit))
    layers = reduce_crossings(cut.layers, cut.up, cut.down)
    widths += [LANE] * (len(cut.up) - len(members))
    weight = {
        (v, w): _straightness(v, w, len(members)) for v in range(len(cut.up)) for w in cut.down[v]
    }
    x = place_layers(layers, cut.up, cut.down, widths, GAP, weight)
    left = min(c - w / 2 for c, w in zip(x, widths, strict=True))
    x = [c - left for c in x]
    depth_y = _heights(layers, cut.down, x, height)
    y = [0.0] * len(x)
    for layer, centre in zip(layers, depth_y, strict=True):
        for v in layer:
            y[v] = centre
    boxes = {names[i]: Box(x[i], y[i], widths[i], height) for i in range(len(members))}
    curves = _curves(cut.chains, x, y, widths, _room(layers, x, widths), height)
    return Layout(
        boxes,
        {(names[p], names[c]): curve for (p, c), curve in curves.items()},
        max(c + w / 2 for c, w in zip(x, widths, strict=True)),
        depth_y[-1] + height / 2,
        count_crossings(layers, cut.down),
    )


def _limit(widths: Sequence[float], height: float) -> float:
    """The widest that a layer of boxes may be: a page, or more when there is much to show."""
    area = sum(width + GAP for width in widths) * (height + LAYER_GAP)
    return max(PAGE_WIDTH, (2 * area) ** 0.5)


def _cut(parents: Links, depth: Sequence[int]) -> _Cut:
    """The layers of a connected DAG, with an extra node wherever an arc passes a layer."""
    layers: Layers = [[] for _ in range(max(depth) + 1)]
    for node, own in enumerate(depth):
        layers[own].append(node)
    up: list[list[int]] = [[] for _ in parents]
    chains = {}
    for child, own_parents in enumerate(parents):
        for parent in own_parents:
            last, chain = parent, list[int]()
            for level in range(depth[parent] + 1, depth[child]):
                layers[level].append(len(up))
                chain.append(len(up))
                up.append([last])
                last = chain[-1]
            up[child].append(last)
            chains[parent, child] = chain
    return _Cut(layers, up, [list(x) for x in reversed_links(up)], chains)


def _straightness(v: int, w: int, n_real: int) -> float:
    """How much an arc's step resists bending: long arcs should run straight between their ends."""
    return {0: 1.0, 1: 2.0, 2: 8.0}[(v >= n_real) + (w >= n_real)]


def _heights(layers: Layers, down: Links, x: Sequence[float], height: float) -> list[float]:
    """The vertical centre of each layer."""
    heights = [height / 2]
    for layer in layers[:-1]:
        farthest = max((abs(x[v] - x[w]) for v in layer for w in down[v]), default=0.0)
        gap = min(MOST_LAYER_GAP, max(LAYER_GAP, STEEPEST_SHARE * farthest))
        heights.append(heights[-1] + height + gap)
    return heights


def _curves(
    chains: Mapping[tuple[int, int], list[int]],
    x: Sequence[float],
    y: Sequence[float],
    widths: Sequence[float],
    room: Sequence[float],
    height: float,
) -> dict[tuple[int, int], tuple[Point, ...]]:
    """The curve of every arc, its ends spread along the edges of the boxes."""
    route = {arc: [arc[0], *chain, arc[1]] for arc, chain in chains.items()}
    leave: dict[int, list[tuple[int, int]]] = {}
    arrive: dict[int, list[tuple[int, int]]] = {}
    for parent, child in chains:
        leave.setdefault(parent, []).append((parent, child))
        arrive.setdefault(child, []).append((parent, child))
    start, end = {}, {}
    for node, arcs in leave.items():
        start.update(_ports(arcs, {arc: x[route[arc][1]] for arc in arcs}, x[node], widths[node]))
    for node, arcs in arrive.items():
        end.update(_ports(arcs, {arc: x[route[arc][-2]] for arc in arcs}, x[node], widths[node]))
    half = height / 2
    return {
        (p, c): arc_curve(
            (start[p, c], y[p] + half),
            (end[p, c], y[c] - half),
            [Pass(x[v], y[v] - half, y[v] + half, room[v]) for v in chain],
        )
        for (p, c), chain in chains.items()
    }


def _room(layers: Layers, x: Sequence[float], widths: Sequence[float]) -> list[float]:
    """How far an arc may drift to either side of its place before it comes near a neighbour."""
    room = [MOST_ROOM] * len(x)
    for layer in layers:
        for v, w in itertools.pairwise(layer):
            space = x[w] - x[v] - GAP / 4
            room[v] = min(room[v], space - widths[w] / 2)
            room[w] = min(room[w], space - widths[v] / 2)
    return room


def _ports(
    arcs: Sequence[tuple[int, int]],
    toward: Mapping[tuple[int, int], float],
    centre: float,
    width: float,
) -> dict[tuple[int, int], float]:
    """Where arcs touch the edge of a box: on the side they come from, in order, not all at once."""
    arcs = sorted(arcs, key=lambda arc: (toward[arc], arc))
    room = max(0.0, width - 20.0)
    step = min(PORT, room / max(1, len(arcs) - 1))
    reach = room / 2
    wish = [centre + max(-reach, min(reach, 0.25 * (toward[arc] - centre))) for arc in arcs]
    found = spread(wish, [1.0] * len(arcs), [step] * (len(arcs) - 1))
    # Both limits rise by a step from arc to arc, so holding places between them keeps them apart.
    left, right = centre - reach, centre + reach - step * (len(arcs) - 1)
    return {
        arc: max(left + i * step, min(right + i * step, place))
        for i, (arc, place) in enumerate(zip(arcs, found, strict=True))
    }


def _packed(dag: DAG, pieces: Sequence[Layout]) -> Layout:
    """The pieces side by side in rows, the tallest first."""
    if not pieces:
        return Layout(MappingProxyType({}), MappingProxyType({}), 0.0, 0.0, 0)
    area = sum((p.width + 2 * GAP) * (p.height + 2 * GAP) for p in pieces)
    limit = max(*(p.width for p in pieces), (area * ASPECT) ** 0.5, 0.0)
    boxes: dict[str, Box] = {}
    arcs: dict[Pair, tuple[Point, ...]] = {}
    left = top = row = width = 0.0
    for piece in sorted(pieces, key=lambda p: -p.height):
        if left and left + piece.width > limit:
            left, top, row = 0.0, top + row + 2 * GAP, 0.0
        for name, box in piece.boxes.items():
            boxes[name] = Box(box.x + left, box.y + top, box.width, box.height)
        for arc, points in piece.arcs.items():
            arcs[arc] = tuple((px + left, py + top) for px, py in points)
        width, row = max(width, left + piece.width), max(row, piece.height)
        left += piece.width + 2 * GAP
    return Layout(
        MappingProxyType(_in_order(boxes, dag.nodes)),
        MappingProxyType(_in_order(arcs, dag.arcs)),
        width,
        top + row,
        sum(p.crossings for p in pieces),
    )


def _in_order(found: dict[Any, Any], keys: Iterable[Any]) -> dict[Any, Any]:
    return {key: found[key] for key in keys}
