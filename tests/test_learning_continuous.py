"""`learn` on continuous and mixed tables, and what it says of columns that cannot be learned."""

import warnings

import numpy as np
import pandas as pd
import pytest

import unveil
from unveil import DAG, BayesianNetwork, Constraints, Table
from unveil.errors import DataError, UnveilWarning
from unveil.evaluate import arc_worth, bootstrap_arcs
from unveil.graph import equivalent
from unveil.score import GAUSSIAN_SCORES, BDeu, BGe, GaussianFamilies, LogLikelihood
from unveil.search import SEARCHES

TRUTH = DAG(["a", "b", "c", "d"], [("a", "c"), ("b", "c"), ("c", "d")])


def numbers(n=600, seed=1):
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, n)) * 2 + 100
    c = a - 0.7 * b + random.normal(size=n)
    return {"a": a, "b": b, "c": c, "d": 0.5 * c + random.normal(size=n)}


def mixed(n=600, seed=1):
    random = np.random.default_rng(seed)
    sex = random.integers(2, size=n)
    dose = random.normal(size=n)
    effect = np.where(sex == 1, dose + 2, -dose) + 0.5 * random.normal(size=n)
    return {"sex": np.array(["f", "m"])[sex], "dose": dose, "effect": effect}


@pytest.mark.parametrize("score", [None, *sorted(GAUSSIAN_SCORES)])
def test_numbers_are_learned_as_they_are(score):
    learned = unveil.learn(numbers(), score)
    assert learned.search.score_name == (score or "bic")
    assert learned.score == pytest.approx(learned.scores.total(learned.dag), rel=1e-9)
    assert {cpd.kind for cpd in learned.network.cpds.values()} == {"linear_gaussian"}
    if score in (None, "bic", "bge", "mdl"):
        assert equivalent(learned.dag, TRUTH)
    # Least squares: what the network says of the rows is their likelihood at its best.
    table = Table.from_frame(numbers())
    best = GaussianFamilies(table, LogLikelihood()).total(learned.dag)
    assert learned.network.log_likelihood(table) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("search", sorted(SEARCHES))
def test_every_search_takes_numbers_and_mixed_tables(search):
    options = {"seed": 1, "reductions": 40} if search == "annealing" else {}
    learned = unveil.learn(numbers(), search=search, **options)
    if search == "chow-liu":
        assert learned.dag.n_arcs == 3
    elif search == "hill-climbing":  # which stops at a local maximum
        assert {frozenset(arc) for arc in learned.dag.arcs} >= {frozenset(a) for a in TRUTH.arcs}
    else:
        assert equivalent(learned.dag, TRUTH)
    if search == "equivalence":
        with pytest.raises(unveil.errors.ModelError, match="discrete and continuous columns toge"):
            unveil.learn(mixed(), search=search)
        return
    learned = unveil.learn(mixed(), search=search, **options)
    assert learned.dag.has_arc("sex", "effect")
    assert learned.score == pytest.approx(learned.scores.total(learned.dag), rel=1e-9)


def test_mixed_tables():
    learned = unveil.learn(mixed())
    assert set(learned.dag.arcs) == {("sex", "effect"), ("dose", "effect")}
    cpd = learned.network.cpd("effect")
    assert cpd.kind == "conditional_gaussian"
    np.testing.assert_allclose(cpd.coefficients.ravel(), [-1, 1], atol=0.1)
    np.testing.assert_allclose(cpd.variances, 0.25, rtol=0.2)


def test_a_state_in_one_row_has_a_line_too():
    table = mixed(60)
    table["sex"] = table["sex"].astype(object)
    table["sex"][7] = "x"
    learned = unveil.learn(table, constraints=Constraints(required=[("sex", "effect")]))
    assert np.isfinite(learned.score)
    assert (learned.network.cpd("effect").variances > 0).all()


def test_constraints_tiers_and_bootstrap():
    table = Table.from_frame(numbers())
    limits = Constraints(tiers=[["d"], ["c"]], forbidden=[("c", "a")])
    dag = unveil.learn(table, constraints=limits).dag
    assert not dag.has_arc("c", "d")
    assert not dag.has_arc("c", "a")
    sure = bootstrap_arcs(table, lambda rows: unveil.learn(rows).dag, n_samples=3, seed=1)
    assert sure.of("a", "c") == 1.0
    learned = unveil.learn(table)
    worth = arc_worth(learned.scores, learned.dag)
    assert {(w.parent, w.child) for w in worth} == set(learned.dag.arcs)
    assert all(w.loss > 0 for w in worth)
    loss = unveil.cross_validate(table, lambda rows: unveil.learn(rows).network, folds=3, seed=1)
    assert np.isfinite(loss.bits)


def test_columns_that_say_nothing_are_told_and_left_out():
    table = numbers() | {"k": np.full(600, 3.5), "e": 2 * numbers()["a"] - 1}
    table["f"] = table["b"] + table["c"]
    with pytest.warns(UnveilWarning) as told:
        learned = unveil.learn(table)
    words = "; ".join(str(w.message) for w in told)
    assert "'k' has the value 3.5 in every row; it is left out" in words
    assert "'e' is 'a' in other units, or a copy of it; it is left out" in words
    assert "'f' is an exact sum of multiples of 'b', 'c'" in words
    assert equivalent(learned.dag, TRUTH)
    assert learned.network.names == ("a", "b", "c", "d")


@pytest.mark.parametrize("n_rows", [2, 3, 4, 8, 20])
def test_fewer_rows_than_columns(n_rows):
    values = np.random.default_rng(n_rows).normal(size=(n_rows, 30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned = unveil.learn({f"x{i}": column for i, column in enumerate(values.T)})
    assert np.isfinite(learned.score)
    most = max(len(learned.dag.parents(name)) for name in learned.dag.nodes)
    assert most <= max(0, n_rows / 2 - 2)
    assert all(cpd.variance > 0 for cpd in learned.network.cpds.values())


def test_what_is_refused():
    with pytest.raises(DataError, match="no column varies"):
        unveil.learn({"a": [1.5], "b": [2.5]})
    with pytest.raises(DataError, match="no rows to learn from"):
        unveil.learn(Table.from_frame(numbers()).take([]))
    with pytest.raises(DataError, match=r"'bdeu' is not for continuous columns; take one of bic"):
        unveil.learn(numbers(), "bdeu")
    with pytest.raises(DataError, match="'bge' is not for tables that have"):
        unveil.learn(mixed(), "bge")
    with pytest.raises(DataError, match="annealing and local structure are for discrete"):
        unveil.learn(Table.from_frame(mixed()).knock_out(0.1, seed=1), local="tree")
    with pytest.raises(DataError, match="infinite"):
        unveil.learn({"a": [0.5, np.inf, 2.5], "b": [0.5, 1.5, 0.25]})
    with pytest.raises(DataError, match=r"did you mean 'bge'|there is no score 'bgee'"):
        unveil.learn(numbers(), "bgee")


def test_cutting_is_still_there_for_those_who_ask():
    learned = unveil.learn(numbers(), discretize="equal_frequency")
    assert learned.search.score_name == "bdeu"
    assert all(v.is_discrete for v in learned.network.variables)
    assert isinstance(unveil.learn(numbers(), "bge", equivalent_sample_size=2.0).scores.score, BGe)
    discrete = unveil.learn({"x": ["u", "v"] * 9}, equivalent_sample_size=2.0)
    assert discrete.scores.score == BDeu(2.0)


def test_the_estimator_predicts_numbers_and_labels():
    frame = pd.DataFrame(mixed())
    X, y = frame[["sex", "dose"]], frame["effect"]
    model = BayesianNetwork(random_state=1).fit(X, y)
    assert model.score(X, y) > 0.8
    same = BayesianNetwork(random_state=1, target="effect").fit(frame)
    assert same.score(frame) == pytest.approx(model.score(X, y))
    assert model.__sklearn_tags__().estimator_type == "regressor"
    with pytest.raises(DataError, match="'effect' is continuous"):
        model.predict_proba(X)
    labels = BayesianNetwork(target="sex").fit(frame)
    assert labels.classes_.tolist() == ["f", "m"]
    assert labels.score(frame) > 0.8
    assert labels.__sklearn_tags__().estimator_type == "classifier"
    values = np.array([*numbers().values(), np.ones(600), numbers()["a"]]).T
    with pytest.warns(UnveilWarning, match="left out"):
        odd = BayesianNetwork().fit(values)
    assert np.isfinite(odd.score(values))
    plain = BayesianNetwork(criterion="bge").fit(np.array(list(numbers().values())).T)
    assert plain.dag_.n_arcs == 3


def test_an_identifier_explains_nothing():
    """One row for every state leaves nothing that varies within a state."""
    generator = np.random.default_rng(1)
    a, b, e = generator.normal(size=(3, 40))
    rows = {"id": [f"p{i}" for i in range(40)], "a": a, "b": b, "c": a + b + 0.3 * e}
    with pytest.warns(UnveilWarning, match="'id' has 40 states in 40 rows"):
        learned = unveil.learn(rows)
    assert learned.dag.children("id") == ()
    assert set(learned.dag.parents("c")) | set(learned.dag.children("c")) == {"a", "b"}
