"""Two-layer networks: hidden roots above, observed leaves below (thesis 7.3, 7.6).

A hidden variable is introduced where ideal profiles cluster (7.3) and fitted by exact EM; then
every leaf chooses its parents anew by the expected score (structural EM, 7.4), and so on. A second
way to as many hidden variables is to begin with all arcs, turn the axes until most weights are
small, and let the leaves drop them. All of it needs one covariance matrix, no rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unveil.ideal.clusters import Cluster, cluster_profiles
from unveil.kernels.layers import choose_parents, em_layers, expect_layers
from unveil.statistics.moments import GaussianMoments

__all__ = ["Layers", "Leaves"]

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.uint8]

SHORT, LONG = 60, 3000
"""Iterations of EM between changes of structure, and at the end."""
CLOSE, TIGHT = 1e-5, 1e-8
"""Where each of them stops, in nats per row."""
ROUNDS = 40
LEAST_CHILDREN = 3
"""A hidden root with fewer children cannot be told from an arc (two) or from none (one)."""


@dataclass(frozen=True, eq=False)
class Layers:
    """A two-layer network of standardised leaves: `arcs[i, j]` is 1 where root j is i's parent.

    `weights`, shape (n_leaves, n_hidden), are zero where there is no arc; roots have mean 0 and
    variance 1. `log_likelihood` and `score` (BIC) are in nats, for leaves in standard units.
    """

    arcs: Mask
    weights: Matrix
    variances: Matrix
    log_likelihood: float
    score: float

    @property
    def n_hidden(self) -> int:
        """How many hidden roots there are."""
        return int(self.arcs.shape[1])


class Leaves:
    """What is known of the leaves: their correlations, how many rows there are, what arcs cost.

    `moments` may be expectations, where cells are missing. `floor` is the least share of a leaf's
    variance that may stay unexplained (Heywood cases have no bound otherwise).
    """

    def __init__(
        self, moments: GaussianMoments, floor: float = 1e-3, max_parents: int | None = None
    ) -> None:
        self.rows = moments.weight
        self.n = len(moments.mean)
        self.mean = moments.mean
        self.spread = spread = np.sqrt(moments.scatter.diagonal() / moments.weight)
        self.correlation = np.ascontiguousarray(
            moments.scatter / moments.weight / np.outer(spread, spread)
        )
        self.floor = np.full(self.n, floor)
        self.cost = 0.5 * math.log(max(self.rows, 2.0))
        """What BIC subtracts for a parameter: half of log W."""
        room = max(0, int(self.rows / 2) - 2)
        self.max_parents = room if max_parents is None else min(room, max_parents)
        """No leaf has more parents: each of its parameters has two rows at least."""

    def alone(self) -> Layers:
        """Leaves without any parent."""
        none = np.zeros((self.n, 0))
        return self.fitted(none.astype(np.uint8), none, np.ones(self.n), 1)

    def fitted(
        self, arcs: Mask, weights: Matrix, variances: Matrix, steps: int = LONG,
        tolerance: float = TIGHT,
    ) -> Layers:  # fmt: skip
        """The structure with weights and variances after EM from those given."""
        own, left = np.where(arcs, weights, 0.0), np.maximum(variances, self.floor)
        per_row = em_layers(self.correlation, arcs, self.floor, own, left, steps, tolerance)
        likelihood = self.rows * per_row
        cost = self.cost * (2 * self.n + int(arcs.sum()))
        return Layers(arcs, own, left, likelihood, likelihood - cost)

    def clusters(self, layers: Layers, most: int = 3) -> list[Cluster]:
        """The clusters of ideal profiles that the leaves have beside their present parents.

        A = E[Y'Y] under the posterior of what is hidden (7.4): at the true structure the profiles,
        x - weights . h, are independent of one another.
        """
        cross, second = self._expected(layers)
        known = layers.weights @ cross
        products = self.correlation - known - known.T
        products += layers.weights @ second @ layers.weights.T
        return cluster_profiles(products * self.rows, self.rows, self.cost, most)

    def with_parent(self, layers: Layers, cluster: Cluster) -> Layers:
        """The layers with a further root above a cluster, its weights from Eq. 7.12.

        A root of variance one along the first eigenvector v of L profiles, with l the eigenvalue
        per row, has the weights sigma_i v_i sqrt(l - (L - l) / (L - 1)).
        """
        own, size = list(cluster.members), len(cluster.members)
        share = cluster.eigenvalue / cluster.weight
        length = math.sqrt(max(share - (size - share) / max(size - 1, 1), 1e-6))
        arcs, weights = np.zeros((self.n, 1), np.uint8), np.zeros((self.n, 1))
        arcs[own, 0] = 1
        weights[own, 0] = np.sqrt(layers.variances[own]) * cluster.v * length
        variances = layers.variances.copy()
        variances[own] = np.maximum(variances[own] - weights[own, 0] ** 2, 0.1 * variances[own])
        return replace(
            layers, arcs=np.hstack([layers.arcs, arcs]), variances=variances,
            weights=np.hstack([layers.weights, weights]),
        )  # fmt: skip

    def adapted(self, layers: Layers) -> Layers:
        """The layers after leaves have chosen their parents, in turns with EM, while it helps."""
        current = self.fitted(layers.arcs, layers.weights, layers.variances, SHORT, CLOSE)
        best, seen = current, {current.arcs.tobytes()}
        for _ in range(ROUNDS):
            arcs = self._chosen(current)
            kept = arcs.sum(axis=0) >= LEAST_CHILDREN
            arcs = np.ascontiguousarray(arcs[:, kept])
            if arcs.tobytes() in seen:
                break
            seen.add(arcs.tobytes())
            weights = _with_new(current.weights[:, kept], arcs, current.variances)
            current = self.fitted(arcs, weights, current.variances, SHORT, CLOSE)
            best = max(best, current, key=lambda c: c.score)
        return self.fitted(best.arcs, best.weights, best.variances)

    def dense(self, n_hidden: int) -> Layers:
        """So many roots above every leaf: factor analysis, from principal components."""
        values, vectors = np.linalg.eigh(self.correlation)
        rest = max(float(values[: self.n - n_hidden].mean()), 0.05)
        length = np.sqrt(np.maximum(values[::-1][:n_hidden] - rest, 0.05))
        weights = vectors[:, ::-1][:, :n_hidden] * length
        every = np.ones((self.n, n_hidden), np.uint8)
        variances = np.maximum(1 - np.square(weights).sum(axis=1), 0.1)
        return self.fitted(every, weights, variances, 500, CLOSE)

    def turned(self, dense: Layers, threshold: float = 0.2, even: bool = True) -> Layers:
        """The same with its axes turned, and weights below the threshold dropped.

        With `even`, every leaf counts the same in the turn (varimax after Kaiser), else by how
        much its parents explain.
        """
        clear = _varimax(dense.weights, even)
        arcs = (np.abs(clear) > threshold).astype(np.uint8)
        arcs[:, arcs.sum(axis=0) < LEAST_CHILDREN] = 1
        return replace(dense, arcs=arcs, weights=np.where(arcs, clear, 0.0))

    def above_all(self, layers: Layers) -> Layers:
        """The layers with a further root above every leaf, along what is left of their variance."""
        cross, second = self._expected(layers)
        known = layers.weights @ cross
        left = self.correlation - known - known.T + layers.weights @ second @ layers.weights.T
        values, vectors = np.linalg.eigh(left)
        weights = vectors[:, -1:] * math.sqrt(max(float(values[-1]) - 1.0, 0.1))
        return replace(
            layers, arcs=np.hstack([layers.arcs, np.ones((self.n, 1), np.uint8)]),
            weights=np.hstack([layers.weights, weights]),
            variances=np.maximum(layers.variances - weights[:, 0] ** 2, 0.1 * layers.variances),
        )  # fmt: skip

    def without(self, layers: Layers, j: int) -> Layers:
        """The layers without one root, fitted anew."""
        kept = [i for i in range(layers.n_hidden) if i != j]
        arcs = np.ascontiguousarray(layers.arcs[:, kept])
        variances = layers.variances + np.square(layers.weights[:, j])
        return self.fitted(arcs, layers.weights[:, kept], variances)

    def _expected(self, layers: Layers) -> tuple[Matrix, Matrix]:
        k = layers.n_hidden
        cross, second = np.zeros((k, self.n)), np.zeros((k, k))
        expect_layers(
            self.correlation, np.ascontiguousarray(layers.weights), layers.variances, cross, second
        )
        return cross, second

    def _chosen(self, layers: Layers) -> Mask:
        cross, second = self._expected(layers)
        arcs = layers.arcs.copy()
        most = min(layers.n_hidden, self.max_parents)
        choose_parents(
            self.correlation, cross, second, self.floor, self.rows, self.cost, most, arcs
        )
        return arcs


def _with_new(weights: Matrix, arcs: Mask, variances: Matrix) -> Matrix:
    """The weights there are, and something small where an arc is new."""
    small = 0.1 * np.sqrt(variances)[:, None]
    return np.where(arcs & (weights == 0), small, np.where(arcs, weights, 0.0))


def _varimax(weights: Matrix, even: bool, max_steps: int = 500) -> Matrix:
    """Weights with the axes turned so that they are large or small (Kaiser 1958)."""
    n, k = weights.shape
    turn, size = np.eye(k), 0.0
    length = np.sqrt(np.square(weights).sum(axis=1, keepdims=True)) + 1e-12
    unit = weights / length if even else weights
    for _ in range(max_steps):
        now = unit @ turn
        u, s, vt = np.linalg.svd(unit.T @ (now**3 - now * np.square(now).sum(axis=0) / n))
        turn = u @ vt
        if s.sum() < size * (1 + 1e-9):
            break
        size = float(s.sum())
    return np.asarray(weights @ turn)
