"""Weights that stay a distribution: rows' own weights, tilted.

Perturbed weights are kept as log-ratios to the rows' own: w_m = w0_m exp(r_m), scaled so that they
sum to what the rows' own sum to. In logs no weight that underflows is lost for ever, and rows that
stand for many equal ones have the same ratio as each of these would have.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError

__all__ = ["checked", "distance", "divergence", "normalised", "spread", "tilted"]

Vector = npt.NDArray[np.float64]

LEAST = -50.0
"""No weight falls below exp(-50) of its own: what a row shows must not become impossible."""


def checked(own: npt.ArrayLike) -> Vector:
    """The rows' own weights, if they can be: finite, none negative, not all zero."""
    weights = np.asarray(own, np.float64)
    if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any():
        raise DataError("weights of rows are finite numbers, none of them negative")
    if not weights.sum() > 0:
        raise DataError("the weights of all rows are zero; there is nothing to learn from")
    return weights


def tilted(own: Vector, ratio: Vector) -> Vector:
    """The weights w0 exp(r), scaled to the sum of w0; rows of weight zero stay there.

    >>> tilted(np.array([1.0, 3.0]), np.array([-5000.0, -5000.0])).tolist()
    [1.0, 3.0]
    """
    if not ratio.any():
        return own  # at temperature zero the weights are the rows' own, to the last bit
    counts = own > 0
    logs = np.where(counts, ratio, -np.inf)
    mass = own * np.exp(np.maximum(logs - logs.max(), LEAST))
    return np.asarray(mass * (own.sum() / mass.sum()))


def normalised(own: Vector, ratio: Vector) -> Vector:
    """The ratios less the constant by which the weights sum to those of the rows' own."""
    counts = own > 0
    most = ratio[counts].max()
    mass = float(own[counts] @ np.exp(ratio[counts] - most))
    return np.where(counts, ratio - (most + np.log(mass / own.sum())), 0.0)


def divergence(weights: Vector, other: Vector) -> float:
    """KL(w || w') between the two as distributions, in nats (Eq. 3.4)."""
    p, q = weights / weights.sum(), other / other.sum()
    some = p > 0
    with np.errstate(divide="ignore"):
        return max(0.0, float(p[some] @ (np.log(p[some]) - np.log(q[some]))))


def distance(weights: Vector, other: Vector) -> float:
    """How much weight has to be moved to get from one to the other, as a share of all."""
    return float(0.5 * np.abs(weights / weights.sum() - other / other.sum()).sum())


def spread(values: Vector, own: Vector) -> float:
    """The standard deviation of values over the rows, each as often as it counts."""
    counts = own > 0
    if not counts.any():
        return 0.0
    share = own[counts] / own.sum()
    centred = values[counts] - float(share @ values[counts])
    return float(np.sqrt(share @ centred**2))
