"""What arcs would change in the likelihood of the *observed* columns (score tests, Fisher scoring).

Structural EM compares graphs by moments that it expects under the graph it has, and what is hidden
is then seen as that graph sees it. So a change that only pays once the hidden variable means
something else looks bad. Here changes are compared by the likelihood of the columns alone, hidden
variables integrated out. With x = B x + e, e of variances d, A = (I - B)^-1 and C = A diag(d) A',
let U and V be the rows of A and of C that belong to columns, and S = C's part for columns. Every
derivative of S has rank two, u r' + r u':

    for the weight B[i, j]:  u = U[:, i],  r = V[:, j]
    for the variance d[i]:   u = U[:, i],  r = U[:, i] / 2.

With P = S^-1, W rows and their covariance R, the gradient is W u' P (R - S) P r, and the Fisher
information of two parameters is W ((r' P s)(t' P u) + (r' P t)(s' P u)), s and t those of the
second: products of small matrices, for all arcs that are there or could be. What a further arc
gains is then Rao's score test, which structural equation models call a modification index (Sörbom
1989); what one less costs is Wald's; both at once is the maximum of the same quadratic function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Marginal", "Moves"]

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

STEPS, CLOSE = 12, 1e-3
"""Steps of Fisher scoring, and where they stop (nats)."""
HALVINGS = 6
SMALLEST = 0.2
"""A step leaves a variance at least this share of what it was."""
RIDGE = 1.0
"""Added to the information of each parameter, about that of one row: there may be directions of
which no row tells."""
LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class Moves:
    """What the likelihood gains by changes of arcs, in nats, in second order.

    `places[a]` = (child, parent) are the arcs there are, `others[c]` those that could be.
    `add[c]` is what one of these gains, `drop[a]` (never positive) what one of those less loses,
    `swap[a, c]` what both do at once.
    """

    places: Places
    others: Places
    add: Matrix
    drop: Matrix
    swap: Matrix


@dataclass(frozen=True, eq=False)
class Marginal:
    """Rows of columns, for which hidden variables are integrated out.

    `seen` are the correlations of the columns, shape (n, n), `floor` their least variances. Weights
    have shape (n + k, n + k), `weights[child, parent]`, columns first; the k hidden roots have
    variance 1. Only the lines of columns that are `near` change. All children of hidden variables
    must be: other families are regressions, which nothing else concerns.
    """

    seen: Matrix
    rows: float
    floor: Matrix
    near: Mask

    def log_likelihood(self, weights: Matrix, variances: Matrix) -> float:
        """The log-likelihood in nats, every column's mean where it is in the rows."""
        n = len(self.seen)
        _, v = _halves(weights, variances, n)
        try:
            factor = np.linalg.cholesky(v[:, :n])
        except np.linalg.LinAlgError:
            return -math.inf
        log_det = 2 * float(np.log(factor.diagonal()).sum())
        trace = float(np.trace(np.linalg.solve(v[:, :n], self.seen)))
        return -0.5 * self.rows * (n * LOG_2PI + log_det + trace)

    def fitted(
        self, weights: Matrix, variances: Matrix, mask: Mask
    ) -> tuple[Matrix, Matrix, float]:
        """Weights, variances and log-likelihood after Fisher scoring; no step lowers it."""
        free, arcs = self._free(mask)
        rows, columns = arcs.T
        own = np.flatnonzero(self.near)
        b, d = np.where(mask, weights, 0.0), variances
        best = self.log_likelihood(b, d)
        for _ in range(STEPS):
            slope, information = self._derivatives(b, d, free)
            step = np.linalg.solve(_guarded(information.between(free, free)), slope)
            for halved in range(HALVINGS):
                share = 0.5**halved
                new_b, new_d = b.copy(), d.copy()
                new_b[rows, columns] += share * step[: len(arcs)]
                least = np.maximum(self.floor[own], SMALLEST * d[own])
                new_d[own] = np.maximum(d[own] + share * step[len(arcs) :], least)
                now = self.log_likelihood(new_b, new_d)
                if now > best:
                    break
            else:
                break
            gain, best, b, d = now - best, now, new_b, new_d
            if gain < CLOSE:
                break
        return b, d, best

    def moves(self, weights: Matrix, variances: Matrix, mask: Mask) -> Moves:
        """What changes of arcs gain, where the likelihood of the arcs of `mask` is greatest."""
        free, places = self._free(mask)
        inside = np.append(self.near, np.zeros(len(weights) - len(self.near), dtype=bool))
        source = inside | (np.arange(len(weights)) >= len(self.near))
        others = np.argwhere(~mask & ~np.eye(len(mask), dtype=bool) & np.outer(inside, source))
        new = (others[:, 0], others[:, 1])
        slope, information = self._derivatives(weights, variances, new)
        inverse = np.linalg.inv(_guarded(information.between(free, free)))
        cross = information.between(free, new)
        pulled = inverse @ cross
        own = information.own(new)
        left = np.maximum(own - np.einsum("fc,fc->c", cross, pulled), 1e-6 * own)
        theta = weights[places[:, 0], places[:, 1]]
        spread = inverse.diagonal()[: len(places)]
        drop = -0.5 * np.square(theta) / spread
        # With a's weight at 0, the slope of c has moved, and a no longer follows c.
        along = pulled[: len(places)]
        moved = slope + along * (theta / spread)[:, None]
        swap = drop[:, None] + 0.5 * np.square(moved) / (left + np.square(along) / spread[:, None])
        return Moves(places, others, 0.5 * np.square(slope) / left, drop, swap)

    def _free(self, mask: Mask) -> tuple[tuple[Places, Places], Places]:
        """Parameters that change, as pairs (i, j): weights of arcs, then variances; the arcs."""
        own = np.flatnonzero(self.near)
        arcs = np.argwhere(mask & np.isin(np.arange(len(mask)), own)[:, None])
        return (np.append(arcs[:, 0], own), np.append(arcs[:, 1], len(mask) + own)), arcs

    def _derivatives(
        self, weights: Matrix, variances: Matrix, of: tuple[Places, Places]
    ) -> tuple[Matrix, _Information]:
        """The gradient in some parameters, and the information of any."""
        n = len(self.seen)
        u, v = _halves(weights, variances, n)
        right = np.hstack([v, u / 2])
        precision = np.linalg.inv(v[:, :n])
        apart = precision @ (self.seen - v[:, :n]) @ precision
        slope = self.rows * (u.T @ apart @ right)[of]
        pu, pr = precision @ u, precision @ right
        return slope, _Information(self.rows, u.T @ pu, right.T @ pu, right.T @ pr)


@dataclass(frozen=True, eq=False)
class _Information:
    """Fisher information of parameters (i, j), whose u is the i-th and whose r the j-th."""

    rows: float
    uu: Matrix
    ru: Matrix
    rr: Matrix

    def between(self, one: tuple[Places, Places], two: tuple[Places, Places]) -> Matrix:
        (i, j), (k, m) = one, two
        crossed = self.ru[np.ix_(j, k)] * self.ru[np.ix_(m, i)].T
        return self.rows * (crossed + self.rr[np.ix_(j, m)] * self.uu[np.ix_(i, k)])

    def own(self, one: tuple[Places, Places]) -> Matrix:
        i, j = one
        return self.rows * (np.square(self.ru[j, i]) + self.rr[j, j] * self.uu[i, i])


def _halves(weights: Matrix, variances: Matrix, n: int) -> tuple[Matrix, Matrix]:
    """U and V: the columns' rows of (I - B)^-1 and of the covariance of everything."""
    u: Matrix = np.asarray(np.linalg.inv(np.eye(len(weights)) - weights), np.float64)
    return u[:n], np.asarray((u[:n] * variances) @ u.T)


def _guarded(information: Matrix) -> Matrix:
    return np.asarray(information + RIDGE * np.eye(len(information)))
