"""Clusters of ideal profiles: variables that ask for the same further parent (thesis 7.3).

With the columns y_i / sigma_i of ideal profiles as a matrix Y, the hidden profile that helps a
cluster most under C1 is z = Y v with v the first eigenvector of A = Y'Y (Eq. 7.11, 7.12), and
C1 sums up to half the eigenvalue (Eq. 7.10). All that is needed of the rows is A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Cluster", "cluster_gain", "cluster_profiles"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cluster:
    """Variables that ask for one parent.

    - `members`: their positions
    - `v`: the first eigenvector of their part of A (Eq. 7.12), its largest entries positive on
      the whole: the hidden profile is the sum of v_i y_i / sigma_i
    - `eigenvalue`: the first one; half of it is what C1 promises (Eq. 7.10)
    - `weight`: that of the rows
    - `gain`: what the score gains, see `cluster_gain`
    """

    members: tuple[int, ...]
    v: Matrix
    eigenvalue: float
    weight: float
    gain: float


def cluster_gain(eigenvalue: float, size: int, weight: float, cost: float) -> float:
    """What a hidden parent of a cluster gains, its own likelihood and cost included (nats).

    C1 takes the hidden profile as seen. It is not: summed out, one common factor of L standardised
    profiles with the first eigenvalue l = eigenvalue / weight of their correlations has

        -W / 2 (log l + (L - 1) log((L - l) / (L - 1)))

    more log-likelihood than none (noise equal among them), less `cost` for every child. For L = 2
    this is exact, -W / 2 log(1 - r^2).

    >>> round(cluster_gain(1.5 * 100, 2, 100, 0.0), 4)  # two profiles with correlation 0.5
    14.3841
    """
    if size < 2:
        return 0.0
    share = min(max(eigenvalue / weight, 1.0), size * (1 - 1e-9))
    rest = (size - share) / (size - 1)
    return float(-0.5 * weight * (np.log(share) + (size - 1) * np.log(rest)) - cost * size)


def cluster_profiles(a: Matrix, weight: float, cost: float, most: int = 3) -> list[Cluster]:
    """The best clusters that merging finds, at most so many, the best first.

    `a` is Y'Y, shape (n, n), its diagonal near `weight`; `cost` is what a child's weight costs.
    Every variable begins as a cluster of its own; the two whose union gains most over them (or
    loses least) are merged, until one is left (7.3). Of all clusters on the way, the best is kept,
    then the best of those that share fewer than half of their members with it, and so on.

    >>> y = np.repeat([[1.0, -1.0, 0.5, -0.5]], 3, axis=0) + np.eye(3, 4)
    >>> [c.members for c in cluster_profiles(y @ y.T, 4.0, 0.0, most=1)]
    [(0, 1, 2)]
    """
    n = len(a)
    scale = np.sqrt(np.maximum(a.diagonal(), 1e-300) / weight)
    a = a / np.outer(scale, scale)
    vectors = np.eye(n)
    sizes, values, gains = np.ones(n), a.diagonal().copy(), np.zeros(n)
    cross = a.copy()
    alive = np.ones(n, bool)
    seen: list[Cluster] = []
    for _ in range(n - 1):
        i, j = _best_pair(values, sizes, gains, cross, alive, weight, cost)
        members = np.flatnonzero(np.abs(vectors[:, i]) + np.abs(vectors[:, j]) > 0)
        v, value = _first_eigenvector(a[np.ix_(members, members)])
        vectors[:, i], vectors[:, j] = 0.0, 0.0
        vectors[members, i] = v
        alive[j] = False
        sizes[i], values[i] = len(members), value
        gains[i] = cluster_gain(value, len(members), weight, cost)
        cross[i] = cross[:, i] = vectors.T @ (a[:, members] @ v)
        seen.append(Cluster(tuple(members.tolist()), v, value, weight, float(gains[i])))
    return _different(seen, most)


def _best_pair(
    values: Matrix, sizes: Matrix, gains: Matrix, cross: Matrix, alive: npt.NDArray[np.bool_],
    weight: float, cost: float,
) -> tuple[int, int]:  # fmt: skip
    """The two clusters to merge, judged in the plane of their two profiles."""
    left = np.flatnonzero(alive)
    p, q = np.triu_indices(len(left), 1)
    i, j = left[p], left[q]
    half = 0.5 * (values[i] - values[j])
    top = 0.5 * (values[i] + values[j]) + np.sqrt(half**2 + cross[i, j] ** 2)
    size = sizes[i] + sizes[j]
    share = np.clip(top / weight, 1.0, size * (1 - 1e-9))
    gain = -0.5 * weight * (np.log(share) + (size - 1) * np.log((size - share) / (size - 1)))
    better = gain - cost * size - gains[i] - gains[j]
    best = int(better.argmax())
    return int(i[best]), int(j[best])


def _first_eigenvector(a: Matrix) -> tuple[Matrix, float]:
    values, vectors = np.linalg.eigh(a)
    v = vectors[:, -1]
    return (v if v.sum() >= 0 else -v), float(values[-1])


def _different(seen: list[Cluster], most: int) -> list[Cluster]:
    """The best clusters that gain, none mostly made of another's members."""
    found: list[Cluster] = []
    for cluster in sorted(seen, key=lambda c: -c.gain):
        if cluster.gain <= 0 or len(found) == most:
            break
        own = set(cluster.members)
        if all(len(own & {*other.members}) * 2 < min(len(own), len(other.members))
               for other in found):  # fmt: skip
            found.append(cluster)
    return found
