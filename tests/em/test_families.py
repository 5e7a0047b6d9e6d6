"""EM for networks with continuous variables: climbs, and ends where other programs end."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis
from sklearn.mixture import GaussianMixture

from unveil import DAG, Network, PseudoCount, Table, TableCPD, Variable
from unveil.em import fit_em
from unveil.em.families import FamilyEM
from unveil.errors import ModelError
from unveil.model import LinearGaussianCPD, fit
from unveil.model.gaussian_cpd import GaussianPrior
from unveil.model.units import standardised


def numbers(n_rows=300, seed=1):
    """Two factors behind five columns."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=(2, 5))
    values = random.normal(size=(n_rows, 2)) @ weights + random.normal(size=(n_rows, 5)) + 10
    return Table([Variable(f"x{i}") for i in range(5)], list(values.T))


def mixed(n_rows=300, seed=1):
    """A hidden class chooses the line of y given x, and the shares of a discrete column."""
    random = np.random.default_rng(seed)
    group = random.integers(2, size=n_rows)
    x = random.normal(size=n_rows)
    y = np.where(group == 0, 2 + x, -2 - x) + 0.5 * random.normal(size=n_rows)
    d = (random.random(n_rows) < np.where(group == 0, 0.8, 0.3)).astype(int)
    return Table([Variable("x"), Variable("y"), Variable("d", ["no", "yes"])], [x, y, d])


FACTORS = DAG(
    ["F", "G", *(f"x{i}" for i in range(5))], [(f, f"x{i}") for f in "FG" for i in range(5)]
)
GROUPS = DAG(["g", "x", "y", "d"], [("g", "y"), ("x", "y"), ("g", "d")])
HIDDEN = {"F": Variable("F"), "G": Variable("G")}


def test_factor_analysis():
    """Two hidden continuous parents of everything: the likelihood of scikit-learn's."""
    table = numbers()
    found = fit_em(FACTORS, table, hidden=HIDDEN, seed=1, max_iterations=3000, tolerance=1e-11)
    values = np.column_stack([table.column(n) for n in table.names])
    best = FactorAnalysis(2, tol=1e-10, max_iter=20_000).fit(values).score(values) * 300
    assert found.log_likelihood == pytest.approx(best, abs=1e-3)
    for name in "FG":
        assert found.network.variable(name).hidden
        assert found.network.cpd(name).describe() == f"P({name}) = Normal(0, variance 1)"
    assert found.network.log_likelihood(table) == pytest.approx(found.log_likelihood)


def test_gaussian_mixture():
    random = np.random.default_rng(2)
    places = np.array([[0, 0, 0], [4, 4, 0], [0, 4, 4]])[random.integers(3, size=300)]
    values = random.normal(size=(300, 3)) + places
    table = Table([Variable(n) for n in "xyz"], list(values.T))
    dag = DAG(["c", *"xyz"], [("c", n) for n in "xyz"])
    found = fit_em(
        dag, table, hidden={"c": 3}, start="cluster", n_starts=2, seed=1, tolerance=1e-11
    )
    peer = GaussianMixture(3, covariance_type="diag", n_init=3, tol=1e-10, max_iter=2000,
                           random_state=0, reg_covar=0.0).fit(values)  # fmt: skip
    assert found.log_likelihood == pytest.approx(peer.score(values) * 300, abs=1e-3)
    first, second = (start.network.cpd("x").intercepts for start in found.starts)
    np.testing.assert_allclose(first, second, atol=0.05)


@pytest.mark.parametrize("table", [numbers(120), mixed(120)], ids=["numbers", "mixed"])
@pytest.mark.parametrize("gaps", [0.0, 0.25])
def test_the_objective_never_falls(table, gaps):
    if gaps:
        table = table.knock_out(gaps, seed=3)
    table = table.with_weights(np.random.default_rng(4).gamma(1.0, size=table.n_rows))
    dag, hidden = (FACTORS, HIDDEN) if "x4" in table else (GROUPS, {"g": 2})
    prior = None if "x4" in table else PseudoCount(0.7)
    found = fit_em(dag, table, prior, hidden, seed=1, max_iterations=25)
    assert climbs(found.trace)
    assert found.log_likelihood == pytest.approx(found.network.log_likelihood(table))


def test_hard_em_climbs_too():
    table = mixed().knock_out(0.2, seed=1, names=["d"])
    found = fit_em(GROUPS, table, PseudoCount(0.7), {"g": 2}, seed=1, hard=True)
    assert found.stopped == "converged"
    assert climbs(found.trace)
    with pytest.raises(ModelError, match="unseen cells of 'F' at their mean"):
        fit_em(FACTORS, numbers(20), hidden=HIDDEN, seed=1, hard=True)


def climbs(trace):
    return all(b >= a - 1e-9 * abs(a) for a, b in pairwise(trace))


def test_complete_rows_take_one_step():
    """The least squares fit is a fixed point."""
    table = mixed()
    dag = DAG(["d", "x", "y"], [("d", "y"), ("x", "y")])
    best = fit(dag, table)
    em = FamilyEM(best, table)
    again, value = em.step(best)
    assert value == pytest.approx(best.log_likelihood(table))
    np.testing.assert_allclose(again.cpd("y").coefficients, best.cpd("y").coefficients)
    np.testing.assert_allclose(again.cpd("d").values, best.cpd("d").values)


def test_monotone_gaps_have_a_closed_form():
    """y is missing in some rows: x from all rows, the line of y from those that show it."""
    random = np.random.default_rng(5)
    x = random.normal(size=200)
    y = 1 + 2 * x + random.normal(size=200)
    table = Table([Variable("x"), Variable("y")], [x, np.where(x > 0.5, np.nan, y)])
    dag = DAG(["x", "y"], [("x", "y")])
    found = fit_em(dag, table, seed=1, tolerance=1e-13, max_iterations=2000).network
    whole = fit(dag, table.take(x <= 0.5))
    assert found.cpd("x").intercept == pytest.approx(x.mean())
    assert found.cpd("x").variance == pytest.approx(x.var())
    np.testing.assert_allclose(found.cpd("y").coefficients, whole.cpd("y").coefficients, rtol=1e-4)


def test_units_change_nothing_else():
    h, x, y = Variable("h", hidden=True), Variable("x"), Variable("y")
    s = Variable("s", ["a", "b"])
    network = Network(
        [
            TableCPD(s, [], [0.4, 0.6]),
            LinearGaussianCPD(y, [], 1, [], 2),
            LinearGaussianCPD(h, [y], -3, [0.5], 4),
            LinearGaussianCPD(x, [h, y], 1, [-2, 1], 1),
        ]
    )
    table = network.sample(20, seed=1).without("h")
    same = standardised(network, ["h"])
    np.testing.assert_allclose(
        same.row_log_likelihoods(table), network.row_log_likelihoods(table), rtol=1e-12
    )
    assert same.cpd("h").variance == 1.0
    assert same.cpd("x").coefficients[0] > 0


def test_words():
    table = numbers(20)
    with pytest.raises(ModelError, match="not its imagined rows"):
        fit_em(FACTORS, table, GaussianPrior(strength=1.0), HIDDEN, seed=1)
    with pytest.raises(ModelError, match="weights of all rows are zero"):
        fit_em(
            Network([LinearGaussianCPD(Variable("x0"), [], 0, [], 1)]),
            table.with_weights(np.zeros(20)),
        )
