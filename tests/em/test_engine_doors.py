"""A toy engine, as short as can be, through EM and discovery: the rows it knows are enough."""

import numpy as np
import pytest

from unveil import DAG, Table, datasets, discover
from unveil.em import fit_em, structural_em
from unveil.errors import DataError
from unveil.statistics import Distinct, as_rows


class Toy:
    """Distinct rows and their weights; whatever else is asked follows from these."""

    def __init__(self, table):
        self.variables, self.total_weight = table.variables, table.total_weight
        rows = np.column_stack([table.column(name) for name in table.names]).astype(np.int64)
        self.rows, place = np.unique(rows, axis=0, return_inverse=True)
        self.weights = np.bincount(place.ravel(), table.row_weights)

    def distinct(self, members):
        codes, place = np.unique(self.rows[:, members], axis=0, return_inverse=True)
        return Distinct(codes, np.bincount(place.ravel(), self.weights))

    def counts(self, sets):
        found = []
        for members in sets:
            known = self.distinct(list(members))
            found.append(np.zeros([self.variables[m].n_states for m in members]))
            found[-1][tuple(known.codes.T)] = known.weights
        return found

    def moments(self, members, by=()):
        raise DataError("no numbers here")


TABLE = datasets.network("asia").sample(500, seed=1)


def test_em():
    dag = DAG(["H", *TABLE.names], [("H", name) for name in TABLE.names])
    one, other = (fit_em(dag, data, hidden={"H": 2}, seed=1) for data in (TABLE, Toy(TABLE)))
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=0.5)
    found = structural_em(Toy(TABLE), seed=1)
    assert found.score == pytest.approx(structural_em(TABLE, seed=1).score)


def test_discovery():
    table = datasets.network("asia").sample(300, seed=2).without("either")
    found = discover(Toy(table), seed=1, resamples=0, straw_men=False, time_limit=20)
    assert found.table.total_weight == 300


def test_numbers_have_no_list():
    class Numbers(Toy):
        def __init__(self):
            self.variables = Table.from_frame({"x": [0.5, 1.5]}).variables

    with pytest.raises(DataError, match="no list of distinct rows"):
        as_rows(Numbers())
