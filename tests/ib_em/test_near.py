"""Steps for one hidden variable of a forest: -L is the whole forest's, and it never falls."""

import numpy as np
import pytest

from unveil import Network, TableCPD, Variable
from unveil.bottleneck.forest import Forest
from unveil.bottleneck.near import Messages, Near

from .cases import PRIOR


def three_levels(missing=False, seed=0):
    """A root with two hidden children and columns everywhere, random tables; a problem of it."""
    random = np.random.default_rng(seed)
    hidden = [Variable(f"T{i}", range(2 + i % 2), hidden=True) for i in range(4)]
    parents = {"T0": [], "T1": [hidden[0]], "T2": [hidden[1]], "T3": [hidden[1]]}
    cpds = [_random(v, parents[v.name], random) for v in hidden]
    for i in range(10):
        cpds.append(_random(Variable(f"x{i}", range(2 + i % 3)), [hidden[i % 4]], random))
    cpds.append(_random(Variable("alone", [0, 1]), [], random))
    network = Network(cpds)
    rows = network.sample(120, seed=1)
    for v in hidden:
        rows = rows.without(v.name)
    rows = rows.knock_out(0.2, seed=1) if missing else rows
    other = Network([_random(c.variable, c.parents, random) for c in cpds])
    problem = Forest(other, rows, [v.name for v in hidden], PRIOR)
    return problem, problem.parameters(other)


def _random(variable, parents, random):
    shape = [p.n_states for p in parents]
    return TableCPD(variable, parents, random.dirichlet(np.ones(variable.n_states), shape or None))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("gamma", [0.4, 1.0])
def test_a_step_is_that_of_the_forest_for_its_own_tables(gamma, missing):
    problem, now = three_levels(missing)
    now = problem.step(now, gamma)[0]
    whole, objective = problem.step(now, gamma)
    told = Messages(problem, now, gamma)
    for i, name in enumerate(problem.hidden):
        near, same = Near(told, i).step(now, gamma)
        assert same == pytest.approx(objective, rel=1e-12)
        v = problem.layout.names.index(name)
        for family, a, b, old in zip(
            problem.layout.families,
            *(problem.layout.split(p.tables) for p in (near, whole, now)),
            strict=True,
        ):
            np.testing.assert_allclose(a, b if v in family else old, rtol=1e-9)
        own = problem._links[near.common[problem._links] != now.common[problem._links]]
        np.testing.assert_allclose(near.common[own], whole.common[own], rtol=1e-9)


@pytest.mark.parametrize("gamma", [0.4, 1.0])
def test_minus_l_never_falls_and_is_that_of_the_forest(gamma):
    problem, now = three_levels(True, seed=3)
    near = Near(Messages(problem, now, gamma), 1)
    last = -np.inf
    for _ in range(15):
        now, objective = near.step(now, gamma)
        assert objective >= last - 1e-9 * abs(objective)
        last = objective
    assert problem.step(now, gamma)[1] == pytest.approx(near.step(now, gamma)[1], rel=1e-12)
