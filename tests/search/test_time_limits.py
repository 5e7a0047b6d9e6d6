"""Limits on time bind before the first move too: with many columns, all gains take a while."""

import time

import numpy as np
import pytest

from unveil.score import BDeu, FamilyScores
from unveil.search import SEARCHES, Constraints
from unveil.table import Table, Variable


class Slow(FamilyScores):
    """Gains that take a while, and are counted."""

    n_rows_asked = 0

    def toggles(self, child, parents):
        self.n_rows_asked += 1
        time.sleep(0.002)
        return super().toggles(child, parents)


def wide_table(n_columns, n_rows=40):
    """Pairs of columns that agree in most rows."""
    random = np.random.default_rng(0)
    halves = random.random((n_rows, n_columns // 2)) < 0.5
    cells = np.hstack([halves, halves ^ (random.random(halves.shape) < 0.1)])
    variables = [Variable(f"v{i}", range(2)) for i in range(n_columns)]
    return Table(variables, list(cells.T.astype(np.uint8)))


@pytest.mark.parametrize("name", ["combined", "hill-climbing", "tabu", "equivalence", "annealing"])
def test_no_search_finds_all_gains_when_there_is_no_time(name):
    table = wide_table(200)
    none = Slow(table, BDeu())
    result = SEARCHES[name](none, time_limit=0.0)
    assert none.n_rows_asked == 0
    assert result.stopped == "time limit"
    assert result.score == pytest.approx(none.total(result.dag))
    little = Slow(table, BDeu())
    result = SEARCHES[name](little, time_limit=0.05)
    assert little.n_rows_asked <= 26
    assert result.stopped == "time limit"


def test_the_limited_search_stops_as_soon():
    scores = Slow(wide_table(200), BDeu())
    limits = Constraints(forbidden=[("v0", "v1")])
    assert SEARCHES["combined"](scores, constraints=limits, time_limit=0.05).stopped == "time limit"
    assert scores.n_rows_asked <= 26
