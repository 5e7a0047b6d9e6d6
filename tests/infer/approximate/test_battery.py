"""What every approximate method promises: one battery for all."""

from itertools import pairwise

import numpy as np
import pytest

from infer.networks import as_table, random_cpd
from unveil import Network, Table, TableCPD, Variable, datasets
from unveil.errors import DataError, ModelError
from unveil.infer.approximate import METHODS
from unveil.infer.posterior import posterior

from .cases import SAMPLERS, ask, positive_network, quietly, random_question

pytestmark = pytest.mark.parametrize("method", METHODS)


def same(a, b):
    np.testing.assert_array_equal(a.log_evidence, b.log_evidence)
    for part in ("probabilities", "standard_errors"):
        one, two = getattr(a, part), getattr(b, part)
        assert list(one) == list(two)
        for name in one:
            np.testing.assert_array_equal(one[name], two[name])


@pytest.mark.parametrize("seed", range(6))
def test_answers_are_distributions_that_respect_the_evidence(method, seed):
    network, table = random_question(seed)
    answer = quietly(method, network, table)
    assert answer.method == method
    for variable in network.variables:
        p = answer[variable.name]
        assert p.shape == (table.n_rows, variable.n_states)
        assert (p >= 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
        seen = ~table.missing(variable.name)
        codes = table.column(variable.name)[seen].astype(int)
        np.testing.assert_array_equal(p[seen], np.eye(variable.n_states)[codes])
        if method in ("gibbs", "weighting"):
            error = answer.standard_errors[variable.name]
            assert error.shape == p.shape
            assert (error[seen] == 0).all()
            assert (error[~seen] > 0).all() or variable.n_states == 1
    assert bool(answer.standard_errors) == (method in ("gibbs", "weighting"))


def test_one_unknown_variable_is_found_exactly_but_by_weighting(method):
    generator = np.random.default_rng(3)
    network = positive_network(generator)
    rows = np.column_stack(
        [network.sample(20, seed=1).column(n).astype(int) for n in network.names]
    )
    rows[np.arange(20), generator.integers(len(network.names), size=20)] = -1
    table = as_table(network, rows)
    answer, exact = ask(method, network, table), posterior(network, table, of=network.names)
    for name in network.names:
        error = 5 * answer.standard_errors[name] + 1e-9 if method == "weighting" else 1e-9
        assert (np.abs(answer[name] - exact[name]) <= error).all()
    if method in ("loopy", "mean_field"):
        np.testing.assert_allclose(answer.log_evidence, exact.log_evidence, atol=1e-9)


def test_threads_order_of_rows_and_repeats_change_nothing(method):
    network, table = random_question(11, n_rows=120)
    once = quietly(method, network, table, n_jobs=1)
    same(once, quietly(method, network, table, n_jobs=4))
    twice = np.r_[np.arange(table.n_rows), np.arange(table.n_rows)[::-1]]
    again = quietly(method, network, table.take(twice))
    for name in network.names:
        np.testing.assert_array_equal(again[name], once[name][twice])


def test_columns_outside_the_network_and_the_order_of_states_do_not_matter(method):
    network, table = random_question(4)
    reordered = [
        Variable(v.name, v.labels[::-1]) if v.n_states > 1 else v for v in table.variables[::-1]
    ]
    other = table.conform(reordered).with_column(
        Variable("other", ["a"]), np.zeros(table.n_rows, np.int64)
    )
    same(quietly(method, network, other), quietly(method, network, table))


def test_variables_that_cannot_matter_are_left_out(method):
    network, table = random_question(4)
    child = random_cpd(
        Variable("barren", ["a", "b"]), network.variables[:1], np.random.default_rng(0), 0.0
    )
    larger = Network([*network.cpds.values(), child])
    same(quietly(method, larger, table, network.names), quietly(method, network, table))


def test_no_rows_give_no_answers(method):
    network, table = random_question(2)
    answer = ask(method, network, table.take(np.zeros(0, np.int64)))
    assert answer[network.names[0]].shape == (0, network.variables[0].n_states)
    assert answer.log_evidence.shape == (0,)


def test_impossible_evidence_is_an_error_that_names_the_rows(method):
    x, y = Variable("x", ["a", "b"]), Variable("y", ["a", "b"])
    network = Network([TableCPD(x, [], [0.5, 0.5]), TableCPD(y, [x], [[1, 0], [0.5, 0.5]])])
    table = Table([x, y], [[-1, 0, -1, 0], [0, 1, 1, 1]])
    with pytest.raises(ModelError, match=r"2 rows.*\(?(rows )?2, 4\)"):
        ask(method, network, table)
    with pytest.raises(ModelError, match="probability zero"):
        ask(method, network, table.take([1]))


def test_impossible_evidence_far_from_its_cause_is_an_error(method):
    """A chain of copies: its ends must agree."""
    variables = [Variable(f"V{i}", ["a", "b"]) for i in range(30)]
    cpds = [TableCPD(variables[0], [], [0.5, 0.5])]
    cpds += [TableCPD(v, [u], np.eye(2)) for u, v in pairwise(variables)]
    ends = [variables[0], variables[-1]]
    with pytest.raises(ModelError, match="probability zero"):
        ask(method, Network(cpds), Table(ends, [[0], [1]]))
    answer = ask(method, Network(cpds), Table(ends, [[-1], [1]]), ["V0"])
    assert answer.best("V0") == ["b"]


def test_soft_evidence_of_zero_everywhere_is_impossible(method):
    network = datasets.network("asia")
    nothing = {"smoke": {"yes": 0.0, "no": 0.0}}
    with pytest.raises(ModelError, match="probability zero"):
        ask(method, network, network.sample(1, seed=1).select(["xray"]), likelihoods=nothing)


def test_settings_that_make_no_sense_are_refused(method):
    network, table = random_question(1)
    wrong = {
        "loopy": [{"damping": 1.0}, {"damping": -0.1}, {"max_iterations": 0}, {"tolerance": -1}],
        "mean_field": [{"n_starts": 0}, {"max_iterations": 0}, {"tolerance": float("nan")}],
        "gibbs": [{"n_chains": 1}, {"n_samples": 10}, {"burn_in": -1}],
        "weighting": [{"n_samples": 1}],
    }
    for setting in wrong[method]:
        (name,) = setting
        with pytest.raises(DataError, match=f"{name} must be at least"):
            ask(method, network, table, **setting)


def test_seeds_repeat_and_differ(method):
    """Every method takes a seed; those that draw nothing give the same whatever it is."""
    network = positive_network(np.random.default_rng(8))
    table = network.sample(3, seed=2).select(network.names[-1:])
    one = ask(method, network, table, seed=1)
    same(one, ask(method, network, table, seed=1))
    other = ask(method, network, table, seed=2)
    if method == "loopy":
        same(one, other)
    if method in SAMPLERS:
        assert any((one[name] != other[name]).any() for name in network.names)
