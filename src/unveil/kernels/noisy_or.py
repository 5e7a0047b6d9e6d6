"""Noisy-or from counts: the log-probabilities that causes fail, by Newton's method.

With b[0] the log-probability that nothing unknown brings the effect about, and b[j] that cause j
fails to, the effect stays away in configuration u with probability exp(eta(u)), where eta(u) is
the sum of b[0] and the b[j] of the causes at work in u. The log-likelihood

    sum over u of  absent[u] eta(u) + present[u] log(1 - exp(eta(u)))

is concave in b, and so is the log prior a b[j] + a log(1 - exp(b[j])) that a Beta(a, a) has in
the logits of exp(b[j]). So there is one maximum, inside of b < 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = ["fit_noisy_or", "noisy_or_objective"]

Array = npt.NDArray[Any]

MOST_STEPS = 60
NEAR_ZERO = -1e-12


@compiled
def noisy_or_objective(b: Array, causes: Array, absent: Array, present: Array, a: float) -> float:
    """The log-likelihood and the log prior at b (see above); minus infinity outside of b < 0.

    `causes` has a row per configuration: the numbers of the causes at work (0: none).
    """
    total = 0.0
    for j in range(b.size):
        if not b[j] < 0.0:
            return -np.inf
        total += a * (b[j] + math.log(-math.expm1(b[j])))
    for u in range(causes.shape[0]):
        eta = b[0]
        for i in range(causes.shape[1]):
            if causes[u, i] > 0:
                eta += b[causes[u, i]]
        total += absent[u] * eta
        if present[u] > 0.0:
            total += present[u] * math.log(-math.expm1(eta))
    return total


@compiled
def _slopes(
    b: Array,
    causes: Array,
    absent: Array,
    present: Array,
    a: float,
    gradient: Array,
    hessian: Array,
) -> None:
    """First derivatives, and minus the second, of the objective."""
    gradient[:] = 0.0
    hessian[:] = 0.0
    for j in range(b.size):
        s = -math.expm1(b[j])
        q = math.exp(b[j])
        gradient[j] += a * (1.0 - q / s)
        hessian[j, j] += a * q / (s * s)
    on = np.zeros(causes.shape[1] + 1, np.int64)
    for u in range(causes.shape[0]):
        n = 1
        eta = b[0]
        for i in range(causes.shape[1]):
            if causes[u, i] > 0:
                on[n] = causes[u, i]
                eta += b[causes[u, i]]
                n += 1
        s = -math.expm1(eta)
        q = math.exp(eta)
        slope, bend = absent[u], 0.0
        if present[u] > 0.0:
            slope -= present[u] * q / s
            bend = present[u] * q / (s * s)
        for i in range(n):
            gradient[on[i]] += slope
            for k in range(n):
                hessian[on[i], on[k]] += bend


@compiled
def _factor(matrix: Array) -> float:
    """Put the Cholesky factor of a matrix into its lower half; its log-determinant.

    A hair is added to the diagonal, so that causes that nothing is known of can be solved for.
    """
    log_det = 0.0
    for j in range(matrix.shape[0]):
        matrix[j, j] += 1e-12 * (1.0 + matrix[j, j])
        for k in range(j):
            matrix[j, j] -= matrix[j, k] * matrix[j, k]
        matrix[j, j] = math.sqrt(max(matrix[j, j], 1e-14))
        log_det += 2.0 * math.log(matrix[j, j])
        for i in range(j + 1, matrix.shape[0]):
            for k in range(j):
                matrix[i, j] -= matrix[i, k] * matrix[j, k]
            matrix[i, j] /= matrix[j, j]
    return log_det


@compiled
def _solve(factor: Array, right: Array, out: Array) -> None:
    """The solution of (factor factor') out = right."""
    n = right.size
    for i in range(n):
        out[i] = right[i]
        for k in range(i):
            out[i] -= factor[i, k] * out[k]
        out[i] /= factor[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            out[i] -= factor[k, i] * out[k]
        out[i] /= factor[i, i]


@compiled
def fit_noisy_or(
    causes: Array, absent: Array, present: Array, n_parameters: int, a: float
) -> tuple[float, Array, float]:
    """The objective at its maximum, b there, and the log-determinant of the curvature in logits.

    `a` is the prior's weight. For maximum likelihood give a tiny one: it is approached from larger
    ones, so that every Newton step has a good beginning.
    """
    b = np.full(n_parameters, math.log(0.5))
    gradient, hessian = np.zeros(n_parameters), np.zeros((n_parameters, n_parameters))
    move = np.zeros(n_parameters)
    weight = max(a, 0.5)
    value = -np.inf
    while True:
        value = noisy_or_objective(b, causes, absent, present, weight)
        for _ in range(MOST_STEPS):
            _slopes(b, causes, absent, present, weight, gradient, hessian)
            _factor(hessian)
            _solve(hessian, gradient, move)
            gain = 0.0
            for j in range(n_parameters):
                gain += move[j] * gradient[j]
            step = 1.0
            for j in range(n_parameters):
                # At most nine tenths of the way to the border, where a cause never works.
                if move[j] > 0.0 and step * move[j] > -0.9 * b[j]:
                    step = -0.9 * b[j] / move[j]
            found = False
            while step > 1e-10:
                moved = b + step * move
                now = noisy_or_objective(moved, causes, absent, present, weight)
                if now >= value + 1e-4 * step * gain or now > value:
                    b, found = moved, True
                    value = now
                    break
                step *= 0.5
            if not found or gain < 1e-13 * (1.0 + abs(value)):
                break
        if weight <= a:
            break
        weight = max(a, weight * 0.01)
    _slopes(b, causes, absent, present, weight, gradient, hessian)
    # In logits t of exp(b): db/dt = 1 - exp(b), and the slope is zero at the maximum.
    for j in range(n_parameters):
        for k in range(n_parameters):
            hessian[j, k] *= math.expm1(b[j]) * math.expm1(b[k])
    return value, b, _factor(hessian)
