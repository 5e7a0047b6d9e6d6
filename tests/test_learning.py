"""`learn`: one door for complete tables and tables with gaps."""

import pytest

import unveil
from unveil import datasets
from unveil.em import structural_em
from unveil.errors import DataError, ModelError, UnveilWarning
from unveil.learning import learn, score_named
from unveil.score import SCORES, ArcPenalty, BDeu
from unveil.search import learn as learn_complete

ASIA = datasets.network("asia").sample(400, seed=1)
GAPS = ASIA.knock_out(0.1, seed=2)


def test_the_public_learn_is_this_one():
    assert unveil.learn is learn


def test_a_complete_table_is_searched():
    one, other = learn(ASIA, "bdeu", "tabu", seed=1), learn_complete(ASIA, search="tabu", seed=1)
    assert (one.dag, one.score, one.search.search) == (other.dag, other.score, other.search.search)


def test_a_table_with_gaps_goes_through_structural_em():
    one, other = learn(GAPS, BDeu(2.0), seed=1), structural_em(GAPS, score=BDeu(2.0), seed=1)
    assert one.dag == other.dag
    assert (one.score, one.search.trace[-1].objective) == (
        other.score, other.trace[-1].objective,
    )  # fmt: skip
    assert (one.search.search, one.search.score_name, one.search.seed) == (
        "structural EM", "bdeu", 1,
    )  # fmt: skip
    # The scores are those of completed rows: as many cases as there were.
    assert one.scores.statistics.total_weight == pytest.approx(400)


def test_options_go_to_whoever_does_the_work():
    assert learn(GAPS, seed=1, max_rounds=1).search.stopped == "iteration cap"
    assert learn(ASIA, search="hill-climbing", restarts=1, seed=1).search.seed == 1


@pytest.mark.parametrize("table", [ASIA, GAPS], ids=["complete", "gaps"])
def test_what_nobody_knows_is_told_at_the_door(table):
    with pytest.raises(ModelError, match="there is no search 'magic'; choose one of combined"):
        learn(table, search="magic")
    with pytest.raises(DataError, match="there is no score 'magic'; choose one of bdeu"):
        learn(table, "magic")


def test_a_structure_prior_counts_with_gaps_too():
    free, dear = learn(GAPS, seed=1), learn(GAPS, structure_prior=ArcPenalty(30.0), seed=1)
    assert dear.dag.n_arcs < free.dag.n_arcs


def test_what_structural_em_cannot_do_is_said():
    with pytest.warns(UnveilWarning, match="'tabu' is not used"):
        learn(GAPS, search="tabu", max_rounds=1, seed=1)


def test_scores_by_name():
    assert score_named("bdeu", 3.0).equivalent_sample_size == 3.0
    assert {score_named(name).name for name in SCORES} == set(SCORES)
