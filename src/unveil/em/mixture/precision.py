"""How exactly the rows tell the parameters of a mixture: standard errors.

The inverse of the information is the covariance of the logits; that of the probabilities follows by
the delta method. Estimates of zero and one are taken as known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unveil.em.mixture.information import Layout, Matrix, Method, Places, information
from unveil.em.mixture.residuals import different_rows
from unveil.errors import DataError
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.records import Record
from unveil.table.core import Table

__all__ = ["StandardErrors", "standard_errors"]

AT_THE_EDGE = 0.01
"""A probability that stands for fewer cases than this counts as zero, and as known."""
SINGULAR = 1e-4
"""A direction of the scaled information below this: the rows do not tell the parameters apart."""


@dataclass(frozen=True)
class StandardErrors(Record):
    """Standard errors of the class shares, shape (k,), and of each column's table.

    `columns[name]` has shape (k, states). NaN stands where an estimate is zero or one (or rests on
    less than a hundredth of a case), and everywhere if the rows cannot tell all parameters apart:
    then `n_undetermined` says in how many directions they can be moved for nothing.
    """

    shares: Matrix
    columns: dict[str, Matrix]
    method: Method
    n_undetermined: int = 0


def standard_errors(
    network: Network,
    name: str,
    table: Table,
    prior: DirichletPrior | None = None,
    method: Method = "observed",
) -> StandardErrors:
    """Standard errors of a mixture at the end of EM; `name` is its hidden root.

    `observed` takes the second derivatives of the log-likelihood (or with a `prior` of the log
    posterior), `outer product` the squares of the first ones.

    >>> from unveil import datasets, latent_classes
    >>> plans = datasets.table("college_plans")
    >>> found = latent_classes(plans, n_classes=2, n_starts=2, seed=1)
    >>> standard_errors(found.network, "class", plans).shares.round(3).tolist()
    [0.007, 0.007]
    """
    if method not in ("observed", "outer product"):
        raise DataError(f"standard errors are 'observed' or 'outer product', not {method!r}")
    rows = different_rows(network, name, table)
    made = Layout.of(network, name, rows)
    matrix, cases = information(network, name, rows, prior, method)
    rows_of_tables = made.multinomials()
    free = [_free_entries(m, made.theta, cases) for m in rows_of_tables]
    chosen = np.concatenate(free)
    covariance, n_undetermined = _inverse(matrix[np.ix_(chosen, chosen)])
    errors = np.full(made.theta.size, np.nan)
    if n_undetermined == 0:
        begin = 0
        for m, own in zip(rows_of_tables, free, strict=True):
            block = covariance[begin : begin + own.size, begin : begin + own.size]
            begin += own.size
            if own.size:
                _fill(errors, made.theta, m, own, block)
    shares, columns = made.split(errors)
    return StandardErrors(shares, columns, method, n_undetermined)


def _free_entries(place: Places, theta: Matrix, cases: Matrix) -> Places:
    """The entries of a multinomial that may move: not those at the edge, nor the largest one."""
    inside = place[cases[place] >= AT_THE_EDGE]
    return inside[inside != inside[theta[inside].argmax()]] if inside.size else inside


def _inverse(matrix: Matrix) -> tuple[Matrix, int]:
    """The inverse of the information, and how many directions it says nothing about."""
    scale = np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    flat = int((values < SINGULAR).sum())
    if flat:
        return np.zeros_like(matrix), flat
    return (vectors / values) @ vectors.T / np.outer(scale, scale), 0


def _fill(errors: Matrix, theta: Matrix, place: Places, free: Places, covariance: Matrix) -> None:
    """Standard errors of a multinomial's probabilities from the covariance of its free logits."""
    largest = place[theta[place].argmax()]
    moving = np.append(free, largest)
    slopes = (np.diag(theta[moving]) - np.outer(theta[moving], theta[moving]))[:, :-1]
    variances = np.einsum("ia,ab,ib->i", slopes, covariance, slopes)
    errors[moving] = np.sqrt(np.maximum(variances, 0.0))
