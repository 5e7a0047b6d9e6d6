"""What each predictor is worth: what accuracy and log-loss lose without it, on rows left out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.records import Record

__all__ = ["Importance", "importance", "ranked"]

Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]

NORMAL_95 = 1.96
"""So many standard errors to either side make an interval that holds in 95 of 100 cases."""


@dataclass(frozen=True)
class Importance(Record):
    """What is lost without a predictor, with 95% intervals.

    `bits` is how much longer the log-loss gets per row, `accuracy` how much lower the share of rows
    predicted right. Below zero, it does better without.
    """

    predictor: str
    bits: float
    bits_interval: tuple[float, float]
    accuracy: float
    accuracy_interval: tuple[float, float]


def importance(
    predictor: str,
    whole: Matrix,
    without: Matrix,
    truth: npt.NDArray[np.int64],
    weights: Vector,
) -> Importance:
    """The importance of a predictor from probabilities with and without it, row by row.

    >>> whole, less = np.array([[0.5, 0.5], [0.75, 0.25]]), np.array([[0.25, 0.75], [0.5, 0.5]])
    >>> found = importance("x", whole, less, np.array([0, 0]), np.ones(2))
    >>> round(found.bits, 3), found.accuracy
    (0.792, 0.5)
    """
    rows = np.arange(len(truth))
    tiny = np.finfo(float).tiny
    lost = np.log2(np.maximum(whole[rows, truth], tiny)) - np.log2(
        np.maximum(without[rows, truth], tiny)
    )
    right = (whole.argmax(axis=1) == truth).astype(float) - (without.argmax(axis=1) == truth)
    bits, bits_error = _mean(lost, weights)
    share, share_error = _mean(right, weights)
    return Importance(
        predictor, bits, _interval(bits, bits_error), share, _interval(share, share_error)
    )


def ranked(found: list[Importance]) -> tuple[Importance, ...]:
    """The most important predictor first."""
    return tuple(sorted(found, key=lambda i: -i.bits))


def _mean(values: Vector, weights: Vector) -> tuple[float, float]:
    total = float(weights.sum())
    mean = float((weights * values).sum() / total)
    spread = float((weights * (values - mean) ** 2).sum() / total)
    return mean, math.sqrt(spread / max(total - 1, 1.0))


def _interval(mean: float, error: float) -> tuple[float, float]:
    return mean - NORMAL_95 * error, mean + NORMAL_95 * error
