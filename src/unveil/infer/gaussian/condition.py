"""One Gaussian given some of its variables: the rows of one pattern of missing cells at a time.

Two forms give the same answers. The covariance form factors what is seen, the information form
what is unseen (and the equations it appears in); the smaller job is chosen. The information form
never subtracts, so it also takes over where the covariance form would lose digits.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri

from unveil.errors import ModelError, UnveilWarning
from unveil.infer.gaussian.joint import JointGaussian

__all__ = ["Conditional", "CovarianceForm", "InformationForm", "condition", "patterns"]

Matrix = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]

LOST = 1e-8
"""The covariance form subtracts variances. Where a variance left over is a smaller share of the
whole than this, it would keep less than half of its digits, and the information form is taken."""
SINGULAR = 1e-11
"""Unseen variables whose equations are dependent up to this share get a warning: about five
digits of their posterior remain."""

LOG_2PI = float(np.log(2 * np.pi))


class Conditional(Protocol):
    """The distribution of `wanted` variables given `seen` ones.

    `deviations` are rows minus the joint mean, shape (n_rows, n_variables), zero where unseen.
    """

    def means(self, deviations: Matrix) -> Matrix:
        """The posterior means of `wanted` as deviations from the joint mean, (n_rows, n_wanted)."""

    def log_densities(self, deviations: Matrix) -> Matrix:
        """The log-density of what is seen, shape (n_rows,)."""

    @property
    def covariance(self) -> Matrix:
        """The posterior covariance of `wanted`, shape (n_wanted, n_wanted), equal for all rows."""


class CovarianceForm:
    """With S the joint covariance and O what is seen: S_WO S_OO^-1, and S_WW - S_WO S_OO^-1 S_OW.

    `kept` is the smallest share of a variance that was left after a subtraction; 0 when the
    factorisation failed.
    """

    def __init__(self, joint: JointGaussian, seen: Positions, wanted: Positions) -> None:
        own = joint.covariance
        self.seen = seen
        self.kept = 0.0
        try:
            self.factor = np.linalg.cholesky(own[np.ix_(seen, seen)])
        except np.linalg.LinAlgError:
            return
        self.cross = _solved(self.factor, own[np.ix_(seen, wanted)])
        self.covariance = own[np.ix_(wanted, wanted)] - self.cross.T @ self.cross
        before = np.concatenate([own.diagonal()[seen], own.diagonal()[wanted]])
        after = np.concatenate([self.factor.diagonal() ** 2, self.covariance.diagonal()])
        self.kept = float(np.min(after / before, initial=1.0))

    def means(self, deviations: Matrix) -> Matrix:
        """S_WO S_OO^-1 d, with d the deviations seen."""
        return self._whitened(deviations).T @ self.cross

    def log_densities(self, deviations: Matrix) -> Matrix:
        """-1/2 (d' S_OO^-1 d + log det(2 pi S_OO))."""
        squares = _squares(self._whitened(deviations), axis=0)
        half_log_det = np.log(self.factor.diagonal()).sum()
        return -0.5 * (squares + LOG_2PI * len(self.seen)) - half_log_det

    def _whitened(self, deviations: Matrix) -> Matrix:
        return _solved(self.factor, deviations[:, self.seen].T)


class InformationForm:
    """Least squares in the whitened equations W d (see `JointGaussian`), with d_U free.

    The unseen d_U minimise |W_O d_O + W_U d_U|^2. With W_U = QR: mean -R^-1 Q' W_O d_O, covariance
    (R'R)^-1, and log p(x_O) = log p(x_O, mean_U) + |U|/2 log(2 pi) - log |det R|, because the
    density of a Gaussian at its mean is all normalising constant.
    """

    def __init__(
        self, joint: JointGaussian, seen: Positions, unseen: Positions, wanted: Positions
    ) -> None:
        self.joint, self.seen, self.unseen = joint, seen, unseen
        self.chosen = np.searchsorted(unseen, wanted)
        free = joint.whitening[:, unseen].toarray()
        size = np.abs(free).max(axis=1, initial=0.0)
        # Only equations with an unseen variable matter; the heaviest first keeps Householder
        # reflections accurate when noise variances differ by many orders (Cox and Higham 1998).
        self.rows = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
        self.free = free[self.rows]
        self.q, self.r = np.linalg.qr(self.free)
        self._check_rank()
        self.half_log_det = float(np.log(np.abs(self.r.diagonal())).sum())
        # Not triangular solves: BLAS would start threads for them even when R is 3 by 3.
        self.inverse = dtrtri(self.r)[0] if len(unseen) else self.r

    @property
    def covariance(self) -> Matrix:
        """(R'R)^-1, the rows and columns of what is wanted."""
        return self.inverse[self.chosen] @ self.inverse[self.chosen].T

    def means(self, deviations: Matrix) -> Matrix:
        """The least squares solution, the part that is wanted."""
        return self._solution(self._equations(deviations))[:, self.chosen]

    def log_densities(self, deviations: Matrix) -> Matrix:
        """The log-density of the completed row, less that of the completion at its mean."""
        left = self._equations(deviations)
        left[:, self.rows] += self._solution(left) @ self.free.T
        log_scale = 0.5 * np.log(self.joint.variances).sum() + self.half_log_det
        return -0.5 * (_squares(left, axis=1) + LOG_2PI * len(self.seen)) - log_scale

    def _equations(self, deviations: Matrix) -> Matrix:
        """W_O d_O, shape (n_rows, n_variables)."""
        return np.ascontiguousarray((self.joint.whitening @ deviations.T).T)

    def _solution(self, equations: Matrix) -> Matrix:
        return -(equations[:, self.rows] @ self.q) @ self.inverse.T

    def _check_rank(self) -> None:
        left = np.abs(self.r.diagonal()) / np.sqrt(np.square(self.free).sum(axis=0))
        if not (left < SINGULAR).any():
            return
        name = self.joint.names[self.unseen[int(left.argmin())]]
        why = (
            "Some variances of the network are very small beside others; leave one of the "
            "variables out."
        )
        if not left.all():
            raise ModelError(
                f"given what is seen, {name!r} and other unseen variables cannot be told apart in "
                f"double precision. {why}"
            )
        warnings.warn(
            f"given what is seen, {name!r} and other unseen variables are almost exact functions "
            f"of each other: few digits of their posterior are right. {why}",
            UnveilWarning,
            stacklevel=6,
        )


def condition(
    joint: JointGaussian, seen: Positions, unseen: Positions, wanted: Positions
) -> Conditional:
    """The `wanted` among the `unseen` variables given the `seen`, in the cheaper exact form."""
    # Orders of work: a QR of the unseen columns, 2 n u^2, against a Cholesky of the seen, o^3 / 3.
    if 6 * len(joint.names) * len(unseen) ** 2 > len(seen) ** 3:
        form = CovarianceForm(joint, seen, wanted)
        if form.kept >= LOST:
            return form
    return InformationForm(joint, seen, unseen, wanted)


def patterns(
    missing: npt.NDArray[np.bool_],
) -> Iterator[tuple[Positions, Positions, Positions]]:
    """(rows, seen, unseen) for every pattern of missing cells; `missing` is (n_rows, n_variables).

    >>> [(r.tolist(), s.tolist()) for r, s, _ in patterns(np.array([[False], [True], [False]]))]
    [([0, 2], [0]), ([1], [])]
    """
    if not len(missing):
        return
    bits = np.packbits(missing, axis=1)
    keys = np.ascontiguousarray(bits).view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    edges: Sequence[int] = np.cumsum(np.bincount(which, minlength=len(first)))[:-1].tolist()
    for at, rows in zip(first, np.split(order, edges), strict=True):
        yield rows, np.flatnonzero(~missing[at]), np.flatnonzero(missing[at])


def _solved(factor: npt.NDArray[Any], right: Matrix) -> Matrix:
    """factor^-1 right for a lower triangular factor, which may be empty."""
    if not right.size:
        return right
    return solve_triangular(factor, right, lower=True, check_finite=False)


def _squares(values: Matrix, axis: int) -> Matrix:
    """Sums of squares; infinite, so that the density is zero, where a float cannot hold them."""
    with np.errstate(over="ignore"):
        return np.square(values).sum(axis=axis)
