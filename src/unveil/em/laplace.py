"""Laplace's approximation of the marginal likelihood with unseen variables, for small models.

In the natural parameters (logits, the last state of each row fixed at zero), the log posterior of
the tables is log P(D | theta) + sum alpha log theta + constant; EM with a prior ends at its
maximum. Around it, with d free parameters and the matrix -A of second derivatives,

    log P(D | G) ~ log P(D | theta) + log p(theta) + (d / 2) log 2 pi - (1 / 2) log det A

(Chickering and Heckerman 1997). The gradient is S[x, u] + alpha(x, u) - (S[u] + alpha(u))
theta(x | u) with expected counts S, so second derivatives take two E-steps per parameter.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError, SizeError
from unveil.infer.unseen import UnseenCells
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.table.core import Table

__all__ = ["laplace"]

MOST_PARAMETERS = 400
Vector = npt.NDArray[np.float64]


def laplace(network: Network, table: Table, prior: DirichletPrior | None = None) -> float:
    """The Laplace approximation of log P(table | graph) in nats, at the end of EM with `prior`.

    >>> from unveil import BDeu, EquivalentSampleSize, datasets, fit
    >>> from unveil.score import FamilyScores
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(20_000, seed=1)
    >>> prior = EquivalentSampleSize(50)
    >>> exact = FamilyScores(rows, BDeu(50)).total(asia.dag)
    >>> abs(laplace(fit(asia.dag, rows, prior), rows, prior) - exact) < 1
    True
    """
    chosen = prior or EquivalentSampleSize(1.0)
    if network.n_parameters > MOST_PARAMETERS:
        raise SizeError(
            f"Laplace's approximation of {network.n_parameters} parameters needs as many second "
            f"derivatives; it is for at most {MOST_PARAMETERS}. Take cheeseman_stutz instead."
        )
    flat = FlatTables(network)
    if flat.compact:
        raise ModelError(
            "Laplace's approximation is for networks of tables; this one has compact "
            "distributions. Take cheeseman_stutz instead."
        )
    tables, alpha = flat.pack(network), flat.pack_prior(chosen)
    if (tables <= 0).any():
        raise ModelError("Laplace's approximation needs tables without zeros: fit with a prior")
    cells = UnseenCells.to_learn_from(network, table)
    found = cells.expected(tables)
    curvature = _curvature(flat, cells, np.log(tables), alpha)
    sign, log_det = np.linalg.slogdet(curvature)
    if sign <= 0:
        raise ModelError(
            "the parameters are no maximum of the posterior (or not all of them can be told from "
            "the rows), so Laplace's approximation does not apply. Run EM to convergence first, "
            "or take cheeseman_stutz."
        )
    d = network.n_parameters
    log_prior = float(alpha @ np.log(tables)) + _log_normaliser(flat, alpha)
    return found.log_likelihood + log_prior + 0.5 * d * math.log(2 * math.pi) - 0.5 * float(log_det)


def _curvature(flat: FlatTables, cells: UnseenCells, logits: Vector, alpha: Vector) -> Vector:
    """Minus the second derivatives of the log posterior in the free logits."""
    free = np.ones(flat.size, bool)
    for first, shape in zip(flat.first, flat.shapes, strict=False):
        size = math.prod(shape)
        free[first + shape[-1] - 1 : first + size : shape[-1]] = False
    places = np.flatnonzero(free)
    step = 1e-4
    rows = []
    for place in places:
        ends = []
        for sign in (1.0, -1.0):
            moved = logits.copy()
            moved[place] += sign * step
            theta = flat.normalised(np.exp(moved))
            counts = cells.expected(theta).counts + alpha
            ends.append(counts - _row_sums(flat, counts) * theta)
        rows.append((ends[1] - ends[0])[places] / (2 * step))
    matrix = np.array(rows).reshape(places.size, places.size)
    return (matrix + matrix.T) / 2


def _row_sums(flat: FlatTables, counts: Vector) -> Vector:
    """Every entry's row sum."""
    parts = [
        np.broadcast_to(c.sum(axis=-1, keepdims=True), c.shape).ravel() for c in flat.split(counts)
    ]
    return np.concatenate(parts)


def _log_normaliser(flat: FlatTables, alpha: Vector) -> float:
    """The sum over rows of log Gamma(alpha_u) - sum log Gamma(alpha_xu)."""
    from scipy.special import gammaln

    return sum(float(gammaln(a.sum(axis=-1)).sum() - gammaln(a).sum()) for a in flat.split(alpha))
