"""Structural EM of mixed tables with gaps: guided by draws, judged exactly, never falling."""

import numpy as np
import pytest

import unveil
from unveil import Table
from unveil.em.mixed_structure import completed, mixed_structural_em
from unveil.errors import DataError, UnveilWarning
from unveil.score import AIC, BIC, BGe
from unveil.score.base import Sample


@pytest.fixture(scope="module")
def whole():
    generator = np.random.default_rng(1)
    n = 300
    group = generator.choice(["a", "b"], n)
    x = generator.normal(size=n) + 2 * (group == "a")
    y = np.where(group == "b", 2 * x, -x) + 0.5 * generator.normal(size=n)
    return Table.from_frame({"y": y, "group": group, "x": x, "lonely": generator.normal(size=n)})


@pytest.fixture(scope="module")
def found(whole):
    return mixed_structural_em(whole.knock_out(0.15, seed=3), BIC(), seed=1)


def test_it_finds_what_complete_rows_show(whole, found):
    own, other = (
        {frozenset(arc) for arc in dag.arcs} for dag in (found.network.dag, unveil.learn(whole).dag)
    )
    assert own == other
    assert found.stopped == "converged"


def test_the_score_is_that_of_what_was_observed_and_never_falls(whole, found):
    holed = whole.knock_out(0.15, seed=3)
    network = found.network
    cost = BIC().cost(float(network.n_parameters), 0.0, Sample(300.0, 4))
    assert found.score == pytest.approx(network.log_likelihood(holed) - cost)
    values = [step.objective for step in found.trace]
    assert (np.diff(values) >= 0).all()
    assert values[-1] == pytest.approx(found.score)


def test_completed_rows_keep_what_was_seen_and_weigh_as_much(whole, found):
    holed = whole.knock_out(0.15, seed=3).with_weights(np.arange(1.0, 301.0))
    rows = completed(found.network, holed, np.random.default_rng(1), draws=3)
    assert rows.is_complete
    assert rows.total_weight == pytest.approx(holed.total_weight)
    seen = ~np.isnan(holed.column("x"))
    cells = zip(holed.column("x")[seen], holed.row_weights[seen], strict=True)
    mass = {float(v): w for v, w in cells}
    for value, weight in mass.items():
        own = rows.column("x") == value
        assert rows.row_weights[own].sum() == pytest.approx(weight)


def test_learn_takes_mixed_tables_with_gaps_and_constraints(whole):
    holed = whole.knock_out(0.1, seed=4)
    rules = unveil.Constraints(required=[("lonely", "y")], forbidden=[("group", "x")])
    learned = unveil.learn(holed, "aic", constraints=rules, seed=1, max_parents=2)
    assert learned.search.search == "structural EM"
    assert learned.dag.has_arc("lonely", "y")
    assert not learned.dag.has_arc("group", "x")
    assert learned.search.score_name == AIC().name
    assert learned.search.seed == 1


def test_columns_that_say_nothing_are_told(whole):
    more = {n: whole.labels(n) for n in whole.names}
    more |= {"room": [21.5] * 300, "twice": [2 * v for v in more["x"]]}
    holed = Table.from_frame(more).knock_out(0.05, seed=1, names=["x", "room", "y"])
    with pytest.warns(UnveilWarning, match="left out") as told:
        learned = unveil.learn(holed, seed=1, max_parents=1)
    assert {"room", "twice"}.isdisjoint(learned.network.names)
    assert sum("left out" in str(w.message) for w in told) == 2


def test_scores_that_do_not_count_parameters_are_refused(whole):
    with pytest.raises(DataError, match="bic, aic, mdl"):
        mixed_structural_em(whole.knock_out(0.1, seed=1), BGe())
