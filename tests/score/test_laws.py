"""What holds for scores whatever the data."""

import math
from itertools import combinations

import numpy as np
import pytest
from graph.oracle import all_dags
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import PlainEngine

import unveil.score.families as families_module
from unveil.errors import DataError
from unveil.graph import DAG, equivalent
from unveil.model import Network, PriorNetwork, PseudoCount, TableCPD, fit
from unveil.score import (
    K2,
    SCORES,
    ArcPenalty,
    BDe,
    BDeu,
    FamilyPrior,
    FamilyScores,
    weight_gradient,
)
from unveil.search import learn
from unveil.statistics import counting, score_terms
from unveil.table import Table, Variable

from .tables import all_families, dags_over, random_table, tables, tables_with_dags

names_of_scores = st.sampled_from(sorted(SCORES))
lenient = settings(max_examples=40, deadline=None)


def close(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


def prior_network(table):
    """A network far from uniform over the table's variables."""
    dag = DAG(table.names, list(zip(table.names, table.names[1:], strict=False)))
    return fit(dag, table, PseudoCount(0.5))


def scores_for(table, name, **options):
    score = BDe(PriorNetwork(prior_network(table), 3.0)) if name == "bde" else SCORES[name]()
    return FamilyScores(table, score, **options)


@given(tables_with_dags(), st.sampled_from([*SCORES, "bde"]), st.booleans())
@lenient
def test_toggles_are_differences_of_full_scores(both, name, with_prior):
    table, dag = both
    prior = FamilyPrior(lambda child, parents: -0.3 * len(parents) ** 2 - (child == "A"))
    scores = scores_for(table, name, structure_prior=prior if with_prior else None)
    fresh = scores_for(table, name, structure_prior=prior if with_prior else None)
    for child in range(len(table.names)):
        parents = {table.names.index(p) for p in dag.parents(table.names[child])}
        row = scores.toggles(child, parents)
        assert row[child] == -np.inf
        for other in set(range(len(table.names))) - {child}:
            difference = fresh.family(child, parents ^ {other}) - fresh.family(child, parents)
            assert row[other] == pytest.approx(difference, rel=1e-9, abs=1e-8)


@given(tables(max_variables=4), st.sampled_from(["bde", "bdeu", "bic", "mdl", "aic", "qnml"]))
@settings(max_examples=25, deadline=None)
def test_equivalent_graphs_score_equally(table, name):
    table = table.select(table.names[:3]) if name == "bde" else table
    scores = scores_for(table, name)
    assert scores.score.equivalent
    by_class = {}
    for dag in all_dags(len(table.names)):
        if scores.n_variables == 4 and dag.n_arcs < 4:
            continue
        key = (frozenset(map(frozenset, dag.arcs)), v_structures_of(dag))
        total = scores.total(dag)
        assert total == close(by_class.setdefault(key, total))


def v_structures_of(dag):
    return frozenset(
        (a, c, b)
        for c in dag.nodes
        for a, b in combinations(sorted(dag.parents(c)), 2)
        if not dag.adjacent(a, b)
    )


@pytest.mark.parametrize("name", ["k2", "fnml"])
def test_scores_that_promise_nothing_do_tell_equivalent_graphs_apart(name):
    table = random_table(3, (2, 4), 50)
    there, back = DAG(["A", "B"], [("A", "B")]), DAG(["A", "B"], [("B", "A")])
    assert equivalent(there, back)
    scores = scores_for(table, name)
    assert not scores.score.equivalent
    assert abs(scores.total(there) - scores.total(back)) > 1e-3


@given(tables_with_dags(weights=("ones",)), names_of_scores)
@lenient
def test_weight_two_is_the_row_twice(both, name):
    table, dag = both
    twice = table.take(np.repeat(np.arange(table.n_rows), 2))
    doubled = table.with_weights(np.full(table.n_rows, 2.0))
    assert scores_for(doubled, name).total(dag) == close(scores_for(twice, name).total(dag))


@given(tables_with_dags(), names_of_scores)
@lenient
def test_folding_changes_nothing(both, name):
    table, dag = both
    folded = table.folded()
    assert scores_for(folded, name).total(dag) == close(scores_for(table, name).total(dag))


@given(tables_with_dags(), names_of_scores, st.integers(0, 10**6))
@lenient
def test_order_of_states_columns_and_rows_changes_nothing(both, name, seed):
    table, dag = both
    random = np.random.default_rng(seed)
    shuffled = table.select(random.permutation(table.names).tolist())
    shuffled = shuffled.take(random.permutation(table.n_rows))
    variables, columns = [], []
    for variable in shuffled.variables:
        turn = random.permutation(variable.n_states)
        variables.append(Variable(variable.name, [f"s{i}" for i in range(variable.n_states)]))
        columns.append(turn[shuffled.column(variable.name)])
    renamed = Table(variables, columns, shuffled.weights)
    assert scores_for(renamed, name).total(dag) == close(scores_for(table, name).total(dag))


@given(tables_with_dags(), names_of_scores)
@lenient
def test_compiled_is_by_the_book(both, name):
    table, dag = both
    book = FamilyScores(PlainEngine(table), SCORES[name]())
    scores = scores_for(table, name)
    assert scores.total(dag) == close(book.total(dag))
    np.testing.assert_allclose(scores.toggles(0, ()), book.toggles(0, ()), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize(("cells", "keys"), [(1, 1 << 62), (6, 5), (20, 1)])
@pytest.mark.parametrize("weights", ["ones", "fractional"])
@pytest.mark.parametrize("name", sorted(SCORES))
def test_huge_tables_are_scored_by_the_rows_that_occur(monkeypatch, name, weights, cells, keys):
    table = random_table(7, (3, 2, 4, 2), 60, weights)
    plain = scores_for(table, name)
    expected = {f: plain.family(*f) for f in all_families(4)}
    toggles = {f: plain.toggles(*f) for f in all_families(4)}
    monkeypatch.setattr(score_terms, "DENSE_CELLS", cells)
    monkeypatch.setattr(counting, "MOST_KEYS", keys)
    huge = scores_for(table, name)
    for child, parents in all_families(4):
        assert huge.family(child, parents) == close(expected[child, parents])
        np.testing.assert_allclose(
            huge.toggles(child, parents), toggles[child, parents], rtol=1e-9, atol=1e-8
        )


def test_columns_of_many_states():
    """A hundred million cells; laid out in full they would take a gigabyte.

    Parents that never repeat leave each row a table of its own, and its state counts 1 / 40. BDeu
    finds that better than no parents; a search may not go there.
    """
    table = random_table(3, (40, 40, 40, 40, 40), 200)
    scores = scores_for(table, "bdeu")
    assert scores.family(0, [1, 2, 3, 4]) == pytest.approx(-200 * np.log(40), rel=1e-6)
    assert scores.family(0, [1, 2, 3, 4]) > scores.family(0, [])
    assert np.isfinite(scores.toggles(0, [1, 2])[[1, 2]]).all()
    assert (scores.toggles(0, [1, 2])[[0, 3, 4]] == -np.inf).all()
    assert scores.toggles(0, [1])[2] == close(scores.family(0, [1, 2]) - scores.family(0, [1]))
    found = learn(table, BDeu(1.0))
    cells = [40 ** (1 + len(found.dag.parents(n))) for n in found.dag.nodes]
    assert max(cells) <= families_module.LARGEST_FAMILY


@pytest.mark.parametrize("bitmaps", [0, 3, 320])
def test_counting_by_bitmaps_or_by_rows_is_the_same(monkeypatch, bitmaps):
    table = random_table(8, (3, 2, 4, 2), 131)
    expected = scores_for(table.with_weights(np.full(131, 1.0)), "bdeu")
    monkeypatch.setattr(score_terms, "MOST_BITMAPS", bitmaps)
    scores = scores_for(table, "bdeu")
    for child, parents in all_families(4):
        assert scores.family(child, parents) == close(expected.family(child, parents))
        np.testing.assert_allclose(
            scores.toggles(child, parents), expected.toggles(child, parents), rtol=1e-9, atol=1e-8
        )


@pytest.mark.parametrize("weights", ["ones", "fractional"])
def test_the_number_of_threads_changes_nothing(monkeypatch, weights):
    monkeypatch.setattr(score_terms, "THREAD_WORK", 0)
    table = random_table(9, (3, 2, 4, 2, 3), 200, weights)
    one, two = (scores_for(table, "bdeu", n_jobs=n) for n in (1, 2))
    families = list(all_families(5))
    assert one.many(families).tolist() == two.many(families).tolist()
    for child, parents in families[:40]:
        assert one.toggles(child, parents).tolist() == two.toggles(child, parents).tolist()


@given(tables_with_dags(), names_of_scores)
@lenient
def test_structure_priors_add_up(both, name):
    table, dag = both
    plain, priced = (
        scores_for(table, name),
        scores_for(table, name, structure_prior=ArcPenalty(2.5)),
    )
    assert priced.total(dag) == close(plain.total(dag) - 2.5 * dag.n_arcs)
    marked = FamilyPrior(
        lambda child, parents: 7.0 if (child, sorted(parents)) == ("A", ["B"]) else 0.0
    )
    graph = DAG(table.names, [("B", "A")])
    with_mark = scores_for(table, name, structure_prior=marked)
    assert with_mark.total(graph) == close(plain.total(graph) + 7.0)
    assert with_mark.toggles(0, ())[1] == pytest.approx(plain.toggles(0, ())[1] + 7.0, abs=1e-8)


@given(tables_with_dags(max_variables=4), st.sampled_from([0.5, 4.0]))
@settings(max_examples=20, deadline=None)
def test_bde_with_a_uniform_prior_network_is_bdeu(both, size):
    table, dag = both
    uniform = Network(
        [TableCPD(v, [], np.full(v.n_states, 1.0 / v.n_states)) for v in table.variables]
    )
    bde = FamilyScores(table, BDe(PriorNetwork(uniform, size)))
    assert bde.total(dag) == close(FamilyScores(table, BDeu(size)).total(dag))


def test_bde_with_one_imagined_case_per_cell_is_k2():
    table = random_table(4, (2, 3, 2), 40)
    for child, parents in all_families(3):
        bde = FamilyScores(table, BDe(PseudoCount(1.0))).family(child, parents)
        assert bde == close(FamilyScores(table, K2()).family(child, parents))


@pytest.mark.parametrize("name", ["bdeu", "k2", "bic", "aic", "mdl", "qnml", "fnml"])
def test_weight_gradient_is_the_slope_of_the_score(name):
    table = random_table(5, (2, 3, 2), 30, "fractional")
    table = table.with_weights(table.row_weights + 0.2)
    dag = DAG(["A", "B", "C"], [("A", "B"), ("A", "C"), ("B", "C")])
    gradient = weight_gradient(table, dag, SCORES[name]())
    for row in range(0, 30, 4):
        step = np.zeros(30)
        step[row] = 1e-4
        higher, lower = (
            scores_for(table.with_weights(table.row_weights + s), name).total(dag)
            for s in (step, -step)
        )
        assert gradient[row] == pytest.approx((higher - lower) / 2e-4, rel=1e-5, abs=1e-6)


@given(dags_over(["A", "B", "C"]))
@settings(max_examples=10, deadline=None)
def test_totals_add_up_over_families(dag):
    table = random_table(1, (2, 3, 2), 40)
    scores = scores_for(table, "bdeu")
    parts = scores.per_family(dag)
    assert list(parts) == list(dag.nodes)
    assert math.fsum(parts.values()) == scores.total(dag)


def test_a_small_cache_changes_nothing_but_work():
    table = random_table(2, (2, 2, 3, 2), 50)
    large, small = scores_for(table, "bic"), scores_for(table, "bic", cache_bytes=0)
    for _ in range(2):
        for child, parents in all_families(4):
            np.testing.assert_allclose(
                small.toggles(child, parents), large.toggles(child, parents), rtol=1e-12
            )
    before = large.n_scored
    large.toggles(0, (1,))
    assert large.n_scored == before


def test_a_graph_over_other_variables_is_refused():
    scores = scores_for(random_table(1, (2, 2), 10), "bic")
    with pytest.raises(DataError, match=r"only in the graph: \['C'\], only in the table: \['B'\]"):
        scores.total(DAG(["A", "C"]))


def test_a_first_parent_of_many_states_may_be_added():
    """Two columns that say the same in eleven hundred states are linked for all that."""
    generator = np.random.default_rng(1)
    codes = np.concatenate([np.arange(1100), generator.integers(1100, size=1100)])
    table = Table([Variable(n, range(1100)) for n in "ab"] + [Variable("c", range(2))],
                  [codes, codes, generator.integers(2, size=2200)])  # fmt: skip
    found = learn(table, BDeu(1.0)).dag
    assert found.adjacent("a", "b")
    scores = scores_for(table, "bdeu")
    assert scores.toggles(0, (1,))[2] == -np.inf
