"""The end of EM: a kernel that takes all steps of a run, or the one loop, end at the same place."""

import time

import numpy as np
import pytest

from unveil import EquivalentSampleSize, datasets
from unveil.em import fit_em
from unveil.em.end import end_of_em
from unveil.em.grouped import GroupedTableEM
from unveil.em.loop import run_em
from unveil.em.steps import TableEM
from unveil.engines.rows import PartedRows
from unveil.errors import ModelError
from unveil.progress import Ticker

PRIOR = EquivalentSampleSize(1.0)


def lacking(name, hidden, n_rows):
    """A network with a hidden variable, begun anew, and rows without it."""
    truth = datasets.network(name)
    rows = truth.sample(n_rows, seed=1).without(hidden)
    found = fit_em(truth.dag, rows, PRIOR, {hidden: 3}, max_iterations=2, seed=1)
    return found.network, rows


@pytest.mark.parametrize("prior", [PRIOR, None])
@pytest.mark.parametrize("iterations", [1, 2, 30, 500])
@pytest.mark.parametrize(
    ("name", "hidden", "n_rows"), [("asia", "either", 40), ("alarm", "HR", 1500)]
)
def test_a_kernel_takes_the_steps_of_the_loop(name, hidden, n_rows, iterations, prior):
    network, rows = lacking(name, hidden, n_rows)
    for em in (
        TableEM(network, rows, prior),
        GroupedTableEM(network, PartedRows.of_tables([rows]), prior),
    ):
        assert em.light_passes is not None
        start = em.pack(network)
        before = start.copy()
        plain = run_em(em.step, start, iterations, 1e-7)
        tables, objective = end_of_em(em, start, iterations, 1e-7)
        np.testing.assert_allclose(tables, plain.parameters, atol=1e-10)
        assert objective == pytest.approx(plain.objective, rel=1e-12)
        assert (start == before).all()


@pytest.mark.parametrize("constant", [0.0, -1e6])
def test_the_tolerance_is_a_share_of_the_whole_objective(constant):
    network, rows = lacking("alarm", "HR", 400)
    em = TableEM(network, rows, PRIOR)

    def shifted(tables):
        better, objective = em.step(tables)
        return better, objective + constant

    plain = run_em(shifted, em.pack(network), 500, 1e-6)
    tables, objective = end_of_em(em, em.pack(network), 500, 1e-6, constant=constant)
    np.testing.assert_allclose(tables, plain.parameters, atol=1e-9)
    assert objective == pytest.approx(plain.objective)


def test_where_no_kernel_can_the_loop_does():
    network, rows = lacking("asia", "either", 60)
    states = rows.column("smoke").astype(np.int64)
    states[::3] = -1
    gaps = rows.with_column(rows.variable("smoke"), states)
    for em in (TableEM(network, gaps, PRIOR), TableEM(network, rows, PRIOR, hard=True)):
        assert em.light_passes is None
        plain = run_em(em.step, em.pack(network), 20, 0.0)
        tables, objective = end_of_em(em, em.pack(network), 20, 0.0)
        np.testing.assert_array_equal(tables, plain.parameters)
        assert objective == plain.objective


def test_rows_that_cannot_be_are_an_error():
    network, rows = lacking("asia", "either", 60)
    em = TableEM(network, rows)
    tables = em.pack(network)
    own = em.layout.first[em.layout.names.index("smoke")]
    tables[own : own + 2] = [1.0, 0.0]
    with pytest.raises(ModelError, match="probability zero"):
        end_of_em(em, tables, 5, 0.0)


def test_it_can_be_stopped():
    """The ticker is asked after steps over so many rows, and the best so far is kept."""
    network, rows = lacking("alarm", "HR", 5000)
    em = TableEM(network, rows, PRIOR)
    heard = []

    def listener(step):
        heard.append(step.iteration)
        return False

    began = time.monotonic()
    tables, objective = end_of_em(em, em.pack(network), 10**7, -1.0, Ticker(listener))
    assert time.monotonic() - began < 60
    assert len(heard) == 1
    assert 1 < heard[0] < 10**5
    assert objective > em.step(em.pack(network))[1]
    assert em.step(tables)[1] == pytest.approx(objective)
