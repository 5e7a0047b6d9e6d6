"""The posterior in a forest of hidden variables is exact: it equals the sum over their joint."""

import numpy as np
import pytest

from unveil import DAG, Table, Variable, datasets, fit_em, ib_em
from unveil.bottleneck.exact import Exact
from unveil.bottleneck.forest import Forest, is_forest
from unveil.bottleneck.lagrangian import Parameters
from unveil.errors import DataError

from .cases import PRIOR
from .hierarchies import two_groups

HIDDEN = ("T1", "T2")


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("gamma", [0.3, 0.8, 1.0])
def test_equals_the_sum_over_the_joint(gamma, missing):
    network, rows = two_groups(150)
    rows = rows.knock_out(0.2, seed=1) if missing else rows
    exact = Exact(network, rows, HIDDEN, PRIOR, DAG(HIDDEN, [HIDDEN]))
    forest = Forest(network, rows, HIDDEN, PRIOR)
    own, other = exact.parameters(network), forest.parameters(network)
    joint = [network.cpd(h).values for h in HIDDEN]
    own = Parameters(
        own.tables, exact.compression.projected((joint[0][:, None] * joint[1]).ravel())
    )
    for _ in range(4):
        own, objective = exact.step(own, gamma)
        other, same = forest.step(other, gamma)
        assert same == pytest.approx(objective, rel=1e-12)
        np.testing.assert_allclose(other.tables, own.tables, rtol=1e-10)
    looks = exact.look(own, gamma), forest.look(other, gamma)
    assert looks[1].information == pytest.approx(looks[0].information)
    assert looks[1].log_likelihood == pytest.approx(looks[0].log_likelihood)


@pytest.mark.parametrize("gamma", [0.4, 1.0])
def test_minus_l_never_falls(gamma):
    network, rows = two_groups(200)
    problem = Forest(network, rows.knock_out(0.1, seed=3), HIDDEN, PRIOR)
    random = np.random.default_rng(1)
    tables = problem.layout.normalised(random.uniform(size=problem.layout.size))
    now = problem.parameters(problem.layout.unpack(tables))
    last = -np.inf
    for _ in range(20):
        now, objective = problem.step(now, gamma)
        assert objective >= last - 1e-9 * abs(objective)
        last = objective


def test_what_a_forest_is():
    network, _ = two_groups(50)
    assert is_forest(network.dag, HIDDEN)
    assert not is_forest(network.dag, ["T1"])  # T2 has children, too
    assert not is_forest(datasets.network("asia").dag, ["lung"])


def test_many_hidden_variables_in_a_forest_are_followed_exactly():
    network, rows = two_groups(400)
    found = ib_em(network.dag, rows, PRIOR, {"T1": 2, "T2": 2}, seed=1)
    assert found.posterior == "forest"
    again = fit_em(found.network, rows, PRIOR, max_iterations=20)
    assert again.objective == pytest.approx(found.objective, abs=1e-3)
    joint = ib_em(network.dag, rows, PRIOR, {"T1": 2, "T2": 2}, posterior="exact", seed=1)
    assert joint.objective == pytest.approx(found.objective, abs=0.1)


def test_a_forest_is_asked_for_where_there_is_none():
    asia = datasets.network("asia")
    rows = asia.sample(50, seed=1).without("lung")
    with pytest.raises(DataError, match="forest"):
        ib_em(asia.dag, rows, PRIOR, {"lung": 2}, posterior="forest")


def test_five_rows_and_states_that_hardly_have_any():
    """States that EM drives out have no eigenvector; looking for it warns of nothing."""
    codes = [[0, 1, 2, 2], [1, 1, 2, 0], [0, 0, 1, 1], [1, 0, 0, 0], [1, 1, 2, 2]]
    names = ["a", "b", "c", "d"]
    variables = [Variable(n, range(k)) for n, k in zip(names, (2, 2, 3, 3), strict=True)]
    rows = Table(variables, list(np.array(codes).T))
    dag = DAG(["S", "T", *names], [("S", "T"), *(("ST"[i // 2], n) for i, n in enumerate(names))])
    for hidden in ({"S": 3, "T": 3}, {"S": None, "T": None}):
        found = ib_em(dag, rows, hidden=hidden, seed=1)
        assert np.isfinite(found.log_likelihood)
        assert all(np.isfinite(c.values).all() for c in found.network.cpds.values())
