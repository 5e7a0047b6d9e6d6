"""Greedy equivalence search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.test_moves_and_classes import as_dag, matrix
from score.tables import random_table, tables

from unveil.errors import DataError, ModelError
from unveil.graph import DAG, completed_pdag, random_dag
from unveil.kernels.inserts import first_valid_insert
from unveil.model import Network, TableCPD
from unveil.progress import Ticker
from unveil.search import combined_search, equivalence_search, hill_climbing
from unveil.search.equivalence_search import EquivalenceClimber, _Inserts
from unveil.search.graph_state import parents_matrix
from unveil.table import Variable

from .helpers import all_parent_sets, scores_of

lenient = settings(max_examples=30, deadline=None)


def random_network(dag, seed):
    """Binary and ternary variables that depend strongly on every one of their parents."""
    random = np.random.default_rng(seed)
    variables = {n: Variable(n, range(2 + i % 2)) for i, n in enumerate(dag.nodes)}
    cpds = []
    for name in dag.nodes:
        parents = [variables[p] for p in dag.parents(name)]
        shape = [p.n_states for p in parents]
        values = random.dirichlet(np.full(variables[name].n_states, 0.7), size=shape or None)
        cpds.append(TableCPD(variables[name], parents, 0.9 * values + 0.1 / values.shape[-1]))
    return Network(cpds)


@given(tables(min_variables=4), st.sampled_from(["bdeu", "bic", "qnml", "mdl"]))
@lenient
def test_the_score_is_that_of_the_graph(table, name):
    scores = scores_of(table, name)
    result = equivalence_search(scores)
    assert result.stopped == "converged"
    assert result.score == pytest.approx(scores.total(result.dag), rel=1e-9, abs=1e-9)
    assert result.score >= scores.total(DAG(table.names)) - 1e-9


@given(tables(min_variables=5), st.integers(0, 2))
@lenient
def test_the_number_of_parents_is_kept(table, most):
    result = equivalence_search(scores_of(table), max_parents=most)
    assert max(len(result.dag.parents(n)) for n in table.names) <= most


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ["bdeu", "bic"])
def test_the_order_of_columns_does_not_matter(seed, name):
    table = random_table(seed, (2, 3, 4, 2, 3, 2), 400, "fractional")
    turned = table.select(np.random.default_rng(seed).permutation(table.names).tolist())
    first, second = (equivalence_search(scores_of(t, name)) for t in (table, turned))
    assert first.score == pytest.approx(second.score, rel=1e-9)
    assert completed_pdag(first.dag) == completed_pdag(second.dag)


@pytest.mark.parametrize("seed", range(6))
def test_the_true_class_is_found_with_much_data(seed):
    """Chickering (2002), Theorem 4."""
    dag = random_dag(["A", "B", "C", "D", "E"], expected_arcs=5, max_parents=2, seed=seed)
    table = random_network(dag, seed).sample(50_000, seed=seed + 100).folded()
    for name in ("bdeu", "bic"):
        scores = scores_of(table, name)
        result = equivalence_search(scores)
        assert result.score >= scores.total(dag) - 1e-6
        assert completed_pdag(result.dag) == completed_pdag(dag)


def test_a_start_is_taken_over():
    scores = scores_of(random_table(4, (2, 3, 2, 2, 3), 300))
    best = equivalence_search(scores)
    again = equivalence_search(scores, start=best.dag)
    assert completed_pdag(again.dag) == completed_pdag(best.dag)
    full = DAG.from_parents({n: list("ABCDE")[:i] for i, n in enumerate("ABCDE")})
    from_full = equivalence_search(scores, start=full)
    assert from_full.score == pytest.approx(scores.total(from_full.dag))
    assert from_full.score > scores.total(full)


def test_stopping_gives_the_best_so_far():
    scores = scores_of(random_table(4, (2, 3, 2, 2, 3), 300))
    seen = []
    result = equivalence_search(scores, progress=lambda s: len(seen.append(s) or seen) < 2)
    assert result.stopped == "asked to stop"
    assert len(seen) == 2
    assert result.dag.n_arcs == 2
    assert result.score == pytest.approx(scores.total(result.dag))
    late = equivalence_search(scores, time_limit=0.0)
    assert late.stopped == "time limit"
    assert late.dag.n_arcs == 0


def test_refusals():
    table = random_table(0, (2, 2, 2), 30)
    with pytest.raises(ModelError, match=r"k2 does not\. Take bdeu or bic"):
        equivalence_search(scores_of(table, "k2"))
    with pytest.raises((ModelError, DataError), match="'Z'"):
        equivalence_search(scores_of(table), start=DAG(["A", "B", "Z"], [("A", "Z")]))


def test_there_are_29281_graphs_over_five_nodes():
    """Robinson (1973); the oracle of these tests."""
    assert [all_parent_sets(n).shape[1] for n in (1, 2, 3, 4, 5)] == [1, 3, 25, 543, 29281]


@pytest.mark.parametrize("seed", range(4))
def test_the_combination_is_never_worse_than_its_parts(seed):
    scores = scores_of(random_table(seed, (2, 3, 2, 4, 2, 3, 2), 150))
    combined = combined_search(scores)
    assert combined.score == pytest.approx(scores.total(combined.dag), rel=1e-9)
    assert combined.score >= equivalence_search(scores).score - 1e-9
    assert combined.score >= hill_climbing(scores).score - 20.0


class Watched(EquivalenceClimber):
    """After every move, compares what is remembered of inserts with what is found anew."""

    def _settle(self, *move):
        done = super()._settle(*move)
        for y in np.flatnonzero(~np.isnan(self._bounds)).tolist():
            known, anew = self._inserts_into[y], _Inserts(self, y)
            anew.rank(self, self.scores.all_toggles(anew.families))
            if done:  # an option may have been struck otherwise
                assert known.xs.tolist() == anew.xs.tolist()
                assert known.gains.tolist() == anew.gains.tolist()
            rank = self._ranks[y]
            assert self._bounds[y] == known.gain(rank)
            options = known.xs[:rank], known.which[:rank], known.blocked
            witness = np.zeros_like(self._witness)
            assert first_valid_insert(self._after, y, *options, 0, witness) == rank
        return done


@pytest.mark.parametrize("seed", [0, 2, 6])
def test_remembered_inserts_are_those_found_anew(seed):
    dag = random_dag(30, expected_arcs=100, max_parents=4, seed=seed)
    table = random_network(dag, seed).sample(2000, seed=seed)
    scores = scores_of(table)
    dense = random_dag(table.names, expected_arcs=200, max_parents=6, seed=seed)
    for start in (None, dense):
        climber = Watched(scores, parents_matrix(start, scores.names), None, Ticker())
        climber.climb()
        found = as_dag(climber.parents, table.names)
        assert climber.score == pytest.approx(scores.total(found))
        assert climber.pdag.tolist() == matrix(completed_pdag(found)).tolist()


def test_every_move_is_told_and_traced_once():
    """One loop for both phases: a step is a move, forward or backward, and the last finds none."""
    scores = scores_of(random_table(3, (2, 3, 2, 4, 2), 200))
    heard = []
    result = equivalence_search(scores, progress=heard.append)
    *moves, last = heard
    assert (last.detail, last.change, last.objective) == ("", 0.0, result.score)
    assert [s.detail for s in moves] == [s.detail for s in result.trace]
    assert [s.iteration for s in moves] == list(range(1, len(moves) + 1))
    gains = np.diff([scores.total(DAG(scores.names)), *(s.objective for s in moves)])
    np.testing.assert_allclose(gains, [s.change for s in moves], atol=1e-9)
    assert len(moves) > 2
