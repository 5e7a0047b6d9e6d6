"""The best few structures, against all there are."""

import numpy as np
import pytest

from unveil import DAG, datasets
from unveil.errors import DataError
from unveil.evaluate import average_arcs
from unveil.graph import equivalent
from unveil.search import Constraints, best_few, combined_search

from .helpers import all_parent_sets, members, satisfies, scores_of

NAMES = ["bronc", "dysp", "either", "smoke"]


@pytest.fixture(scope="module")
def scores():
    return scores_of(datasets.network("asia").sample(60, seed=3).select(NAMES))


@pytest.fixture(scope="module")
def everything(scores):
    """All 543 graphs with their scores, the best first."""
    dags = [
        DAG.from_parents(
            {n: [NAMES[p] for p in members(s)] for n, s in zip(NAMES, row, strict=True)}
        )
        for row in all_parent_sets(4).T
    ]
    return sorted(((scores.total(dag), dag) for dag in dags), key=lambda pair: -pair[0])


def test_they_are_the_best_of_all_classes(scores, everything):
    classes = []
    for value, dag in everything:
        if not any(equivalent(dag, other) for _, other in classes):
            classes.append((value, dag))
        if len(classes) == 12:
            break
    few = best_few(scores, combined_search(scores).dag, k=12)
    assert few.classes
    assert few.stopped == "converged"
    assert few.scores == pytest.approx([value for value, _ in classes])
    assert all(
        scores.total(d) == pytest.approx(s) for d, s in zip(few.dags, few.scores, strict=True)
    )


def test_limits_make_them_single_graphs(scores, everything):
    limits = Constraints(forbidden=[("dysp", "smoke")], required=[("smoke", "bronc")])
    legal = [value for value, dag in everything if satisfies(dag, limits)][:20]
    start = combined_search(scores, constraints=limits).dag
    few = best_few(scores, start, k=20, constraints=limits)
    assert not few.classes
    assert all(satisfies(dag, limits) for dag in few.dags)
    assert few.scores == pytest.approx(legal)


def test_arcs_are_averaged_over_all_graphs_there_are(scores, everything):
    """With as many structures as there are classes, it is the posterior over classes."""
    classes = []
    for value, dag in everything:
        if not any(equivalent(dag, other) for _, other in classes):
            classes.append((value, dag))
    sure = average_arcs(scores, combined_search(scores).dag, n_structures=500)
    weights = np.exp([value - classes[0][0] for value, _ in classes])
    joined = [dag.adjacent("bronc", "dysp") for _, dag in classes]
    assert sure.n_samples == len(classes) == 185
    assert sure.of("bronc", "dysp") == pytest.approx(weights @ joined / weights.sum())


def test_it_can_be_stopped_and_asks_for_one_at_least(scores):
    few = best_few(scores, DAG(NAMES), k=5, time_limit=0)
    assert (few.dags, few.stopped) == ((DAG(NAMES),), "time limit")
    with pytest.raises(DataError, match="at least one, got 0"):
        best_few(scores, DAG(NAMES), k=0)
