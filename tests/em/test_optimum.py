"""EM against closed forms and against direct maximisation of the observed likelihood."""

import numpy as np
import pytest
from infer.oracle import Enumeration
from scipy.optimize import minimize

from unveil import DAG, EquivalentSampleSize, Network, Table, TableCPD, Variable
from unveil.em import fit_em
from unveil.model import fit
from unveil.model.flat import FlatTables

X, Y, Z = (Variable(n, [0, 1]) for n in "xyz")


def fitted(structure, table, **options):
    return fit_em(structure, table, tolerance=1e-13, max_iterations=5000, **options)


def test_monotone_pattern_has_a_closed_form():
    """Two binaries, y missing in some rows: the likelihood factors into P(x) over all rows and
    P(y | x) over the rows that show both (Little and Rubin 2002, 7.2), whatever the arc.
    """
    generator = np.random.default_rng(5)
    x = generator.integers(2, size=60)
    y = np.where(generator.random(60) < 0.7, x, 1 - x)
    y[generator.random(60) < np.where(x == 1, 0.6, 0.2)] = -1
    weights = generator.gamma(1.0, size=60)
    table = Table([X, Y], [x, y], weights)
    p_x = np.bincount(x, weights) / weights.sum()
    both = y >= 0
    pairs = np.zeros((2, 2))
    np.add.at(pairs, (x[both], y[both]), weights[both])
    p_y = pairs / pairs.sum(axis=1, keepdims=True)
    best = weights @ np.log(p_x[x]) + (pairs * np.log(p_y)).sum()
    joint = p_x[:, None] * p_y

    forward = fitted(DAG(list("xy"), [("x", "y")]), table)
    np.testing.assert_allclose(forward.network.cpd("x").values, p_x, atol=1e-6)
    np.testing.assert_allclose(forward.network.cpd("y").values, p_y, atol=1e-6)
    backward = fitted(DAG(list("xy"), [("y", "x")]), table)
    np.testing.assert_allclose(Enumeration(backward.network).joint, joint, atol=1e-5)
    for found in (forward, backward):
        assert found.log_likelihood == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("prior", [None, EquivalentSampleSize(2.0)])
def test_complete_rows_take_one_step(prior):
    """Nothing is missing: the first M-step is the closed form of Eq. 2.8 (2.12 with a prior)."""
    dag = DAG(list("xyz"), [("x", "y"), ("z", "y")])
    generator = np.random.default_rng(1)
    table = Table([X, Y, Z], list(generator.integers(2, size=(3, 50))))
    result = fit_em(dag, table, prior, seed=1)
    assert len(result.trace) <= 3
    closed = fit(dag, table, prior)
    for name in "xyz":
        np.testing.assert_allclose(
            result.network.cpd(name).values, closed.cpd(name).values, atol=1e-12
        )
    assert result.log_likelihood == pytest.approx(closed.log_likelihood(table))


def directly(network, codes, prior, starts, seed):
    """The largest objective BFGS finds over softmax parameters, from several starts.

    The objective is written with the enumerated joint only.
    """
    flat = FlatTables(network)
    alpha = flat.pack_prior(prior)

    def objective(logits):
        tables = np.concatenate([_softmax(part).ravel() for part in flat.split(logits)])
        joint = Enumeration(flat.unpack(flat.normalised(tables))).joint
        total = 0.0
        for row, count in zip(*np.unique(codes, axis=0, return_counts=True), strict=True):
            shown = tuple(slice(None) if c < 0 else c for c in row)
            total += count * np.log(np.sum(joint[shown]))
        return -(total + alpha @ np.log(tables))

    generator = np.random.default_rng(seed)
    found = [
        minimize(
            objective, generator.normal(0, 1.5, flat.size), method="BFGS", options={"gtol": 1e-7}
        )
        for _ in range(starts)
    ]
    return -min(r.fun for r in found)


def _softmax(part):
    lifted = np.exp(part - part.max(axis=-1, keepdims=True))
    return lifted / lifted.sum(axis=-1, keepdims=True)


GRAPHS = {
    "pair": [("x", "y")],
    "chain": [("x", "y"), ("y", "z")],
    "collider": [("x", "y"), ("z", "y")],
}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("prior", [None, EquivalentSampleSize(0.8)], ids=["ml", "map"])
def test_direct_maximisation_finds_no_more(graph, prior):
    names = sorted({n for arc in GRAPHS[graph] for n in arc})
    generator = np.random.default_rng(len(graph))
    variables = [v for v in (X, Y, Z) if v.name in names]
    base = generator.integers(2, size=25)
    columns = [np.where(generator.random(25) < 0.75, base, 1 - base) for _ in names]
    codes = np.column_stack(columns)
    codes[generator.random(codes.shape) < 0.3] = -1
    table = Table(variables, list(codes.T))
    result = fitted(DAG(names, GRAPHS[graph]), table, prior=prior, n_starts=5, seed=1)
    direct = directly(result.network, codes, prior, starts=3, seed=2)
    assert result.objective == pytest.approx(direct, abs=2e-5)


def test_direct_maximisation_with_a_hidden_variable():
    """A latent class model of three binaries is saturated: with enough freedom EM reaches the
    likelihood of the table itself; with a prior it reaches what BFGS reaches.
    """
    random = np.random.default_rng(3)
    hidden = Variable("h", [0, 1], hidden=True)
    truth = Network(
        [TableCPD(hidden, [], [0.4, 0.6])]
        + [TableCPD(v, [hidden], [[0.85, 0.15], [0.2, 0.8]]) for v in (X, Y, Z)]
    )
    rows = truth.sample(300, seed=random).without("h")
    codes = np.column_stack([np.full(300, -1), *(rows.column(n).astype(int) for n in "xyz")])
    saturated = sum(
        count * np.log(count / 300) for count in np.unique(codes, axis=0, return_counts=True)[1]
    )
    free = fitted(truth.dag, rows, hidden={"h": 2}, n_starts=10, seed=1)
    assert free.log_likelihood == pytest.approx(saturated, abs=1e-6)
    prior = EquivalentSampleSize(1.0)
    bound = fitted(truth.dag, rows, hidden={"h": 2}, prior=prior, n_starts=10, seed=1)
    assert bound.objective == pytest.approx(directly(truth, codes, prior, 3, 4), abs=2e-5)
