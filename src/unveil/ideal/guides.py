"""Guides: what every further parent of a child would gain about, without fitting any (7.2).

A guide compares all candidates with the ideal parent of one family in a few products of vectors.
"""

from __future__ import annotations

from typing import Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, did_you_mean
from unveil.ideal.profiles import Profile, curve_profile
from unveil.kernels.curves import curve as curve_of
from unveil.kernels.curves import tangent_changes
from unveil.model.curve_fit import Fitter
from unveil.model.curves import LINKS, response
from unveil.statistics.moments import GaussianMoments

__all__ = ["CurveGuide", "Guide", "LinearGuide", "Measure", "checked_measure"]

Matrix = npt.NDArray[np.float64]
Measure = Literal["c1", "c2", "tangent"]


class Guide(Protocol):
    """Who knows about what candidates gain."""

    def gains(self, child: int, parents: tuple[int, ...]) -> Matrix:
        """The approximate gain in log-likelihood of every variable as a further parent (nats).

        Shape (n_variables,); `-inf` for the child and its parents.
        """

    def replacements(self, child: int, parents: tuple[int, ...], old: int) -> Matrix:
        """The same, relative to the family as it is, for taking each variable in place of `old`."""

    def losses(self, child: int, parents: tuple[int, ...]) -> Matrix:
        """What dropping each of the parents would lose about, in their order (nats)."""


def checked_measure(measure: str) -> Measure:
    """The measure, or an error that lists those there are."""
    known = get_args(Measure)
    if measure not in known:
        raise DataError(
            f"there is no measure {measure!r}; choose one of {', '.join(known)}."
            + did_you_mean(measure, known)
        )
    return measure  # type: ignore[return-value]


class LinearGuide:
    """C1 or C2 of linear Gaussian families, from moments (Theorems 7.1.2 and 7.1.4).

    With S the scatter and y = x - alpha . u the ideal profile: y . z = S[x, z] - alpha . S[u, z],
    z . z = S[z, z], y . y = S[x, x] - alpha . S[u, x]. Columns are taken as deviations from their
    means: the intercept is fitted along, and the bounds stay bounds.
    """

    def __init__(self, moments: GaussianMoments, measure: str = "c2") -> None:
        self.measure = checked_measure(measure)
        self.weight, self.scatter = moments.weight, moments.scatter

    def gains(self, child: int, parents: tuple[int, ...]) -> Matrix:
        """See `Guide`."""
        own = list(parents)
        alpha = self._weights(child, own)
        return self._compared(child, own, alpha, own)

    def replacements(self, child: int, parents: tuple[int, ...], old: int) -> Matrix:
        """See `Guide`; the other parents keep their weights (Definition 7.2.1)."""
        own = list(parents)
        alpha = self._weights(child, own)
        rest = [p for p in own if p != old]
        kept = np.array([a for a, p in zip(alpha, own, strict=True) if p != old])
        before = self._left(child, own, alpha)
        without = self._left(child, rest, kept)
        gains = self._compared(child, rest, kept, own)
        if self.measure == "c1":  # both relative to the same, frozen, variance
            gains = gains * without / before
            return np.asarray(gains + 0.5 * self.weight * (1 - without / before))
        return np.asarray(gains + 0.5 * self.weight * np.log(before / without))

    def losses(self, child: int, parents: tuple[int, ...]) -> Matrix:
        """See `Guide`; here they are exact."""
        own = list(parents)
        alpha = self._weights(child, own)
        left = max(self._left(child, own, alpha), 1e-12 * self.scatter[child, child])
        return _lost(alpha, self.scatter[np.ix_(own, own)], left, self.weight)

    def _weights(self, child: int, own: list[int]) -> Matrix:
        inside, right = self.scatter[np.ix_(own, own)], self.scatter[own, child]
        return np.asarray(np.linalg.lstsq(inside, right, rcond=1e-12)[0])

    def _left(self, child: int, own: list[int], alpha: Matrix) -> float:
        s = self.scatter
        cross = alpha @ s[own, child]
        return float(s[child, child] - 2 * cross + alpha @ s[np.ix_(own, own)] @ alpha)

    def _compared(self, child: int, own: list[int], alpha: Matrix, out: list[int]) -> Matrix:
        s = self.scatter
        with_y = s[child] - alpha @ s[own]
        size, squares = s.diagonal(), self._left(child, own, alpha)
        share = np.zeros(len(s))
        if squares > 1e-12 * s[child, child]:
            np.divide(np.square(with_y), size * squares, out=share, where=size > 0)
        share = np.minimum(share, 1.0)
        with np.errstate(divide="ignore"):
            gains = 0.5 * self.weight * (share if self.measure == "c1" else -np.log1p(-share))
        gains[[child, *out]] = -np.inf
        return np.asarray(gains)


class CurveGuide:
    """C1, C2 or tangents of non-linear families, from the rows (Theorem 7.5.1; `002` 8.2).

    `adjust` says what is fitted along with a candidate's weight: the `offset`, or `all` weights
    (to first order, by projecting the present parents out).
    """

    def __init__(self, fitter: Fitter, measure: str = "c2", adjust: str = "all") -> None:
        self.fitter, self.measure = fitter, checked_measure(measure)
        self.adjust = adjust
        self._squares = np.square(fitter.columns)
        self._last: tuple[object, Matrix, Matrix, Matrix] | None = None

    def gains(self, child: int, parents: tuple[int, ...]) -> Matrix:
        """See `Guide`."""
        if self._has_tangents:
            gains = self._changes(child, parents)[0]
        else:
            gains = self._measured(self.profile(child, parents))
        gains[[child, *parents]] = -np.inf
        return gains

    def replacements(self, child: int, parents: tuple[int, ...], old: int) -> Matrix:
        """See `Guide`; `old` brings nothing any more, the others what they did (Eq. 7.9).

        Along the tangent they are fitted along.
        """
        if self._has_tangents:
            gains = self._changes(child, parents)[2][parents.index(old)].copy()
            gains[[child, *parents]] = -np.inf
            return np.asarray(gains)
        with_it, without = self.profile(child, parents), self.profile(child, parents, old)
        gains = self._measured(without)
        gains[[child, *parents]] = -np.inf
        if with_it.rest and without.rest:
            (_, before, total), (_, after, _) = with_it.rest, without.rest
            if self.measure != "c1":
                gains += 0.5 * total * np.log(before / after)
        return gains

    def losses(self, child: int, parents: tuple[int, ...]) -> Matrix:
        """See `Guide`; the curve is replaced by its tangent, ends and offsets fitted along."""
        if self._has_tangents:
            return self._changes(child, parents)[1]
        fitter, curve = self.fitter, self.fitter.curve
        x, low, high, offsets, weights, variance = fitter.standard(child, parents)
        inputs = np.ascontiguousarray(fitter.columns[list(parents)])
        p = np.concatenate([[low, high], offsets, weights])
        g, jacobian = np.empty(len(x)), np.empty((len(x), len(p)))
        curve_of(LINKS[curve.link], inputs, p, g, jacobian)
        spread = g if curve.positive else np.ones(len(x))
        scaled = jacobian * np.sqrt(fitter.weights / np.square(spread))[:, None]
        gram = scaled.T @ scaled
        free = np.arange(len(p) - len(parents), len(p))
        return _lost(p, gram, variance * fitter.total, fitter.total)[free]

    @property
    def _has_tangents(self) -> bool:
        """Whether gains and losses come from one kernel: sums of inputs with additive noise."""
        curve = self.fitter.curve
        sums = curve.link != "reaction" and curve.noise == "additive"
        return self.measure == "tangent" and self.adjust == "all" and sums

    def _changes(self, child: int, parents: tuple[int, ...]) -> tuple[Matrix, Matrix, Matrix]:
        """Gains, losses and replacements along the tangent, those of the last question kept."""
        if self._last is None or self._last[0] != (child, parents):
            x, low, high, offsets, weights, _ = self.fitter.standard(child, parents)
            if not len(parents):
                offsets = np.array([self._level(x, low, high)])
            p = np.concatenate([[low, high], offsets, weights])
            gains, losses = np.empty(len(self.fitter.columns)), np.empty(len(parents))
            swaps = np.empty((len(parents), len(gains)))
            tangent_changes(
                LINKS[self.fitter.curve.link], self.fitter.columns, self._squares,
                self.fitter.weights, child, np.array(parents, np.int64), p, gains, losses, swaps,
            )  # fmt: skip
            self._last = (child, parents), gains, losses, swaps
        return self._last[1:]

    def _measured(self, profile: Profile) -> Matrix:
        columns, squares = self.fitter.columns, self._squares
        if self.measure == "c1":
            return profile.c1(columns, squares)
        return profile.c2(columns, squares)

    def profile(self, child: int, parents: tuple[int, ...], old: int | None = None) -> Profile:
        """The ideal parent to add to the family or, with `old`, to replace one of its parents."""
        fitter, curve = self.fitter, self.fitter.curve
        x, low, high, offsets, weights, variance = fitter.standard(child, parents)
        kept = [i for i, p in enumerate(parents) if p != old]
        inputs = fitter.columns[[parents[i] for i in kept]]
        n = len(x)
        present = np.ones(n) if curve.link == "reaction" else np.zeros(n)
        if len(parents):
            if curve.link == "reaction":
                if kept:
                    present, _ = response(curve.link, inputs, offsets[kept], weights[kept])
            else:
                present = offsets[0] + weights[kept] @ inputs
        given = np.ones((1, n))
        if self.adjust == "all" and kept:
            given = np.vstack([given, inputs])
        if not len(parents) and curve.link != "reaction":
            present = np.full(n, self._level(x, low, high))
        tangent = self.measure == "tangent"
        return curve_profile(curve, x, low, high, present, variance, fitter.weights, given, tangent)

    def _level(self, x: Matrix, low: float, high: float) -> float:
        """The offset at which a family without parents predicts its mean."""
        from unveil.model.curves import unsquash

        middle = float(x @ self.fitter.weights / self.fitter.total)
        share = np.clip((middle - low) / (high - low), 0.02, 0.98)
        return float(unsquash(self.fitter.curve.link, np.array(share)))


def _lost(parameters: Matrix, gram: Matrix, left: float, weight: float) -> Matrix:
    """What the log-likelihood of least squares loses when each parameter is set to zero.

    With b the parameters, G their Gram matrix and R the squares `left` (Wald's statistic inside):

        W / 2 log(1 + b_i^2 / (R (G^-1)_ii)).
    """
    ridge = np.diag(1e-10 * gram.diagonal() + np.finfo(float).tiny)
    inverse = np.linalg.inv(gram + ridge).diagonal()
    return np.asarray(0.5 * weight * np.log1p(np.square(parameters) / (left * inverse)))
