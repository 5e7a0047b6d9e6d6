"""Hierarchies: children find their homes, states are weighed, two states are split anew."""

import numpy as np
import pytest

from unveil import DAG, Network, TableCPD, Variable, ib_em
from unveil.bottleneck.attaching import Homes
from unveil.bottleneck.continuation import Follower
from unveil.bottleneck.course import Continuation, Place
from unveil.bottleneck.forest import Forest
from unveil.bottleneck.hierarchy import learn_hierarchy
from unveil.bottleneck.resplitting import resplit
from unveil.bottleneck.weighing import place_score, weighed
from unveil.em import fit_em
from unveil.errors import DataError
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


def test_a_run_that_cannot_reach_its_goal_is_given_up():
    network, rows = two_groups(400)
    follower, place = settled(network, rows)
    random = np.random.default_rng(3)
    tables = place.problem.layout.normalised(random.uniform(size=place.problem.layout.size))
    start = place.problem.parameters(place.problem.layout.unpack(tables))
    steps = {}
    for target in (-np.inf, place.objective, place.objective + 1000):
        before = follower.n_iterations
        _, value = follower.settle_above(place.problem, start, 1.0, 1e-9, target)
        steps[target] = follower.n_iterations - before, value
    whole, near, never = steps.values()
    assert whole[1] == near[1] == pytest.approx(place.objective, abs=1e-3)
    assert never[0] < whole[0]


def test_eigenvectors_are_carried_over_where_tables_stay():
    network, rows = two_groups(200)
    follower, place = settled(network, rows)
    growth = place.problem.growth(place.look, 1, place.vectors[1], 5)
    problem, _ = place.problem.split(place.look, 0, 0, growth, 0.1)
    carried = follower.carried(place, problem)
    old, new = place.problem.layout, problem.layout
    for f, family in enumerate(new.families):
        own = carried[1][new.first[f] : new.first[f + 1]]
        before = place.vectors[1][old.first[f] : old.first[f + 1]]
        changed = problem.places[0] in family
        assert (own.size != before.size) if changed else np.array_equal(own, before)


def test_the_end_does_not_depend_on_the_seed():
    network, rows = two_groups(300)
    ends = [
        ib_em(network.dag, rows.knock_out(0.1, seed=2), PRIOR, {"T1": 2, "T2": 3}, seed=seed)
        for seed in (1, 2)
    ]
    assert ends[0].log_likelihood == ends[1].log_likelihood
    assert [p.gamma for p in ends[0].course] == [p.gamma for p in ends[1].course]


def test_more_states_than_cases_are_refused():
    _, rows = two_groups(20)
    with pytest.raises(DataError, match="of 3 states need as many cases, and the rows count as 2"):
        learn_hierarchy(rows.take([0, 1]), 3)
    with pytest.raises(DataError, match="of 2 states need as many cases, and the rows count as 1"):
        learn_hierarchy(rows.take([0]), None)
