"""Hierarchies: children find their homes, states are weighed, two states are split anew."""

import numpy as np
import pytest

from unveil import DAG, Network, TableCPD, Variable
from unveil.bottleneck.attaching import Homes
from unveil.bottleneck.continuation import Follower
from unveil.bottleneck.course import Continuation, Place
from unveil.bottleneck.forest import Forest
from unveil.bottleneck.hierarchy import learn_hierarchy
from unveil.bottleneck.resplitting import resplit
from unveil.bottleneck.weighing import place_score, weighed
from unveil.em import fit_em
from unveil.progress import Ticker

from .cases import PRIOR
from .hierarchies import two_groups

HIDDEN = ("T1", "T2")


def settled(network, rows, hidden=HIDDEN):
    """The follower, and the place at gamma = 1 where EM ends from this network."""
    problem = Forest(network, rows, hidden, PRIOR)
    follower = Follower(
        Continuation(), [4] * len(hidden), 1.0, False, 1e-9, 500, np.random.default_rng(0),
        Ticker.of(None, None),
    )  # fmt: skip
    parameters, objective = follower.settle(problem, problem.parameters(network), 1.0, 1e-9)
    vectors = tuple(problem.begin(i, follower.generator) for i in range(len(hidden)))
    look = problem.look(parameters, 1.0)
    return follower, Place(problem, parameters, 1.0, objective, vectors, 0.0, (), look)


def test_a_column_is_at_home_where_it_was_made():
    network, rows = two_groups(600)
    _, place = settled(network, rows)
    homes = Homes(place.problem, place.look.parameters, 1.0)
    for name in rows.names:
        worth = homes.scores(name, list(HIDDEN))
        assert max(worth, key=worth.get) == network.dag.parents(name)[0]


def test_its_own_part_is_taken_out():
    """Without the column, Q is that of the network without it."""
    network, rows = two_groups(300)
    _, place = settled(network, rows)
    homes = Homes(place.problem, place.look.parameters, 1.0)
    own = place.problem.network(place.parameters)
    without = Network([c for n, c in own.cpds.items() if n != "a0"])
    fewer = Forest(without, rows.without("a0"), HIDDEN, PRIOR)
    q, _, _ = fewer.e_step(fewer.parameters(without), 1.0)
    # Rows are folded: compare what is the same whatever their order.
    one = homes._without("T1", "a0")
    mean = place.problem.weights @ one
    np.testing.assert_allclose(mean, fewer.weights @ q[:, fewer.columns(0)], rtol=1e-8)


def test_a_column_below_the_wrong_parent_moves():
    _, rows = two_groups(700)
    arcs = [("T1", "T2")]
    arcs += [("T1", c) for c in ("a0", "a1", "a2", "b3")]
    arcs += [("T2", c) for c in ("b0", "b1", "b2", "a3")]
    start = DAG([*HIDDEN, *rows.names], arcs)
    found = learn_hierarchy(rows, 2, PRIOR, start=start, enrich=False, seed=1)
    groups = {frozenset(c for c in found.network.dag.children(h) if c in rows) for h in HIDDEN}
    assert groups == {frozenset(f"{x}{i}" for i in range(4)) for x in "ab"}


def test_states_are_weighed():
    """From two states of each, weighing goes on while the score grows and ends at EM's end."""
    network, rows = two_groups(300)
    follower, place = settled(network, rows)
    other = weighed(follower, place, (4, 4))
    assert place_score(other) >= place_score(place) - 1e-6 * abs(place_score(place))
    again = fit_em(
        other.problem.network(other.parameters), rows, PRIOR, tolerance=1e-9, max_iterations=5
    )
    assert again.objective == pytest.approx(other.objective, abs=0.05)


def test_two_states_are_split_anew():
    """Begun where both states of T2 are nearly alike, it ends as high as from the truth."""
    network, rows = two_groups(500)
    _, best = settled(network, rows)
    dull = []
    for name, cpd in network.cpds.items():
        values = cpd.values
        if name.startswith("b"):  # T2 tells b0 from the others, which is not how they were made
            values = np.array([[0.9, 0.1], [0.1, 0.9]] if name == "b0" else [[0.5, 0.5]] * 2)
        dull.append(TableCPD(cpd.variable, cpd.parents, values))
    follower, place = settled(Network(dull), rows)
    other = resplit(follower, place)
    assert other.objective >= place.objective
    assert other.objective == pytest.approx(best.objective, abs=0.1)


def test_the_number_of_states_is_learned():
    three = Variable("T", range(3), hidden=True)
    cpds = [TableCPD(three, [], [1 / 3] * 3)]
    for i in range(6):
        column = Variable(f"x{i}", range(3))
        cpds.append(TableCPD(column, [three], np.full((3, 3), 0.1) + 0.7 * np.eye(3)))
    rows = Network(cpds).sample(600, seed=1).without("T")
    found = learn_hierarchy(rows, None, PRIOR, max_states=4, seed=0)
    assert found.n_states[found.hidden[0]] == 3
