"""The Lagrangian: at gamma = 1 it is EM, both steps never lower -L, folding changes nothing."""

import numpy as np
import pytest

from unveil import DAG, Table, datasets
from unveil.bottleneck.compression import Compression
from unveil.bottleneck.exact import Exact
from unveil.bottleneck.lagrangian import Bottleneck, Parameters
from unveil.em.steps import TableEM

from .cases import PRIOR, asia_rows, started

HIDDEN = ("lung", "either")
GRAPHS = {
    "joint": None,
    "apart": DAG(HIDDEN),
    "chain": DAG(HIDDEN, [("lung", "either")]),
}


def problem_on(rows, prior=PRIOR, graph=None):
    asia = datasets.network("asia")
    return Bottleneck(asia, rows, HIDDEN, prior, Compression(HIDDEN, (2, 2), graph))


@pytest.mark.parametrize("prior", [None, PRIOR])
@pytest.mark.parametrize("missing", [False, True])
def test_at_one_it_is_em(missing, prior):
    """To rounding: sums come in another order, and exponentials from another kernel."""
    rows = asia_rows(missing)
    problem = problem_on(rows, prior)
    em = TableEM(datasets.network("asia"), rows, prior)
    own = started(problem, rows)
    theirs = own.tables
    for _ in range(4):
        theirs, objective = em.step(theirs)
        own, ours = problem.step(own, 1.0)
        assert ours == pytest.approx(objective, rel=1e-13)
        np.testing.assert_allclose(own.tables, theirs, rtol=1e-12)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 0.8])
def test_minus_l_never_falls(gamma, missing, graph):
    rows = asia_rows(missing)
    problem = problem_on(rows, PRIOR, GRAPHS[graph])
    now, last = started(problem, rows), -np.inf
    for _ in range(15):
        now, objective = problem.step(now, gamma)
        assert objective >= last - 1e-9 * (1 + abs(objective))
        last = objective


def by_definition(problem, parameters, completed, gamma):
    """-L times the number of cases from its terms: Theorem 6.2.3, every row by enumeration."""
    q = np.concatenate(completed.posteriors)
    weights = np.concatenate([part.weights for part in problem.rows.parts])
    with np.errstate(divide="ignore"):
        logs = problem.rows.longer(np.log(parameters.tables))
    log_p = np.concatenate([part.collected(logs) for part in problem.rows.parts])
    common = np.log(parameters.common)
    inside = q > 0
    terms = np.zeros_like(q)
    every = np.broadcast_to(common, q.shape)
    # E[log Q(t | y) - log Q(t)] - gamma E[log P(x, t) - log Q(t)]
    terms[inside] = q[inside] * (
        np.log(q[inside]) - every[inside] - gamma * (log_p[inside] - every[inside])
    )
    shown = problem.rows.shown_log_likelihood(np.log(np.maximum(parameters.tables, 1e-300)))
    return gamma * shown - weights @ terms.sum(axis=1)


@pytest.mark.parametrize("gamma", [0.2, 0.7, 1.0])
def test_log_z_is_the_lagrangian(gamma):
    rows = asia_rows(False)
    problem = problem_on(rows)
    now = started(problem, rows)
    completed = problem.e_step(now, gamma, keep=True)
    expected = by_definition(problem, now, completed, gamma)
    assert completed.objective == pytest.approx(expected, rel=1e-12)


def test_the_e_step_is_the_best_posterior():
    """No other Q(T | Y) has a larger -L (Proposition 6.2.4)."""
    rows = asia_rows(False, 60)
    problem = problem_on(rows)
    now = started(problem, rows)
    completed = problem.e_step(now, 0.4, keep=True)
    random = np.random.default_rng(0)
    for _ in range(20):
        moved = completed.posteriors[0] * np.exp(0.1 * random.normal(size=(1, 4)))
        moved /= moved.sum(axis=1, keepdims=True)
        other = by_definition(problem, now, type("Q", (), {"posteriors": [moved]}), 0.4)
        assert other < completed.objective


@pytest.mark.parametrize("missing", [False, True])
def test_folding_rows_changes_nothing(missing):
    rows = asia_rows(missing, 80)
    twice = Table.from_frame({n: rows.labels(n) * 2 for n in rows.names}).conform(rows.variables)
    one, two = problem_on(rows), problem_on(twice)
    now = started(one, rows)
    first, second = one.e_step(now, 0.6), two.e_step(now, 0.6)
    assert second.objective == pytest.approx(2 * first.objective, rel=1e-12)
    np.testing.assert_allclose(second.counts, 2 * first.counts, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(second.joint, first.joint, rtol=1e-12)


@pytest.mark.parametrize("gamma", [0.1, 0.6, 1.0])
def test_information_has_its_bounds(gamma):
    """I(T; Y) is between 0 and log |T|."""
    rows = asia_rows(True)
    problem = Exact(datasets.network("asia"), rows, HIDDEN, PRIOR)
    now = started(problem, rows)
    for _ in range(5):
        now, _ = problem.step(now, gamma)
    for information in problem.look(now, gamma).information:
        assert 0 <= information <= np.log(2)


def test_information_of_a_certain_state_is_the_entropy():
    rows = Table.from_frame({"x": ["a"] * 3 + ["b"]})
    from unveil import Network, TableCPD, Variable

    h = Variable("h", [0, 1], hidden=True)
    sure = TableCPD(rows.variable("x"), [h], [[1.0, 0.0], [0.0, 1.0]])
    network = Network([TableCPD(h, [], [0.75, 0.25]), sure])
    problem = Exact(network, rows, ["h"])
    look = problem.look(Parameters(problem.layout.pack(network), np.array([0.75, 0.25])), 1.0)
    assert look.information[0] == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)))
