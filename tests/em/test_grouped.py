"""EM over groups of rows: the same steps as over the rows, by one pass."""

import numpy as np
import pytest

from unveil import Network, Table, TableCPD, Variable, datasets, fit
from unveil.em import grouped
from unveil.em.grouped import GroupedTableEM, can_be_grouped
from unveil.em.parted import PartedTableEM, parted_problem
from unveil.em.steps import TableEM
from unveil.engines import PartedRows
from unveil.model.prior import EquivalentSampleSize

X = Variable("x", ["a", "b"])
PRIOR = EquivalentSampleSize(1.0)
ASIA = datasets.network("asia").sample(600, seed=1)
START = fit(datasets.network("asia").dag, datasets.network("asia").sample(50, seed=9), PRIOR)


def parted(table):
    return PartedRows.of_tables([table.take(np.arange(i, table.n_rows, 3)) for i in range(3)])


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("hidden", [(), ("lung",), ("asia", "dysp"), ("either", "bronc")])
def test_the_steps_are_those_over_rows(hidden, hard):
    rows = ASIA.without(hidden)
    em = GroupedTableEM(START, parted(rows), PRIOR, hard)
    plain = TableEM(START, rows, PRIOR, hard)
    tables = em.pack(START)
    for _ in range(3):
        (better, objective), (other, expected) = em.step(tables), plain.step(tables)
        assert objective == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(better, other, rtol=1e-10)
        tables = better


def test_weights_count():
    weights = np.random.default_rng(2).uniform(0.5, 3, ASIA.n_rows)
    rows = ASIA.with_weights(weights).without("lung")
    em, plain = GroupedTableEM(START, parted(rows), PRIOR), TableEM(START, rows, PRIOR)
    tables = em.pack(START)
    assert em.step(tables)[1] == pytest.approx(plain.step(tables)[1], rel=1e-12)


def test_all_steps_take_one_pass():
    rows = parted(ASIA.without("lung"))
    problem = parted_problem(START, rows, PRIOR)
    tables = problem.pack(START)
    for _ in range(5):
        tables, _ = problem.step(tables)
    assert isinstance(problem, GroupedTableEM)
    assert rows.n_passes == 1


def test_gaps_and_many_groups_go_over_the_rows(monkeypatch):
    gaps = parted(ASIA.knock_out(0.1, seed=1).without("lung"))
    assert not can_be_grouped(START, gaps)
    assert type(parted_problem(START, gaps, PRIOR)) is PartedTableEM
    rows = parted(ASIA.without("lung"))
    assert can_be_grouped(START, rows)
    monkeypatch.setattr(grouped, "MOST_GROUPS", 7)  # tub, smoke and either have eight
    assert not can_be_grouped(START, rows)


def test_a_hidden_variable_beside_no_column_goes_over_the_rows():
    alone = Network([TableCPD.uniform(Variable("h", [0, 1])), TableCPD.uniform(X)])
    rows = PartedRows.of_tables([Table([X], [[0, 1, 1]])])
    assert not can_be_grouped(alone, rows)
    assert parted_problem(alone, rows, PRIOR).step(np.full(4, 0.5))[0] == pytest.approx(
        TableEM(alone, rows.as_table(), PRIOR).step(np.full(4, 0.5))[0]
    )
