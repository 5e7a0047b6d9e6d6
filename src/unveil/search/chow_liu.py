"""The best forest for any decomposable score (Chow and Liu 1968; thesis 2.3.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.progress import Progress, Step, Ticker
from unveil.score.protocol import Families
from unveil.search.graph_state import dag_from
from unveil.search.result import SearchResult
from unveil.search.ties import tie

__all__ = ["chow_liu"]

PHASE = "Chow-Liu forest"
Gains = npt.NDArray[np.float64]
Arc = tuple[int, int]
"""A child and its parent."""


def chow_liu(
    scores: Families, root: str | None = None, progress: Progress | None = None
) -> SearchResult:
    """The graph with at most one parent per variable and the largest score.

    The arc x -> y is worth w(x, y) = s(y, {x}) - s(y, {}); under the likelihood that is the mutual
    information times the number of rows. A maximum spanning forest over the pairs of positive
    worth is the best graph of its kind: O(n^2) families and no local maxima. A good start for
    other searches, and the structure to choose when inference must stay cheap.

    Scores that treat equivalent graphs alike make w symmetric, and directions are free: arcs lead
    away from `root`, in other trees (or without a root) from the first variable. With other scores
    a pair is worth its better direction, each tree is directed away from its best root, and arcs
    that lose in that direction are left out; then the forest is good, not always the best.

    >>> from unveil import datasets
    >>> from unveil.score import BIC, FamilyScores
    >>> forest = chow_liu(FamilyScores(datasets.table("college_plans"), BIC()), root="SES")
    >>> forest.dag
    DAG(PE -> SEX, CP -> IQ, SES -> PE, PE -> CP)
    """
    names = scores.names
    if root is not None and root not in names:
        raise ModelError(f"the root {root!r} is no variable; they are {', '.join(names[:12])}")
    ticker = Ticker.of(progress)
    n = scores.n_variables
    alone = float(scores.many([(y, ()) for y in range(n)]).sum())
    gains = np.array(list(scores.all_toggles([(y, ()) for y in range(n)])))
    parents = np.zeros((n, n), np.uint8)
    for child, parent in _arcs(gains, None if root is None else names.index(root), tie(alone)):
        parents[child, parent] = 1
    gained = float(gains[parents > 0].sum())
    step = Step(PHASE, 1, alone + gained, gained, elapsed=ticker.elapsed)
    ticker.offer(PHASE, 1, step.objective, gained)
    dag = dag_from(parents, names)
    return SearchResult.made(scores, ticker, PHASE, dag, step.objective, [step])


def _arcs(gains: Gains, root: int | None, tied: float) -> list[Arc]:
    """The arcs of the forest, each tree directed away from its root."""
    neighbours = _forest(gains, tied)
    seen: set[int] = set()
    arcs: list[Arc] = []
    for first in range(len(gains)):
        if first in seen:
            continue
        tree = _directed(neighbours, first)
        members = {first, *(y for y, _ in tree)}
        seen |= members
        best = _best_root(first, tree, gains, tied)
        top = root if root is not None and root in members else best
        arcs += [(y, x) for y, x in _directed(neighbours, top) if gains[y, x] > tied]
    return arcs


def _forest(gains: Gains, tied: float) -> list[list[int]]:
    """The neighbours of every variable in a maximum spanning forest of positive worth."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    worth = np.maximum(gains, gains.T)
    tree: Any = minimum_spanning_tree(csr_array(np.where(worth > tied, -worth, 0.0)))
    neighbours: list[list[int]] = [[] for _ in gains]
    for x, y in zip(*(ends.tolist() for ends in tree.nonzero()), strict=True):
        neighbours[x].append(y)
        neighbours[y].append(x)
    return [sorted(around) for around in neighbours]


def _best_root(first: int, tree: list[Arc], gains: Gains, tied: float) -> int:
    """The root that makes a tree's arcs worth most; of equals the first one met.

    Moving the root along an arc turns that arc and no other.
    """
    worth = {first: 0.0}
    for y, x in tree:
        worth[y] = worth[x] + max(gains[x, y], 0.0) - max(gains[y, x], 0.0)
    most = max(worth.values())
    return next(v for v, total in worth.items() if total >= most - tied)


def _directed(neighbours: list[list[int]], root: int) -> list[Arc]:
    """The arcs of the tree around `root`, directed away from it."""
    arcs: list[Arc] = []
    fresh = [(root, -1)]
    while fresh:
        x, before = fresh.pop()
        for y in neighbours[x]:
            if y != before:
                arcs.append((y, x))
                fresh.append((y, x))
    return arcs
