"""Where to cut a number so that the intervals tell the class: the MDL principle.

Fayyad and Irani (1993, "Multi-interval discretization of continuous-valued attributes"): the cut
that leaves the least class entropy is kept if it saves more bits than it takes to tell it, and both
sides are cut again in the same way.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["class_cuts"]

Vector = npt.NDArray[np.float64]


def class_cuts(
    values: npt.ArrayLike, classes: npt.ArrayLike, weights: npt.ArrayLike, n_classes: int
) -> tuple[float, ...]:
    """The cuts between values, in ascending order; none where the class does not change enough.

    Missing values are left out; `classes` are codes below `n_classes`.

    >>> values, classes = np.arange(40.0), np.arange(40) >= 25
    >>> class_cuts(values, classes.astype(int), np.ones(40), 2)
    (24.5,)
    """
    x, y, w = np.asarray(values, float), np.asarray(classes), np.asarray(weights, float)
    there = ~np.isnan(x)
    distinct, place = np.unique(x[there], return_inverse=True)
    counts = np.zeros((len(distinct), n_classes))
    np.add.at(counts, (place, y[there]), w[there])
    ends = _ends(np.cumsum(counts, axis=0), 0, len(distinct))
    return tuple(_half_way(float(distinct[e - 1]), float(distinct[e])) for e in sorted(ends))


def _ends(sums: Vector, start: int, stop: int) -> list[int]:
    """The places where new intervals begin, strictly between `start` and `stop`."""
    if stop - start < 2:
        return []
    before = sums[start - 1] if start else np.zeros(sums.shape[1])
    whole = sums[stop - 1] - before
    left = sums[start : stop - 1] - before
    right = whole - left
    n, n_left, n_right = whole.sum(), left.sum(axis=1), right.sum(axis=1)
    bits_left, bits_right = _entropy(left), _entropy(right)
    bits = _entropy(whole[None])[0]
    after = (n_left * bits_left + n_right * bits_right) / n
    best = int(np.argmin(after))
    k, k1, k2 = (int((part > 0).sum()) for part in (whole, left[best], right[best]))
    # Fayyad and Irani's criterion: gain > (log2(N - 1) + delta) / N.
    delta = math.log2(3**k - 2) - (k * bits - k1 * bits_left[best] - k2 * bits_right[best])
    if n <= 1 or bits - after[best] <= (math.log2(n - 1) + delta) / n:
        return []
    middle = start + best + 1
    return [*_ends(sums, start, middle), middle, *_ends(sums, middle, stop)]


def _entropy(counts: Vector) -> Vector:
    """The entropy of every row of counts, in bits."""
    totals = counts.sum(axis=1, keepdims=True)
    shares = counts / np.where(totals > 0, totals, 1.0)
    logs = np.log2(np.where(shares > 0, shares, 1.0))
    return -(shares * logs).sum(axis=1)


def _half_way(low: float, high: float) -> float:
    middle = low / 2 + high / 2
    return middle if middle > low else high
