"""Which states of a hidden variable are used: the score difference of all pairs of merges (6.8).

Two states are told apart by the rows if the network that keeps them apart scores higher (BDe) than
the one in which they are one, Q(ij | y) = Q(i | y) + Q(j | y) (Eq. 6.26). The score is a sum over
states, so only terms of i, j and ij differ, and counts of ij are sums of counts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from unveil.bottleneck.lagrangian import Bottleneck, Completed
from unveil.bottleneck.splits import _touched
from unveil.kernels.bottleneck import merged_entropies
from unveil.model.prior import DirichletPrior, EquivalentSampleSize

__all__ = ["effective_states", "merge_losses", "merge_scores"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]


def merge_scores(
    problem: Bottleneck, completed: Completed, i: int, prior: DirichletPrior | None = None
) -> Matrix:
    """Score(ij) - Score(i, j) for pairs i < j of states of a hidden variable; else -inf.

    Positive where the two states had better be one. Without a prior, that of the problem, or an
    equivalent sample size of 1. To the difference of 6.8 comes that of the entropy of Q(T | Y):
    counts of completed rows alone take two halves of one state for two states that explain half of
    the rows each (the method of Cheeseman and Stutz, which 6.7 uses, says the same).
    """
    scores = _score_pairs(*_stacked(problem, completed.counts, i, prior))
    own, weights = _own_posterior(problem, completed, i)
    return scores + _entropy_pairs(own, weights)


def effective_states(
    problem: Bottleneck, completed: Completed, i: int, prior: DirichletPrior | None = None
) -> int:
    """How many states are left when states that had better be one are merged, best pair first."""
    n, a, signs = _stacked(problem, completed.counts, i, prior)
    own, weights = _own_posterior(problem, completed, i)
    while len(n) > 1:
        scores = _score_pairs(n, a, signs) + _entropy_pairs(own, weights)
        one, other = divmod(int(scores.argmax()), len(n))
        if scores[one, other] <= 0:
            break
        for x in (n, a, own.T):
            x[one] += x[other]
        n, a = (np.delete(x, other, axis=0) for x in (n, a))
        own = np.ascontiguousarray(np.delete(own, other, axis=1))
    return len(n)


def _own_posterior(problem: Bottleneck, completed: Completed, i: int) -> tuple[Matrix, Vector]:
    """Q(t_i, other hidden ones | y), a row for every row and configuration of the others."""
    k = problem.shape[i]
    found, weights = [], []
    for part, q in zip(problem.rows.parts, completed.posteriors, strict=True):
        hidden = q.reshape(len(q), problem.rows.n_hidden, -1).sum(axis=2)
        own = np.moveaxis(hidden.reshape(len(q), *problem.shape), 1 + i, -1).reshape(-1, k)
        found.append(own)
        weights.append(np.repeat(part.weights, len(own) // len(q)))
    return np.ascontiguousarray(np.concatenate(found)), np.concatenate(weights)


def _stacked(
    problem: Bottleneck, counts: Vector, i: int, prior: DirichletPrior | None
) -> tuple[Matrix, Matrix, Vector]:
    """Counts and pseudo-counts of every state, (n_states, n_terms), and the sign of each term.

    The terms are log [Gamma(N + alpha) / Gamma(alpha)] of cells and, for children of T, less those
    of their sums over the child's states.
    """
    own = prior is None and problem.prior is not None
    alpha = problem.alpha if own else problem.layout.pack_prior(prior or EquivalentSampleSize(1.0))
    k = problem.shape[i]
    parts: list[tuple[Matrix, Matrix, float]] = []
    both = zip(_touched(problem, counts, i), _touched(problem, alpha, i), strict=True)
    for (axis, n), (_, a) in both:
        n, a = (np.moveaxis(x, axis, 0) for x in (n, a))
        parts.append((n.reshape(k, -1), a.reshape(k, -1), 1.0))
        if axis < n.ndim - 1:
            sums = (x.sum(axis=-1).reshape(k, -1) for x in (n, a))
            parts.append((*sums, -1.0))
    signs = np.concatenate([np.full(n.shape[1], sign) for n, _, sign in parts])
    return np.hstack([n for n, _, _ in parts]), np.hstack([a for _, a, _ in parts]), signs


def _score_pairs(n: Matrix, a: Matrix, signs: Vector) -> Matrix:
    """The terms of ij, less those of i and of j, for i < j; -inf elsewhere."""
    own = (gammaln(n + a) - gammaln(a)) @ signs
    found = np.full((len(n), len(n)), -np.inf)
    for i in range(len(n)):
        nn, aa = n[i + 1 :] + n[i], a[i + 1 :] + a[i]
        found[i, i + 1 :] = (gammaln(nn + aa) - gammaln(aa)) @ signs - own[i + 1 :] - own[i]
    return found


def merge_losses(problem: Bottleneck, completed: Completed, i: int, gamma: float) -> Matrix:
    """What -L loses, in nats for all cases, when two states of hidden variable i become one.

    With P re-estimated: Jensen-Shannon terms of all families (Slonim et al. 2002), the entropy of
    Q(T), and that of Q(T | Y), which the merge lowers. Infinite on and below the diagonal.
    """
    k = problem.shape[i]
    gained = np.zeros((k, k))
    for axis, n in _touched(problem, completed.counts, i):
        n = np.moveaxis(n, axis, 0)
        gained += gamma * _log_pairs(n.reshape(k, -1))
        if axis < n.ndim - 1:
            gained -= gamma * _log_pairs(n.sum(axis=-1).reshape(k, -1))
    joint = np.moveaxis(completed.joint.reshape(problem.shape), i, 0).reshape(k, -1)
    gained += (1 - gamma) * _log_pairs(joint * problem.n_cases)
    gained += _entropy_pairs(*_own_posterior(problem, completed, i))
    return np.where(np.triu(np.ones((k, k), bool), 1), -gained, np.inf)


def _log_pairs(n: Matrix) -> Matrix:
    """Sum over cells of N log N of ij, less those of i and of j."""
    own = _xlogx(n).sum(axis=1)
    return np.array([_xlogx(n + row).sum(axis=1) for row in n]) - own - own[:, None]


def _xlogx(n: Matrix) -> Matrix:
    return n * np.log(np.where(n > 0, n, 1.0))


def _entropy_pairs(own: Matrix, weights: Vector) -> Matrix:
    """The change of the entropy of Q(. | y), summed over cases, for every pair merged."""
    out = np.zeros((own.shape[1], own.shape[1]))
    merged_entropies(own, weights, out)
    alone = out.diagonal()
    return np.asarray(np.triu(out, 1) - np.triu(alone + alone[:, None], 1), np.float64)
