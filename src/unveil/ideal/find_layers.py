"""How many hidden roots a table asks for, and above which columns (thesis 7.3, 7.6)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.ideal.layers import Layers, Leaves
from unveil.progress import StopReason, Ticker
from unveil.statistics.moments import GaussianMoments

__all__ = ["FoundLayers", "Introduce", "Stage", "find_layers", "joint_luck", "luck"]

Introduce = Literal["both", "ideal", "turned", "all"]
Rows = npt.NDArray[np.float64]

PHASE = "hidden parents"
FOLDS = 5
"""Rows are left out in so many parts."""
HEAVY = 0.3
"""Rows have heavy `tails` from here: nearly all tables of 15 to 30 rows from t with 4 degrees have,
and few of normal ones."""
ROWS_PER_ROOT = 4
"""There are at most as many roots as leave each so many rows: BIC says nothing with fewer."""
THRESHOLDS = (0.1, 0.2, 0.35)
"""Weights (of standardised columns) below which an arc is not begun with, after axes are turned."""


@dataclass(frozen=True, eq=False)
class Stage:
    """The best layers found with so many hidden roots, what else was tried, and if it is kept."""

    layers: Layers
    tried: tuple[tuple[str, Layers], ...]
    needed: float
    kept: bool


@dataclass(frozen=True, eq=False)
class FoundLayers:
    """The layers found, and every stage on the way.

    `left_out` is how many roots rows left out ask for, where these were asked.
    """

    layers: Layers
    stages: tuple[Stage, ...]
    stopped: StopReason
    left_out: int | None = None


def luck(n_columns: int, n_children: int) -> float:
    """What the best of all sets of so many children may gain by luck: log of their number (nats).

    >>> round(luck(50, 10), 1)
    23.1
    """
    k = min(max(n_children, 0), n_columns)
    return math.lgamma(n_columns + 1) - math.lgamma(k + 1) - math.lgamma(n_columns - k + 1)


def joint_luck(n_columns: int, children: Sequence[Collection[str]]) -> float:
    """The same for several hidden variables at once: the log of how their children could be chosen.

    Children that nobody shares are chosen among those that are left: three groups of four are one
    of 5,775 ways to part twelve columns, not of 495 to the power of three.

    >>> round(joint_luck(12, ["abcd", "efgh", "ijkl"]), 2), round(luck(12, 4), 2)
    (8.66, 6.2)
    >>> joint_luck(12, ["abcd"]) == luck(12, 4)
    True
    """
    total, left = -math.lgamma(len(children) + 1), n_columns
    taken: set[str] = set()
    for own in sorted(children, key=len, reverse=True):
        total += luck(n_columns if taken & set(own) else left, len(own))
        taken |= set(own)
        left = n_columns - len(taken)
    return total


def corrected(n_parents: int, rows: float) -> float:
    """What AIC takes for a leaf, corrected for few rows (Hurvich and Tsai 1989): p R / (R - p - 1).

    p are its level, its variance and its weights. With many rows a parent costs one nat.

    >>> [round(corrected(4, rows) - corrected(3, rows), 2) for rows in (19, 100, 1e6)]
    [2.19, 1.13, 1.0]
    """
    p = n_parents + 2
    return p * rows / (rows - p - 1) if rows > p + 1 else math.inf


def tails(rows: Rows) -> float:
    """The mean excess kurtosis of columns, over what that of so many normal numbers has on average.

    That is -6 / (n + 1) for n of them (Fisher 1930).

    >>> round(tails(np.array([[-1.0], [1.0], [-1.0], [1.0]])), 2)  # (1 - 3) + 6 / 5
    -0.8
    """
    spread = np.maximum(rows.std(axis=0), np.finfo(float).tiny)
    return float(np.mean(((rows - rows.mean(axis=0)) / spread) ** 4)) - 3 + 6 / (len(rows) + 1)


def find_layers(
    leaves: Leaves,
    max_hidden: int = 30,
    introduce: Introduce = "both",
    ticker: Ticker | None = None,
    rows: Rows | None = None,
) -> FoundLayers:
    """Hidden roots introduced one after the other, until no further one is warranted.

    `introduce` says how: above clusters of `ideal` profiles (7.3), by all arcs with axes `turned`,
    by the better of `both`, or above `all` columns and no more guided than that (the thesis' greedy
    search). A further root must gain more score than `luck`, and common variance must be there for
    it: with all arcs, the likelihood must gain more than the parameters that it adds (AIC), which
    count for more where rows are few (`corrected`). Where there are fewer rows than leaves, and
    `rows` has them (shape (n_rows, n_leaves), no gaps), with heavy `tails`, fewer roots are kept if
    these predict rows left out better: the score takes a few far rows for a root.
    """
    ticker = ticker or Ticker()
    found = _grown(leaves, max_hidden, introduce, ticker)
    few = rows is not None and len(rows) < leaves.n and found.layers.n_hidden > 1
    if rows is None or not few or tails(rows) < HEAVY:
        return found
    most = _predicting(rows, leaves, found.layers.n_hidden, introduce, ticker)
    kept = [leaves.alone(), *(s.layers for s in found.stages if s.kept)]
    return replace(found, layers=kept[most], left_out=most)


def _predicting(rows: Rows, leaves: Leaves, most: int, introduce: Introduce, ticker: Ticker) -> int:
    """The number of roots from 1 to `most` that rows left out ask for.

    Fewer than `most` if they predict rows left out better by more than a standard error. `most`
    where there is no time.
    """
    folds = min(FOLDS, len(rows))
    deal = np.random.default_rng(0).permutation(len(rows)) % folds
    figures = np.zeros((len(rows), most))
    for fold in range(folds):
        own, others = rows[deal != fold], rows[deal == fold]
        if not ticker.keep_going() or not (own.std(axis=0) > 0).all():
            return most
        moments = GaussianMoments.of_rows(own, np.ones(len(own)))
        here = Leaves(moments, max_parents=leaves.max_parents)
        grown = [
            s.layers for s in _grown(here, most, introduce, ticker, always=True).stages if s.kept
        ]
        standard = (others - here.mean) / here.spread
        for k in range(most):
            layers = grown[min(k, len(grown) - 1)] if grown else here.alone()
            figures[deal == fold, k] = _log_likelihoods(layers, standard)
    best = int(np.argmax(figures.sum(axis=0)))
    better = figures[:, best] - figures[:, -1]
    error = float(better.std(ddof=1)) * math.sqrt(len(rows))
    return best + 1 if better.sum() > error else most


def _log_likelihoods(layers: Layers, rows: Rows) -> Rows:
    """Those of standardised rows, in nats."""
    covariance = layers.weights @ layers.weights.T + np.diag(layers.variances)
    _, log_det = np.linalg.slogdet(covariance)
    squares = np.einsum("ri,ri->r", rows, np.linalg.solve(covariance, rows.T).T)
    return np.asarray(-0.5 * (log_det + rows.shape[1] * math.log(2 * math.pi) + squares))


def _grown(
    leaves: Leaves, max_hidden: int, introduce: Introduce, ticker: Ticker, always: bool = False
) -> FoundLayers:
    """Roots one after the other, until no further one is warranted; with `always`, all of them."""
    current = leaves.alone()
    stages: list[Stage] = []
    common = current.log_likelihood
    most = min(max_hidden, leaves.n - 1, int(leaves.rows / ROWS_PER_ROOT))
    while current.n_hidden < most and leaves.max_parents and ticker.keep_going():
        k = current.n_hidden + 1
        dense = leaves.dense(k)
        tried = _candidates(leaves, current, dense, introduce, ticker)
        if not tried:
            break
        best = max(tried, key=lambda pair: pair[1].score)[1]
        sizes = best.arcs.sum(axis=0)
        needed = luck(leaves.n, int(sizes.min())) if best.n_hidden else 0.0
        price = corrected(k, leaves.rows) - corrected(k - 1, leaves.rows)
        enough = dense.log_likelihood - common > (leaves.n - k + 1) * price
        paid = best.score > current.score + needed and enough
        kept = best.n_hidden >= k and (paid or always)
        stages.append(Stage(best, tuple(tried), needed, kept))
        words = f"{best.n_hidden} above {int((best.arcs.any(axis=1)).sum())} columns"
        ticker.offer(PHASE, k, best.score, best.score - current.score, detail=words)
        if not kept:
            break
        current, common = best, dense.log_likelihood
    return FoundLayers(current, tuple(stages), ticker.reason or "converged")


def _candidates(
    leaves: Leaves, current: Layers, dense: Layers, introduce: Introduce, ticker: Ticker
) -> list[tuple[str, Layers]]:
    """Layers with one root more, adapted, each with how it began."""
    found: list[tuple[str, Layers]] = []
    if introduce in ("both", "ideal"):
        for cluster in leaves.clusters(current):
            if found and not ticker.keep_going():
                return found
            found.append(("ideal profiles", leaves.adapted(leaves.with_parent(current, cluster))))
    if introduce in ("both", "turned"):
        for threshold in THRESHOLDS:
            if found and not ticker.keep_going():
                return found
            begun = leaves.turned(dense, threshold)
            found.append(("turned axes", leaves.adapted(begun)))
        best = max(found, key=lambda pair: pair[1].score)[1]
        again = leaves.adapted(leaves.turned(best, THRESHOLDS[0]))
        found.append(("turned again", again))
    if introduce == "all":
        found.append(("all columns", leaves.adapted(leaves.above_all(current))))
    return found


def loadings(layers: Layers) -> np.ndarray:
    """The weights in standard units, each root's sign such that they are positive on the whole."""
    signs = np.where(layers.weights.sum(axis=0) < 0, -1.0, 1.0)
    return np.asarray(layers.weights * signs)
