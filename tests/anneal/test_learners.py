"""Annealing around our own learners: gradients, folded rows, jobs, and never worse than alone."""

import numpy as np
import pytest

from unveil import (
    BIC,
    DAG,
    BDeu,
    EquivalentSampleSize,
    Table,
    Variable,
    datasets,
    fit,
    fit_em,
    latent_classes,
    learn,
    structural_em,
)
from unveil.anneal import Adversary, Annealing, Geometric, anneal
from unveil.em.annealed import ParameterLearner
from unveil.em.annealed_structure import NetworkLearner, observed_slopes
from unveil.em.squared import squared_steps
from unveil.em.steps import TableEM
from unveil.em.structural import StructuralEM, StructuralSettings, observed_score
from unveil.errors import DataError, ModelError, SizeError
from unveil.infer.unseen import UnseenCells
from unveil.progress import Ticker
from unveil.score import FamilyScores
from unveil.score.structure import ArcPenalty, log_prior_of
from unveil.search import combined_search
from unveil.search.annealed import GraphLearner
from unveil.search.constraints import Constraints

ASIA = datasets.network("asia")
GAPS = ASIA.sample(60, seed=1).knock_out(0.2, seed=1).without("either")
HIDDEN = fit(ASIA.dag, ASIA.sample(500, seed=9), EquivalentSampleSize(1)).with_hidden(["either"])
FEW = Annealing(Adversary(noise=0.5), Geometric(1.0, 0.6, 0.1))
CLASSES = (
    datasets.network("alarm")
    .sample(300, seed=3)
    .select(["HR", "HRBP", "HREKG", "HRSAT", "CATECHOL", "SAO2", "TPR"])
)


def by_differences(value, weights, step=1e-4):
    """The slopes of a function of the weights, each by a central difference."""
    found = []
    for m in range(len(weights)):
        ends = []
        for h in (step, -step):
            moved = weights.copy()
            moved[m] += h
            ends.append(value(moved))
        found.append((ends[0] - ends[1]) / (2 * step))
    return np.array(found)


# Gradients ---------------------------------------------------------------------------------------


def test_the_slope_of_a_graph():
    rows = ASIA.sample(40, seed=2)
    learner = GraphLearner(FamilyScores(rows.select(sorted(rows.names)), BDeu(1)), combined_search)
    weights = np.random.default_rng(0).gamma(1.0, size=len(learner.weights))
    slopes = learner.slopes(ASIA.dag, weights)
    near = by_differences(lambda w: learner.score(ASIA.dag, w), weights)
    np.testing.assert_allclose(slopes, near, atol=1e-5)


@pytest.mark.parametrize("prior", [None, EquivalentSampleSize(1.0)])
def test_the_slope_of_parameters_with_missing_cells(prior):
    em = TableEM(HIDDEN, GAPS, prior)
    learner = ParameterLearner(em)
    tables = em.pack(HIDDEN)
    weights = np.random.default_rng(0).gamma(1.0, size=len(learner.weights))

    def objective(w):
        return em.with_row_weights(w).step(tables)[1]

    assert learner.score(tables, weights) == pytest.approx(objective(weights))
    near = by_differences(objective, weights)
    np.testing.assert_allclose(learner.slopes(tables), near, atol=1e-6)


@pytest.mark.parametrize("score", [BDeu(1), BDeu(10), BIC()])
def test_the_slope_of_a_network_with_missing_cells(score):
    weights = np.random.default_rng(0).gamma(1.0, size=GAPS.n_rows)
    slopes = observed_slopes(HIDDEN, GAPS, score, weights)
    near = by_differences(lambda w: observed_score(HIDDEN, GAPS.with_weights(w), score)[0], weights)
    if score.name == "bic":  # the penalty's slope is the same for all rows, and left out
        slopes, near = slopes - slopes.mean(), near - near.mean()
    np.testing.assert_allclose(slopes, near, atol=1e-6)


# Courses -----------------------------------------------------------------------------------------


def test_a_folded_table_has_the_course_of_its_rows():
    rows = ASIA.sample(200, seed=4)
    found = [learn(t, anneal=Annealing(Adversary(), Geometric(1.0, 0.6)), seed=1).search
             for t in (rows, rows.folded())]  # fmt: skip
    one, other = (f.annealed.course for f in found)
    for a, b in zip(one, other, strict=True):
        assert a.divergence == pytest.approx(b.divergence, abs=1e-9)
        assert a.score == pytest.approx(b.score)
    gaps = rows.knock_out(0.1, seed=1)
    starts = [fit_em(ASIA, t, EquivalentSampleSize(1), anneal=FEW, seed=1)
              for t in (gaps, gaps.folded())]  # fmt: skip
    assert starts[0].objective == pytest.approx(starts[1].objective)


@pytest.mark.parametrize("word", ["adversary", "random"])
def test_learn_is_never_worse_and_does_not_depend_on_jobs(word):
    rows = datasets.network("insurance").sample(300, seed=4)
    one, two = (learn(rows, anneal=word, seed=1, n_jobs=n) for n in (1, 2))
    assert one.dag == two.dag
    assert one.search.annealed.course == two.search.annealed.course
    assert one.score >= learn(rows).score
    assert one.score == pytest.approx(one.scores.total(one.dag))
    assert "annealed" in one.search.search


def test_limits_and_engines_are_honoured():
    rows = ASIA.sample(300, seed=5)
    learned = learn(rows, anneal=FEW, max_parents=1, seed=1)
    assert max(len(learned.dag.parents(n)) for n in learned.dag.nodes) <= 1
    from plain_engine import PlainEngine

    other = learn(PlainEngine(rows), anneal=FEW, seed=1)
    assert other.score == pytest.approx(learn(rows, anneal=FEW, seed=1).score)


@pytest.mark.parametrize("search", ["exact", "chow-liu"])
def test_searches_that_start_nowhere(search):
    with pytest.raises(ModelError, match=f"'{search}' does not"):
        learn(ASIA.sample(100, seed=1), search=search, anneal="random")


@pytest.mark.parametrize("word", ["adversary", "random"])
def test_em_is_never_worse(word):
    table = CLASSES
    dag = DAG(["K", *table.names], [("K", n) for n in table.names])
    plain = fit_em(dag, table, hidden={"K": 4}, seed=2)
    found = fit_em(dag, table, hidden={"K": 4}, seed=2, anneal=word)
    assert found.objective >= plain.objective
    assert len(found.starts) == 2
    assert found.starts[0].kind == f"annealed ({word})"
    assert found.annealed.first_score == pytest.approx(plain.objective)
    same = {"hidden": {"K": 4}, "seed": 2, "n_starts": 1, "maximum_likelihood": True}
    again = fit(dag, table, **same, anneal=word)
    assert again.log_likelihood(table) == pytest.approx(found.log_likelihood)


def test_annealed_em_gets_out():
    """From random starts, where EM alone ends tens of nats below the best."""
    alarm = datasets.network("alarm")
    table = alarm.sample(300, seed=2).without(["HR", "INTUBATION", "LVFAILURE", "VENTLUNG"])
    prior = EquivalentSampleSize(1.0)
    found = fit_em(alarm, table, prior, start="random", seed=1, anneal="random", max_iterations=60)
    assert found.annealed.gain > 10.0


def test_classes_are_annealed_from_the_best_start():
    plain = latent_classes(CLASSES, 3, n_starts=2, seed=1)
    found = latent_classes(CLASSES, [1, 3], n_starts=2, seed=1, anneal="random")
    assert found[3].log_likelihood >= plain[3].log_likelihood - 1e-9
    assert len(found[3].starts) == 3
    assert len(found[1].starts) == 1
    with pytest.raises(DataError, match="annealed by"):
        latent_classes(CLASSES, 3, anneal="hot")


def test_continuous_variables_are_annealed_too():
    draw = np.random.default_rng(1)
    x = np.concatenate([draw.normal(-2, 1, 40), draw.normal(2, 1, 40)])
    table = Table.from_frame({"x": x, "y": x + draw.normal(size=80)})
    dag = DAG(["K", "x", "y"], [("K", "x"), ("K", "y")])
    found = fit_em(dag, table, hidden={"K": 2}, seed=1, anneal=FEW, max_iterations=30)
    assert found.annealed.gain >= 0


@pytest.mark.parametrize("word", ["adversary", "random"])
def test_structural_em_is_never_worse(word):
    gaps = ASIA.sample(150, seed=3).knock_out(0.15, seed=2)
    plain = structural_em(gaps, seed=1)
    found = structural_em(gaps, seed=1, anneal=word)
    assert found.score >= plain.score - 1e-9
    assert found.score == pytest.approx(observed_score(found.network, gaps, BDeu(1))[0])
    assert learn(gaps, seed=1, anneal=word).search.annealed.course == found.annealed.course


def test_hidden_parents_of_everything_as_the_start():
    rows = CLASSES.take(np.arange(120))
    start = DAG(["H", *rows.names], [("H", n) for n in rows.names])
    plain = structural_em(rows, start, hidden={"H": 2}, seed=1)
    found = structural_em(rows, start, hidden={"H": 2}, seed=1, anneal="random")
    assert found.score >= plain.score
    assert found.network.dag.children("H")


def test_hidden_variables_keep_a_child_and_limits_hold_when_arcs_are_sought_anew():
    rows = CLASSES.take(np.arange(150))
    names = ["H", "K", *rows.names]
    start = DAG(names, [(h, n) for h in ("H", "K") for n in rows.names])
    limits = Constraints(required=[("TPR", "SAO2")], forbidden=[("HR", "HRBP")], max_parents=3)
    network = fit(start, _guessed(rows, ("H", "K")), EquivalentSampleSize(1))
    method = StructuralEM.of(network, rows, BDeu(1), limits, StructuralSettings(), 1)
    learner = NetworkLearner(method)
    found = learner.optimise(network, learner.weights * 1.0, Ticker())
    assert found.dag.children("H")
    assert found.dag.children("K")
    assert found.dag.has_arc("TPR", "SAO2")
    assert not found.dag.has_arc("HR", "HRBP")
    assert max(len(found.dag.parents(n)) for n in names) <= 3


def _guessed(rows, hidden):
    """The rows with columns for hidden variables, drawn at random."""
    draw = np.random.default_rng(1)
    for name in hidden:
        rows = rows.with_column(Variable(name, [0, 1], hidden=True), draw.integers(2, size=150))
    return rows


def test_a_network_is_judged_with_parameters_for_the_rows_own_weights():
    """Even if time is up: the score hardly minds other parameters, predictions do."""
    method = StructuralEM.of(HIDDEN, GAPS, BDeu(1), None, StructuralSettings(), 1)
    learner = NetworkLearner(method)
    few = np.where(np.arange(len(learner.weights)) < 5, learner.weights, 1e-6)
    skewed = learner.optimise(HIDDEN, few * (learner.weights.sum() / few.sum()), Ticker())
    stopped = Ticker(time_limit=0.0)
    judged = learner.finish(skewed, stopped)
    em = TableEM(skewed, GAPS, EquivalentSampleSize(1))
    values = [em.step(em.pack(network))[1] for network in (skewed, judged)]
    assert values[1] > values[0] + 20
    assert judged.dag == skewed.dag


def test_a_graph_too_large_to_sum_over_is_not_taken(monkeypatch):
    method = StructuralEM.of(HIDDEN, GAPS, BDeu(1), None, StructuralSettings(), 1)
    learner = NetworkLearner(method)
    weights = learner.weights * 1.0
    assert learner.optimise(HIDDEN, weights, Ticker()).dag != HIDDEN.dag
    whole = UnseenCells.to_learn_from

    def refuses(network, table, *rest):
        if network.dag != HIDDEN.dag:
            raise SizeError("too large")
        return whole(network, table, *rest)

    monkeypatch.setattr(UnseenCells, "to_learn_from", refuses)
    assert learner.optimise(HIDDEN, weights, Ticker()).dag == HIDDEN.dag


def test_what_is_likely_beforehand_counts():
    gaps = ASIA.sample(100, seed=3).knock_out(0.1, seed=2)
    before = ArcPenalty(3.0)
    plain = structural_em(gaps, seed=1, structure_prior=before)
    found = structural_em(gaps, seed=1, structure_prior=before, anneal=FEW)
    own = observed_score(found.network, gaps, BDeu(1))[0]
    assert found.score >= plain.score - 1e-9
    assert found.score == pytest.approx(own + log_prior_of(before, found.dag))


def test_a_time_limit_binds():
    rows = datasets.network("alarm").sample(500, seed=1)
    assert learn(rows, anneal="random", time_limit=0.0, seed=1).search.stopped == "time limit"
    em = fit_em(ASIA, GAPS, anneal="random", time_limit=0.0, seed=1)
    assert em.annealed is None
    assert em.stopped == "time limit"


# Squared steps -----------------------------------------------------------------------------------


def test_squared_steps_never_lower_the_objective():
    em = TableEM(HIDDEN, GAPS, EquivalentSampleSize(1.0))
    step = squared_steps(em.step, em.layout.normalised)
    tables, trace = em.pack(HIDDEN), []
    for _ in range(12):
        tables, objective = step(tables)
        trace.append(objective)
    assert (np.diff(trace) >= -1e-9).all()
    np.testing.assert_allclose(em.layout.row_sums(tables), 1.0)


def test_squared_steps_go_where_em_goes():
    plain = fit_em(HIDDEN, GAPS, EquivalentSampleSize(1.0), tolerance=1e-12, max_iterations=5000)
    fast = fit_em(HIDDEN, GAPS, EquivalentSampleSize(1.0), tolerance=1e-12, accelerate=True)
    assert fast.objective == pytest.approx(plain.objective, abs=1e-4)
    assert 3 * len(fast.trace) < len(plain.trace)
    assert anneal(ParameterLearner(TableEM(HIDDEN, GAPS)), TableEM(HIDDEN, GAPS).pack(HIDDEN),
                  cooling=Geometric(1.0, 0.5)).gain >= 0  # fmt: skip
