"""Linear Gaussian networks as arrays, and exact EM for them (thesis 7.4).

Rows that lack the same cells share one factorisation. Where the columns that are seen at all are
seen in every row, rows are not needed either: moments are enough, and a step costs the same for a
thousand rows as for a million.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from unveil.errors import DataError, ModelError
from unveil.graph.dag import DAG
from unveil.infer.gaussian.condition import patterns
from unveil.kernels.lines import regress_all
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network
from unveil.progress import Run, Step, StopReason, Ticker, run
from unveil.statistics.moments import GaussianMoments
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["Lines", "Observed", "em_lines", "expected_moments", "fit_lines", "parents_matrix"]

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.uint8]

LOG_2PI = math.log(2 * math.pi)
FLOOR = 1e-4
"""The least share of a column's variance that may stay unexplained. A hidden variable that becomes
a copy of one child (a Heywood case) would otherwise have a density without bound."""


@dataclass(frozen=True, eq=False)
class Lines:
    """x_i = intercept_i + sum over parents j of coefficients[i, j] x_j + noise of variances[i]."""

    names: tuple[str, ...]
    coefficients: Matrix
    intercept: Matrix
    variances: Matrix

    def joint(self) -> tuple[Matrix, Matrix]:
        """Mean and covariance of all variables."""
        inverse = np.linalg.inv(np.eye(len(self.names)) - self.coefficients)
        return inverse @ self.intercept, (inverse * self.variances) @ inverse.T

    def network(
        self, variables: Mapping[str, Variable], dag: DAG, hidden: Sequence[str] = ()
    ) -> Network:
        """The network with these numbers; `dag` says who the parents are."""
        place = {name: i for i, name in enumerate(self.names)}
        known = dict(variables) | {name: Variable(name, hidden=True) for name in hidden}
        cpds = []
        for name in dag.nodes:
            i, parents = place[name], dag.parents(name)
            own = [self.coefficients[i, place[p]] for p in parents]
            cpds.append(
                LinearGaussianCPD(
                    known[name],
                    [known[p] for p in parents],
                    self.intercept[i],
                    own,
                    self.variances[i],
                )  # fmt: skip
            )
        return Network(cpds)

    @classmethod
    def of(cls, network: Network, names: Sequence[str] | None = None) -> Lines:
        """Those of a network of linear Gaussians."""
        order = tuple(names or network.names)
        place = {name: i for i, name in enumerate(order)}
        n = len(order)
        b, a, v = np.zeros((n, n)), np.zeros(n), np.zeros(n)
        for name, i in place.items():
            cpd = network.cpd(name)
            if not isinstance(cpd, LinearGaussianCPD):
                raise ModelError(f"{name!r} has a {cpd.kind} distribution, not a linear Gaussian")
            a[i], v[i] = cpd.intercept, cpd.variance
            b[i, [place[p.name] for p in cpd.parents]] = cpd.coefficients
        return cls(order, b, a, v)


@dataclass(frozen=True, eq=False)
class Observed:
    """What rows show of some columns: moments where they are complete, else rows by pattern.

    `floor` is the least variance of every column, `weights` the rows'.
    """

    names: tuple[str, ...]
    moments: GaussianMoments | None
    values: Matrix
    weights: Matrix
    floor: Matrix

    @classmethod
    def of(cls, table: Table, floor: float = FLOOR) -> Observed:
        """Those of a table of continuous columns, gaps or none.

        >>> Observed.of(Table.from_frame({"x": [0.5, 1.5]})).moments.mean
        array([1.])
        """
        for v in table.variables:
            if v.is_discrete:
                raise DataError(f"column {v.name!r} is discrete; this needs continuous columns")
        if table.n_rows == 0 or table.total_weight <= 0:
            raise DataError("the table has no rows to learn from, or all weigh nothing")
        values = np.column_stack([table.column(n) for n in table.names]).astype(np.float64)
        weights = np.asarray(table.row_weights, np.float64)
        seen = ~np.isnan(values)
        if np.isinf(values).any():
            name = table.names[int(np.isinf(values).any(axis=0).argmax())]
            raise DataError(f"column {name!r} has an infinite value; leave such rows out")
        total = weights @ seen
        if not (total > 0).all():
            name = table.names[int((total <= 0).argmax())]
            raise DataError(f"column {name!r} has no values; leave it out")
        mean = weights @ np.where(seen, values, 0.0) / total
        squares = weights @ np.square(np.where(seen, values - mean, 0.0)) / total
        least = 4 * np.finfo(float).eps * np.abs(mean)
        if not (np.sqrt(squares) > least).all():
            name = table.names[int((np.sqrt(squares) <= least).argmax())]
            raise DataError(
                f"column {name!r} has the same value in every row, so there is nothing to learn "
                "about it; leave it out"
            )
        moments = GaussianMoments.of_rows(values, weights) if seen.all() else None
        return cls(table.names, moments, values, weights, floor * squares)

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    def alone(self) -> GaussianMoments:
        """Means and variances of the cells that are seen, columns independent."""
        if self.moments is not None:
            return replace(self.moments, scatter=np.diag(self.moments.scatter.diagonal()))
        seen = ~np.isnan(self.values)
        total = self.weights @ seen
        mean = self.weights @ np.where(seen, self.values, 0.0) / total
        squares = self.weights @ np.square(np.where(seen, self.values - mean, 0.0)) / total
        return GaussianMoments(self.total, mean, np.diag(squares * self.total))


def parents_matrix(names: Sequence[str], dag: DAG) -> Mask:
    """`mask[i, j]` is 1 where j is a parent of i."""
    place = {name: i for i, name in enumerate(names)}
    mask = np.zeros((len(names), len(names)), np.uint8)
    for parent, child in dag.arcs:
        mask[place[child], place[parent]] = 1
    return mask


def fit_lines(
    names: Sequence[str], moments: GaussianMoments, parents: Mask, floor: Matrix
) -> Lines:
    """The maximum likelihood lines given (expected) moments: the M-step."""
    n = len(names)
    b, v = np.zeros((n, n)), np.zeros(n)
    regress_all(np.ascontiguousarray(moments.scatter), moments.weight, parents, floor, b, v)
    return Lines(tuple(names), b, moments.mean - b @ moments.mean, v)


def expected_moments(lines: Lines, observed: Observed) -> tuple[float, GaussianMoments]:
    """The log-likelihood of what is seen, and the expected moments of all variables: the E-step.

    The first variables are those of `observed`, in its order; the others are hidden.
    """
    mean, covariance = lines.joint()
    if observed.moments is not None:
        return _from_moments(mean, covariance, observed.moments)
    return _from_rows(mean, covariance, observed)


def em_lines(
    start: Lines,
    parents: Mask,
    observed: Observed,
    max_iterations: int = 500,
    tolerance: float = 1e-6,
    ticker: Ticker | None = None,
) -> Run[tuple[Lines, float]]:
    """EM from `start` until the log-likelihood per row gains less than `tolerance` in a step.

    The state is (lines, log-likelihood of those lines). It never falls.
    """
    floor = np.zeros(len(start.names))
    floor[: len(observed.floor)] = observed.floor
    total = observed.total
    hidden = np.arange(len(start.names)) >= len(observed.names)

    def step(
        state: tuple[Lines, float, GaussianMoments],
    ) -> tuple[tuple[Lines, float, GaussianMoments], Step]:
        _, before, moments = state
        better = _standard(fit_lines(start.names, moments, parents, floor), hidden)
        after, expected = expected_moments(better, observed)
        return (better, after, expected), Step("EM", 0, after, (after - before) / total)

    def done(_: object, info: Step) -> StopReason | None:
        return "converged" if info.change < tolerance else None

    first = expected_moments(start, observed)
    found = run(step, (start, *first), done, ticker or Ticker(), max_iterations)
    return replace(found, state=found.state[:2])  # type: ignore[return-value]


def _standard(lines: Lines, hidden: npt.NDArray[np.bool_]) -> Lines:
    """The same distribution of what is seen, hidden roots with mean 0 and variance 1."""
    roots = hidden & ~lines.coefficients.any(axis=1)
    if not roots.any():
        return lines
    scale = np.where(roots, np.sqrt(np.maximum(lines.variances, 1e-300)), 1.0)
    origin = np.where(roots, lines.intercept, 0.0)
    return Lines(
        lines.names,
        lines.coefficients * scale,
        np.where(roots, 0.0, lines.intercept + lines.coefficients @ origin),
        np.where(roots, 1.0, lines.variances),
    )


def _from_moments(
    mean: Matrix, covariance: Matrix, seen: GaussianMoments
) -> tuple[float, GaussianMoments]:
    """With K = S_HO S_OO^-1: E[h | x] = mean_h + K (x - mean_o), whatever the row."""
    n = len(seen.mean)
    factor = cho_factor(covariance[:n, :n], lower=True, check_finite=False)
    off = seen.mean - mean[:n]
    spread = seen.scatter + seen.weight * np.outer(off, off)
    log_det = 2 * float(np.log(factor[0].diagonal()).sum())
    trace = float(np.einsum("ii", cho_solve(factor, spread, check_finite=False)))
    likelihood = -0.5 * (seen.weight * (n * LOG_2PI + log_det) + trace)
    k = cho_solve(factor, covariance[:n, n:], check_finite=False).T
    cross = k @ seen.scatter
    left = covariance[n:, n:] - k @ covariance[:n, n:]
    scatter = np.block([[seen.scatter, cross.T], [cross, cross @ k.T + seen.weight * left]])
    whole = np.concatenate([seen.mean, mean[n:] + k @ off])
    return likelihood, GaussianMoments(seen.weight, whole, scatter)


def _from_rows(
    mean: Matrix, covariance: Matrix, observed: Observed
) -> tuple[float, GaussianMoments]:
    """The same pattern by pattern, with unseen cells among the columns as well."""
    n, size = len(observed.names), len(mean)
    rows = len(observed.values)
    values = np.full((rows, size), np.nan)
    values[:, :n] = observed.values
    missing = np.isnan(values)
    deviations = np.where(missing, 0.0, values - mean)
    uncertain = np.zeros((size, size))
    likelihood = 0.0
    for which, seen, unseen in patterns(missing):
        weights = observed.weights[which]
        if not len(seen):
            uncertain[np.ix_(unseen, unseen)] += weights.sum() * covariance[np.ix_(unseen, unseen)]
            continue
        factor = cho_factor(covariance[np.ix_(seen, seen)], lower=True, check_finite=False)
        own = deviations[np.ix_(which, seen)]
        solved = cho_solve(factor, own.T, check_finite=False)
        log_det = 2 * float(np.log(factor[0].diagonal()).sum())
        squares = np.einsum("ij,ji->i", own, solved)
        likelihood -= 0.5 * float(weights @ (squares + len(seen) * LOG_2PI + log_det))
        if len(unseen):
            cross = covariance[np.ix_(seen, unseen)]
            deviations[np.ix_(which, unseen)] = solved.T @ cross
            left = covariance[np.ix_(unseen, unseen)] - cross.T @ cho_solve(
                factor, cross, check_finite=False
            )
            uncertain[np.ix_(unseen, unseen)] += weights.sum() * left
    found = GaussianMoments.of_rows(deviations, observed.weights)
    return likelihood, GaussianMoments(found.weight, found.mean + mean, found.scatter + uncertain)
