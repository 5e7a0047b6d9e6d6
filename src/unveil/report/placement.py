"""Where nodes stand within their layers: near their neighbours, never too close to each other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from unveil.graph.order import Links
from unveil.report.crossings import Layers

__all__ = ["place_layers", "spread"]

EFFORT = 60_000
MOST_ROUNDS = 80
"""A round visits every node once; big graphs get fewer rounds, so that the time stays bounded."""


def spread(
    wanted: Sequence[float], weights: Sequence[float], distances: Sequence[float]
) -> list[float]:
    """The positions nearest to those wanted that keep neighbours apart.

    Minimises the sum of `weights[i] * (x[i] - wanted[i]) ** 2` subject to
    `x[i + 1] - x[i] >= distances[i]`. Taking the distances off the wishes leaves an isotonic
    regression, solved exactly by pooling adjacent violators.

    >>> spread([5, 5, 9], weights=[1, 1, 1], distances=[2, 2])
    [4.0, 6.0, 9.0]
    """
    offset = [0.0]
    for distance in distances:
        offset.append(offset[-1] + distance)
    pools: list[tuple[float, float, int]] = []
    for wish, weight, shift in zip(wanted, weights, offset, strict=False):
        mean, mass, count = wish - shift, weight, 1
        while pools and pools[-1][0] >= mean:
            before, heavy, many = pools.pop()
            mean = (mean * mass + before * heavy) / (mass + heavy)
            mass, count = mass + heavy, count + many
        pools.append((mean, mass, count))
    levels = [mean for mean, _, count in pools for _ in range(count)]
    return [level + shift for level, shift in zip(levels, offset, strict=False)]


def place_layers(
    layers: Layers,
    up: Links,
    down: Links,
    widths: Sequence[float],
    gap: float,
    weight: Mapping[tuple[int, int], float],
) -> list[float]:
    """The horizontal centre of every node, with `gap` of free space between neighbours.

    Minimises the weighted sum of squared horizontal spans of the arcs, one layer at a time with the
    others held (each step exact, see `spread`), downward and upward in turn. The problem is convex
    and its constraints live within layers, so this approaches the one best placement.
    """
    x = [0.0] * len(widths)
    apart = [
        [(widths[v] + widths[w]) / 2 + gap for v, w in itertools.pairwise(layer)]
        for layer in layers
    ]
    for layer, distances in zip(layers, apart, strict=True):
        for v, place in zip(layer, _centred(distances), strict=True):
            x[v] = place
    pulls = [
        [(o, weight[o, v]) for o in up[v]] + [(o, weight[v, o]) for o in down[v]]
        for v in range(len(widths))
    ]
    total = [sum(w for _, w in own) or 1.0 for own in pulls]
    rounds = max(2, min(MOST_ROUNDS, EFFORT // max(1, len(widths))))
    for step in range(rounds):
        for depth in range(len(layers)) if step % 2 == 0 else reversed(range(len(layers))):
            layer = layers[depth]
            wish = [sum(x[o] * w for o, w in pulls[v]) / total[v] if pulls[v] else 0 for v in layer]
            found = spread(wish, [total[v] for v in layer], apart[depth])
            for v, place in zip(layer, found, strict=True):
                x[v] = place
    return x


def _centred(distances: Sequence[float]) -> list[float]:
    """Positions as close as the distances allow, centred on zero."""
    return spread([0.0] * (len(distances) + 1), [1.0] * (len(distances) + 1), distances)
