"""Averaging over structures: how probable an arc is over the best few, weighted by P(G | D).

The single best structure says nothing about how far the second is. Over all structures the sum is
out of reach, but most of the weight lies on few (`003`: predictions weighted by P(M | D)). With a
uniform prior over those given, P(G | D) is proportional to the exponential of a Bayesian score; for
a penalised likelihood that is an approximation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.evaluate.bootstrap import ArcConfidence, class_features
from unveil.graph.dag import DAG
from unveil.progress import Progress
from unveil.score.protocol import Families
from unveil.search.best_few import best_few
from unveil.search.constraints import Constraints

__all__ = ["arc_probabilities", "average_arcs", "structure_weights"]


def structure_weights(scores: Sequence[float]) -> npt.NDArray[np.float64]:
    """P(G | D) of structures with these scores (nats), if it is one of them.

    >>> structure_weights([0.0, 0.0, float("-inf")]).tolist()
    [0.5, 0.5, 0.0]
    """
    values = np.asarray(scores, np.float64)
    if values.size == 0:
        raise DataError("there is nothing to average over: give one structure at least")
    weights = np.exp(values - values.max())
    return np.asarray(weights / weights.sum())


def average_arcs(
    scores: Families,
    dag: DAG,
    n_structures: int = 100,
    constraints: Constraints | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> ArcConfidence:
    """How probable arcs are over the best structures around `dag`, each weighted by P(G | D).

    Where `bootstrap_arcs` asks what other rows would have said, this asks what else these rows say,
    and needs no further search (`unveil.search.best_few`). Equivalent graphs count as one where
    the score cannot tell them apart. Probabilities are among the structures found: with many
    variables a hundred of them may all be good, and differ in few arcs.

    >>> from unveil import datasets, learn
    >>> learned = learn(datasets.network("asia").sample(500, seed=1))
    >>> sure = average_arcs(learned.scores, learned.dag, n_structures=20)
    >>> sure.n_samples, sure.of("smoke", "bronc") > 0.9, sure.of("asia", "bronc") < 0.1
    (20, True, True)
    """
    few = best_few(scores, dag, n_structures, constraints, progress, time_limit)
    sums = np.zeros((3, len(scores.names), len(scores.names)))
    for found, weight in zip(few.dags, structure_weights(few.scores), strict=True):
        sums += weight * class_features(found, scores.names)
    return ArcConfidence(tuple(scores.names), len(few.dags), *np.minimum(sums, 1.0))


def arc_probabilities(
    dags: Sequence[DAG], scores: Sequence[float], directed: bool = True
) -> dict[tuple[str, str], float]:
    """How probable every arc of the graphs is, averaged over them; (parent, child) to probability.

    Without `directed`, an arc counts whichever way it goes, under its name in the order of the
    alphabet. The same graph given twice counts once.

    >>> one, other = DAG(["a", "b"], [("a", "b")]), DAG(["a", "b"])
    >>> arc_probabilities([one, other], [-10.0, -10.0])
    {('a', 'b'): 0.5}
    """
    if len(dags) != len(scores):
        raise DataError(f"there are {len(dags)} graphs and {len(scores)} scores; give one for each")
    best: dict[frozenset[tuple[str, str]], float] = {}
    for dag, score in zip(dags, scores, strict=True):
        key = frozenset(dag.arcs)
        best[key] = max(score, best.get(key, float("-inf")))
    weights = structure_weights(list(best.values()))
    found: dict[tuple[str, str], float] = {}
    for arcs, weight in zip(best, weights, strict=True):
        seen = arcs if directed else {(min(arc), max(arc)) for arc in arcs}
        for arc in seen:
            found[arc] = found.get(arc, 0.0) + float(weight)
    return dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))
