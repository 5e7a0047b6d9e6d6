"""Scores of families over discrete and continuous columns: laws, and regressions by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import DataError
from unveil.graph import DAG
from unveil.score import (
    AIC,
    BIC,
    MDL,
    BDeu,
    BGe,
    FamilyPrior,
    FamilyScores,
    GaussianFamilies,
    LogLikelihood,
    MixedFamilies,
    families_for,
)
from unveil.statistics import GaussianMoments
from unveil.table import Table, Variable

from .test_gaussian import all_families

lenient = settings(max_examples=15, deadline=None)
penalised = st.sampled_from([BIC(), AIC(), MDL(), LogLikelihood()])


def mixed_table(seed, n_rows=60, fractional=False):
    """Two discrete columns, three continuous ones; the means of some depend on the discrete."""
    random = np.random.default_rng(seed)
    d, e = random.integers(2, size=n_rows), random.integers(3, size=n_rows)
    a = random.normal(size=n_rows) + 1e4
    b = np.where(d == 1, a - 1e4, 1e4 - a) + random.normal(size=n_rows)
    c = b + e + random.normal(size=n_rows)
    variables = [Variable("a"), Variable("b"), Variable("c")]
    variables += [Variable("d", ["n", "y"]), Variable("e", range(3))]
    weights = random.uniform(0.1, 3, n_rows) if fractional else None
    return Table(variables, [a, b, c, d, e], weights)


mixed = st.builds(mixed_table, st.integers(0, 10**6), st.integers(30, 80), st.booleans())


@given(mixed, penalised, st.booleans())
@lenient
def test_toggles_are_differences_of_full_scores(table, score, with_prior):
    prior = FamilyPrior(lambda child, parents: -0.3 * len(parents) ** 2 - (child == "a"))
    scores = MixedFamilies(table, score, prior if with_prior else None)
    for child, parents in all_families(5):
        if child > 2 and {*parents} & {0, 1, 2}:
            continue
        row = scores.toggles(child, parents)
        for other in set(range(5)) - {child}:
            changed = scores.family(child, {*parents} ^ {other})
            expected = changed - scores.family(child, parents)
            assert row[other] == pytest.approx(expected, abs=1e-7)
        if child > 2:
            assert (row[[0, 1, 2]] == -np.inf).all()


@given(mixed, penalised)
@lenient
def test_families_of_one_kind_are_scored_as_without_the_other(table, score):
    scores = MixedFamilies(table, score)
    numbers = GaussianFamilies(table.select(["a", "b", "c"]), score)
    tables = FamilyScores(table.select(["d", "e"]), score)
    # MDL counts the variables of the whole table.
    gap = math.log(5) - np.log([3, 2]) if isinstance(score, MDL) else np.zeros(2)
    for child, parents in all_families(3):
        expected = numbers.family(child, parents) - len(parents) * gap[0]
        assert scores.family(child, parents) == pytest.approx(expected, rel=1e-9)
    assert scores.family(3, [4]) == pytest.approx(tables.family(0, [1]) - gap[1], rel=1e-9)


@given(mixed)
@lenient
def test_a_line_for_every_configuration(table):
    """By hand: scatters of each configuration and a share of what all have, then determinants."""
    scores = MixedFamilies(table, BIC())
    values = np.array([table.column(n) for n in "abc"]).T
    weights = table.row_weights
    cell = table.column("d") * 3 + table.column("e")
    own = {c: GaussianMoments.of_rows(values[cell == c], weights[cell == c]) for c in set(cell)}
    common = sum(m.scatter for m in own.values()) / weights.sum()
    for child, parents in itertools.product(range(3), ([], [0], [1], [0, 2])):
        if child in parents:
            continue
        expected = -0.5 * math.log(weights.sum()) * 6 * (len(parents) + 2)
        for moments in own.values():
            covariance = (moments.scatter + common) / (moments.weight + 1)
            sizes = [
                np.linalg.slogdet(covariance[np.ix_(m, m)])[1] if m else 0.0
                for m in ([*parents, child], parents)
            ]
            expected -= moments.weight / 2 * (math.log(2 * math.pi) + 1 + sizes[0] - sizes[1])
        assert scores.family(child, [*parents, 3, 4]) == pytest.approx(expected, rel=1e-6)


@given(mixed, penalised)
@lenient
def test_weights_and_orders_change_nothing(table, score):
    dag = DAG(table.names, [("d", "b"), ("a", "b"), ("b", "c"), ("e", "c"), ("d", "e")])
    total = MixedFamilies(table, score).total(dag)
    shuffled = table.select(["e", "c", "a", "d", "b"]).take(np.arange(table.n_rows)[::-1])
    assert MixedFamilies(shuffled, score).total(dag) == pytest.approx(total, rel=1e-9)
    plain = mixed_table(7)
    twice = plain.take(np.repeat(np.arange(plain.n_rows), 2))
    doubled = plain.with_weights(np.full(plain.n_rows, 2.0))
    totals = [MixedFamilies(t, score).total(dag) for t in (twice, doubled)]
    assert totals[0] == pytest.approx(totals[1], rel=1e-9)


def test_what_is_refused():
    table = mixed_table(1)
    with pytest.raises(DataError, match="'bge' is not for tables that have discrete and contin"):
        families_for(table, BGe())
    with pytest.raises(DataError, match="take one of bic, aic, mdl, likelihood"):
        families_for(table, BDeu(1))
    scores = families_for(table, BIC())
    assert isinstance(scores, MixedFamilies)
    assert not scores.equivalent
    assert scores.family(3, [0]) == -np.inf
