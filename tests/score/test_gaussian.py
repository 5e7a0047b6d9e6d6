"""Scores of linear Gaussian families: laws, least squares by hand, and the closed form of BGe."""

import itertools
import math

import numpy as np
import pytest
from graph.oracle import all_dags
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import multigammaln
from scipy.stats import multivariate_t, norm

from unveil.errors import DataError, ModelError
from unveil.graph import DAG
from unveil.model import fit
from unveil.score import (
    AIC,
    BIC,
    GAUSSIAN_SCORES,
    MDL,
    ArcPenalty,
    BDeu,
    BGe,
    FamilyPrior,
    GaussianFamilies,
    LogLikelihood,
    families_for,
)
from unveil.table import Table, Variable

from .test_laws import v_structures_of

lenient = settings(max_examples=30, deadline=None)
names_of_scores = st.sampled_from(sorted(GAUSSIAN_SCORES))
SCORES_TO_TRY = [BIC(), AIC(), MDL(), LogLikelihood(), BGe(), BGe(3.0, unit_variance=True)]


def random_numbers(seed, n_columns=4, n_rows=30, fractional=False):
    """Correlated columns, some far from zero."""
    random = np.random.default_rng(seed)
    mixed = random.normal(size=(n_rows, n_columns)) @ random.normal(size=(n_columns, n_columns))
    values = mixed * random.uniform(0.1, 10, n_columns) + random.choice([0, -7, 1e5], n_columns)
    weights = random.uniform(0.1, 3, n_rows) if fractional else None
    names = "ABCDEF"[:n_columns]
    return Table([Variable(n) for n in names], list(values.T.copy()), weights)


numbers = st.builds(
    random_numbers,
    st.integers(0, 10**6),
    st.integers(2, 5),
    st.integers(16, 40),
    st.booleans(),
)


def all_families(n):
    for child in range(n):
        others = [v for v in range(n) if v != child]
        for size in range(n):
            yield from ((child, parents) for parents in itertools.combinations(others, size))


@given(numbers, st.sampled_from(SCORES_TO_TRY), st.booleans())
@lenient
def test_toggles_are_differences_of_full_scores(table, score, with_prior):
    prior = FamilyPrior(lambda child, parents: -0.3 * len(parents) ** 2 - (child == "A"))
    scores = GaussianFamilies(table, score, prior if with_prior else None)
    n = table.n_columns
    for child, parents in all_families(n):
        row = scores.toggles(child, parents)
        assert row[child] == -np.inf
        for other in set(range(n)) - {child}:
            changed = scores.family(child, {*parents} ^ {other})
            assert row[other] == pytest.approx(changed - scores.family(child, parents), abs=1e-7)


@given(numbers, st.sampled_from([BIC(), AIC(), MDL(), BGe(), BGe(2.0, unit_variance=True)]))
@settings(max_examples=15, deadline=None)
def test_equivalent_graphs_score_equally(table, score):
    table = table.select(table.names[:4])
    scores = GaussianFamilies(table, score)
    assert scores.equivalent
    by_class = {}
    for dag in all_dags(table.n_columns):
        key = (frozenset(map(frozenset, dag.arcs)), v_structures_of(dag))
        total = scores.total(dag)
        assert total == pytest.approx(by_class.setdefault(key, total), rel=1e-9, abs=1e-8)


@given(numbers, names_of_scores, st.integers(0, 100))
@lenient
def test_weight_two_is_the_row_twice(table, name, seed):
    table = table.with_weights(None) if table.weights is not None else table
    dag = random_dag(table.names, seed)
    twice = table.take(np.repeat(np.arange(table.n_rows), 2))
    doubled = table.with_weights(np.full(table.n_rows, 2.0))
    score = GAUSSIAN_SCORES[name]()
    total = GaussianFamilies(twice, score).total(dag)
    assert GaussianFamilies(doubled, score).total(dag) == pytest.approx(total, rel=1e-9)


def random_dag(names, seed):
    random = np.random.default_rng(seed)
    order = random.permutation(list(names)).tolist()
    arcs = [(a, b) for a, b in itertools.combinations(order, 2) if random.random() < 0.5]
    return DAG(list(names), arcs)


@given(numbers, names_of_scores, st.integers(0, 100))
@lenient
def test_order_of_columns_and_rows_changes_nothing(table, name, seed):
    random = np.random.default_rng(seed)
    dag, score = random_dag(table.names, seed), GAUSSIAN_SCORES[name]()
    shuffled = table.select(random.permutation(table.names).tolist())
    shuffled = shuffled.take(random.permutation(table.n_rows))
    total = GaussianFamilies(table, score).total(dag)
    assert GaussianFamilies(shuffled, score).total(dag) == pytest.approx(total, rel=1e-9)


@given(numbers, names_of_scores, st.integers(0, 100))
@lenient
def test_units_change_all_graphs_alike(table, name, seed):
    """A density in other units is larger by the same factor, whatever the graph."""
    random = np.random.default_rng(seed)
    score, factors = GAUSSIAN_SCORES[name](), random.uniform(0.01, 100, table.n_columns)
    columns = [
        table.column(v) * f + random.normal() for v, f in zip(table.names, factors, strict=True)
    ]
    other = Table(table.variables, columns, table.weights)
    step = -table.total_weight * np.log(factors).sum()
    for dag in (DAG(table.names), random_dag(table.names, seed)):
        total = GaussianFamilies(table, score).total(dag)
        assert GaussianFamilies(other, score).total(dag) == pytest.approx(total + step, rel=1e-7)


@given(numbers, st.integers(0, 100))
@lenient
def test_the_likelihood_is_that_of_least_squares(table, seed):
    dag = random_dag(table.names, seed)
    scores = GaussianFamilies(table, LogLikelihood())
    weights, by_hand = table.row_weights, 0.0
    for name in table.names:
        design = np.column_stack(
            [np.ones(table.n_rows), *(table.column(p) - table.column(p).mean()
                                      for p in dag.parents(name))]
        )  # fmt: skip
        root = np.sqrt(weights)
        slopes = np.linalg.lstsq(design * root[:, None], table.column(name) * root)[0]
        rest = table.column(name) - design @ slopes
        spread = math.sqrt(np.average(rest**2, weights=weights))
        by_hand += float(weights @ norm.logpdf(rest, scale=spread))
    assert scores.total(dag) == pytest.approx(by_hand, rel=1e-7)
    assert fit(dag, table).log_likelihood(table) == pytest.approx(by_hand, rel=1e-7)
    w, n = table.total_weight, table.n_columns
    size = 2 * n + dag.n_arcs
    costs = {
        BIC(): 0.5 * math.log(w) * size,
        AIC(): size,
        MDL(): 0.5 * math.log(w) * size + dag.n_arcs * math.log(n),
    }
    for score, cost in costs.items():
        assert GaussianFamilies(table, score).total(dag) == pytest.approx(by_hand - cost, rel=1e-7)


@pytest.mark.parametrize("unit_variance", [False, True])
@pytest.mark.parametrize("imagined", [0.5, 1.0, 4.0])
def test_bge_of_a_complete_graph_predicts_row_after_row(imagined, unit_variance):
    """Its marginal likelihood is a product of multivariate t densities, each row given the last.

    With n columns, a normal-Wishart prior of a_m and a_w imagined rows predicts the next row by a t
    distribution with a_w - n + 1 degrees of freedom (Geiger and Heckerman 2002, Theorem 4).
    """
    table = random_numbers(3, 3, 12)
    rows = np.array([table.column(n) for n in table.names]).T
    n = rows.shape[1]
    mean, a_m, a_w = rows.mean(axis=0), imagined, n + imagined + 1
    t = a_m * (a_w - n - 1) / (a_m + 1)
    scatter = t * np.diag(np.ones(n) if unit_variance else rows.var(axis=0))
    total = 0.0
    for row in rows:
        free = a_w - n + 1
        shape = scatter * (a_m + 1) / (a_m * free)
        total += multivariate_t.logpdf(row, mean, shape, free)
        step = row - mean
        scatter = scatter + np.outer(step, step) * a_m / (a_m + 1)
        mean, a_m, a_w = mean + step / (a_m + 1), a_m + 1, a_w + 1
    complete = DAG(["A", "B", "C"], [("A", "B"), ("A", "C"), ("B", "C")])
    scores = GaussianFamilies(table, BGe(imagined, unit_variance))
    assert scores.total(complete) == pytest.approx(total, rel=1e-9)


@given(numbers, st.sampled_from([0.7, 1.0, 5.0]))
@lenient
def test_bge_by_the_book(table, imagined):
    """log p(P + y) - log p(P) from determinants (Kuipers, Moffa and Heckerman 2014)."""
    scores = GaussianFamilies(table, BGe(imagined))
    moments = scores.moments
    n, rows, a_w = table.n_columns, moments.weight, table.n_columns + imagined + 1
    prior = np.diag(imagined * imagined / (imagined + 1) * np.diag(moments.scatter) / rows)

    def log_p(members):
        size = len(members)
        if not size:
            return 0.0
        at = np.ix_(members, members)
        free = a_w - n + size
        return (
            size / 2 * math.log(imagined / (rows + imagined))
            - size * rows / 2 * math.log(math.pi)
            + multigammaln((rows + free) / 2, size)
            - multigammaln(free / 2, size)
            + free / 2 * np.linalg.slogdet(prior[at])[1]
            - (rows + free) / 2 * np.linalg.slogdet((prior + moments.scatter)[at])[1]
        )

    for child, parents in all_families(n):
        expected = log_p([*parents, child]) - log_p(list(parents))
        assert scores.family(child, parents) == pytest.approx(expected, rel=1e-8, abs=1e-7)


def test_structure_priors_add_up():
    table = random_numbers(1)
    dag = random_dag(table.names, 3)
    plain, priced = (GaussianFamilies(table, BIC(), prior) for prior in (None, ArcPenalty(2.5)))
    assert priced.total(dag) == pytest.approx(plain.total(dag) - 2.5 * dag.n_arcs)


def test_scores_need_the_moments_only():
    table = random_numbers(2, fractional=True)
    scores = GaussianFamilies(table, BIC())
    again = GaussianFamilies.of_moments(table.names, scores.moments, BIC())
    dag = random_dag(table.names, 1)
    assert again.total(dag) == scores.total(dag)


def test_no_more_parents_than_rows_can_bear():
    """With ten rows a child may have three parents: five parameters, two rows for each."""
    table = random_numbers(5, 6, 10)
    scores = GaussianFamilies(table, BIC())
    assert scores.most_parents == 3
    assert scores.toggles(0, (1, 2, 3))[4] == -np.inf
    assert np.isfinite(scores.toggles(0, (1, 2, 3))[[1, 2, 3]]).all()
    assert scores.family(0, (1, 2, 3, 4)) == -np.inf
    assert GaussianFamilies(table, BGe()).most_parents == 5


def test_functions_of_others_have_finite_scores_and_add_nothing():
    random = np.random.default_rng(1)
    a, b = random.normal(size=(2, 50))
    table = Table([Variable(n) for n in "abcd"], [a, b, a + b, 2 * a - 1])
    for score in SCORES_TO_TRY:
        scores = GaussianFamilies(table, score)
        for child, parents in all_families(4):
            row = scores.toggles(child, parents)
            assert np.isfinite(np.delete(row, child)).all()
            for other in set(range(4)) - {child}:
                changed = scores.family(child, {*parents} ^ {other})
                assert row[other] == pytest.approx(
                    changed - scores.family(child, parents), abs=1e-3
                )
    # A copy of a parent explains nothing more of b.
    gain = GaussianFamilies(table, LogLikelihood()).toggles(1, (0,))[3]
    assert gain == pytest.approx(0.0, abs=1e-6)


def test_what_is_refused():
    constant = Table([Variable("a"), Variable("b")], [np.ones(5), np.arange(5.0)])
    with pytest.raises(DataError, match="'a' has the value 1 in every row"):
        GaussianFamilies(constant, BIC())
    with pytest.raises(DataError, match="no rows"):
        GaussianFamilies(constant.take([]), BIC())
    with pytest.raises(DataError, match="weights of all rows are zero"):
        GaussianFamilies(constant.with_weights(np.zeros(5)), BIC())
    with pytest.raises(ModelError, match="positive number, got 0"):
        BGe(0)
    with pytest.raises(DataError, match=r"only in the graph: \['C'\]"):
        GaussianFamilies(random_numbers(1, 2), BIC()).total(DAG(["A", "C"]))
    with pytest.raises(DataError, match=r"'bdeu' is not for continuous columns; take one of bic"):
        families_for(random_numbers(1, 2), BDeu(1))
    discrete = Table.from_frame({"x": ["u", "v"]})
    with pytest.raises(DataError, match="'bge' is not for discrete columns"):
        families_for(discrete, BGe())
