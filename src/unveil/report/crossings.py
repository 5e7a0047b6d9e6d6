"""Few crossings: the order of the nodes within each layer.

Layers are lists of node numbers from left to right; `up[v]` and `down[v]` are the neighbours of `v`
in the layer above and below. Arcs join neighbouring layers only (long arcs have been cut).
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence

from unveil.graph.order import Links

__all__ = ["Layers", "count_crossings", "reduce_crossings"]

Layers = list[list[int]]

EFFORT = 64_000
MOST_ROUNDS = 24
"""A round visits every node once. Big graphs get one start and fewer rounds, so that the time stays
bounded; a start with less than a few rounds is worse than none."""


def count_crossings(layers: Sequence[Sequence[int]], down: Links) -> int:
    """How many pairs of arcs cross when the layers are drawn in this order.

    >>> count_crossings([[0, 1], [2, 3]], down=[[3], [2], [], []])
    1
    """
    place = _places(layers)
    return sum(_crossings_below(layer, down, place) for layer in layers)


def reduce_crossings(layers: Sequence[Sequence[int]], up: Links, down: Links) -> Layers:
    """The layers reordered for few crossings; never more than the order given has.

    Sweeps down and up, ordering each layer by the median (or mean) place of its neighbours, then
    swapping adjacent nodes while that helps (Gansner et al. 1993, section 3; Sugiyama et al. 1981
    for means). Four starts: two rules from two orders in which a walk meets the nodes. The best
    order seen wins; there is no chance in it.
    """
    best = [list(layer) for layer in layers]
    fewest = count_crossings(best, down)
    affordable = EFFORT // max(1, len(up))
    starts = [(first, rule) for first in ((down, up), (up, down)) for rule in (_mean, _median)]
    if affordable < 2 * MOST_ROUNDS:
        starts = starts[:1]
    for walk, centre in starts:
        order = _walked(layers, *walk)
        for step in range(max(4, min(MOST_ROUNDS, affordable // len(starts)))):
            if not fewest:
                return best
            _sweep(order, up, down, centre, downward=step % 2 == 0, turn_ties=step % 4 > 1)
            _swap_neighbours(order, up, down)
            now = count_crossings(order, down)
            if now < fewest:
                best, fewest = [list(layer) for layer in order], now
    return best


def _places(layers: Sequence[Sequence[int]]) -> dict[int, int]:
    return {node: place for layer in layers for place, node in enumerate(layer)}


def _crossings_below(layer: Sequence[int], down: Links, place: dict[int, int]) -> int:
    """Pairs of arcs under one layer that end in the opposite order of their starts."""
    seen: list[int] = []
    total = 0
    for node in layer:
        ends = sorted(place[other] for other in down[node])
        total += sum(len(seen) - bisect_right(seen, end) for end in ends)
        for end in ends:
            insort(seen, end)
    return total


def _walked(layers: Sequence[Sequence[int]], first: Links, then: Links) -> Layers:
    """Each layer in the order in which a depth-first walk over all arcs meets its nodes."""
    met: dict[int, int] = {}
    starts = [node for layer in layers for node in layer]
    stack = (starts if not then[starts[0]] else starts[::-1])[::-1]
    while stack:
        node = stack.pop()
        if node not in met:
            met[node] = len(met)
            stack.extend(other for other in (*then[node], *first[node])[::-1] if other not in met)
    return [sorted(layer, key=met.__getitem__) for layer in layers]


def _median(places: list[int]) -> float:
    """The middle place; between two middles, nearer to the side that is more crowded."""
    places.sort()
    n, half = len(places), len(places) // 2
    if n % 2:
        return places[half]
    if n == 2:
        return (places[0] + places[1]) / 2
    left, right = places[half - 1] - places[0], places[-1] - places[half]
    if left + right == 0:
        return (places[half - 1] + places[half]) / 2
    return (places[half - 1] * right + places[half] * left) / (left + right)


def _mean(places: list[int]) -> float:
    return sum(places) / len(places)


def _sweep(
    order: Layers,
    up: Links,
    down: Links,
    centre: Callable[[list[int]], float],
    downward: bool,
    turn_ties: bool,
) -> None:
    """Order layer after layer by the centre of the neighbours in the layer just visited."""
    toward = up if downward else down
    place = _places(order)
    for depth in range(1, len(order)) if downward else range(len(order) - 2, -1, -1):
        layer = order[depth]
        slots = [i for i, node in enumerate(layer) if toward[node]]
        wish = {layer[i]: centre([place[o] for o in toward[layer[i]]]) for i in slots}
        moving = [layer[i] for i in slots]
        if turn_ties:
            moving.reverse()
        moving.sort(key=wish.__getitem__)
        for i, node in zip(slots, moving, strict=True):
            layer[i] = node
        place.update((node, i) for i, node in enumerate(layer))


def _swap_neighbours(order: Layers, up: Links, down: Links, passes: int = 6) -> None:
    """Swap adjacent nodes while this removes crossings."""
    place = _places(order)
    for _ in range(passes):
        better = False
        for layer in order:
            ends = {v: [sorted(place[o] for o in side[v]) for side in (up, down)] for v in layer}
            for i in range(len(layer) - 1):
                v, w = layer[i], layer[i + 1]
                if _saved(ends[v], ends[w]) > 0:
                    layer[i], layer[i + 1] = w, v
                    better = True
            place.update((node, i) for i, node in enumerate(layer))
        if not better:
            return


def _saved(left: list[list[int]], right: list[list[int]]) -> int:
    """The crossings between the arcs of two adjacent nodes that go away when they swap."""
    saved = 0
    for of_left, of_right in zip(left, right, strict=True):
        for end in of_left:
            for other in of_right:
                saved += (end > other) - (end < other)
    return saved
