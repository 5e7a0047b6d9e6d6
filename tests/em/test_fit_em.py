"""`fit_em`: starts, seeds, alignment, why it stopped, and words for mistakes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from infer.oracle import Enumeration

from unveil import DAG, EquivalentSampleSize, Network, PseudoCount, Table, TableCPD, Variable
from unveil.em import fit_em
from unveil.em.align import align_states, permute_states
from unveil.em.starts import cluster_rows
from unveil.errors import DataError, ModelError

from .cases import cases, log_likelihood, naive_bayes

lenient = settings(max_examples=40, deadline=None)


@pytest.fixture(scope="module")
def latent():
    """A latent class model and rows from it without the class."""
    network = naive_bayes(3, 6, seed=4)
    return network, network.sample(400, seed=5).without("H")


@pytest.mark.parametrize("kind", ["random", "cluster"])
def test_every_start_is_kept_best_first(latent, kind):
    network, rows = latent
    result = fit_em(
        network.dag, rows, hidden={"H": 3}, n_starts=6, start=kind, seed=1, tolerance=1e-5
    )
    assert len(result.starts) == 6
    assert {s.kind for s in result.starts} == {kind}
    objectives = [s.objective for s in result.starts]
    assert objectives == sorted(objectives, reverse=True)
    best = result.starts[0]
    assert (best.network, best.objective, best.stopped) == (
        result.network,
        result.objective,
        result.stopped,
    )
    assert len(result.trace) == best.n_iterations
    assert result.network.hidden == ("H",)
    for start in result.starts:
        assert start.log_likelihood == pytest.approx(start.network.log_likelihood(rows), rel=1e-10)
        assert start.objective == start.log_likelihood
    assert "best of 6 starts" in str(result)


def test_the_objective_is_likelihood_plus_prior(latent):
    network, rows = latent
    result = fit_em(network.dag, rows, PseudoCount(0.5), {"H": 3}, seed=1, max_iterations=20)
    assert result.log_likelihood == pytest.approx(result.network.log_likelihood(rows), rel=1e-10)
    logs = sum(np.log(cpd.values).sum() for cpd in result.network.cpds.values())
    assert result.objective == pytest.approx(result.log_likelihood + 0.5 * logs, rel=1e-10)


def test_seeds(latent):
    network, rows = latent

    def run(seed):
        return fit_em(network.dag, rows, hidden={"H": 3}, n_starts=2, seed=seed, max_iterations=10)

    first, again, other = run(7), run(7), run(8)
    assert first == again
    assert first.objective != other.objective
    fresh = run(None)
    assert run(fresh.seed) == fresh


def test_a_start_does_not_depend_on_how_many_there_are(latent):
    network, rows = latent
    options = {"hidden": {"H": 3}, "seed": 3, "max_iterations": 10}
    few = fit_em(network.dag, rows, n_starts=2, **options)
    many = fit_em(network.dag, rows, n_starts=4, **options)
    assert {s.objective for s in few.starts} <= {s.objective for s in many.starts}


@given(cases(), st.integers(0, 10**6))
@lenient
def test_a_given_start_is_taken_as_it_is(case, seed):
    """The first objective is the given network's likelihood, whatever the order of its tables."""
    result = fit_em(case.network, case.table, max_iterations=1, seed=seed)
    exact = log_likelihood(case.network, case.codes, case.weights)
    assert result.trace[0] == pytest.approx(exact, rel=1e-9, abs=1e-10)
    assert result.starts[0].kind == "given"
    assert result.network == case.network


def test_a_given_start_comes_first_then_random_ones(latent):
    network, rows = latent
    result = fit_em(network, rows, n_starts=3, seed=1, max_iterations=5)
    assert sorted(s.kind for s in result.starts) == ["given", "random", "random"]


@given(cases(), st.integers(0, 10**6))
@lenient
def test_permuting_states_keeps_the_distribution(case, seed):
    """The joint with its axis permuted; and back again."""
    random = np.random.default_rng(seed)
    name = str(random.choice(case.network.names))
    order = random.permutation(case.network.variable(name).n_states)
    turned = permute_states(case.network, name, order)
    axis = case.network.names.index(name)
    joint = np.take(Enumeration(case.network).joint, order, axis=axis)
    np.testing.assert_allclose(Enumeration(turned).joint, joint, atol=1e-15)
    assert permute_states(turned, name, np.argsort(order)) == case.network


@pytest.mark.parametrize("seed", range(5))
def test_aligning_undoes_a_permutation(seed):
    """Two hidden variables, one the parent of the other, each with visible children."""
    random = np.random.default_rng(seed)
    g, h = Variable("G", range(3), hidden=True), Variable("H", range(4), hidden=True)
    leaves = [Variable(f"X{i}", range(3)) for i in range(4)]
    cpds = [TableCPD(g, [], random.dirichlet(np.ones(3)))]
    cpds += [TableCPD(h, [g], random.dirichlet(np.ones(4), 3))]
    cpds += [TableCPD(x, [p], random.dirichlet(np.ones(3), p.n_states))
             for x, p in zip(leaves, [g, h, g, h], strict=True)]  # fmt: skip
    network = Network(cpds)
    turned = permute_states(network, "H", random.permutation(4))
    assert align_states(turned, network, ["H"]) == network
    turned = permute_states(turned, "G", random.permutation(3))
    assert align_states(turned, network, ["H", "G"]) == network
    assert align_states(turned, network, ["G", "H"]) == network


def test_starts_have_their_states_in_one_order(latent):
    """Starts that reached the same maximum have the same tables, state by state."""
    network, rows = latent
    result = fit_em(
        network.dag, rows, EquivalentSampleSize(1), {"H": 3}, n_starts=8, seed=2,
        tolerance=1e-12, max_iterations=3000,
    )  # fmt: skip
    same = [s for s in result.starts if s.objective > result.objective - 1e-6]
    assert len(same) > 1
    for start in same:
        for name in network.names:
            np.testing.assert_allclose(
                start.network.cpd(name).values, result.network.cpd(name).values, atol=0.01
            )


def test_why_it_stopped(latent):
    network, rows = latent
    options = {"hidden": {"H": 3}, "seed": 1, "n_starts": 3}
    capped = fit_em(network.dag, rows, max_iterations=4, **options)
    assert (capped.stopped, len(capped.trace), len(capped.starts)) == ("iteration cap", 4, 3)
    late = fit_em(network.dag, rows, time_limit=0.0, **options)
    assert (late.stopped, len(late.trace), len(late.starts)) == ("time limit", 1, 1)
    steps = []

    def enough(step):
        steps.append(step)
        return len(steps) < 5

    asked = fit_em(network.dag, rows, progress=enough, **options)
    assert (asked.stopped, len(asked.trace), len(asked.starts)) == ("asked to stop", 5, 1)
    assert [s.iteration for s in steps] == [1, 2, 3, 4, 5]
    assert [s.objective for s in steps] == list(asked.trace)
    assert steps[0].phase == "EM, start 1"
    done = fit_em(network.dag, rows, tolerance=1e-4, **options)
    assert done.stopped == "converged"


def test_the_network_returned_is_the_one_the_objective_belongs_to(latent):
    network, rows = latent
    for most in (1, 2, 5):
        result = fit_em(network.dag, rows, hidden={"H": 3}, max_iterations=most, seed=1)
        assert result.objective == pytest.approx(result.network.log_likelihood(rows), rel=1e-12)


def test_a_hidden_variable_may_bring_its_states(latent):
    network, rows = latent
    words = Variable("H", ["low", "middle", "high"])
    result = fit_em(network.dag, rows, hidden={"H": words}, seed=1, max_iterations=2)
    assert result.network.variable("H").labels == ("low", "middle", "high")
    assert result.network.hidden == ("H",)


def test_a_column_without_any_cell_is_as_good_as_none():
    network = naive_bayes(2, 4, seed=1)
    rows = network.sample(100, seed=2)
    empty = rows.without("H").with_column(network.variable("H"), np.full(100, -1))
    a, b = (fit_em(network, t, max_iterations=10) for t in (rows.without("H"), empty))
    np.testing.assert_allclose(a.trace, b.trace, rtol=1e-12)
    a, b = (fit_em(network, t, start="cluster", seed=1) for t in (rows.without("H"), empty))
    np.testing.assert_allclose(a.trace, b.trace, rtol=1e-12)


def test_hard_em_agrees_with_soft_em_when_nothing_is_missing():
    dag = DAG(["A", "B"], [("A", "B")])
    rows = Table([Variable("A", "xy"), Variable("B", "uvw")], [[0, 1, 1, 0, 1], [2, 0, 1, 1, 1]])
    soft, hard = (fit_em(dag, rows, hard=h, seed=1) for h in (False, True))
    assert soft.objective == pytest.approx(hard.objective, rel=1e-12)
    assert soft.network == hard.network


def test_clusters_find_what_is_far_apart():
    """Three blocks of equal rows, a few cells missing: the clusters are the blocks."""
    block = np.repeat(np.arange(3), 20)
    codes = np.column_stack([(block == i % 3).astype(int) for i in range(9)])
    codes[::7, 0] = -1
    table = Table([Variable(f"X{i}", [0, 1]) for i in range(9)], list(codes.T))
    found = cluster_rows(table, table.names, 3, np.random.default_rng(1))
    assert len({(a, b) for a, b in zip(block, found, strict=True)}) == 3
    assert set(found) == {0, 1, 2}
    alone = cluster_rows(table, [], 2, np.random.default_rng(1))
    assert set(alone) <= {0, 1}


class TestWords:
    """Mistakes and what is said about them."""

    dag = DAG(["H", "X0", "X1"], [("H", "X0"), ("H", "X1")])
    rows = Table([Variable("X0", [0, 1]), Variable("X1", [0, 1])], [[0, 1, 1], [0, 1, 0]])

    def test_no_column_and_no_word_on_hidden(self):
        with pytest.raises(DataError, match=r"no column 'H'.*hidden=\{'H': 2\}"):
            fit_em(self.dag, self.rows)

    def test_unknown_start(self):
        with pytest.raises(DataError, match="one of random, cluster, given, not 'wild'"):
            fit_em(self.dag, self.rows, hidden={"H": 2}, start="wild")

    def test_a_given_start_without_parameters(self):
        with pytest.raises(DataError, match="needs a network with parameters"):
            fit_em(self.dag, self.rows, hidden={"H": 2}, start="given")

    def test_no_start_at_all(self):
        with pytest.raises(DataError, match="at least one start, got 0"):
            fit_em(self.dag, self.rows, hidden={"H": 2}, n_starts=0)

    @pytest.mark.parametrize("kind", ["random", "cluster"])
    @pytest.mark.parametrize("hard", [False, True])
    def test_no_weight(self, kind, hard):
        options = {"hidden": {"H": 2}, "start": kind, "hard": hard, "seed": 1}
        with pytest.raises(DataError, match="weights of all rows are zero"):
            fit_em(self.dag, self.rows.with_weights(np.zeros(3)), **options)
        with pytest.raises(DataError, match="there is nothing to learn from"):
            fit_em(self.dag, self.rows.take(np.arange(0)), **options)

    @pytest.mark.parametrize("hard", [False, True])
    def test_a_start_under_which_rows_are_impossible(self, hard):
        x, y = Variable("X0", [0, 1]), Variable("X1", [0, 1])
        never = Network([TableCPD(x, [], [1.0, 0.0]), TableCPD(y, [x], [[0.5, 0.5], [0.5, 0.5]])])
        with pytest.raises(ModelError, match="probability zero under the network that EM starts"):
            fit_em(never, self.rows, hard=hard)
        assert np.isfinite(fit_em(never, self.rows, hard=hard, start="random", seed=1).objective)
