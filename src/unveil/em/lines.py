"""Linear Gaussian networks as arrays, and exact EM for them (thesis 7.4).

Rows that lack the same cells share one factorisation. Where the columns that are seen at all are
seen in every row, rows are not needed either: moments are enough, and a step costs the same for a
thousand rows as for a million.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, ModelError
from unveil.graph.dag import DAG
from unveil.infer.gaussian.condition import patterns
from unveil.kernels.lines import regress_all
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network
from unveil.progress import Run, Step, StopReason, Ticker, run
from unveil.statistics.moments import GaussianMoments
from unveil.statistics.redundant import check_units
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["Lines", "Observed", "em_lines", "expected_moments", "fit_lines", "parents_matrix"]

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.uint8]

LOG_2PI = math.log(2 * math.pi)
BLOCK = 1 << 21
"""So many numbers of inverted matrices are held at a time."""
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
                )
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
        for name, size in zip(table.names, np.nanmax(np.abs(values), axis=0), strict=True):
            check_units(name, float(size))
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

    @classmethod
    def trusted(cls, table: Table) -> Observed:
        """Those of continuous columns that were checked before, or whose faults others tell."""
        values = np.column_stack([table.column(n) for n in table.names]).astype(np.float64)
        weights = np.asarray(table.row_weights, np.float64)
        complete = not np.isnan(values).any()
        moments = GaussianMoments.of_rows(values, weights) if complete else None
        return cls(table.names, moments, values, weights, np.zeros(table.n_columns))

    @cached_property
    def blocks(self) -> list[tuple[Any, Any, Any, Any]]:
        """Patterns of unseen cells, several at a time, with about as many unseen cells each.

        A block is (rows, which pattern each has, unseen cells of each pattern padded with -1,
        how many cells each shows).
        """
        found = sorted(patterns(np.isnan(self.values)), key=lambda p: len(p[2]))
        made, start = [], 0
        while start < len(found):
            stop = start + 1
            widest = len(found[start][2])
            while stop < len(found):
                wider = max(widest, len(found[stop][2]))
                if (stop + 1 - start) * max(wider, 1) ** 2 > BLOCK or wider > 2 * widest + 4:
                    break
                stop, widest = stop + 1, wider
            some = found[start:stop]
            unseen = np.full((len(some), widest), -1, np.intp)
            for row, (_, _, cells) in zip(unseen, some, strict=True):
                row[: len(cells)] = cells
            rows = np.concatenate([r for r, _, _ in some])
            which = np.repeat(np.arange(len(some)), [len(r) for r, _, _ in some])
            n_seen = np.array([float(len(seen)) for _, seen, _ in some])
            made.append((rows, which, unseen, n_seen))
            start = stop
        return made

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
    if observed.moments is not None:
        return _from_moments(*lines.joint(), observed.moments)
    return _from_rows(lines, observed)


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
    return Run(found.state[:2], found.trace, found.stopped)


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
    inverse, log_det = _inverse(covariance[:n, :n])
    off = seen.mean - mean[:n]
    spread = seen.scatter + seen.weight * np.outer(off, off)
    trace = float(np.einsum("ij,ij", inverse, spread))
    likelihood = -0.5 * (seen.weight * (n * LOG_2PI + log_det) + trace)
    k = covariance[n:, :n] @ inverse
    cross = k @ seen.scatter
    left = covariance[n:, n:] - k @ covariance[:n, n:]
    scatter = np.empty(covariance.shape)
    scatter[:n, :n], scatter[n:, :n], scatter[:n, n:] = seen.scatter, cross, cross.T
    scatter[n:, n:] = cross @ k.T + seen.weight * left
    whole = np.concatenate([seen.mean, mean[n:] + k @ off])
    return likelihood, GaussianMoments(seen.weight, whole, scatter)


def _from_rows(lines: Lines, observed: Observed) -> tuple[float, GaussianMoments]:
    """The same pattern by pattern, with unseen cells among the columns as well.

    With the precision P = (I - B)' V^-1 (I - B) and d the deviations, zero where unseen (u):
    E[d_u] = -P_uu^-1 (P d)_u, its covariance is P_uu^-1, and -2 log p(seen) is
    s log 2 pi + log det V + log det P_uu + d' P d - (P d)_u' P_uu^-1 (P d)_u.
    So only matrices of the size of what is unseen are inverted, many patterns at once.
    """
    n, size = len(observed.names), len(lines.names)
    turned = np.eye(size) - lines.coefficients
    mean = np.linalg.solve(turned, lines.intercept)
    precision = (turned.T / lines.variances) @ turned
    log_det = float(np.log(lines.variances).sum())
    deviations = np.zeros((len(observed.values), size))
    deviations[:, :n] = np.where(np.isnan(observed.values), 0.0, observed.values - mean[:n])
    pulled = deviations @ precision
    squares = np.einsum("ij,ij->i", pulled, deviations)
    uncertain = np.zeros((size, size))
    likelihood = 0.0
    weights = observed.weights
    extra = np.arange(n, size)
    for rows, which, unseen, n_seen in observed.blocks:
        # `unseen` is padded with -1; a padded place is a variable of its own with precision one.
        cells = np.hstack([unseen, np.broadcast_to(extra, (len(unseen), size - n))])
        padded = cells < 0
        own = precision[cells[:, :, None], cells[:, None, :]]
        own[padded[:, :, None] | padded[:, None, :]] = 0.0
        places = np.nonzero(padded)
        own[places[0], places[1], places[1]] = 1.0
        inverse = np.linalg.inv(own) if own.shape[1] else own
        sizes = np.linalg.slogdet(own)[1] if own.shape[1] else np.zeros(len(own))
        right = np.where(padded[which], 0.0, pulled[rows[:, None], cells[which]])
        moved = -np.einsum("rij,rj->ri", inverse[which], right)
        left = squares[rows] + np.einsum("ri,ri->r", right, moved)
        constant = n_seen[which] * LOG_2PI + log_det + sizes[which]
        likelihood -= 0.5 * float(weights[rows] @ (constant + left))
        flat = np.broadcast_to(rows[:, None], moved.shape)[~padded[which]]
        deviations[flat, cells[which][~padded[which]]] = moved[~padded[which]]
        mass = np.bincount(which, weights[rows], len(unseen))
        inside = ~(padded[:, :, None] | padded[:, None, :])
        at = np.nonzero(inside)
        np.add.at(
            uncertain,
            (cells[at[0], at[1]], cells[at[0], at[2]]),
            mass[at[0]] * inverse[at],
        )
    found = GaussianMoments.of_rows(deviations, weights)
    return likelihood, GaussianMoments(found.weight, found.mean + mean, found.scatter + uncertain)


def _inverse(covariance: Matrix) -> tuple[Matrix, float]:
    """The inverse and the log-determinant.

    Not by triangular solves: BLAS would start threads for them however small they are.
    """
    factor = np.linalg.cholesky(covariance)
    return np.asarray(np.linalg.inv(covariance)), 2 * float(np.log(factor.diagonal()).sum())
