"""Restarts of the combined search, moves at a time, and the equivalent sample size."""

import pytest

from unveil import BDeu, datasets, learn
from unveil.errors import DataError
from unveil.report import draw_sensitivity
from unveil.score import FamilyScores
from unveil.score.bdeu import b_course_sample_size
from unveil.search import combined_search, hill_climbing, sample_size_sensitivity

ROWS = datasets.network("asia").sample(300, seed=1)


def test_restarts_never_lose_and_repeat_with_a_seed():
    scores = FamilyScores(ROWS, BDeu(10.0))
    once = combined_search(scores)
    again = combined_search(scores, restarts=2, seed=3)
    assert again.score >= once.score - 1e-9
    assert again.score == pytest.approx(scores.total(again.dag))
    assert again.dag == combined_search(scores, restarts=2, seed=3).dag


@pytest.mark.parametrize("moves", [1, 3])
def test_a_climb_of_a_few_moves(moves):
    found = hill_climbing(FamilyScores(ROWS, BDeu(1.0)), max_moves=moves)
    assert found.dag.n_arcs == moves


def test_scores_are_those_of_the_graphs_and_the_best_is_best():
    found = sample_size_sensitivity(ROWS, [0.5, 1.0, 50.0])
    assert found.sizes == (0.5, 1.0, 50.0)
    assert found.n_arcs[-1] > found.n_arcs[0]
    for place, size in enumerate(found.sizes):
        own = found.scores[found.best[place]][place]
        assert own == pytest.approx(learn(ROWS, BDeu(size)).score)
        assert own >= max(row[place] for row in found.scores) - 1e-6
    assert "B-Course would take 1" in str(found)


def test_sizes_of_b_course_by_its_word():
    size = b_course_sample_size(ROWS.variables)
    assert learn(ROWS, equivalent_sample_size="b-course").scores.score == BDeu(size)
    with pytest.raises(DataError, match="has its own"):
        learn(ROWS, BDeu(2.0), equivalent_sample_size="b-course")


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_picture_is_written(tmp_path, ending):
    found = sample_size_sensitivity(ROWS, [1.0, 10.0])
    path = tmp_path / f"sizes.{ending}"
    draw_sensitivity(found, path)
    first = path.read_bytes()
    assert len(first) > 2000
    draw_sensitivity(found, path)
    assert ending == "svg" or path.read_bytes() == first


def test_a_size_is_needed():
    with pytest.raises(DataError, match="at least one"):
        sample_size_sensitivity(ROWS, [])
