"""The Gaussian nearest to a row's posterior, where families are lines or curves (thesis 7.4).

The unseen cells of a row get a joint normal q = N(m, S), found by maximising the bound

    L(m, S) = sum over families of E_q[log p(x | u)] + 1/2 log det S + d/2 (1 + log 2 pi).

A family's sum s = offset + weights . u is normal under q, with mean t and variance a, and its
covariance with the child is c, so with the response g everything is one-dimensional:

    E[(x - g(s))^2] = S_xx + m_x^2 - 2 m_x E g + E g^2 - 2 c E g'      (Cov(x, g(s)) = c E g'(s)),

by Gauss and Hermite's points. For lines q is the posterior itself and L the log-likelihood. The
step is that of natural gradients (Opper and Archambeau 2009), shortened until L does not fall:

    S^-1 <- (1 - r) S^-1 - 2 r dF/dS,  m <- m + r S dF/dm,  F = L without the entropy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.curves import HYPERBOLIC

__all__ = ["LINE", "curve_posteriors", "curve_squares"]

Array = npt.NDArray[Any]

LINE = 3
"""The kind of a family whose mean is the sum itself."""
LOG_2PI = math.log(2 * math.pi)


@compiled(error_model="numpy")
def _response(kind: int, low: float, span: float, s: float) -> tuple[float, float, float]:
    """g(s) and its first two derivatives."""
    if kind == LINE:
        return s, 1.0, 0.0
    if kind == HYPERBOLIC:
        size = 1.0 + abs(s)
        bend = -1.0 if s > 0.0 else 1.0
        f = 0.5 * (1.0 + s / size)
        return low + span * f, 0.5 * span / size**2, span * bend / size**3
    if s >= 0.0:
        f = 1.0 / (1.0 + math.exp(-s))
    else:
        e = math.exp(s)
        f = e / (1.0 + e)
    steep = f * (1.0 - f)
    return low + span * f, span * steep, span * steep * (1.0 - 2.0 * f)


@compiled(error_model="numpy")
def _expected(
    kind: int, low: float, span: float, t: float, a: float, points: Array, shares: Array, out: Array
) -> None:
    """E g, E g^2, E g' and their derivatives by t, then by a, into `out` (9,)."""
    out[:] = 0.0
    if kind == LINE:
        out[0], out[1], out[2] = t, t * t + a, 1.0
        out[3], out[4] = 1.0, 2.0 * t
        out[7] = 1.0
        return
    root = math.sqrt(max(a, 0.0))
    if root < 1e-9:
        g, d, b = _response(kind, low, span, t)
        out[0], out[1], out[2] = g, g * g, d
        out[3], out[4], out[5] = d, 2.0 * g * d, b
        out[6], out[7] = 0.5 * b, d * d + g * b
        return
    for k in range(len(points)):
        g, d, b = _response(kind, low, span, t + root * points[k])
        w = shares[k]
        v = w * points[k] / (2.0 * root)
        out[0] += w * g
        out[1] += w * g * g
        out[2] += w * d
        out[3] += w * d
        out[4] += 2.0 * w * g * d
        out[5] += w * b
        out[6] += v * d
        out[7] += 2.0 * v * g * d
        out[8] += v * b


@compiled(error_model="numpy")
def _family(
    f: int, model: Array, starts: Array, parents: Array, weights: Array, mean: Array, place: Array,
    cov: Array, points: Array, shares: Array, e: Array, along: Array,
) -> tuple[float, float]:  # fmt: skip
    """E[(x - g)^2] of one family, and c; `e` is filled by `_expected`, `along` by S a.

    `model` has a row (kind, low, span, offset, variance) per variable; `place` says where an unseen
    variable stands in S, -1 for one that is seen.
    """
    d = len(along)
    t, a = model[f, 3], 0.0
    along[:] = 0.0
    for j in range(starts[f], starts[f + 1]):
        p = parents[j]
        t += weights[j] * mean[p]
        if place[p] >= 0:
            for i in range(d):
                along[i] += weights[j] * cov[i, place[p]]
    for j in range(starts[f], starts[f + 1]):
        if place[parents[j]] >= 0:
            a += weights[j] * along[place[parents[j]]]
    _expected(int(model[f, 0]), model[f, 1], model[f, 2], t, a, points, shares, e)
    own, c = 0.0, 0.0
    if place[f] >= 0:
        own, c = cov[place[f], place[f]], along[place[f]]
    x = mean[f]
    return own + x * x - 2.0 * x * e[0] + e[1] - 2.0 * c * e[2], c


@compiled(error_model="numpy")
def _lower(a: Array) -> bool:
    """The Cholesky factor in place; False if `a` is not positive definite."""
    n = len(a)
    for j in range(n):
        for i in range(j, n):
            total = a[i, j]
            for q in range(j):
                total -= a[i, q] * a[j, q]
            if i == j:
                if not total > 0.0:
                    return False
                a[j, j] = math.sqrt(total)
            else:
                a[i, j] = total / a[j, j]
    return True


@compiled(error_model="numpy")
def _inverse(a: Array, out: Array) -> float:
    """The inverse of a positive definite matrix, and half of its log-determinant; NaN if it is not.

    `a` is used up.
    """
    n = len(a)
    if not _lower(a):
        return np.nan
    half = 0.0
    for k in range(n):
        half += math.log(a[k, k])
        for i in range(n):
            total = 1.0 if i == k else 0.0
            for q in range(i):
                total -= a[i, q] * out[q, k]
            out[i, k] = total / a[i, i]
        for i in range(n - 1, -1, -1):
            total = out[i, k]
            for q in range(i + 1, n):
                total -= a[q, i] * out[q, k]
            out[i, k] = total / a[i, i]
    return half


@compiled(error_model="numpy")
def _bound(
    model: Array, starts: Array, parents: Array, weights: Array, touched: Array, mean: Array,
    place: Array, cov: Array, half: float, points: Array, shares: Array, e: Array, along: Array,
) -> float:  # fmt: skip
    """L of one row; `half` is half the log-determinant of S."""
    d = len(along)
    total = half + 0.5 * d * (1.0 + LOG_2PI)
    for f in touched:
        squares, _ = _family(
            f, model, starts, parents, weights, mean, place, cov, points, shares, e, along
        )
        total -= 0.5 * (LOG_2PI + math.log(model[f, 4]) + squares / model[f, 4])
    return total


@compiled(error_model="numpy")
def _slopes(
    model: Array, starts: Array, parents: Array, weights: Array, touched: Array, mean: Array,
    place: Array, cov: Array, points: Array, shares: Array, e: Array, along: Array, pull: Array,
    curved: Array,
) -> None:  # fmt: skip
    """dF/dm into `pull` and -2 dF/dS into `curved`."""
    pull[:], curved[:] = 0.0, 0.0
    for f in touched:
        _, c = _family(
            f, model, starts, parents, weights, mean, place, cov, points, shares, e, along
        )
        v, x, own = model[f, 4], mean[f], place[f]
        by_t = -2.0 * x * e[3] + e[4] - 2.0 * c * e[5]
        by_a = -2.0 * x * e[6] + e[7] - 2.0 * c * e[8]
        if own >= 0:
            pull[own] -= (x - e[0]) / v
            curved[own, own] += 1.0 / v
        for j in range(starts[f], starts[f + 1]):
            p = place[parents[j]]
            if p < 0:
                continue
            pull[p] -= 0.5 * weights[j] * by_t / v
            if own >= 0:
                curved[p, own] -= weights[j] * e[2] / v
                curved[own, p] -= weights[j] * e[2] / v
            for q in range(starts[f], starts[f + 1]):
                if place[parents[q]] >= 0:
                    curved[p, place[parents[q]]] += weights[j] * weights[q] * by_a / v


@compiled(error_model="numpy")
def curve_posteriors(
    model: Array, starts: Array, parents: Array, weights: Array, unseen: Array, points: Array,
    shares: Array, max_steps: int, tolerance: float, means: Array, covariances: Array,
    bounds: Array,
) -> None:  # fmt: skip
    """Improve q of every row in place, and fill in its bound.

    - `model`, shape (n, 5): (kind, low, span, offset, variance) of every variable; its parents are
      `parents[starts[i] : starts[i + 1]]`, with `weights`
    - `unseen`, shape (n_rows, n): 1 where a cell is unseen
    - `means`, (n_rows, n): the cells seen, and where m starts; `covariances`, (n_rows, most, most):
      where S starts, positive definite, unseen cells in ascending order
    - `points`, `shares`: those of Gauss and Hermite for a standard normal
    """
    n_rows, n = means.shape
    e = np.empty(9)
    for r in range(n_rows):
        place = np.full(n, -1)
        d = 0
        for i in range(n):
            if unseen[r, i]:
                place[i] = d
                d += 1
        touched = _touched(place, starts, parents)
        mean, cov = means[r], covariances[r, :d, :d].copy()
        along, pull = np.empty(d), np.empty(d)
        precision, work, out = np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
        work[:] = cov
        half = -_inverse(work, precision)
        if d == 0:
            half = 0.0
        best = _bound(
            model, starts, parents, weights, touched, mean, place, cov, -half, points, shares, e,
            along,
        )  # fmt: skip
        curved, trial_mean = np.empty((d, d)), mean.copy()
        trial_precision = np.empty((d, d))
        for _ in range(max_steps if d else 0):
            _slopes(
                model, starts, parents, weights, touched, mean, place, cov, points, shares, e,
                along, pull, curved,
            )  # fmt: skip
            rate, gained = 1.0, -1.0
            for _ in range(14):
                trial_precision[:] = (1.0 - rate) * precision + rate * curved
                work[:] = trial_precision
                minus = _inverse(work, out)
                if not np.isnan(minus):
                    for i in range(n):
                        if place[i] >= 0:
                            step = 0.0
                            for q in range(d):
                                step += out[place[i], q] * pull[q]
                            trial_mean[i] = mean[i] + rate * step
                    new = _bound(
                        model, starts, parents, weights, touched, trial_mean, place, out, -minus,
                        points, shares, e, along,
                    )  # fmt: skip
                    if new > best:
                        gained = new - best
                        break
                rate *= 0.5
            if gained < 0.0:
                break
            best += gained
            mean[:] = trial_mean
            cov[:] = out
            precision[:] = trial_precision
            if gained < tolerance:
                break
        covariances[r, :d, :d] = cov
        seen = np.ones(n, np.bool_)
        seen[touched] = False
        for f in range(n):
            if seen[f]:
                squares, _ = _family(
                    f, model, starts, parents, weights, mean, place, cov, points, shares, e, along
                )
                best -= 0.5 * (LOG_2PI + math.log(model[f, 4]) + squares / model[f, 4])
        bounds[r] = best


@compiled(error_model="numpy")
def _touched(place: Array, starts: Array, parents: Array) -> Array:
    """The families that an unseen cell has a part in."""
    n = len(place)
    out = np.empty(n, np.int64)
    count = 0
    for f in range(n):
        has = place[f] >= 0
        for j in range(starts[f], starts[f + 1]):
            has = has or place[parents[j]] >= 0
        if has:
            out[count] = f
            count += 1
    return out[:count]


@compiled(error_model="numpy")
def curve_squares(
    f: int, model: Array, starts: Array, parents: Array, weights: Array, unseen: Array,
    means: Array, covariances: Array, points: Array, shares: Array, row_weights: Array,
) -> float:  # fmt: skip
    """The weighted sum over rows of E_q[(x - g)^2] of one family."""
    n_rows, n = means.shape
    e, total = np.empty(9), 0.0
    for r in range(n_rows):
        place = np.full(n, -1)
        d = 0
        for i in range(n):
            if unseen[r, i]:
                place[i] = d
                d += 1
        along = np.empty(d)
        cov = covariances[r, :d, :d].copy()
        squares, _ = _family(
            f, model, starts, parents, weights, means[r], place, cov, points, shares, e, along
        )
        total += row_weights[r] * squares
    return total
