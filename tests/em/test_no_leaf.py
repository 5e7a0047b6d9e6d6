"""`Constraints(no_leaf=...)`: variables that may not lose their last child."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score.tables import dags_over, random_table, tables
from search.helpers import neighbours, scores_of

from unveil.errors import ModelError
from unveil.graph import DAG
from unveil.search import Constraints, hill_climbing, simulated_annealing

lenient = settings(max_examples=60, deadline=None)
OPTIONS = ({}, {"tabu": 5}, {"tabu": 3, "restarts": 3, "seed": 1})


@given(tables(min_variables=3, max_variables=5), st.data())
@lenient
def test_they_keep_a_child(table, data):
    start = data.draw(dags_over(table.names))
    parents = [n for n in table.names if start.children(n)]
    kept = [n for n in parents if data.draw(st.booleans())]
    limits = Constraints(no_leaf=kept)
    scores = scores_of(table)
    for options in OPTIONS:
        result = hill_climbing(scores, start, limits, **options)
        assert all(result.dag.children(n) for n in kept)
        assert result.score == pytest.approx(scores.total(result.dag), rel=1e-9)
    plain = hill_climbing(scores, start, limits)
    legal = [dag for dag in neighbours(plain.dag) if all(dag.children(n) for n in kept)]
    assert all(scores.total(dag) <= plain.score + 1e-8 for dag in legal)
    walked = simulated_annealing(scores, start, limits, reductions=3, proposals=40, seed=1)
    assert all(walked.dag.children(n) for n in kept)


def test_without_it_the_child_is_lost():
    """Independent columns: every arc goes, unless a variable must keep it."""
    table = random_table(1, (2, 2), 60)
    table = table.select(["A"]).with_column(table.variable("B"), table.column("B")[::-1])
    start = DAG(["A", "B"], [("A", "B")])
    scores = scores_of(table)
    assert hill_climbing(scores, start).dag.n_arcs == 0
    assert hill_climbing(scores, start, Constraints(no_leaf=["A"])).dag == start


def test_a_name_that_is_not_there():
    scores = scores_of(random_table(1, (2, 2), 20))
    with pytest.raises(ModelError, match="a constraint names 'Z'"):
        hill_climbing(scores, constraints=Constraints(no_leaf=["Z"]))
    assert repr(Constraints(no_leaf=["A"])) == "Constraints(no_leaf=('A',))"
    assert not Constraints(no_leaf=["A"]).only_max_parents
