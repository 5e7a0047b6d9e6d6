"""How sure we are of arcs: learn again from resampled rows and count (Friedman et al. 1999)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.graph.equivalence import completed_pdag
from unveil.progress import Listener, Ticker
from unveil.records import Record
from unveil.seeds import checked_seed
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table

__all__ = ["ArcConfidence", "bootstrap_arcs", "class_features", "resampled"]

MOST_DRAWN = 2.0**53
"""So many cases are drawn one by one at most: all whole numbers up to it are exact."""


@dataclass(frozen=True)
class ArcConfidence(Record):
    """Shares of resampled tables, or of the best structures, whose equivalence class has a feature.

    There were `n_samples` of them. All have shape (n, n) over `names`: `adjacent[i, j]` for i and j
    being joined, `directed[i, j]` for the compelled arc i -> j, `blanket[i, j]` for j in the Markov
    blanket of i.
    """

    names: tuple[str, ...]
    n_samples: int
    adjacent: npt.NDArray[np.float64]
    directed: npt.NDArray[np.float64]
    blanket: npt.NDArray[np.float64]

    def of(self, parent: str, child: str) -> float:
        """The share in which the two are joined, in whatever direction."""
        return float(self.adjacent[self.names.index(parent), self.names.index(child)])

    def direction(self, parent: str, child: str) -> float:
        """Of the samples that join the two, the share that leans to parent -> child.

        An undirected edge of the class counts half for either direction.
        """
        i, j = self.names.index(parent), self.names.index(child)
        joined = self.adjacent[i, j]
        undirected = joined - self.directed[i, j] - self.directed[j, i]
        return float((self.directed[i, j] + undirected / 2) / joined) if joined else 0.5


def bootstrap_arcs(
    data: Data,
    learner: Callable[[Table], DAG],
    n_samples: int = 100,
    seed: int | None = None,
    progress: Listener | None = None,
    time_limit: float | None = None,
    *,
    weights: Weights = None,
) -> ArcConfidence:
    """Confidence of arcs and class features from `n_samples` tables of resampled rows.

    `data` is a table, a frame, an array or a path; `learner` any function from a table to a graph.
    `weights` say how often each row counts (a column's name, or numbers): rows of weight w stand
    for w cases, and whole cases are drawn. Stopped early, it reports the samples done so far (at
    least one).

    >>> from unveil import datasets, learn
    >>> table = datasets.network("asia").sample(2000, seed=1)
    >>> sure = bootstrap_arcs(table, lambda rows: learn(rows).dag, n_samples=5, seed=1)
    >>> sure.of("smoke", "bronc") > 0.5
    True
    """
    if n_samples < 1:
        raise DataError(f"the bootstrap needs at least one sample, got {n_samples}")
    table = as_table(data, weights)
    if not table.total_weight > 0:
        raise DataError("the table has no rows of positive weight to resample")
    n = table.n_columns
    sums = np.zeros((3, n, n))
    ticker = Ticker(progress, time_limit)
    streams = np.random.SeedSequence(seed if seed is None else checked_seed(seed)).spawn(n_samples)
    done = 0
    for stream in streams:
        dag = learner(resampled(table, np.random.default_rng(stream)))
        sums += class_features(dag, table.names)
        done += 1
        if not ticker.offer("bootstrap", done, float("nan"), detail=f"{done} of {n_samples}"):
            break
    adjacent, directed, blanket = sums / done
    return ArcConfidence(table.names, done, adjacent, directed, blanket)


def resampled(table: Table, generator: np.random.Generator) -> Table:
    """As many cases as the table stands for, drawn from it with replacement."""
    if table.weights is None:
        return table.take(generator.integers(table.n_rows, size=table.n_rows))
    # More cases than can be counted are drawn by the dozen.
    dozen = max(1.0, table.total_weight / MOST_DRAWN)
    cases = max(1, round(table.total_weight / dozen))
    drawn = generator.multinomial(cases, table.weights / table.weights.sum())
    return table.take(drawn > 0).with_weights(drawn[drawn > 0] * dozen)


def class_features(dag: DAG, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """What `ArcConfidence` counts, for one graph: 0 or 1, shape (3, n, n)."""
    place = {name: i for i, name in enumerate(names)}
    adjacent, directed, blanket = np.zeros((3, len(names), len(names)))
    for parent, child in dag.arcs:
        adjacent[place[parent], place[child]] = adjacent[place[child], place[parent]] = 1
    for parent, child in completed_pdag(dag).arcs:
        directed[place[parent], place[child]] = 1
    for name in dag.nodes:  # columns that say nothing in these rows are in no graph
        for member in dag.markov_blanket(name):
            blanket[place[name], place[member]] = 1
    return np.stack([adjacent, directed, blanket])
