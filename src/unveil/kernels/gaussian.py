"""Scores of linear Gaussian families from one matrix, by Cholesky factors and partial covariances.

Every Gaussian score of a child y with the parents P, p in number, has the form

    offset[y] + constant[p] - slope[p] log v(y | P) - half log |M[P, P]|,

with v(y | P) = M[y, y] - M[y, P] M[P, P]^-1 M[P, y] what P leaves unexplained of y in the matrix M
(a correlation matrix, or that of a posterior). With L the Cholesky factor of M[P, P] and
w = L^-1 M[P, :], all toggles of a family come from one pass over the columns of w:

    r(x) = M[x, x] - w(x).w(x)    what P leaves of x
    c(x) = M[x, y] - w(x).w(y)    what P leaves of the covariance of x and y

    v(y | P + x) = v(y | P) - c(x)^2 / r(x),       |M[P + x, P + x]| = |M[P, P]| r(x)
    v(y | P - x) = v(y | P) + b(x)^2 / k(x, x),    |M[P - x, P - x]| = |M[P, P]| k(x, x)

with b = M[P, P]^-1 M[P, y] and k = M[P, P]^-1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = ["gaussian_families", "gaussian_toggles"]

Array = npt.NDArray[Any]

COLLINEAR = 1e-11
"""A variable of which others leave at most this share is a linear function of them: sums in double
precision cannot tell less from nothing."""


@compiled(error_model="numpy")
def _factor(matrix: Array, parents: Array, lower: Array) -> tuple[float, bool]:
    """Fill the Cholesky factor of M[P, P]: its log-determinant, and whether all is well.

    A parent that others explain gets an empty row: it adds nothing.
    """
    p, log_det, sound = parents.size, 0.0, True
    for i in range(p):
        for j in range(i):
            s = matrix[parents[i], parents[j]]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            lower[i, j] = s / lower[j, j] if lower[j, j] > 0 else 0.0
        size = matrix[parents[i], parents[i]]
        left = size
        for k in range(i):
            left -= lower[i, k] * lower[i, k]
        if left <= COLLINEAR * size:
            left = COLLINEAR * size
            sound = False
            lower[i, i] = 0.0
        else:
            lower[i, i] = np.sqrt(left)
        log_det += np.log(left)
    return log_det, sound


@compiled(error_model="numpy")
def _unexplained(matrix: Array, child: int, parents: Array, lower: Array, w: Array) -> float:
    """v(y | P) given the factor of M[P, P]; w(y) is left in `w`."""
    left = matrix[child, child]
    for i in range(parents.size):
        s = matrix[parents[i], child]
        for k in range(i):
            s -= lower[i, k] * w[k]
        w[i] = s / lower[i, i] if lower[i, i] > 0 else 0.0
        left -= w[i] * w[i]
    return max(left, COLLINEAR * matrix[child, child])


@compiled(error_model="numpy")
def _family(
    matrix: Array, child: int, parents: Array, constant: Array, slope: Array, half: float
) -> float:
    """The score of one family, without its offset."""
    p = parents.size
    lower, w = np.zeros((p, p)), np.empty(p)
    log_det, _ = _factor(matrix, parents, lower)
    left = _unexplained(matrix, child, parents, lower, w)
    return constant[p] - slope[p] * np.log(left) - half * log_det


@compiled(error_model="numpy")
def gaussian_families(
    matrix: Array,
    children: Array,
    starts: Array,
    parents: Array,
    constant: Array,
    slope: Array,
    half: float,
    out: Array,
) -> None:
    """Add to `out` the scores of many families; those of family f are parents[starts[f]: ...]."""
    for f in range(children.size):
        chosen = parents[starts[f] : starts[f + 1]]
        out[f] += _family(matrix, children[f], chosen, constant, slope, half)


@compiled(error_model="numpy")
def gaussian_toggles(
    matrix: Array,
    child: int,
    parents: Array,
    constant: Array,
    slope: Array,
    half: float,
    out: Array,
) -> None:
    """Add to `out[x]` the score of the family with x toggled among its parents.

    The child's own entry is the family as it is.
    """
    n, p = matrix.shape[0], parents.size
    lower, own = np.zeros((p, p)), np.empty(p)
    log_det, sound = _factor(matrix, parents, lower)
    left = _unexplained(matrix, child, parents, lower, own)
    out[child] += constant[p] - slope[p] * np.log(left) - half * log_det
    inside = np.zeros(n, np.bool_)
    inside[child] = True
    for i in range(p):
        inside[parents[i]] = True
    if p + 1 < constant.size:
        rest, shared = np.empty(n), np.empty(n)
        for x in range(n):
            rest[x], shared[x] = matrix[x, x], matrix[child, x]
        w = np.empty((p, n))
        for i in range(p):
            if lower[i, i] == 0.0:
                for x in range(n):
                    w[i, x] = 0.0
                continue
            for x in range(n):
                w[i, x] = matrix[parents[i], x]
            for k in range(i):
                share = lower[i, k]
                for x in range(n):
                    w[i, x] -= share * w[k, x]
            scale, mine = 1.0 / lower[i, i], own[i]
            for x in range(n):
                w[i, x] *= scale
                rest[x] -= w[i, x] * w[i, x]
                shared[x] -= w[i, x] * mine
        for x in range(n):
            if not inside[x]:
                least = COLLINEAR * matrix[x, x]
                lower_left = left
                if rest[x] > least:
                    lower_left -= shared[x] * shared[x] / rest[x]
                lower_left = max(lower_left, COLLINEAR * matrix[child, child])
                out[x] += constant[p + 1] - slope[p + 1] * np.log(lower_left)
                if half > 0:
                    out[x] -= half * (log_det + np.log(max(rest[x], least)))
    else:
        for x in range(n):
            if not inside[x]:
                out[x] = -np.inf
    if p == 0:
        return
    if not sound:
        _drop_one_by_one(matrix, child, parents, constant, slope, half, out)
        return
    # Rows of L^-1, whose columns have k(x, x) as their squares and b as their products with w(y).
    inverse = np.zeros((p, p))
    for i in range(p):
        inverse[i, i] = 1.0 / lower[i, i]
        for j in range(i):
            s = 0.0
            for k in range(j, i):
                s -= lower[i, k] * inverse[k, j]
            inverse[i, j] = s / lower[i, i]
    for j in range(p):
        b = k_xx = 0.0
        for i in range(j, p):
            b += inverse[i, j] * own[i]
            k_xx += inverse[i, j] * inverse[i, j]
        more = left + b * b / k_xx
        out[parents[j]] += constant[p - 1] - slope[p - 1] * np.log(more)
        out[parents[j]] -= half * (log_det + np.log(k_xx))


@compiled(error_model="numpy")
def _drop_one_by_one(
    matrix: Array,
    child: int,
    parents: Array,
    constant: Array,
    slope: Array,
    half: float,
    out: Array,
) -> None:
    """The families without one of their parents, where some are functions of others."""
    p = parents.size
    fewer = np.empty(p - 1, np.int64)
    for j in range(p):
        for i in range(p - 1):
            fewer[i] = parents[i] if i < j else parents[i + 1]
        out[parents[j]] += _family(matrix, child, fewer, constant, slope, half)
