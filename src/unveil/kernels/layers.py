"""EM and choice of parents for two-layer linear Gaussian networks, from one covariance matrix.

Hidden roots h ~ Normal(0, I), leaves x = L h + noise of variances v, all about their means. With
G = I + L' D^-1 L and D = diag(v), the posterior of h given x has mean B x, B = G^-1 L' D^-1, and
covariance G^-1: only matrices of the size of the number of roots are inverted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.numbers import whole

__all__ = ["choose_parents", "em_layers", "expect_layers"]

Array = npt.NDArray[Any]


@compiled(error_model="numpy")
def _inverted(g: Array) -> float:
    """Invert a symmetric positive definite matrix in place; the log of its determinant."""
    k = len(g)
    log_det = 0.0
    for p in range(k):  # Gauss and Jordan, pivots are positive
        pivot = g[p, p]
        log_det += math.log(pivot)
        g[p, p] = 1.0
        for j in range(k):
            g[p, j] /= pivot
        for i in range(k):
            if i != p:
                factor = g[i, p]
                g[i, p] = 0.0
                for j in range(k):
                    g[i, j] -= factor * g[p, j]
    return log_det


@compiled(error_model="numpy")
def expect_layers(
    covariance: Array, weights: Array, variances: Array, cross: Array, second: Array
) -> float:
    """Fill in E[h x'] (k, n) and E[h h'] (k, k) per row; the log-likelihood per row in nats."""
    n, k = weights.shape
    scaled, g = np.empty((k, n)), np.eye(k)
    log_det, trace = 0.0, 0.0
    for i in range(n):
        log_det += math.log(variances[i])
        trace += covariance[i, i] / variances[i]
        for j in range(k):
            scaled[j, i] = weights[i, j] / variances[i]
    for a in range(k):
        for i in range(n):
            if weights[i, a] != 0.0:
                for b in range(k):
                    g[a, b] += weights[i, a] * scaled[b, i]
    log_det += _inverted(g)
    for a in range(k):
        for i in range(n):
            cross[a, i] = 0.0
    for a in range(k):  # L' D^-1 C
        for m in range(n):
            one = scaled[a, m]
            if one != 0.0:
                for i in range(n):
                    cross[a, i] += one * covariance[m, i]
    for a in range(k):  # L' D^-1 C D^-1 L
        for b in range(k):
            total = 0.0
            for i in range(n):
                total += cross[a, i] * scaled[b, i]
            second[a, b] = total
            trace -= g[b, a] * total
    inner = g @ second @ g
    held = g @ cross
    for a in range(k):
        for b in range(k):
            second[a, b] = g[a, b] + inner[a, b]
        for i in range(n):
            cross[a, i] = held[a, i]
    return -0.5 * (n * math.log(2 * math.pi) + log_det + trace)


@compiled(error_model="numpy")
def _regress(
    second: Array, right: Array, own: Array, count: int, factor: Array, out: Array
) -> float:
    """Fill in `out` with the weights of a leaf on `own` roots; what they explain of it."""
    explained = 0.0
    for a in range(count):
        for b in range(a + 1):
            total = second[own[a], own[b]]
            for q in range(b):
                total -= factor[a, q] * factor[b, q]
            if a == b:
                factor[a, a] = math.sqrt(max(total, 1e-12))
            else:
                factor[a, b] = total / factor[b, b]
        total = right[own[a]]
        for q in range(a):
            total -= factor[a, q] * out[q]
        out[a] = total / factor[a, a]
        explained += out[a] * out[a]
    for a in range(count - 1, -1, -1):
        for b in range(a + 1, count):
            out[a] -= factor[b, a] * out[b]
        out[a] /= factor[a, a]
    return explained


@compiled(error_model="numpy")
def em_layers(
    covariance: Array,
    arcs: Array,
    floor: Array,
    weights: Array,
    variances: Array,
    max_steps: int,
    tolerance: float,
) -> float:
    """Improve weights (n, k) and variances in place by EM; the log-likelihood per row at the end.

    `arcs[i, j]` is 1 where root j is a parent of leaf i. It ends when a step brings less than
    `tolerance` nats per row, or after `max_steps`. The scale of a root is fitted along and then
    put back to one (parameter expansion, Liu, Rubin and Wu 1998), which is quicker than to hold it.
    """
    n, k = weights.shape
    cross, second = np.empty((k, n)), np.empty((k, k))
    own, factor, out = np.empty(k, np.int64), np.empty((k, k)), np.empty(k)
    likelihood = expect_layers(covariance, weights, variances, cross, second)
    for _ in range(max_steps):
        for i in range(n):
            count = whole(0)
            for j in range(k):
                weights[i, j] = 0.0
                if arcs[i, j]:
                    own[count] = j
                    count += 1
            explained = _regress(second, cross[:, i], own, count, factor, out)
            for a in range(count):
                weights[i, own[a]] = out[a] * math.sqrt(second[own[a], own[a]])
            variances[i] = max(covariance[i, i] - explained, floor[i])
        after = expect_layers(covariance, weights, variances, cross, second)
        gained = after - likelihood
        likelihood = after
        if gained < tolerance:
            break
    return likelihood


@compiled(error_model="numpy")
def choose_parents(
    covariance: Array,
    cross: Array,
    second: Array,
    floor: Array,
    rows: float,
    cost: float,
    most: int,
    arcs: Array,
) -> int:
    """Let every leaf toggle its best root while the expected score gains; how many did.

    The expected score of a leaf is -rows / 2 log(what is left) less `cost` for every parent; it
    has `most` parents at most. `arcs` is changed in place.
    """
    n, k = arcs.shape
    own, factor, out = np.empty(k, np.int64), np.empty((k, k)), np.empty(k)
    changes = 0
    for i in range(n):
        for _ in range(2 * k):
            count = whole(0)
            for j in range(k):
                if arcs[i, j]:
                    own[count] = j
                    count += 1
            now = covariance[i, i] - _regress(second, cross[:, i], own, count, factor, out)
            now = math.log(max(now, floor[i]))
            best, which = 1e-9, -1
            for j in range(k):
                had = arcs[i, j]
                if not had and count >= most:
                    continue
                other = whole(0)
                for q in range(k):
                    if (q == j and not had) or (q != j and arcs[i, q]):
                        own[other] = q
                        other += 1
                left = covariance[i, i] - _regress(second, cross[:, i], own, other, factor, out)
                gain = 0.5 * rows * (now - math.log(max(left, floor[i])))
                gain += cost if had else -cost
                if gain > best:
                    best, which = gain, j
            if which < 0:
                break
            arcs[i, which] = 1 - arcs[i, which]
            changes += 1
    return changes
