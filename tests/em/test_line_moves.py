"""Arcs by the likelihood of columns alone: derivatives, fits and second-order gains."""

import numpy as np
import pytest

from unveil import DAG, Table, Variable
from unveil.em.line_moves import Marginal
from unveil.em.line_structure import fitted_graph
from unveil.em.lines import Observed, parents_matrix

NAMES = tuple("abcdef")
ARCS = [("H", "a"), ("H", "b"), ("H", "c"), ("H", "d"), ("a", "e"), ("b", "e"), ("e", "f")]


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(5)
    h = generator.normal(size=400)
    x = generator.normal(size=(6, 400))
    x[:4] += 0.9 * h
    x[4] += 0.6 * x[0] - 0.5 * x[1]
    x[5] += 0.4 * x[4] + 0.2 * x[2]
    x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    return Observed.of(Table([Variable(n) for n in NAMES], list(x)))


@pytest.fixture(scope="module")
def graph(rows):
    return fitted_graph(rows, DAG([*NAMES, "H"], ARCS), ["H"], tolerance=1e-12)


def marginal_of(rows, near=None):
    seen = rows.moments.scatter / rows.total
    return Marginal(seen, rows.total, rows.floor, np.ones(6, bool) if near is None else near)


def mask_of(graph):
    return parents_matrix(graph.lines.names, graph.dag) > 0


def test_the_likelihood_is_that_of_em(rows, graph):
    lines = graph.lines
    own = marginal_of(rows).log_likelihood(lines.coefficients, lines.variances)
    assert own == pytest.approx(graph.log_likelihood, abs=1e-8)


def test_the_gradient_is_that_of_finite_differences(rows, graph):
    marginal, size = marginal_of(rows), 7
    b = graph.lines.coefficients + 0.1 * mask_of(graph)
    d = graph.lines.variances * 1.3
    d[6] = 1.0
    places = [(i, j) for i in range(6) for j in range(7) if i != j]
    of = np.array(places).T
    slope, _ = marginal._derivatives(b, d, (of[0], of[1]))
    step = 1e-5
    for (i, j), own in zip(places, slope, strict=True):
        up, down = b.copy(), b.copy()
        up[i, j] += step
        down[i, j] -= step
        change = marginal.log_likelihood(up, d) - marginal.log_likelihood(down, d)
        assert own == pytest.approx(change / (2 * step), rel=1e-5, abs=1e-4)
    variances = (np.arange(6), size + np.arange(6))
    for i, own in enumerate(marginal._derivatives(b, d, variances)[0]):
        up, down = d.copy(), d.copy()
        up[i] += step
        down[i] -= step
        change = marginal.log_likelihood(b, up) - marginal.log_likelihood(b, down)
        assert own == pytest.approx(change / (2 * step), rel=1e-5, abs=1e-4)


def test_the_information_is_the_mean_curvature(rows, graph):
    """Where rows have exactly the model's covariance, the Hessian is minus the information."""
    b, d = graph.lines.coefficients, graph.lines.variances
    inverse = np.linalg.inv(np.eye(7) - b)
    exact = ((inverse * d) @ inverse.T)[:6, :6]
    marginal = Marginal(exact, 400.0, rows.floor, np.ones(6, bool))
    free, arcs = marginal._free(mask_of(graph))
    information = marginal._derivatives(b, d, free)[1].between(free, free)
    step = 1e-5
    for a, (i, j) in enumerate(arcs):
        up, down = b.copy(), b.copy()
        up[i, j] += step
        down[i, j] -= step
        bend = marginal._derivatives(up, d, free)[0] - marginal._derivatives(down, d, free)[0]
        np.testing.assert_allclose(information[a], -bend / (2 * step), rtol=1e-4, atol=1e-2)
    assert information.diagonal() == pytest.approx(
        marginal._derivatives(b, d, free)[1].own(free), rel=1e-12
    )


def test_scoring_ends_where_em_does(rows, graph):
    b, d = graph.lines.coefficients * 0.5, graph.lines.variances * 1.5
    d[6] = 1.0
    _, variances, likelihood = marginal_of(rows).fitted(b, d, mask_of(graph))
    assert likelihood == pytest.approx(graph.log_likelihood, abs=0.01)
    assert variances[6] == 1.0


def test_promised_gains_are_about_those_of_refitting(rows, graph):
    marginal, mask = marginal_of(rows), mask_of(graph)
    b, d, here = marginal.fitted(graph.lines.coefficients, graph.lines.variances, mask)
    moves = marginal.moves(b, d, mask)
    small = [c for c in range(len(moves.others)) if tuple(moves.others[c]) == (5, 2)]
    (c,) = small
    (a,) = [a for a in range(len(moves.places)) if tuple(moves.places[a]) == (4, 1)]
    with_c, without_a = mask.copy(), mask.copy()
    with_c[5, 2] = True
    without_a[4, 1] = False
    both = with_c & without_a | (with_c & ~mask)
    both[4, 1] = False
    added = marginal.fitted(b, d, with_c)[2] - here
    dropped = marginal.fitted(b, d, without_a)[2] - here
    swapped = marginal.fitted(b, d, both)[2] - here
    assert added > 3
    assert moves.add[c] == pytest.approx(added, rel=0.1)
    assert moves.drop[a] == pytest.approx(dropped, rel=0.25)
    assert moves.swap[a, c] == pytest.approx(swapped, rel=0.25)
    assert (moves.drop <= 0).all()
    assert (moves.add >= 0).all()


def test_one_arc_in_place_of_another_is_about_that_of_refitting(rows):
    """Parents of one child that tell of each other: what one gains depends on the other."""
    dag = DAG([*NAMES, "H"], [("H", "a"), ("H", "b"), ("H", "c"), ("c", "e"), ("e", "f")])
    marginal = marginal_of(rows)
    graph = fitted_graph(rows, dag, ["H"], tolerance=1e-12)
    mask = mask_of(graph)
    b, d, here = marginal.fitted(graph.lines.coefficients, graph.lines.variances, mask)
    moves = marginal.moves(b, d, mask)
    (a,) = [a for a in range(len(moves.places)) if tuple(moves.places[a]) == (4, 2)]
    promised, exact = [], []
    for parent in (0, 1, 3, 6):
        (c,) = [c for c in range(len(moves.others)) if tuple(moves.others[c]) == (4, parent)]
        changed = mask.copy()
        changed[4, 2], changed[4, parent] = False, True
        promised.append(moves.swap[a, c])
        exact.append(marginal.fitted(b, d, changed)[2] - here)
    np.testing.assert_allclose(promised[:2], exact[:2], rtol=0.15)
    assert np.argsort(promised).tolist() == np.argsort(exact).tolist()


def test_a_turned_arc_that_nothing_tells_of_costs_nothing(rows):
    """a -> b and b -> a have the same likelihood; the quadratic function knows it nearly."""
    dag = DAG([*NAMES, "H"], [("a", "b"), ("H", "c"), ("H", "d"), ("H", "e")])
    graph = fitted_graph(rows, dag, ["H"], tolerance=1e-12)
    moves = marginal_of(rows).moves(graph.lines.coefficients, graph.lines.variances, mask_of(graph))
    (a,) = [a for a in range(len(moves.places)) if tuple(moves.places[a]) == (1, 0)]
    (c,) = [c for c in range(len(moves.others)) if tuple(moves.others[c]) == (0, 1)]
    assert abs(moves.swap[a, c]) < 0.1 * abs(moves.drop[a])


def test_columns_that_are_not_near_stay(rows, graph):
    near = np.array([True, True, True, True, False, False])
    marginal, mask = marginal_of(rows, near), mask_of(graph)
    b, d = graph.lines.coefficients * 0.9, graph.lines.variances
    new_b, new_d, _ = marginal.fitted(b, d, mask)
    np.testing.assert_array_equal(new_b[4:], b[4:])
    np.testing.assert_array_equal(new_d[4:], d[4:])
    assert np.abs(new_b[:4] - b[:4]).max() > 0.01
    moves = marginal.moves(new_b, new_d, mask)
    assert {*moves.others[:, 0]} <= {0, 1, 2, 3}
    assert {*moves.places[:, 0]} <= {0, 1, 2, 3}
