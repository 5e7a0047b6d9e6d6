"""Structure search with weight annealing (thesis 3.5.1): climbs on reweighted complete rows.

Not to be taken for simulated annealing (`annealing.py`), which accepts moves that lose score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.anneal import Adversary, Annealed, Annealing, Geometric, Learner, Random, anneal
from unveil.graph.dag import DAG
from unveil.progress import Progress, Step, Ticker
from unveil.score.families import FamilyScores
from unveil.score.gradient import weight_gradient
from unveil.search.result import SearchResult
from unveil.statistics.memory import as_rows

__all__ = ["GraphLearner", "annealed_search"]

Vector = npt.NDArray[np.float64]
Search = Callable[..., SearchResult]

ANNEALINGS = {
    "adversary": Annealing(Adversary(noise=1.0), Geometric(1.0, 0.97, 0.5)),
    "random": Annealing(Random(), Geometric(1.0, 0.97, 0.5)),
}
"""What `anneal="adversary"` and `"random"` mean for a search. It is not cooled far: since every
graph is climbed from with the rows' own weights, colder steps only find what is known."""


class GraphLearner:
    """A search as annealing sees it: hypotheses are graphs, rows that are equal are one.

    `scores` are those of the rows' own weights; `search` takes scores of families and a start.
    """

    def __init__(self, scores: FamilyScores, search: Search) -> None:
        self.scores, self._search = scores, search
        # Other engines than tables in memory give their distinct rows.
        self.table = as_rows(scores.statistics).folded()
        self._own = self.table.row_weights
        self._perturbed: tuple[Vector, FamilyScores] | None = None

    @property
    def weights(self) -> Vector:
        """The weights of the distinct rows."""
        return self._own

    def optimise(self, hypothesis: DAG, weights: Vector, ticker: Ticker) -> DAG:
        """Where the search ends under these weights (Eq. 3.8)."""
        return self._search(self._families(weights), start=hypothesis, progress=ticker).dag

    def finish(self, hypothesis: DAG, ticker: Ticker) -> DAG:
        """Where it ends under the rows' own; all families it looked at before are remembered."""
        return self._search(self.scores, start=hypothesis, progress=ticker).dag

    def score(self, hypothesis: DAG, weights: Vector) -> float:
        """The score of the graph under these weights."""
        return self._families(weights).total(hypothesis)

    def slopes(self, hypothesis: DAG, weights: Vector) -> Vector:
        """d Score / d w of every distinct row, for one case of those it stands for."""
        return weight_gradient(self.table.with_weights(weights), hypothesis, self.scores.score)

    def _families(self, weights: Vector) -> FamilyScores:
        if weights is self._own:
            return self.scores
        if self._perturbed is None or self._perturbed[0] is not weights:
            own = self.scores
            table = self.table.with_weights(weights)
            made = FamilyScores(table, own.score, own.structure_prior, own.n_jobs)
            self._perturbed = weights, made
        return self._perturbed[1]


def annealed_search(
    search: Search,
    scores: FamilyScores,
    annealing: Annealing,
    start: DAG | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> SearchResult:
    """What `search` finds, and what it finds from there while the weights of the rows cool down.

    The score never falls below that of the search alone. Every graph that a search under perturbed
    weights ends with is climbed from with the rows' own weights: graphs, unlike parameters, do not
    drift along when the weights come home.

    >>> from unveil import datasets
    >>> from unveil.anneal import annealing_named
    >>> from unveil.score import BDeu
    >>> from unveil.search import combined_search
    >>> scores = FamilyScores(datasets.network("insurance").sample(300, seed=4), BDeu(1))
    >>> found = annealed_search(combined_search, scores, annealing_named("random"), seed=1)
    >>> found.score > combined_search(scores).score
    True
    """
    ticker = Ticker.of(progress, time_limit)
    given = {} if seed is None else {"seed": seed}

    def run(families: FamilyScores, **where: Any) -> SearchResult:
        return search(families, **where, **given, **options)

    first = run(scores, start=start, progress=ticker)
    learner: Learner[DAG] = GraphLearner(scores, run)
    found: Annealed[DAG] = anneal(
        learner, first.dag, annealing.reweighting, annealing.cooling, polish=True,
        cycles=annealing.cycles, seed=seed, progress=ticker,
    )  # fmt: skip
    name = f"{first.search}, weights annealed ({found.reweighting})"
    return replace(
        first, dag=found.hypothesis, score=found.score, search=name, seed=found.seed,
        trace=(*first.trace, *_improvements(found)), annealed=found,
        stopped=ticker.reason or found.stopped, elapsed=ticker.elapsed, n_scored=scores.n_scored,
    )  # fmt: skip


def _improvements(found: Annealed[DAG]) -> list[Step]:
    """The steps of the course that brought a better graph."""
    steps, best = [], found.first_score
    for number, point in enumerate(found.course, 1):
        if point.best > best:
            change = point.best - best
            steps.append(Step("weight annealing", number, point.best, change, point.temperature))
            best = point.best
    return steps
