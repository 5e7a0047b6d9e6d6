"""What every kind of CPD must do. A new kind joins `CPDS` and inherits every check."""

import json
import math

import numpy as np
import pytest

from unveil import Network, TableCPD, Variable
from unveil.formats.native import CPD_KINDS
from unveil.model import (
    CPD,
    ConditionalGaussianCPD,
    Curve,
    DefaultTableCPD,
    LinearGaussianCPD,
    NoisyOrCPD,
    NonlinearCPD,
    Split,
    TreeCPD,
)

RAIN, DOSE = Variable("rain", ["no", "yes"]), Variable("dose", [1, 2, 3])
AGE, HEIGHT = Variable("age"), Variable("height")
WIND = Variable("wind", ["calm", "strong"])
MOOD, WEIGHT = Variable("mood", ["bad", "so so", "good"]), Variable("weight")


def _random():
    return np.random.default_rng(7)


CPDS = {
    "table": TableCPD(MOOD, [RAIN, DOSE], _random().dirichlet([1, 1, 1], size=(2, 3))),
    "table with zeros": TableCPD(
        MOOD, [RAIN], [[0.0, 0.25, 0.75], [1.0, 0.0, 0.0]]
    ),
    "table without parents": TableCPD(MOOD, [], [0.2, 0.3, 0.5]),
    "table of one state": TableCPD(Variable("mood", ["so so"]), [DOSE], np.ones((3, 1))),
    "tree": TreeCPD(
        MOOD, [RAIN, DOSE],
        Split(1, (((0, 2), 0), ((1,), Split(0, (((0,), 1), ((1,), 2)))))),
        _random().dirichlet([1, 1, 1], size=3),
    ),
    "tree of one leaf": TreeCPD(MOOD, [DOSE], 0, [[0.5, 0.0, 0.5]]),
    "default table": DefaultTableCPD(
        MOOD, [RAIN, DOSE], [[0, 2], [1, 0]], _random().dirichlet([1, 1, 1], size=3)
    ),
    "default table without a default": DefaultTableCPD(
        MOOD, [RAIN], [[1], [0]], [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]
    ),
    "noisy-or": NoisyOrCPD(RAIN, [DOSE, WIND], 1, [1, 0], [[0.3, 0, 0.75], [0, 0.5]], 0.1),
    "linear Gaussian": LinearGaussianCPD(WEIGHT, [AGE, HEIGHT], -1.5, [0.25, 2.0], 0.49),
    "linear Gaussian without parents": LinearGaussianCPD(WEIGHT, [], 70.0, [], 144.0),
    "conditional Gaussian": ConditionalGaussianCPD(
        WEIGHT, [RAIN, AGE, DOSE],
        _random().normal(size=(2, 3)), _random().normal(size=(2, 3, 1)),
        _random().random((2, 3)) + 0.2,
    ),
    "conditional Gaussian without continuous parents": ConditionalGaussianCPD(
        WEIGHT, [RAIN], [0.0, 5.0], np.zeros((2, 0)), [1.0, 0.25]
    ),
    "sigmoid": NonlinearCPD(WEIGHT, [AGE, HEIGHT], Curve(), -2, 3, [0.5], [0.4, -1.0], 0.3),
    "hyperbolic": NonlinearCPD(
        WEIGHT, [AGE, HEIGHT], Curve("hyperbolic"), 3, -2, [0.5], [0.4, -1.0], 0.3
    ),
    "reaction": NonlinearCPD(
        WEIGHT, [AGE, HEIGHT], Curve("reaction"), 0, 5, [0.5, -0.5], [0.4, -1.0], 0.3
    ),
    "multiplicative noise": NonlinearCPD(
        WEIGHT, [AGE], Curve("sigmoid", "multiplicative"), 2, 5, [0.5], [0.4], 0.04
    ),
    "log-normal noise": NonlinearCPD(
        WEIGHT, [AGE], Curve("sigmoid", "log-normal"), 2, 5, [0.5], [0.4], 0.01
    ),
    "curve without parents": NonlinearCPD(
        WEIGHT, [], Curve("reaction", "multiplicative"), 2, 2, [], [], 0.01
    ),
}  # fmt: skip
N_PARAMETERS = {
    "table": 12,
    "table with zeros": 4,
    "table without parents": 2,
    "table of one state": 0,
    "tree": 6,
    "tree of one leaf": 2,
    "default table": 6,
    "default table without a default": 4,
    "noisy-or": 4,
    "linear Gaussian": 4,
    "linear Gaussian without parents": 2,
    "conditional Gaussian": 18,
    "conditional Gaussian without continuous parents": 4,
    "sigmoid": 6,
    "hyperbolic": 6,
    "reaction": 7,
    "multiplicative noise": 5,
    "log-normal noise": 5,
    "curve without parents": 2,
}

every_kind = pytest.mark.parametrize("cpd", CPDS.values(), ids=CPDS)


def parent_rows(cpd):
    """A few settings of the parents: all states of the discrete ones, two values of the others."""
    axes = [
        np.arange(p.n_states, dtype=np.uint8) if p.is_discrete else np.array([-1.0, 2.5])
        for p in cpd.parents
    ]
    grids = np.meshgrid(*axes, indexing="ij") if axes else []
    return [g.ravel().astype(a.dtype) for g, a in zip(grids, axes, strict=True)]


def log_probability(cpd, parents, child):
    total = np.zeros(len(child))
    cpd.add_log_probability(total, parents, child)
    return total


def column_of(variable, values):
    return np.asarray(values, np.uint8 if variable.is_discrete else np.float64)


def points(variable, sampled):
    """Where to look at the distribution, and how much each place counts in an integral over it."""
    if variable.is_discrete:
        return np.arange(variable.n_states), np.ones(variable.n_states)
    middle, spread = sampled.mean(), sampled.std()
    grid = np.linspace(middle - 12 * spread, middle + 12 * spread, 4001)
    return grid, np.full(grid.size, grid[1] - grid[0])


def test_every_kind_that_files_know_is_here():
    assert {type(cpd) for cpd in CPDS.values()} == set(CPD_KINDS.values())
    assert {cpd.kind for cpd in CPDS.values()} == set(CPD_KINDS)
    assert set(N_PARAMETERS) == set(CPDS)


@every_kind
def test_it_follows_the_protocol(cpd):
    assert isinstance(cpd, CPD)
    assert cpd.variable.name in cpd.describe()
    assert cpd.variable.name in repr(cpd)
    assert isinstance(cpd.parents, tuple)


@pytest.mark.parametrize("name", CPDS)
def test_the_number_of_parameters(name):
    assert CPDS[name].n_parameters == N_PARAMETERS[name]


@every_kind
def test_what_is_sampled_is_what_is_scored(cpd, random_seed):
    """Total probability is one, and the sample's moments are those of the density."""
    rows = parent_rows(cpd)
    generator = np.random.default_rng(random_seed)
    n = 4000
    for i in range(len(rows[0]) if rows else 1):
        fixed = [np.repeat(column[i : i + 1], n) for column in rows]
        drawn = cpd.sample(fixed, n, generator)
        assert drawn.shape == (n,)
        grid, width = points(cpd.variable, drawn)
        given = [np.repeat(column[i : i + 1], grid.size) for column in rows]
        p = np.exp(log_probability(cpd, given, column_of(cpd.variable, grid))) * width
        assert p.sum() == pytest.approx(1, abs=1e-9)
        mean = p @ grid
        variance = p @ (grid - mean) ** 2
        assert abs(drawn.mean() - mean) <= 4.5 * math.sqrt(variance / n)
        fourth = p @ (grid - mean) ** 4
        error = math.sqrt(max(fourth - variance**2, 0) / n)
        assert abs(np.mean((drawn - mean) ** 2) - variance) <= 4.5 * error + 1e-12
        if cpd.variable.is_discrete:
            shares = np.bincount(drawn, minlength=grid.size) / n
            assert (np.abs(shares - p) <= 4.5 * np.sqrt(p * (1 - p) / n)).all()
            assert (shares[p == 0] == 0).all()


@every_kind
def test_sampling_is_row_by_row_and_by_seed(cpd):
    rows = parent_rows(cpd)
    n = len(rows[0]) if rows else 5
    first = cpd.sample(rows, n, np.random.default_rng(3))
    assert first.tobytes() == cpd.sample(rows, n, np.random.default_rng(3)).tobytes()
    assert cpd.sample([column[:0] for column in rows], 0, np.random.default_rng(3)).size == 0


@every_kind
def test_scoring_adds_to_what_is_there_row_by_row(cpd):
    rows = parent_rows(cpd)
    n = len(rows[0]) if rows else 5
    child = cpd.sample(rows, n, np.random.default_rng(3))
    alone = log_probability(cpd, rows, child)
    total = np.arange(n, dtype=np.float64)
    cpd.add_log_probability(total, rows, child)
    np.testing.assert_allclose(total, np.arange(n) + alone, rtol=1e-14, atol=1e-14)
    one_by_one = [
        log_probability(cpd, [c[i : i + 1] for c in rows], child[i : i + 1])[0] for i in range(n)
    ]
    np.testing.assert_array_equal(alone, one_by_one)


@every_kind
def test_json_is_lossless(cpd):
    fields = json.loads(json.dumps(cpd.to_dict(), allow_nan=False))
    assert type(cpd).from_dict(cpd.variable, cpd.parents, fields) == cpd


@every_kind
def test_other_variables_take_the_same_numbers(cpd):
    def changed(v):
        return Variable(v.name.upper(), v.states, hidden=not v.hidden)

    other = cpd.with_variables(changed(cpd.variable), [changed(p) for p in cpd.parents])
    assert other != cpd
    assert other.variable == changed(cpd.variable)
    assert [p.name for p in other.parents] == [p.name.upper() for p in cpd.parents]
    assert other.to_dict() == cpd.to_dict()
    assert other.n_parameters == cpd.n_parameters
    assert other.with_variables(cpd.variable, cpd.parents) == cpd


@every_kind
def test_a_network_takes_it_and_a_file_brings_it_back(cpd, tmp_path):
    roots = [
        TableCPD.uniform(p) if p.is_discrete else LinearGaussianCPD(p, [], 0.5, [], 2.0)
        for p in cpd.parents
    ]
    network = Network([cpd, *roots])
    network.save(tmp_path / "model.json")
    again = Network.load(tmp_path / "model.json")
    assert again == network
    table = network.sample(50, seed=1)
    expected = np.zeros(50)
    for each in network.cpds.values():
        parents = [table.column(p.name) for p in each.parents]
        each.add_log_probability(expected, parents, table.column(each.variable.name))
    np.testing.assert_allclose(again.row_log_likelihoods(table), expected, rtol=1e-12)
