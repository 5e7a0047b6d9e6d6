"""Search over orders: growing and shrinking by hand, every position, rules, and what is found."""

import numpy as np
import pytest
from score.tables import random_table
from score.test_gaussian import random_numbers

from unveil import DAG, Table, Variable, datasets
from unveil.errors import ModelError
from unveil.graph import equivalent
from unveil.progress import Ticker
from unveil.score import BIC, BDeu, BGe, FamilyPrior, FamilyScores, GaussianFamilies
from unveil.search import Constraints, combined_search, exact_search, order_search
from unveil.search.order_search import OrderClimber, topological

CASES = [
    pytest.param(lambda: GaussianFamilies(random_numbers(4, 6, 60), BIC()), id="gaussian"),
    pytest.param(lambda: GaussianFamilies(random_numbers(5, 6, 60), BGe()), id="bge"),
    pytest.param(
        lambda: GaussianFamilies(
            random_numbers(6, 6, 60), BIC(), FamilyPrior(lambda y, ps: -0.5 * len(ps))
        ),
        id="gaussian with a prior",
    ),
    pytest.param(
        lambda: FamilyScores(random_table(2, (2, 3, 2, 4, 2, 3), 120), BDeu(1)), id="bdeu"
    ),
]


def climber_of(scores, **limits):
    return OrderClimber(scores, Constraints(**limits).rules(scores.names), Ticker.of(None, None))


def grown(scores, child, before, required=(), most=99):
    """By hand: add the best parent while that helps, then drop the worst while that helps."""
    parents = {*required}
    while len(parents) < most:
        options = [(scores.family(child, parents | {x}), -x) for x in before if x not in parents]
        if not options or max(options)[0] <= scores.family(child, parents) + 1e-9:
            break
        parents.add(-max(options)[1])
    while True:
        options = [(scores.family(child, parents - {x}), -x) for x in parents - {*required}]
        if not options or max(options)[0] <= scores.family(child, parents) + 1e-9:
            return parents
        parents.discard(-max(options)[1])


@pytest.mark.parametrize("make", CASES)
@pytest.mark.parametrize("most", [1, 5])
def test_an_order_stands_for_the_graph_of_growing_and_shrinking(make, most):
    scores = make()
    climber = climber_of(scores, max_parents=most)
    random = np.random.default_rng(0)
    for _ in range(5):
        order = random.permutation(6)
        found = climber.parents(order)
        total = 0.0
        for i, child in enumerate(order.tolist()):
            expected = grown(scores, child, order[:i].tolist(), most=most)
            assert set(np.flatnonzero(found[child]).tolist()) == expected
            total += scores.family(child, expected)
        assert climber._score(order) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("make", CASES)
def test_every_position_is_scored_as_its_order(make, monkeypatch):
    """Each move goes where the order as a whole scores best."""
    scores = make()
    climber, fresh = climber_of(scores), climber_of(make())
    random = np.random.default_rng(1)
    for _ in range(6):
        order = random.permutation(6)
        climber.order = order
        before = fresh._score(order)
        moved = int(random.integers(6))
        gain = climber._move(moved)
        others = order[order != moved]
        totals = [fresh._score(np.insert(others, i, moved)) for i in range(6)]
        assert before + gain == pytest.approx(max(totals), rel=1e-9)
        assert fresh._score(climber.order) == pytest.approx(max(totals), rel=1e-9)


@pytest.mark.parametrize("make", CASES)
def test_the_result_is_what_it_says(make):
    scores = make()
    found = order_search(scores, restarts=3, seed=1)
    assert found.score == pytest.approx(scores.total(found.dag), rel=1e-9)
    assert found.search == "order search"
    assert found.stopped == "converged"
    objectives = [step.objective for step in found.trace]
    assert objectives == sorted(objectives)
    assert found.score <= exact_search(make()).score + 1e-6
    assert (
        combined_search(make(), orders=True).score
        >= combined_search(make(), orders=False).score - 1e-6
    )


def collider_rows(n=2000):
    random = np.random.default_rng(3)
    a, b, e, f = random.normal(size=(4, n))
    c = a - b + 0.5 * random.normal(size=n)
    d = c + 2 * e + 0.5 * random.normal(size=n)
    return Table([Variable(x) for x in "abcdef"], [a, b, c, d, e, f])


def test_the_truth_is_found():
    scores = GaussianFamilies(collider_rows(), BIC())
    truth = DAG(list("abcdef"), [("a", "c"), ("b", "c"), ("c", "d"), ("e", "d")])
    assert equivalent(order_search(scores).dag, truth)
    asia = datasets.network("asia").sample(5000, seed=2)
    tables = FamilyScores(asia.select(sorted(asia.names)), BDeu(1))
    assert order_search(tables, restarts=5, seed=1).score >= exact_search(tables).score - 1e-6


def test_constraints_are_honoured():
    scores = GaussianFamilies(collider_rows(), BIC())
    limits = Constraints(
        required=[("d", "a"), ("a", "b")], forbidden=[("e", "c")], tiers=[["f"], ["d", "c"]],
        max_parents=2,
    )  # fmt: skip
    for found in (order_search(scores, constraints=limits, restarts=2, seed=0),
                  combined_search(scores, constraints=limits)):  # fmt: skip
        dag = found.dag
        assert dag.has_arc("d", "a")
        assert dag.has_arc("a", "b")
        assert not dag.has_arc("e", "c")
        assert not dag.has_arc("c", "f")
        assert max(len(dag.parents(n)) for n in dag.nodes) <= 2
        assert found.score == pytest.approx(scores.total(dag), rel=1e-9)
    with pytest.raises(ModelError, match="no_leaf"):
        order_search(scores, constraints=Constraints(no_leaf=["a"]))


def test_it_can_be_stopped_and_starts_where_it_is_told():
    scores = GaussianFamilies(collider_rows(), BIC())
    steps = []

    def stop(step):
        steps.append(step)
        return False

    found = order_search(scores, progress=stop)
    assert found.stopped != "converged"
    assert found.score == pytest.approx(scores.total(found.dag), rel=1e-9)
    start = DAG(list("abcdef"), [("f", "a"), ("e", "d")])
    assert order_search(scores, start).score >= found.score
    parents = np.zeros((3, 3), np.uint8)
    parents[0, 2] = parents[1, 0] = 1
    assert topological(parents).tolist() == [2, 0, 1]
