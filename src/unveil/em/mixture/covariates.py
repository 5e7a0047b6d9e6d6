"""Who belongs to which class? Class membership by given columns: a multinomial logit inside EM.

P(x | z) = sum over c of pi_c(z) * product over i of P(x_i | c),  pi_c(z) = exp(g_c z) / sum_d ...,

with g_1 = 0 for the first class (Dayton and Macready 1988; Bandeen-Roche et al. 1997). One step:
tables and coefficients are fitted together, by EM that begins at the mixture without covariates. In
its M step the tables are expected counts and the coefficients take Newton steps on

    sum over rows of w * sum over c of r_c log pi_c(z),    r_c the posterior of class c,

whose gradient, sum of w (r_c - pi_c) z, is also that of the observed log-likelihood. Standard
errors come from the second derivatives of that log-likelihood in all parameters, by differences of
its exact gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.em.mixture.design import Design, design_of
from unveil.em.mixture.fit import table_values
from unveil.em.mixture.residuals import one_hot
from unveil.errors import DataError
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD
from unveil.progress import StopReason, Ticker
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.places import tell
from unveil.table.variable import Label

if TYPE_CHECKING:
    from unveil.em.mixture.choice import MixtureResult

__all__ = ["ClassRegression", "class_regression"]

Matrix = npt.NDArray[np.float64]

MOST_STEPS = 2000
TOLERANCE = 1e-10
"""EM ends when it gains less than this part of the log-likelihood."""
NEWTON_STEPS = 3
"""So many Newton steps on the coefficients in every M step; EM repeats them."""
TINY = 1e-300


@dataclass(frozen=True)
class ClassRegression(Record):
    """How class membership depends on covariates.

    `coefficients[c, j]` is the log of the odds of class c against the first class that one unit of
    term j brings, `standard_errors` has the same shape (NaN where the rows do not tell). `network`
    has the tables of the columns as fitted together with the coefficients, and the average shares.
    `log_likelihood` is that of the rows given their covariates; `n_left_out` rows lacked one.
    """

    terms: tuple[str, ...]
    classes: tuple[Label, ...]
    coefficients: Matrix
    standard_errors: Matrix
    log_likelihood: float
    n_parameters: int
    stopped: StopReason
    network: Network = field(repr=False)
    design: Design = field(repr=False)
    n_left_out: int = 0

    def shares(self, covariates: Table) -> Matrix:
        """P(class | covariates) of every row, shape (n_rows, n_classes)."""
        return _softmax(self.design.matrix(covariates) @ self.coefficients.T)


def class_regression(
    found: MixtureResult, table: Table, covariates: Table, ticker: Ticker | None = None
) -> ClassRegression:
    """The chosen mixture of `found`, fitted again together with a logit of its classes.

    `table` has the columns the classes explain, `covariates` those that explain the classes, row
    by row: states count against the first one, numbers as they are. Rows that lack a covariate are
    left out.
    """
    if found.n_classes < 2:
        raise DataError("with a single class there is no membership for covariates to explain")
    ticker = ticker or Ticker()
    there = ~np.any([covariates.missing(n) for n in covariates.names], axis=0)
    there &= table.row_weights > 0
    n_gone = int((~there & (table.row_weights > 0)).sum())
    if n_gone:
        tell(f"{n_gone:,} rows lack a covariate and are left out of the logit of the classes")
    if not there.any():
        raise DataError("no row has all covariates; leave out the emptiest")
    rows = table.take(there).conform([found.network.variable(n) for n in table.names])
    design = design_of(covariates.take(there))
    work = _Work(
        one_hot(rows), design.scaled(covariates.take(there)), rows.row_weights,
        tuple(v.n_states for v in rows.variables), found.n_classes,
    )  # fmt: skip
    tables = np.concatenate([table_values(found.network, n) for n in rows.names], axis=1)
    slopes = np.zeros((work.k, work.z.shape[1]))
    shares = table_values(found.network, found.name)
    slopes[:, 0] = np.log(np.maximum(shares, 1e-10)) - np.log(max(shares[0], 1e-10))
    slopes, tables, value, stopped = _em(work, slopes, tables, ticker)
    errors = _standard_errors(work, slopes, tables, design)
    n_free = (work.k - 1) * work.z.shape[1] + work.k * (sum(work.sizes) - len(work.sizes))
    average = np.average(_softmax(work.z @ slopes.T), axis=0, weights=work.weights)
    return ClassRegression(
        design.terms, found.network.variable(found.name).labels, slopes @ design.back.T, errors,
        value, n_free, stopped, _network(found, rows.names, tables, average, work.sizes), design,
        n_gone,
    )  # fmt: skip


@dataclass(frozen=True)
class _Work:
    """Rows as indicators, their covariates, weights; states of the columns; number of classes."""

    ones: Matrix
    z: Matrix
    weights: Matrix
    sizes: tuple[int, ...]
    k: int

    def posterior(self, slopes: Matrix, tables: Matrix) -> tuple[Matrix, Matrix, float]:
        """P(class | row) and P(class | covariates) of every row, and the log-likelihood."""
        shares = _softmax(self.z @ slopes.T)
        logs = np.log(np.maximum(shares, TINY)) + self.ones @ np.log(np.maximum(tables, TINY)).T
        most = logs.max(axis=1, keepdims=True)
        joint = np.exp(logs - most)
        total = joint.sum(axis=1, keepdims=True)
        value = float(self.weights @ (most + np.log(total))[:, 0])
        return joint / total, shares, value

    def tables(self, posterior: Matrix) -> Matrix:
        """Expected counts, normalised within every column and class."""
        counts = (posterior * self.weights[:, None]).T @ self.ones
        parts = np.split(counts, np.cumsum(self.sizes)[:-1], axis=1)
        totals = [p.sum(axis=1, keepdims=True) for p in parts]
        return np.concatenate(
            [np.where(t > 0, p / np.maximum(t, TINY), 1 / p.shape[1])
             for p, t in zip(parts, totals, strict=True)], axis=1,
        )  # fmt: skip


def _em(
    work: _Work, slopes: Matrix, tables: Matrix, ticker: Ticker
) -> tuple[Matrix, Matrix, float, StopReason]:
    before = -np.inf
    for step in range(MOST_STEPS):
        posterior, _, value = work.posterior(slopes, tables)
        if value - before < TOLERANCE * abs(value):
            return slopes, tables, value, "converged"
        if not ticker.offer("covariates of the classes", step + 1, value):
            return slopes, tables, value, ticker.reason or "asked to stop"
        before = value
        tables = work.tables(posterior)
        for _ in range(NEWTON_STEPS):
            slopes = _newton(work, slopes, posterior)
    return slopes, tables, work.posterior(slopes, tables)[2], "iteration cap"


def _newton(work: _Work, slopes: Matrix, posterior: Matrix) -> Matrix:
    """The coefficients after one Newton step, halved until it does not lower the objective."""

    def objective(trial: Matrix) -> float:
        logs = np.log(np.maximum(_softmax(work.z @ trial.T), TINY))
        return float(work.weights @ (posterior * logs).sum(axis=1))

    shares = _softmax(work.z @ slopes.T)
    k, p = slopes.shape
    gradient = ((posterior - shares) * work.weights[:, None]).T @ work.z
    curvature = np.zeros(((k - 1) * p, (k - 1) * p))
    for c in range(1, k):
        for d in range(1, k):
            own = work.weights * shares[:, c] * ((c == d) - shares[:, d])
            block = (work.z * own[:, None]).T @ work.z
            curvature[(c - 1) * p : c * p, (d - 1) * p : d * p] = block
    ridge = 1e-10 * max(float(curvature.diagonal().max(initial=0.0)), 1e-10)
    move = np.linalg.solve(curvature + ridge * np.eye(len(curvature)), gradient[1:].ravel())
    now, share = objective(slopes), 1.0
    while share > 1e-4:
        trial = slopes.copy()
        trial[1:] += share * move.reshape(k - 1, p)
        if objective(trial) >= now:
            return trial
        share /= 2
    return slopes


def _standard_errors(work: _Work, slopes: Matrix, tables: Matrix, design: Design) -> Matrix:
    """Those of the coefficients, tables being estimated too; NaN if the rows do not tell."""
    k, p = slopes.shape
    inside = (tables > 1e-6) & (tables < 1 - 1e-6)
    places = np.flatnonzero(inside.ravel())
    n_own = (k - 1) * p

    def gradient(vector: Matrix) -> Matrix:
        trial = np.vstack([np.zeros(p), vector[:n_own].reshape(k - 1, p)])
        logits = np.log(np.maximum(tables, TINY)).ravel()
        logits[places] += vector[n_own:]
        own = _normalised(logits.reshape(tables.shape), work.sizes)
        posterior, shares, _ = work.posterior(trial, own)
        each = posterior * work.weights[:, None]
        slope = ((posterior - shares) * work.weights[:, None]).T @ work.z
        counts = each.T @ work.ones
        parts = np.split(counts, np.cumsum(work.sizes)[:-1], axis=1)
        totals = np.concatenate(
            [np.repeat(q.sum(axis=1, keepdims=True), q.shape[1], axis=1) for q in parts], axis=1
        )
        table = (counts - totals * own).ravel()[places]
        return np.concatenate([slope[1:].ravel(), table])

    at = np.concatenate([slopes[1:].ravel(), np.zeros(len(places))])
    step = 1e-5
    information = np.empty((len(at), len(at)))
    for i in range(len(at)):
        move = np.zeros(len(at))
        move[i] = step
        information[i] = (gradient(at - move) - gradient(at + move)) / (2 * step)
    information = (information + information.T) / 2
    # Logits of a table's row are only known up to a constant: the generalised inverse leaves the
    # directions out that change nothing, and those do not reach the coefficients.
    covariance = np.linalg.pinv(information, rcond=1e-9, hermitian=True)[:n_own, :n_own]
    back = np.kron(np.eye(k - 1), design.back)
    variances = (back @ covariance @ back.T).diagonal()
    errors = np.sqrt(np.where(variances > 0, variances, np.nan)).reshape(k - 1, p)
    return np.vstack([np.zeros(p), errors])


def _normalised(logits: Matrix, sizes: Sequence[int]) -> Matrix:
    parts = np.split(logits, np.cumsum(sizes)[:-1], axis=1)
    return np.concatenate([_softmax(part) for part in parts], axis=1)


def _softmax(logits: Matrix) -> Matrix:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def _network(
    found: MixtureResult,
    names: Sequence[str],
    tables: Matrix,
    shares: Matrix,
    sizes: Sequence[int],
) -> Network:
    root = found.network.variable(found.name)
    parts = np.split(tables, np.cumsum(sizes)[:-1], axis=1)
    columns = [
        TableCPD(found.network.variable(n), [root], part)
        for n, part in zip(names, parts, strict=True)
    ]
    return Network([TableCPD(root, [], shares), *columns])
