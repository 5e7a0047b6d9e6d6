"""Derivatives against finite differences; the eigenvalue of a split against correlations."""

import numpy as np
import pytest

from unveil import DAG, Network, TableCPD, Variable, datasets, fit
from unveil.bottleneck.compression import Compression
from unveil.bottleneck.derivative import Tangent, diagonal_direction, whole_direction
from unveil.bottleneck.exact import Exact
from unveil.bottleneck.lagrangian import Bottleneck, Parameters

from .cases import PRIOR, asia_rows, classes, started
from .test_lagrangian import GRAPHS, HIDDEN

GAMMA, SMALL = 0.6, 1e-5


@pytest.fixture(params=[(m, g) for m in (False, True) for g in GRAPHS], ids=str)
def point(request):
    """A point that is no fixed point, and the tangent there."""
    missing, graph = request.param
    rows = asia_rows(missing)
    shape = Compression(HIDDEN, (2, 2), GRAPHS[graph])
    problem = Bottleneck(datasets.network("asia"), rows, HIDDEN, PRIOR, shape)
    now = started(problem, rows)
    for _ in range(2):
        now, _ = problem.step(now, GAMMA)
    return problem, now, Tangent(problem, now, problem.e_step(now, GAMMA, True), GAMMA)


def stepped(problem, now, gamma):
    after = problem.m_step(problem.e_step(now, gamma))
    return np.concatenate([np.log(after.tables), np.log(after.common)])


def test_products_with_the_whole_derivative(point):
    problem, now, tangent = point
    random = np.random.default_rng(1)
    tables, common = random.normal(size=now.tables.size), random.normal(size=4)

    def moved(s):
        return Parameters(now.tables * np.exp(s * tables), now.common * np.exp(s * common))

    up, down = (stepped(problem, moved(s), GAMMA) for s in (SMALL, -SMALL))
    found = np.concatenate(tangent.product(tables, common))
    np.testing.assert_allclose(found, (up - down) / (2 * SMALL), atol=1e-7)


def test_the_derivative_by_gamma(point):
    """Eq. (6.25)."""
    problem, now, tangent = point
    up, down = (stepped(problem, now, GAMMA + s) for s in (SMALL, -SMALL))
    found = np.concatenate(tangent.stepped(tangent.by_gamma(), np.zeros(now.tables.size)))
    np.testing.assert_allclose(found, (up - down) / (2 * SMALL), atol=1e-7)


@pytest.fixture(scope="module")
def settled():
    """A fixed point with two classes in use."""
    network, rows = classes(2, 4, 400)
    problem = Exact(network, rows, ["class"], PRIOR)
    now = problem.parameters(network)
    for _ in range(400):
        now, _ = problem.step(now, 0.8)
    return problem, now


def test_the_path_of_the_fixed_point(settled):
    problem, now = settled
    tangent = problem.look(now, 0.8).tangent
    whole, diagonal = whole_direction(tangent, 1e-10, 60), diagonal_direction(tangent)
    ends = []
    for gamma in (0.801, 0.799):
        there = now
        for _ in range(400):
            there, _ = problem.step(there, gamma)
        ends.append((np.log(there.tables), sum(problem.look(there, gamma).information)))
    by_difference = (ends[0][0] - ends[1][0]) / 0.002
    np.testing.assert_allclose(whole.tables, by_difference, atol=1e-3)
    assert (
        np.abs(diagonal.tables - by_difference).max()
        > 10 * np.abs(whole.tables - by_difference).max()
    )
    assert whole.information == pytest.approx((ends[0][1] - ends[1][1]) / 0.002, rel=1e-3)


def one_state(rows):
    """The trivial solution: columns independent."""
    root = Variable("class", [0], hidden=True)
    alone = fit(DAG(rows.names), rows)
    cpds = [TableCPD(v, [root], alone.cpd(v.name).values[None]) for v in rows.variables]
    return Network([TableCPD(root, [], [1.0]), *cpds])


def test_one_class_splits_at_the_largest_correlation():
    """The eigenvalue is gamma times the largest one of the columns' correlation matrix."""
    _, rows = classes(3, 6, 500)
    network = one_state(rows)
    problem = Exact(network, rows, ["class"])
    look = problem.look(problem.parameters(network), 0.5)
    start = problem.begin(0, np.random.default_rng(0))
    growth = problem.growth(look, 0, start, 200)
    columns = np.array([rows.column(n) for n in rows.names], float)
    assert growth.values[0] == pytest.approx(0.5 * np.linalg.eigvalsh(np.corrcoef(columns))[-1])


@pytest.mark.parametrize(("share", "parts"), [(0.9, False), (1.2, True)])
def test_twins_part_beyond_the_crossing_only(share, parts):
    """Just below the crossing a split heals, just beyond it the two states go apart."""
    _, rows = classes(3, 6, 500)
    network = one_state(rows)
    problem = Exact(network, rows, ["class"])
    look = problem.look(problem.parameters(network), 1.0)
    growth = problem.growth(look, 0, problem.begin(0, np.random.default_rng(0)), 200)
    gamma = share / growth.values[0]
    two, now = problem.split(problem.look(look.parameters, gamma), 0, 0, growth, 0.1)
    for _ in range(300):
        now, _ = two.step(now, gamma)
    assert (sum(two.look(now, gamma).information) > 0.01) is parts


def test_each_state_of_two_is_a_problem_of_its_own(settled):
    """A split along the vector grows by the eigenvalue in one step, and leaves the other alone."""
    problem, now = settled
    look = problem.look(now, 0.8)
    growth = problem.growth(look, 0, problem.begin(0, np.random.default_rng(0)), 300)
    three, before = problem.split(look, 0, 1, growth, 1e-4)
    after, _ = three.step(before, 0.8)
    tables = [np.log(x) for x in three.layout.split(before.tables)][1:]
    moved = [np.log(x) for x in three.layout.split(after.tables)][1:]
    gap = np.concatenate([t[1] - t[2] for t in tables])
    grown = np.concatenate([t[1] - t[2] for t in moved])
    # The prior of three states is not that of two, hence the tolerance.
    assert grown @ gap / (gap @ gap) == pytest.approx(growth.values[1], rel=0.05)
    still = np.concatenate([a[0] - b[0] for a, b in zip(tables, moved, strict=True)])
    assert np.abs(still).max() < 0.02
