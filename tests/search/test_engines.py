"""Learning through an engine that only counts: the same graphs, in few calls."""

import numpy as np
import pytest
from plain_engine import PlainEngine
from score.tables import random_table

from unveil import DAG, BDeu, Constraints, datasets
from unveil.errors import DataError
from unveil.graph import equivalent
from unveil.score import SCORES, FamilyScores, LogLikelihood, weight_gradient
from unveil.search import SEARCHES, learn
from unveil.search.ties import tie
from unveil.statistics import MemoryStatistics, RememberedCounts, SelectedStatistics, remembered
from unveil.table import Table, Variable


@pytest.mark.parametrize("search", ["combined", "hill-climbing", "tabu"])
def test_learning_alarm_asks_tens_of_times(search):
    table = datasets.network("alarm").sample(500, seed=1)
    engine = PlainEngine(table)
    found, usual = learn(engine, search=search, seed=1), learn(table, search=search, seed=1)
    assert found.dag == usual.dag
    assert found.score == pytest.approx(usual.score, rel=1e-10)
    assert engine.n_calls < 100
    for name in table.names:
        np.testing.assert_allclose(
            found.network.cpd(name).values, usual.network.cpd(name).values, rtol=1e-9
        )


@pytest.mark.parametrize("score", sorted(SCORES))
@pytest.mark.parametrize("search", sorted(SEARCHES))
def test_every_search_and_score_through_a_plain_engine(search, score):
    if search == "equivalence" and not SCORES[score]().equivalent:
        return
    table = datasets.network("asia").sample(200, seed=1)
    options = {"seed": 1} if search in ("annealing", "combined") else {}
    if search == "annealing":
        options |= {"reductions": 20}
    found, usual = (SEARCHES[search](FamilyScores(e, SCORES[score]()), **options)
                    for e in (PlainEngine(table), table))  # fmt: skip
    if search == "annealing":  # where rounding decides what is accepted
        assert found.score == pytest.approx(FamilyScores(table, SCORES[score]()).total(found.dag))
        return
    assert found.score == pytest.approx(usual.score, rel=1e-9)
    # Rounding chooses among the graphs of a class, and the likelihood has plateaus.
    assert score == "likelihood" or equivalent(found.dag, usual.dag) or found.dag == usual.dag


def test_the_order_of_an_engine_s_variables_does_not_matter():
    table = datasets.network("asia").sample(300, seed=1)
    turned = PlainEngine(table.select(table.names[::-1]))
    assert {*learn(turned).dag.arcs} == {*learn(table).dag.arcs}
    limits = Constraints(forbidden=[("smoke", "lung")])
    assert {*learn(turned, constraints=limits).dag.arcs} == {
        *learn(table, constraints=limits).dag.arcs
    }


def test_selected_variables_of_an_engine():
    table = random_table(1, (2, 3, 4), 30)
    chosen = SelectedStatistics(PlainEngine(table), [2, 0])
    usual = MemoryStatistics(table.select([table.names[2], table.names[0]]))
    assert chosen.variables == usual.variables
    np.testing.assert_allclose(chosen.counts([[0, 1]])[0], usual.counts([[0, 1]])[0])
    np.testing.assert_array_equal(chosen.distinct([1, 0]).codes, usual.distinct([1, 0]).codes)


def test_remembered_counts(monkeypatch):
    table = random_table(2, (2, 3, 4, 2), 50, "fractional")
    engine, usual = PlainEngine(table), MemoryStatistics(table)
    counts = RememberedCounts(engine)

    def agree(*sets):
        for found, expected in zip(counts.counts(sets), usual.counts(sets), strict=True):
            np.testing.assert_allclose(found, expected)

    agree([0, 1, 2], [1, 0], [2], [3, 0])
    assert (engine.n_calls, engine.n_sets) == (1, 2)  # the rest are sums of the first
    agree([2, 1], [2, 0, 1], [0], [3])
    assert engine.n_calls == 1
    agree([3, 1], [0, 3])
    assert (engine.n_calls, engine.n_sets) == (2, 3)
    monkeypatch.setattr(remembered, "MOST_CELLS", 10)
    agree([3, 1])
    assert engine.n_calls == 3


def test_weight_gradient_of_an_engine_with_rows_in_order():
    class InOrder(PlainEngine):
        def distinct(self, members):
            return usual.distinct(members)

    table = random_table(2, (2, 3, 2), 20)
    usual = MemoryStatistics(table)
    dag = DAG(table.names, [("A", "B"), ("C", "B")])
    expected = weight_gradient(table, dag, BDeu(2))
    np.testing.assert_allclose(weight_gradient(InOrder(table), dag, BDeu(2)), expected)
    with pytest.raises(DataError, match="has its rows in order"):
        weight_gradient(PlainEngine(table), dag, BDeu(2))


# Ties ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "weight", "score"),
    [(0, 1e14, BDeu(1.0)), (1, 1e14, BDeu(1.0)), (3, 1e16, LogLikelihood()), (6, 1e14, BDeu(1.0))],
)
def test_enormous_weights_do_not_keep_a_search_going(seed, weight, score):
    """The scores then have rounding errors of many nats; going after them has no end."""
    random = np.random.default_rng(seed)
    cards = random.integers(2, 5, size=6)
    columns = [random.integers(card, size=25) for card in cards]
    columns[1] = columns[0] % cards[1]
    columns[3] = (columns[2] + columns[0]) % cards[3]
    variables = [Variable(f"v{i}", range(card)) for i, card in enumerate(cards)]
    table = Table(variables, columns, random.gamma(1.0, size=25) * weight)
    for search in ("hill-climbing", "tabu", "combined"):
        found = SEARCHES[search](FamilyScores(table, score), time_limit=20.0)
        assert found.stopped == "converged"


def test_the_size_of_ties():
    assert tie(0.0) == tie(-100.0) == 1e-9
    assert tie(-1e16) == pytest.approx(1e3)
