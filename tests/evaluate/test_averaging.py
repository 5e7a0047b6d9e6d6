"""Averages over structures, against all of them."""

from itertools import combinations

import pytest
from search.helpers import all_parent_sets, members, scores_of

from unveil import DAG, datasets
from unveil.errors import DataError
from unveil.evaluate import arc_probabilities, structure_weights


def test_over_all_structures_it_is_the_posterior_of_every_arc():
    table = datasets.network("asia").sample(40, seed=1).select(["smoke", "lung", "bronc"])
    scores = scores_of(table)
    dags = [
        DAG.from_parents(
            {
                n: [table.names[p] for p in members(sets)]
                for n, sets in zip(table.names, row, strict=True)
            }
        )
        for row in all_parent_sets(3).T
    ]
    values = [scores.total(dag) for dag in dags]
    found = arc_probabilities(dags, values)
    weights = structure_weights(values)
    for x, y in combinations(table.names, 2):
        expected = sum(w for w, dag in zip(weights, dags, strict=True) if dag.has_arc(x, y))
        assert found.get((x, y), 0.0) == pytest.approx(expected)
    joined = arc_probabilities(dags, values, directed=False)
    for (x, y), p in joined.items():
        assert p == pytest.approx(found.get((x, y), 0.0) + found.get((y, x), 0.0))
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_the_same_graph_counts_once_and_lists_must_match():
    one, other = DAG(["a", "b"], [("a", "b")]), DAG(["a", "b"])
    assert arc_probabilities([one, one, other], [-1.0, -1.0, -1.0]) == {("a", "b"): 0.5}
    with pytest.raises(DataError, match="2 graphs and 1 scores"):
        arc_probabilities([one, other], [0.0])
    with pytest.raises(DataError, match="nothing to average over"):
        structure_weights([])
