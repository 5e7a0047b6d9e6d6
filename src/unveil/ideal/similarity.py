"""How much a candidate parent would gain, from its likeness to the ideal one (thesis 7.1.2, 7.5).

Vectors are values per row. With a diagonal metric K, an inner product of rows,

    K(a, b) = sum over rows of metric a b,

a candidate z explains the part K(y, z)^2 / K(z, z) of the ideal profile y. In the linear Gaussian
case K is the ordinary inner product (over sigma^2); non-linear links and other noise distort it
(Theorem 7.5.1; `002` Theorem 8.2).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["c1", "c2", "explained"]

Matrix = npt.NDArray[np.float64]

ALIKE = 1e-12
"""A candidate that has no more than this share of its length left beside what is given adds
nothing that double precision could tell."""


def c1(y: Matrix, candidates: Matrix, variance: float) -> Matrix:
    """C1 of every candidate: the gain when only its weight is fitted (Theorem 7.1.2).

        (y . z)^2 / (2 sigma^2 z . z) = M / 2 cos^2(y, z) at the maximum likelihood sigma

    `y` has shape (n_rows,), `candidates` (n_candidates, n_rows). In nats.

    >>> y = np.array([1.0, -1.0])
    >>> c1(y, np.array([[2.0, -2.0], [1.0, 1.0]]), variance=1.0).tolist()  # M / 2, and nothing
    [1.0, 0.0]
    """
    return explained(y, candidates) / (2 * variance)


def c2(y: Matrix, candidates: Matrix) -> Matrix:
    """C2 of every candidate: the gain when its weight and the variance are fitted (7.1.4).

        -M / 2 log sin^2(y, z)

    C1 <= C2 <= the true gain. Infinite where a candidate is the ideal parent.

    >>> y = np.array([1.0, -1.0, 0.0])
    >>> c2(y, np.array([[1.0, 0.0, 0.0]])).round(4).tolist()  # cos^2 = 1/2
    [1.0397]
    """
    share = explained(y, candidates) / max(float(y @ y), np.finfo(float).tiny)
    with np.errstate(divide="ignore"):
        return -0.5 * len(y) * np.log1p(-np.minimum(share, 1.0))


def explained(
    y: Matrix,
    candidates: Matrix,
    metric: Matrix | None = None,
    given: Matrix | None = None,
    squares: Matrix | None = None,
) -> Matrix:
    """K(y, z)^2 / K(z, z) of every candidate z; 0 for one that is constant zero.

    With `given`, shape (n_given, n_rows), only what is left of y and z beside these vectors
    counts: their weights are then fitted along. `squares` are those of the candidates, for those
    who ask again and again.
    """
    own_metric = np.ones(len(y)) if metric is None else metric
    size = (np.square(candidates) if squares is None else squares) @ own_metric
    whole = size.copy()
    if given is None or not len(given):
        with_y = candidates @ (own_metric * y)
    else:
        basis = _inverse_root((given * own_metric) @ given.T) @ given
        scaled = basis * own_metric
        left = y - (scaled @ y) @ basis
        cross = candidates @ np.column_stack([own_metric * left, scaled.T])
        with_y = cross[:, 0]
        size -= np.square(cross[:, 1:]).sum(axis=1)
    usable = size > ALIKE * whole
    out = np.zeros(len(candidates))
    out[usable] = np.square(with_y[usable]) / size[usable]
    return out


def _inverse_root(gram: Matrix) -> Matrix:
    """B with B' B the (pseudo-)inverse of a Gram matrix."""
    size, direction = np.linalg.eigh(gram)
    kept = size > 1e-12 * max(float(size.max(initial=0.0)), np.finfo(float).tiny)
    return np.asarray((direction[:, kept] / np.sqrt(size[kept])).T)
