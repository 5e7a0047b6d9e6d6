"""Bounded curves of a weighted sum, or a product of them, and least squares through them.

A curve has a response f(u) between 0 and 1, and the child's mean is

    g(u) = low + (high - low) f(u).

Parameters p are (low, high, offsets ..., weights ...); with `SIGMOID` and `HYPERBOLIC` there is one
offset, with `REACTION` one for every parent. With s = offset + weights . u,

    SIGMOID     f = 1 / (1 + exp(-s))            (thesis Eq. 7.3)
    HYPERBOLIC  f = (1 + s / (1 + |s|)) / 2      (Michaelis-Menten for s >= 0, mirrored)
    REACTION    f = product over parents of y / (1 + y), y = exp(offset + weight u)   (7.7)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = [
    "HYPERBOLIC",
    "REACTION",
    "SIGMOID",
    "curve",
    "fit_curve",
    "fit_families",
    "start_curve",
    "tangent_changes",
]

Array = npt.NDArray[Any]

SIGMOID, HYPERBOLIC, REACTION = 0, 1, 2


@compiled(error_model="numpy")
def _squash(kind: int, s: float) -> tuple[float, float]:
    """The response to one sum and its derivative."""
    if kind == HYPERBOLIC:
        size = 1.0 + abs(s)
        return 0.5 * (1.0 + s / size), 0.5 / (size * size)
    if s >= 0.0:
        f = 1.0 / (1.0 + math.exp(-s))
    else:
        e = math.exp(s)
        f = e / (1.0 + e)
    return f, f * (1.0 - f)


@compiled(error_model="numpy")
def curve(kind: int, inputs: Array, p: Array, g: Array, jacobian: Array) -> None:
    """Fill in g (n_rows,) and its derivatives by p, (n_rows, n_parameters).

    `inputs` has shape (n_parents, n_rows).
    """
    k, n = inputs.shape
    span = p[1] - p[0]
    first = 2 + (k if kind == REACTION else 1)
    for m in range(n):
        if kind == REACTION:
            f = 1.0
            for j in range(k):
                f *= _squash(kind, p[2 + j] + p[first + j] * inputs[j, m])[0]
            for j in range(k):
                one, _ = _squash(kind, p[2 + j] + p[first + j] * inputs[j, m])
                slope = span * f * (1.0 - one)  # d log(y / (1 + y)) / d log y = 1 / (1 + y)
                jacobian[m, 2 + j] = slope
                jacobian[m, first + j] = slope * inputs[j, m]
        else:
            s = p[2]
            for j in range(k):
                s += p[3 + j] * inputs[j, m]
            f, steep = _squash(kind, s)
            jacobian[m, 2] = span * steep
            for j in range(k):
                jacobian[m, 3 + j] = span * steep * inputs[j, m]
        g[m] = p[0] + span * f
        jacobian[m, 0] = 1.0 - f
        jacobian[m, 1] = f


@compiled(error_model="numpy")
def _solved(a: Array, b: Array) -> bool:
    """Solve a x = b in place by Cholesky; False where `a` is not positive definite."""
    n = len(b)
    for j in range(n):
        for i in range(j, n):
            total = a[i, j]
            for q in range(j):
                total -= a[i, q] * a[j, q]
            if i == j:
                if total <= 0.0:
                    return False
                a[j, j] = math.sqrt(total)
            else:
                a[i, j] = total / a[j, j]
    for i in range(n):
        for q in range(i):
            b[i] -= a[i, q] * b[q]
        b[i] /= a[i, i]
    for i in range(n - 1, -1, -1):
        for q in range(i + 1, n):
            b[i] -= a[q, i] * b[q]
        b[i] /= a[i, i]
    return True


@compiled(error_model="numpy")
def fit_curve(
    kind: int,
    inputs: Array,
    target: Array,
    weights: Array,
    logs: bool,
    p: Array,
    limits: Array,
    max_steps: int,
    tolerance: float,
) -> float:
    """The weighted sum of squares left after fitting p, in place, by Levenberg and Marquardt.

    The residual is target - g, or with `logs` target - log g, p's first two then being the logs of
    low and high, so that g stays positive. Every parameter stays within +- `limits`. It ends when
    a step brings less than `tolerance` of the sum of squares, or after `max_steps`.
    """
    n, size = len(target), len(p)
    g, jacobian = np.empty(n), np.empty((n, size))
    left = _residuals(kind, inputs, target, weights, logs, p, g, jacobian)
    damping = 1e-2
    gram, square = np.empty((size, size)), np.empty((size, size))
    pull, step = np.empty(size), np.empty(size)
    trial, trial_g, trial_jacobian = np.empty(size), np.empty(n), np.empty((n, size))
    for _ in range(max_steps):
        _normal_equations(jacobian, g, weights, gram, pull)
        better = False
        for _ in range(12):
            for i in range(size):
                for j in range(size):
                    square[i, j] = gram[i, j]
                square[i, i] += damping * gram[i, i] + 1e-10
                step[i] = pull[i]
            if _solved(square, step):
                for i in range(size):
                    trial[i] = min(max(p[i] + step[i], -limits[i]), limits[i])
                new = _residuals(
                    kind, inputs, target, weights, logs, trial, trial_g, trial_jacobian
                )
                if new < left:
                    better = True
                    break
            damping *= 8.0
        if not better:
            break
        gained = left - new
        p[:] = trial
        g, trial_g = trial_g, g
        jacobian, trial_jacobian = trial_jacobian, jacobian
        left = new
        damping = max(damping / 8.0, 1e-9)
        if gained <= tolerance * left:
            break
    return left


@compiled(error_model="numpy")
def _residuals(
    kind: int, inputs: Array, target: Array, weights: Array, logs: bool, p: Array, r: Array,
    jacobian: Array,
) -> float:  # fmt: skip
    """Fill in residuals and the derivatives of what is fitted; their weighted sum of squares."""
    own = p.copy()
    if logs:
        own[0], own[1] = math.exp(p[0]), math.exp(p[1])
    curve(kind, inputs, own, r, jacobian)
    total = 0.0
    for m in range(len(target)):
        mean = r[m]
        if logs:
            for j in range(len(p)):
                jacobian[m, j] /= mean
            jacobian[m, 0] *= own[0]
            jacobian[m, 1] *= own[1]
            mean = math.log(mean)
        r[m] = target[m] - mean
        total += weights[m] * r[m] * r[m]
    return total


@compiled(error_model="numpy")
def _normal_equations(jacobian: Array, r: Array, weights: Array, gram: Array, pull: Array) -> None:
    n, size = jacobian.shape
    gram[:], pull[:] = 0.0, 0.0
    for m in range(n):
        for i in range(size):
            one = weights[m] * jacobian[m, i]
            pull[i] += one * r[m]
            for j in range(i + 1):
                gram[i, j] += one * jacobian[m, j]
    for i in range(size):
        for j in range(i):
            gram[j, i] = gram[i, j]


@compiled(error_model="numpy")
def _unsquash(kind: int, f: float) -> float:
    """The sum whose response is f: where an ideal parent would have to be (thesis Eq. 7.5)."""
    if kind == HYPERBOLIC:
        t = 2.0 * f - 1.0
        return t / (1.0 - abs(t))
    return math.log(f / (1.0 - f))


@compiled(error_model="numpy")
def start_curve(
    kind: int, inputs: Array, child: Array, weights: Array, margin: float, logs: bool, p: Array
) -> None:
    """Fill in p with the curve that the child's ideal profile asks for.

    low and high lie `margin` of the child's range outside of it (with `logs`, that share of its
    ends). The ideal profile is then the inverse response (Eq. 7.5), and offset and weights are its
    regression on the parents in the distorted geometry of Theorem 7.5.1. The wider the margin, the
    more the curve is a straight line.
    """
    k, n = inputs.shape
    least, most = child.min(), child.max()
    room = margin * (most - least)
    low, high = least - room, most + room
    if logs:
        low, high = least / (1.0 + margin), most * (1.0 + margin)
    parts = k if kind == REACTION else 1
    gram, pull = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
    row = np.empty(k + 1)
    row[0] = 1.0
    for m in range(n):
        f = (child[m] - low) / (high - low)
        y = _unsquash(kind, f ** (1.0 / parts))
        steep = _squash(kind, y)[1]
        weight = weights[m] * steep * steep
        for j in range(k):
            row[1 + j] = inputs[j, m]
        for i in range(k + 1):
            pull[i] += weight * row[i] * y
            for j in range(k + 1):
                gram[i, j] += weight * row[i] * row[j]
    for i in range(k + 1):
        gram[i, i] *= 1.0 + 1e-8
        gram[i, i] += 1e-12
    _solved(gram, pull)
    p[0], p[1] = (math.log(low), math.log(high)) if logs else (low, high)
    for j in range(parts):
        p[2 + j] = pull[0]
    for j in range(k):
        p[2 + parts + j] = parts * pull[1 + j]


@compiled(error_model="numpy")
def fit_families(
    kind: int,
    columns: Array,
    weights: Array,
    children: Array,
    parents: Array,
    margins: Array,
    logs: bool,
    limits: Array,
    max_steps: int,
    tolerance: float,
    parameters: Array,
    left: Array,
) -> None:
    """Fit the curve of every family, from a start for every margin, and keep the best of each.

    `columns` has shape (n_columns, n_rows), `parents` (n_families, most) with -1 behind a family's
    last parent; `parameters` (n_families, ...) and `left`, the weighted sums of squares, are filled
    in. `limits` bound (low and high, offsets, weights).
    """
    for f in range(len(children)):
        k = 0
        while k < parents.shape[1] and parents[f, k] >= 0:
            k += 1
        parts = k if kind == REACTION else 1
        size = 2 + parts + k
        inputs = np.empty((k, columns.shape[1]))
        for j in range(k):
            inputs[j] = columns[parents[f, j]]
        child = columns[children[f]]
        target = np.log(child) if logs else child
        bounds = np.empty(size)
        bounds[:2], bounds[2 : 2 + parts], bounds[2 + parts :] = limits[0], limits[1], limits[2]
        p = np.empty(size)
        left[f] = np.inf
        for i in range(len(margins)):
            start_curve(kind, inputs, child, weights, margins[i], logs, p)
            for j in range(size):
                p[j] = min(max(p[j], -bounds[j]), bounds[j])
            found = fit_curve(kind, inputs, target, weights, logs, p, bounds, max_steps, tolerance)
            if found < left[f]:
                left[f] = found
                parameters[f, :size] = p


@compiled(error_model="numpy")
def tangent_changes(
    kind: int,
    columns: Array,
    squares: Array,
    weights: Array,
    child: int,
    parents: Array,
    p: Array,
    gains: Array,
    losses: Array,
    swaps: Array,
) -> None:
    """Fill in what additions to a family and replacements gain, and removals lose, on its tangent.

    The curve g of `SIGMOID` or `HYPERBOLIC` is replaced by its tangent at p, everything fitted
    along. With residuals r, the Jacobian J, a candidate's input z times the slope as its column,
    both less what J explains, R = r . r and W the total weight,

        gain = W/2 (log R - log(R - (r . z)^2 / z . z)),
        loss = W/2 log(1 + p_j^2 / (R (J'J)^-1_jj)).

    A replacement is an addition after a removal. With v = (J'J)^-1_jj and a the product of z, not
    yet made shorter, with the j-th column of J (J'J)^-1, the removal lengthens what is left and
    what z is compared with by the same direction:

        R + p_j^2 / v,  r . z + p_j a / v,  z . z + a^2 / v.

    `columns` and their `squares` have shape (n_columns, n_rows), `gains` (n_columns,), `losses`
    (n_parents,), `swaps` (n_parents, n_columns). Variables of the family gain nothing.
    """
    k, n, size = len(parents), columns.shape[1], len(p)
    inputs = np.empty((k, n))
    for j in range(k):
        inputs[j] = columns[parents[j]]
    g, jacobian = np.empty(n), np.empty((n, size))
    curve(kind, inputs, p, g, jacobian)
    total, left = 0.0, 0.0
    sides, slopes = np.zeros((n, size + 1)), np.empty(n)
    for m in range(n):
        r = columns[child, m] - g[m]
        left += weights[m] * r * r
        total += weights[m]
        slopes[m] = weights[m] * jacobian[m, 2] * jacobian[m, 2]
        sides[m, 0] = weights[m] * jacobian[m, 2] * r
    gram, pull = np.empty((size, size)), np.empty(size)
    _normal_equations(jacobian, columns[child] - g, weights, gram, pull)
    for i in range(size):
        gram[i, i] += 1e-9 * gram[i, i] + 1e-12
    unit = np.empty(size)
    inverse = np.empty((size, size))  # of the Cholesky factor, by columns of the identity
    _lower(gram)
    for i in range(size):
        unit[:] = 0.0
        unit[i] = 1.0
        for a in range(i, size):
            for q in range(i, a):
                unit[a] -= gram[a, q] * unit[q]
            unit[a] /= gram[a, a]
        inverse[:, i] = unit
    pulled = inverse @ pull
    for m in range(n):
        one = weights[m] * jacobian[m, 2]
        for i in range(size):
            along = 0.0
            for q in range(i + 1):
                along += inverse[i, q] * jacobian[m, q]
            sides[m, 1 + i] = one * along
    cross = columns @ sides
    lengths = squares @ slopes
    for v in range(len(columns)):
        with_r, length = cross[v, 0], lengths[v]
        for i in range(size):
            with_r -= cross[v, 1 + i] * pulled[i]
            length -= cross[v, 1 + i] * cross[v, 1 + i]
        gains[v] = 0.0
        if length > 1e-9 * lengths[v]:
            share = min(with_r * with_r / (length * left), 1.0 - 1e-12)
            gains[v] = -0.5 * total * math.log(1.0 - share)
    for j in range(k):
        at = size - k + j
        spread = 0.0
        for i in range(size):
            spread += inverse[i, at] * inverse[i, at]
        more = p[at] * p[at] / spread
        losses[j] = 0.5 * total * math.log(1.0 + more / left)
        gains[parents[j]] = 0.0
        _swapped(
            cross, lengths, pulled, inverse[:, at], p[at] / spread, spread, left, left + more,
            0.5 * total, swaps[j],
        )  # fmt: skip
    gains[child] = 0.0


@compiled(error_model="numpy")
def _swapped(
    cross: Array, lengths: Array, pulled: Array, side: Array, pull: float, spread: float,
    before: float, left: float, half: float, out: Array,
) -> None:  # fmt: skip
    """What taking each column in place of one parent gains, see `tangent_changes`."""
    for v in range(len(out)):
        with_r, length, along = cross[v, 0], lengths[v], 0.0
        for i in range(len(pulled)):
            with_r -= cross[v, 1 + i] * pulled[i]
            length -= cross[v, 1 + i] * cross[v, 1 + i]
            along += cross[v, 1 + i] * side[i]
        with_r += pull * along
        length += along * along / spread
        share = 0.0
        if length > 1e-9 * lengths[v]:
            share = min(with_r * with_r / (length * left), 1.0 - 1e-12)
        out[v] = half * (math.log(before / left) - math.log(1.0 - share))


@compiled(error_model="numpy")
def _lower(a: Array) -> None:
    """The Cholesky factor of a positive definite matrix, in its lower half."""
    n = len(a)
    for j in range(n):
        for i in range(j, n):
            total = a[i, j]
            for q in range(j):
                total -= a[i, q] * a[j, q]
            if i == j:
                a[j, j] = math.sqrt(max(total, 1e-300))
            else:
                a[i, j] = total / a[j, j]
