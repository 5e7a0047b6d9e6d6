"""Where to cut a column of numbers: four ways, all respecting row weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["CUTTERS", "cut_deviation", "cut_equal_frequency", "cut_equal_width", "cut_kmeans"]

_Array = npt.NDArray[np.float64]


def cut_equal_width(values: _Array, weights: _Array, n_bins: int) -> list[float]:
    """Cuts at equal distances between the least and the greatest value.

    >>> cut_equal_width(np.array([0.0, 1.0, 8.0]), np.ones(3), 4)
    [2.0, 4.0, 6.0]
    """
    low, high = values[0], values[-1]
    return [float(low + (high - low) * k / n_bins) for k in range(1, n_bins)]


def cut_equal_frequency(values: _Array, weights: _Array, n_bins: int) -> list[float]:
    """Cuts half way between values, so that the weight between cuts is as equal as ties allow.

    >>> cut_equal_frequency(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), 2)
    [2.5]
    """
    below = np.cumsum(weights)[:-1]
    targets = weights.sum() * np.arange(1, n_bins) / n_bins
    places = sorted({int(np.argmin(np.abs(below - target))) for target in targets})
    return _between(values, places)


def cut_kmeans(values: _Array, weights: _Array, n_bins: int) -> list[float]:
    """Cuts half way between the centres of k-means clusters (Lloyd, the better of two starts).

    >>> cut_kmeans(np.array([0.0, 1.0, 10.0, 11.0]), np.ones(4), 2)
    [5.5]
    """
    n_bins = min(n_bins, len(values))
    spread = (np.cumsum(weights) - weights / 2) / weights.sum()
    shares = (np.arange(n_bins) + 0.5) / n_bins
    starts = [
        values[np.searchsorted(spread, shares).clip(0, len(values) - 1)],
        values[0] + (values[-1] - values[0]) * shares,
    ]
    return min((_lloyd(values, weights, start) for start in starts), key=lambda found: found[1])[0]


def cut_deviation(values: _Array, weights: _Array, n_bins: int) -> list[float]:
    """Cuts one standard deviation below and above the mean of the column.

    The thesis (section 6.6, Yeast) cuts so at the mean of each gene, which is a row of its table:
    for that, lay the table on its side first.

    >>> cut_deviation(np.array([-1.0, 1.0]), np.ones(2), 3)
    [-1.0, 1.0]
    """
    mean = np.average(values, weights=weights)
    deviation = np.sqrt(np.average((values - mean) ** 2, weights=weights))
    return [float(mean - deviation), float(mean + deviation)]


CUTTERS: dict[str, Callable[[_Array, _Array, int], list[float]]] = {
    "equal_width": cut_equal_width,
    "equal_frequency": cut_equal_frequency,
    "kmeans": cut_kmeans,
    "deviation": cut_deviation,
}
"""From distinct values in ascending order, their weights and a number of bins to cuts."""


def _between(values: _Array, places: list[int]) -> list[float]:
    """The point half way between each value and the next; never the lower value itself."""
    cuts = []
    for i in places:
        middle = values[i] / 2 + values[i + 1] / 2
        cuts.append(float(middle if middle > values[i] else values[i + 1]))
    return cuts


def _lloyd(values: _Array, weights: _Array, centres: _Array) -> tuple[list[float], float]:
    """Cuts and within-cluster sum of squares where the clusters no longer change."""
    mass, total = np.cumsum(weights), np.cumsum(weights * values)
    ends: npt.NDArray[np.intp] | None = None
    while True:
        centres = np.unique(centres)
        new = np.searchsorted(values, (centres[1:] + centres[:-1]) / 2)
        new = np.unique(new[(new > 0) & (new < len(values))])
        if ends is not None and np.array_equal(new, ends):
            break
        ends = new
        last = np.append(ends, len(values)) - 1
        centres = np.diff(total[last], prepend=0) / np.diff(mass[last], prepend=0)
    within = (
        weights * (values - centres[np.searchsorted(ends, np.arange(len(values)), "right")]) ** 2
    )
    return _between(values, [int(end) - 1 for end in ends]), float(within.sum())
