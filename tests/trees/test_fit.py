"""EM on trees of hidden variables: equal to the general EM, never falling, stopped kindly."""

import numpy as np
import pytest

from unveil import PseudoCount, Table, fit_em, trees
from unveil.em.steps import TableEM
from unveil.errors import DataError
from unveil.infer import plan
from unveil.progress import Ticker
from unveil.trees.fit import TreeSettings, fit_structure, random_network
from unveil.trees.information import chow_liu_parents, indicators, mutual_information
from unveil.trees.stepwise import stepwise_em

from .cases import GROUPS, rows, two_groups

MODELS = {
    "hierarchy": lambda table, **how: trees.hierarchy(table, GROUPS, 3, **how),
    "hidden Chow-Liu tree": lambda table, **how: trees.hidden_chow_liu(table, 3, **how),
    "naive Bayes": lambda table, **how: trees.naive_bayes(table, 3, **how),
    "mixture of trees": lambda table, **how: trees.mixture_of_trees(table, 2, rounds=1, **how),
}


@pytest.mark.parametrize("with_gaps", [False, True])
def test_a_step_is_that_of_the_junction_tree(with_gaps, monkeypatch):
    table = rows().knock_out(0.2, seed=3) if with_gaps else rows()
    table = table.with_weights(np.random.default_rng(1).gamma(1.0, size=table.n_rows))
    network, prior = two_groups(), PseudoCount(0.3)
    fast = TableEM(network, table, prior)
    assert [type(p).__name__ for p in fast.cells.parts] == ["ForestRows"]
    monkeypatch.setattr(plan, "_forest_suits", lambda *_: False)
    slow = TableEM(network, _copy(table), prior)
    assert "ForestRows" not in [type(p).__name__ for p in slow.cells.parts]
    one, other = fast.pack(network), slow.pack(network)
    for _ in range(5):
        (one, at_one), (other, at_other) = fast.step(one), slow.step(other)
        assert at_one == pytest.approx(at_other, rel=1e-12)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def _copy(table):
    """The same rows in a table that remembers nothing."""
    return table.take(np.arange(table.n_rows))


def test_it_ends_where_the_general_em_ends():
    start = two_groups()
    found = fit_em(start, rows(), PseudoCount(1.0), max_iterations=300, tolerance=1e-10)
    ours = fit_structure(
        "two groups", lambda _: start, rows(), PseudoCount(1.0),
        TreeSettings(tolerance=1e-10), 1, Ticker(),
    )  # fmt: skip
    assert ours.objective >= found.objective - 1e-4
    assert ours.log_likelihood == pytest.approx(ours.network.log_likelihood(rows()))


@pytest.mark.parametrize("model", MODELS)
def test_the_objective_never_falls_and_gaps_and_weights_are_taken(model):
    table = rows().knock_out(0.1, seed=4)
    found = MODELS[model](table, seed=3, max_iterations=15, n_starts=2)
    steps = np.diff(found.trace)
    assert (steps > -1e-7 * abs(found.objective)).all()
    assert steps.sum() > 0
    assert found.log_likelihood == pytest.approx(found.network.log_likelihood(table))
    assert found.objective == max(s.objective for s in found.starts)
    twice = MODELS[model](table.with_weights(np.full(300, 2.0)), seed=3, max_iterations=3)
    doubled = table.take(np.repeat(np.arange(300), 2))
    again = MODELS[model](doubled, seed=3, max_iterations=3)
    np.testing.assert_allclose(twice.trace, again.trace, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_a_seed_repeats_a_run(model):
    one, other = (MODELS[model](rows(), seed=5, max_iterations=3, epochs=2) for _ in range(2))
    assert one.trace == other.trace
    assert str(one) == str(other)
    assert "hidden variable" in str(one)
    assert set(one.to_dict()) >= {"network", "outline", "n_parameters", "starts"}


def test_parts_of_the_rows_first():
    """Going over 20 parts of the rows four times is worth more than four steps over all of them."""
    table, network = rows(2000), two_groups()
    random = np.random.default_rng(2)
    start = random_network(network.dag, {v.name: v for v in network.variables}, table, random)
    problem = TableEM(start, table, PseudoCount(0.1))
    plain = problem.pack(start)
    by_parts = stepwise_em(problem, table, plain, 4, 100, random, Ticker())
    for _ in range(4):
        plain, _ = problem.step(plain)
    assert problem.step(by_parts)[1] > problem.step(plain)[1]


def test_validation_stops_and_chooses():
    table, kept = rows(), two_groups().sample(200, seed=9).without(["top", "a", "b"])
    found = trees.hidden_chow_liu(
        table, 8, seed=1, validation=kept, equivalent_sample_size=1e-3, patience=3, n_starts=2,
        tolerance=0.0,
    )  # fmt: skip
    assert found.stopped == "stalled"
    assert found.validation == max(s.validation for s in found.starts)
    assert found.network.log_likelihood(kept) / 200 == pytest.approx(found.validation)
    more = trees.hidden_chow_liu(table, 8, seed=1, equivalent_sample_size=1e-3, max_iterations=60)
    assert more.network.log_likelihood(kept) / 200 < found.validation


def test_a_part_of_the_rows_for_validation():
    found = trees.naive_bayes(rows(), 2, seed=1, validation=0.25)
    assert found.total_weight == 225
    for wrong, said in ((0.0, "between 0 and 1"), (1.5, "between 0 and 1"), (1e-9, "leaves no")):
        with pytest.raises(DataError, match=said):
            trees.naive_bayes(rows(), 2, validation=wrong)


@pytest.mark.parametrize("model", MODELS)
def test_it_can_be_stopped(model):
    heard = []

    def listener(step):
        heard.append(step)
        return len(heard) < 3

    asked = MODELS[model](rows(), seed=1, progress=listener)
    assert asked.stopped == "asked to stop"
    assert len(heard) <= 4
    limited = MODELS[model](rows(), seed=1, time_limit=0.0)
    assert limited.stopped == "time limit"
    assert np.isfinite(limited.log_likelihood)


def test_what_cannot_be_used():
    table = rows()
    for how, said in (
        ({"n_starts": 0}, "n_starts is a whole number from 1"),
        ({"patience": 0}, "patience is a whole number from 1"),
        ({"tolerance": -1.0}, "tolerance is zero or a little more"),
        ({"prior": PseudoCount(1.0), "equivalent_sample_size": 1.0}, "give it or another"),
        ({"weights": np.zeros(300)}, "weights of all rows are zero"),
    ):
        with pytest.raises(DataError, match=said):
            trees.hidden_chow_liu(table, 2, **how)
    with pytest.raises(DataError, match="column 'x' is continuous"):
        trees.hidden_chow_liu(Table.from_frame({"x": [0.5, 1.5, 2.25], "y": [0, 1, 0]}))
    with pytest.raises(DataError, match="cells are missing"):
        trees.mixture_of_networks(table.knock_out(0.1, seed=1))


@pytest.mark.parametrize("rows", [{"x": [0, 1]}, {"x": [0, 0, 0], "y": [1, 1, 1]}])
def test_tiny_tables(rows):
    found = trees.hidden_chow_liu(Table.from_frame(rows), 2, seed=1)
    assert np.isfinite(found.log_likelihood)


# The tree of the columns -----------------------------------------------------------------------


def test_mutual_information_by_hand():
    table = rows().knock_out(0.2, seed=5)
    weights = np.random.default_rng(1).random(300)
    found = mutual_information(*indicators(table), weights)
    for i, x in enumerate(table.names[:3]):
        for j, y in enumerate(table.names):
            shown = ~(table.missing(x) | table.missing(y))
            shape = table.variable(x).n_states, table.variable(y).n_states
            joint = np.zeros(shape)
            np.add.at(joint, (table.column(x)[shown], table.column(y)[shown]), weights[shown])
            p = joint / joint.sum()
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = p * np.log(p / (p.sum(1, keepdims=True) * p.sum(0)))
            expected = 0.0 if i == j else np.nansum(terms)
            assert found[i, j] == pytest.approx(expected, abs=1e-12)


def test_the_chow_liu_tree_is_the_heaviest():
    from itertools import product

    random = np.random.default_rng(3)
    weight = random.random((5, 5))
    weight = weight + weight.T
    parents = chow_liu_parents(weight)

    def is_tree(arcs):
        reached, grown = {0}, True
        while grown:
            near = {b for a, b in arcs if a in reached} | {a for a, b in arcs if b in reached}
            grown, reached = not near <= reached, reached | near
        return len(reached) == 5

    pairs = [(i, p) for i, p in enumerate(parents) if p >= 0]
    assert len(pairs) == 4
    assert is_tree(pairs)
    best = max(
        sum(weight[i, p] for i, p in enumerate(chosen, 1))
        for chosen in product(range(5), repeat=4)
        if is_tree(list(enumerate(chosen, 1)))
    )
    assert sum(weight[i, p] for i, p in pairs) == pytest.approx(best)
    assert chow_liu_parents(np.zeros((1, 1))) == [-1]
    assert sorted(chow_liu_parents(np.zeros((3, 3)))).count(-1) == 1
