"""EM at a temperature, as a caller would write it: the trunk carries it without a change."""

import numpy as np

from em.cases import naive_bayes
from unveil.em.loop import run_em
from unveil.em.steps import TableEM
from unveil.infer.unseen import UnseenCells


def annealed(network, table, temperatures, start):
    """Deterministic annealing (Ueda and Nakano 1998): EM from hot to cold, each from the last."""
    tables, traces = start, []
    for temperature in temperatures:
        em = TableEM(network, table, temperature=temperature)
        run = run_em(em.step, tables, max_iterations=60, tolerance=1e-7)
        tables = run.parameters
        traces.append(run.trace)
    return em.unpack(tables), traces


def test_from_hot_to_cold():
    """The free energy climbs at every temperature; the end beats plain EM from the same start."""
    truth = naive_bayes(3, 8, seed=5)
    table = truth.sample(400, seed=1).without("H")
    gains = []
    for seed in range(6):
        start = TableEM(truth, table).pack(naive_bayes(3, 8, seed=seed))
        found, traces = annealed(truth, table, [2.0, 1.6, 1.3, 1.1, 1.0], start)
        for trace in traces:
            assert (np.diff(trace) >= -1e-9 * abs(trace[-1])).all()
        plain, _ = annealed(truth, table, [1.0], start)
        gains.append(found.log_likelihood(table) - plain.log_likelihood(table))
    assert np.mean(gains) > 0


def test_hot_is_flat_and_cold_is_certain():
    truth = naive_bayes(3, 4, seed=5)
    cells = UnseenCells.to_learn_from(truth, truth.sample(50, seed=1).without("H"))
    tables = cells.layout.own
    hot, cold = (cells.expected(tables, temperature).counts[:3] for temperature in (1e6, 1e-2))
    np.testing.assert_allclose(hot, 50 / 3, rtol=1e-3)
    np.testing.assert_allclose(cold, cells.completed(tables).counts[:3], atol=0.1)
