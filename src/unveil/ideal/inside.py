"""Profiles for a hidden parent inside a graph: what clusters of columns have in common.

In a graph that was learned without it, the children of a hidden variable are linked to one another,
and what their parents leave asks for no further parent. So the arcs among a cluster are taken away:
the ideal profiles of its columns given their parents *outside* (thesis 7.3), or the columns as they
are, are explained by one common factor, and its expected value is a profile of the hidden variable.
Taken as seen, but for some uncertainty, it becomes a column like others, and a search finds which
arcs it replaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.graph.dag import DAG
from unveil.statistics.moments import GaussianMoments

__all__ = ["InnerProfile", "inner_profiles", "one_factor", "with_profile"]

Matrix = npt.NDArray[np.float64]

STEPS = 40
"""Steps of EM for a common factor of a cluster: what it shows becomes clear early."""
LEAST = 0.01
"""The least share of a column's variance that a common factor may leave."""
TRUSTED = 0.85
"""The share of a hidden variable's variance that its profile is taken to show."""


@dataclass(frozen=True, eq=False)
class InnerProfile:
    """A profile of a hidden variable: the sum over columns of weight times value.

    `cluster` are the positions of the columns that it was made from.
    """

    cluster: tuple[int, ...]
    weights: Matrix


def inner_profiles(
    moments: GaussianMoments, dag: DAG, clusters: Sequence[Sequence[int]]
) -> Iterator[InnerProfile]:
    """Profiles of clusters: of what parents outside leave, and of the columns as they are.

    `moments` are those of the columns, in the order of the graph's nodes.
    """
    place = {name: i for i, name in enumerate(dag.nodes)}
    parents = [[place[p] for p in dag.parents(name)] for name in dag.nodes]
    covariance = moments.scatter / moments.weight
    for cluster in clusters:
        for outside in (True, False):
            turned = _turned(covariance, parents, cluster, outside)
            left = turned @ covariance @ turned.T
            spread = np.sqrt(np.maximum(left.diagonal(), np.finfo(float).tiny))
            _, weights = one_factor((left / np.outer(spread, spread))[None])
            pull = weights[0] / np.maximum(1.0 - np.square(weights[0]), LEAST) / spread
            yield InnerProfile(tuple(cluster), pull @ turned)


def with_profile(moments: GaussianMoments, weights: Matrix) -> GaussianMoments:
    """Moments of the columns and of a hidden variable with mean 0 and variance 1 behind a profile.

    It is the profile in those units and noise that nothing shows (`TRUSTED`).

    >>> both = GaussianMoments(10.0, np.array([3.0]), np.array([[40.0]]))
    >>> with_profile(both, np.array([1.0])).scatter.round(1).tolist()  # 10 (2 sqrt(0.85))
    [[40.0, 18.4], [18.4, 10.0]]
    """
    n, size = len(weights), float(weights @ moments.scatter @ weights) / moments.weight
    cross = moments.scatter @ weights * np.sqrt(TRUSTED / size)
    scatter = np.empty((n + 1, n + 1))
    scatter[:n, :n], scatter[n, :n], scatter[:n, n] = moments.scatter, cross, cross
    scatter[n, n] = moments.weight
    return GaussianMoments(moments.weight, np.append(moments.mean, 0.0), scatter)


def one_factor(shares: Matrix) -> tuple[Matrix, Matrix]:
    """The log-likelihood per row of one common factor over independence, and its weights.

    `shares` are correlations, shape (n, k, k), several sets at once. By EM from the first
    eigenvector (Rubin and Thayer 1982): with weights l and variances v,

        b = v^-1 l / (1 + l' v^-1 l),  l <- C b / (1 - b . l + b . C b),  v <- 1 - l (C b).

    >>> gain, weights = one_factor(np.array([[[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1.0]]]))
    >>> gain.round(4).tolist(), np.abs(weights).round(2).tolist()
    ([0.3466], [[0.71, 0.71, 0.71]])
    """
    values, vectors = np.linalg.eigh(shares)
    first = np.sqrt(np.maximum(values[:, -1:] - 1.0, 0.05))
    weights = np.clip(vectors[:, :, -1] * first, -0.95, 0.95)
    left = np.maximum(1.0 - np.square(weights), LEAST)
    for _ in range(STEPS):
        scaled = weights / left
        b = scaled / (1.0 + np.einsum("bi,bi->b", scaled, weights))[:, None]
        cross = np.einsum("bij,bj->bi", shares, b)
        size = 1.0 - np.einsum("bi,bi->b", b, weights) + np.einsum("bi,bi->b", b, cross)
        weights = cross / size[:, None]
        left = np.maximum(1.0 - weights * cross, LEAST)
    scaled = weights / left
    length = 1.0 + np.einsum("bi,bi->b", scaled, weights)
    log_det = np.log(left).sum(axis=1) + np.log(length)
    explained = np.einsum("bi,bij,bj->b", scaled, shares, scaled) / length
    trace = (1.0 / left).sum(axis=1) - explained
    return -0.5 * (log_det + trace - shares.shape[1]), weights


def _turned(
    covariance: Matrix, parents: list[list[int]], cluster: Sequence[int], outside: bool
) -> Matrix:
    """Rows of weights that make the profiles of a cluster out of all columns."""
    turned = np.zeros((len(cluster), len(covariance)))
    for row, i in enumerate(cluster):
        turned[row, i] = 1.0
        others = [p for p in parents[i] if p not in cluster] if outside else []
        if others:
            inside = covariance[np.ix_(others, others)]
            turned[row, others] = -np.linalg.solve(inside, covariance[others, i])
    return turned
