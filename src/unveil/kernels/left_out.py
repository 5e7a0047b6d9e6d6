"""Families of a classifier, each row predicted from the counts of all others; conditional loss.

Scores are log-probabilities of shape (n_rows, n_classes): what the row's cells have, if it were of
each class. Taking a row's own weight back from the counts leaves the estimate that the other rows
give, so leave-one-out is one pass and no refitting.
"""

from __future__ import annotations

import math
from typing import Any

import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = [
    "add_class_family",
    "add_gaussian_family",
    "add_table_family",
    "conditional_loss",
    "pair_information",
    "row_log_shares",
]

Array = npt.NDArray[Any]


@compiled
def add_table_family(
    scores: Array,
    classes: Array,
    cells: Array,
    configurations: Array,
    taken: Array,
    base: Array,
    counts: Array,
    starts: Array,
    strength: float,
) -> None:
    """Add log p(cell | class, parents) of a discrete child for every class, in place.

    Level 0 is p0(x) = (N(x) - w + s/r) / (N - w + s); level l adds one parent to the class:
    p_l(x) = (N_l(u, c, x) - t + s p_(l-1)(x)) / (N_l(u, c) - t + s), where w is the weight `taken`
    back, t is w for the row's own class and 0 for others, s the `strength` and r the number of
    states. `configurations` (n_levels, n_rows) has u; the counts of level l begin at `starts[l]` of
    `counts`, laid out as (u, class, state).
    """
    n_classes, n_states = scores.shape[1], base.size
    whole = base.sum()
    for row in range(cells.size):
        x, own, w = cells[row], classes[row], taken[row]
        first = (max(base[x] - w, 0.0) + strength / n_states) / (max(whole - w, 0.0) + strength)
        for c in range(n_classes):
            t = w if c == own else 0.0
            p = first
            for level in range(starts.size):
                place = starts[level] + (configurations[level, row] * n_classes + c) * n_states
                total = 0.0
                for k in range(n_states):
                    total += counts[place + k]
                p = (max(counts[place + x] - t, 0.0) + strength * p) / (
                    max(total - t, 0.0) + strength
                )
            scores[row, c] += math.log(p)


@compiled
def add_class_family(
    scores: Array,
    classes: Array,
    configurations: Array,
    taken: Array,
    counts: Array,
    starts: Array,
    strength: float,
) -> None:
    """Add log p(class | its parents) for every class, in place.

    As `add_table_family` with the class as child: level l knows one parent more than level l - 1,
    the first knows none and is smoothed towards equal shares. Counts are laid out as (u, class).
    """
    n_classes = scores.shape[1]
    for row in range(classes.size):
        w = taken[row]
        for c in range(n_classes):
            p = 1.0 / n_classes
            t = w if c == classes[row] else 0.0
            for level in range(starts.size):
                place = starts[level] + configurations[level, row] * n_classes
                total = 0.0
                for k in range(n_classes):
                    total += counts[place + k]
                p = (max(counts[place + c] - t, 0.0) + strength * p) / (
                    max(total - w, 0.0) + strength
                )
            scores[row, c] += math.log(p)


@compiled
def add_gaussian_family(
    scores: Array,
    classes: Array,
    values: Array,
    taken: Array,
    moments: Array,
    strength: float,
    floor: float,
) -> None:
    """Add log Normal(value; mean, variance of the class) for every class, in place.

    `moments` (n_classes + 1, 3) has the weight, mean and scatter of each class and, last, of all
    rows. The row's own weight is taken back from its class and from all; then `strength` imagined
    rows with the mean and variance of all are added to each class. Missing values add nothing.
    """
    n_classes = scores.shape[1]
    for row in range(values.size):
        x, w = values[row], taken[row]
        if math.isnan(x):
            continue
        n0, m0, s0 = _without(moments[n_classes], x, w)
        v0 = s0 / n0 if n0 > 0 else 0.0
        for c in range(n_classes):
            n, m, s = moments[c, 0], moments[c, 1], moments[c, 2]
            if c == classes[row]:
                n, m, s = _without(moments[c], x, w)
            total = n + strength
            mean = (n * m + strength * m0) / total
            spread = s + strength * v0 + n * strength / total * (m - m0) ** 2
            variance = max(spread / total, floor)
            scores[row, c] -= 0.5 * (math.log(2 * math.pi * variance) + (x - mean) ** 2 / variance)


@compiled
def _without(moments: Array, x: float, w: float) -> tuple[float, float, float]:
    """Weight, mean and scatter without a value of weight w."""
    n = moments[0] - w
    if n <= 1e-12:
        return 0.0, 0.0, 0.0
    mean = moments[1] - w * (x - moments[1]) / n
    return n, mean, max(moments[2] - w * (x - moments[1]) * (x - mean), 0.0)


@compiled
def row_log_shares(scores: Array, plus: Array, minus: Array, classes: Array, out: Array) -> None:
    """log P(own class) of every row, for scores + plus - minus, written to `out`."""
    n_classes = scores.shape[1]
    for row in range(classes.size):
        most = -math.inf
        for c in range(n_classes):
            most = max(most, scores[row, c] + plus[row, c] - minus[row, c])
        mass = 0.0
        for c in range(n_classes):
            mass += math.exp(scores[row, c] + plus[row, c] - minus[row, c] - most)
        own = classes[row]
        value = scores[row, own] + plus[row, own] - minus[row, own]
        out[row] = value - most - math.log(mass)


@compiled
def conditional_loss(
    tables: Array,
    slopes: Array,
    places: Array,
    numbers: Array,
    classes: Array,
    weights: Array,
    table_gradient: Array,
    slope_gradient: Array,
) -> float:
    """-sum over rows of w log P(class | row), and its gradient, written to the last two arguments.

    The score of class c is the sum of tables[place, c] over the row's `places` (n_rows, n_features)
    plus `numbers` (n_rows, n_numbers) times `slopes` (n_numbers, n_classes); P is their softmax.
    """
    n_classes = tables.shape[1]
    table_gradient[:] = 0.0
    slope_gradient[:] = 0.0
    loss = 0.0
    share = tables[0].copy()
    for row in range(classes.size):
        share[:] = 0.0
        for k in range(places.shape[1]):
            for c in range(n_classes):
                share[c] += tables[places[row, k], c]
        for k in range(numbers.shape[1]):
            for c in range(n_classes):
                share[c] += numbers[row, k] * slopes[k, c]
        most = share.max()
        mass = 0.0
        own = share[classes[row]] - most
        for c in range(n_classes):
            share[c] = math.exp(share[c] - most)
            mass += share[c]
        w = weights[row]
        loss -= w * (own - math.log(mass))
        for c in range(n_classes):
            share[c] = w * share[c] / mass
        share[classes[row]] -= w
        for k in range(places.shape[1]):
            for c in range(n_classes):
                table_gradient[places[row, k], c] += share[c]
        for k in range(numbers.shape[1]):
            for c in range(n_classes):
                slope_gradient[k, c] += numbers[row, k] * share[c]
    return loss


@compiled
def pair_information(
    codes: Array, sizes: Array, classes: Array, n_classes: int, weights: Array, out: Array
) -> None:
    """The conditional mutual information I(X; Y | C) of every two columns, in nats, in place.

    `codes` has shape (n_columns, n_rows), `out` (n_columns, n_columns).
    """
    n_columns, n_rows = codes.shape
    whole = weights.sum()
    most = sizes.max()
    cells = out.ravel()[:1].copy().repeat(most * most * n_classes)
    left = cells[: most * n_classes].copy()
    right = left.copy()
    groups = cells[:n_classes].copy()
    for i in range(n_columns):
        for j in range(i):
            cells[:] = 0.0
            left[:] = 0.0
            right[:] = 0.0
            groups[:] = 0.0
            for row in range(n_rows):
                c, a, b, w = classes[row], codes[i, row], codes[j, row], weights[row]
                cells[(a * sizes[j] + b) * n_classes + c] += w
                left[a * n_classes + c] += w
                right[b * n_classes + c] += w
                groups[c] += w
            total = 0.0
            for a in range(sizes[i]):
                for b in range(sizes[j]):
                    for c in range(n_classes):
                        n = cells[(a * sizes[j] + b) * n_classes + c]
                        if n > 0:
                            both = left[a * n_classes + c] * right[b * n_classes + c]
                            total += n * math.log(n * groups[c] / both)
            out[i, j] = out[j, i] = total / whole
