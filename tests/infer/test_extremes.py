"""Very many variables, very small probabilities, certainty, forests, and too little memory."""

import re
from itertools import pairwise

import numpy as np
import pytest

from unveil import Network, Table, TableCPD, Variable
from unveil.errors import SizeError
from unveil.infer import costs
from unveil.infer.evidence import evidence_from
from unveil.infer.explain import most_probable
from unveil.infer.posterior import joint_posterior, log_likelihoods, posterior, relevant_network
from unveil.infer.tree import JunctionTree

from .networks import as_table, random_cpd, random_network, random_rows
from .oracle import Enumeration

N = 1000


@pytest.fixture(autouse=True, params=["all cells", "agreeing cells"])
def way(request, monkeypatch):
    """Everything here holds whichever way rows take through the tree."""
    monkeypatch.setattr(costs, "CLIQUE", 10**9 if request.param == "all cells" else -(10**9))


def chain(tables):
    """X0 -> X1 -> ...: the first table is a vector, the others have a row per state before."""
    variables = [Variable(f"X{i}", range(np.shape(t)[-1])) for i, t in enumerate(tables)]
    cpds = [TableCPD(variables[0], [], tables[0])]
    for before, variable, values in zip(variables, variables[1:], tables[1:], strict=False):
        cpds.append(TableCPD(variable, [before], values))
    return Network(cpds)


def star(root, tables):
    """A root with many children (naive Bayes)."""
    hub = Variable("hub", range(len(root)))
    leaves = [Variable(f"L{i}", range(np.shape(t)[-1])) for i, t in enumerate(tables)]
    cpds = [TableCPD(leaf, [hub], t) for leaf, t in zip(leaves, tables, strict=True)]
    return Network([TableCPD(hub, [], root), *cpds])


def tiny_rows(generator, n_rows, tiny):
    """Rows of two states, the first of probability around `tiny`."""
    p = tiny * (0.5 + generator.random(n_rows))
    return np.column_stack([p, 1 - p])


@pytest.mark.parametrize("tiny", [0.3, 1e-5, 1e-30, 1e-150])
def test_complete_rows_of_a_long_chain(tiny):
    generator = np.random.default_rng(1)
    tables = [tiny_rows(generator, 2, tiny) for _ in range(N)]
    network = chain([tables[0][0], *tables[1:]])
    rows = np.concatenate([np.zeros((1, N), int), generator.integers(2, size=(11, N))])
    expected = network.row_log_likelihoods(as_table(network, rows))
    tree = JunctionTree(network)
    found = tree.log_likelihoods(evidence_from(network, network.names, as_table(network, rows), {}))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found[0] < N * np.log(2 * tiny)


@pytest.mark.parametrize("tiny", [0.3, 1e-5, 1e-30, 1e-150])
@pytest.mark.parametrize("n_rows", [1, 9])
def test_complete_rows_of_a_hub_with_a_thousand_children(tiny, n_rows):
    """Whichever state of the hub the children speak for, the row's own state decides."""
    generator = np.random.default_rng(2)
    network = star(
        tiny_rows(generator, 1, tiny)[0], [tiny_rows(generator, 2, tiny)[::-1] for _ in range(N)]
    )
    for hub in (0, 1):
        rows = np.concatenate(
            [np.zeros((1, N + 1), int), generator.integers(2, size=(n_rows, N + 1))]
        )[:n_rows]
        rows[:, 0] = hub
        table = as_table(network, rows)
        found = JunctionTree(network).log_likelihoods(
            evidence_from(network, network.names, table, {})
        )
        expected = network.row_log_likelihoods(table)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_children_that_contradict_an_observed_hub():
    """Every child says state 0, by a factor of a thousand each; the hub was seen in state 1."""
    network = star([0.5, 0.5], [[[0.999, 0.001], [0.001, 0.999]]] * N)
    rows = np.zeros((9, N + 1), int)
    rows[:, 0] = 1
    rows[1::2, 1:6] = -1
    table = as_table(network, rows)
    tree = JunctionTree(network)
    evidence = evidence_from(network, network.names, table, {})
    n_seen = (rows[:, 1:] >= 0).sum(axis=1)
    expected = np.log(0.5) + n_seen * np.log(0.001)
    np.testing.assert_allclose(tree.log_likelihoods(evidence), expected, rtol=1e-12)
    _, marginals = tree.marginals(evidence, [0, 1])
    np.testing.assert_allclose(marginals[0], [[0, 1]] * 9)
    np.testing.assert_allclose(marginals[1][1], [0.001, 0.999])


def test_children_that_contradict_a_hub_observed_elsewhere():
    """The same when the hub's smallest clique, where its evidence enters, is not the root."""
    wide, narrow = [[0.998, 0.001, 0.001], [0.001, 0.998, 0.001]], [[0.998, 0.002], [0.002, 0.998]]
    network = star([0.5, 0.5], [narrow if i == 700 else wide for i in range(N)])
    rows = np.zeros((1, N + 1), int)
    rows[:, 0] = 1
    evidence = evidence_from(network, network.names, as_table(network, rows), {})
    expected = np.log(0.5) + (N - 1) * np.log(0.001) + np.log(0.002)
    assert JunctionTree(network).log_likelihoods(evidence)[0] == pytest.approx(expected)


def test_posterior_of_a_hub_by_bayes_rule():
    generator = np.random.default_rng(3)
    tables = generator.dirichlet(np.ones(3), size=(N, 4))
    root = generator.dirichlet(np.ones(4))
    network = star(root, tables)
    seen = generator.integers(3, size=N)
    logs = np.log(root) + sum(np.log(t[:, s]) for t, s in zip(tables, seen, strict=True))
    expected = np.exp(logs - logs.max())
    answer = posterior(network, {f"L{i}": int(s) for i, s in enumerate(seen)}, of="hub")
    np.testing.assert_allclose(answer["hub"][0], expected / expected.sum(), atol=1e-12)
    assert answer.log_evidence[0] == pytest.approx(np.logaddexp.reduce(logs), rel=1e-12)


def test_hidden_chain_by_the_forward_recursion():
    """A hidden Markov model of 500 steps, its states unseen."""
    generator = np.random.default_rng(4)
    move, show = generator.dirichlet(np.ones(3), 3), generator.dirichlet(np.full(5, 0.3), 3)
    hidden = [Variable(f"H{t}", range(3)) for t in range(500)]
    shown = [Variable(f"Y{t}", range(5)) for t in range(500)]
    start = TableCPD(hidden[0], [], move[0])
    steps = [TableCPD(b, [a], move) for a, b in pairwise(hidden)]
    looks = [TableCPD(y, [h], show) for h, y in zip(hidden, shown, strict=True)]
    network = Network([start, *steps, *looks])
    table = network.sample(10, seed=5).select([y.name for y in shown])
    forward, total = np.tile(move[0], (10, 1)), np.zeros(10)
    for t, y in enumerate(shown):
        forward = (forward if t == 0 else forward @ move) * show[:, table.column(y.name)].T
        total += np.log(forward.sum(axis=1))
        forward /= forward.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(log_likelihoods(network, table), total, rtol=1e-12)
    last = posterior(network, table, of="H499")
    np.testing.assert_allclose(last["H499"], forward, atol=1e-12)


def test_certain_tables():
    """A chain of 1000 copies: one end decides the other, and contradictions are impossible."""
    network = chain([[0.25, 0.75], *[np.eye(2)] * (N - 1)])
    assert posterior(network, {"X0": 1}, of=f"X{N - 1}").of(f"X{N - 1}") == {0: 0.0, 1: 1.0}
    answer = posterior(network, {"X500": 0})
    assert all(answer.of(name) == {0: 1.0, 1: 0.0} for name in answer.variables)
    assert answer.log_evidence[0] == pytest.approx(np.log(0.25))
    rows = np.full((9, N), -1)
    rows[:, 3], rows[:, 900], rows[4, 900] = 1, 1, 0
    logs = log_likelihoods(network, as_table(network, rows))
    assert logs[4] == -np.inf
    np.testing.assert_allclose(np.delete(logs, 4), np.log(0.75))


def test_exclusive_or():
    """Parents are independent until the deterministic child is seen."""
    a, b, c = (Variable(name, [0, 1]) for name in "abc")
    differ = np.zeros((2, 2, 2))
    for i in range(2):
        for j in range(2):
            differ[i, j, i ^ j] = 1
    network = Network(
        [TableCPD(a, [], [0.3, 0.7]), TableCPD(b, [], [0.6, 0.4]), TableCPD(c, [a, b], differ)]
    )
    p = 0.3 * 0.4 / (0.3 * 0.4 + 0.7 * 0.6)
    assert posterior(network, {"c": 1}, of="a").of("a")[0] == pytest.approx(p)
    np.testing.assert_allclose(joint_posterior(network, "ab", {"c": 1})[0], [[0, p], [1 - p, 0]])


def test_forest_is_answered_part_by_part():
    """Several networks side by side: evidences multiply, posteriors do not mix."""
    generator = np.random.default_rng(6)
    parts = [random_network(generator, n_variables=3) for _ in range(4)]
    parts = [
        part.renamed({name: f"{name}_{i}" for name in part.names}) for i, part in enumerate(parts)
    ]
    whole = Network([cpd for part in parts for cpd in part.cpds.values()])
    rows = [random_rows(part, 10, generator) for part in parts]
    logs = log_likelihoods(whole, as_table(whole, np.hstack(rows)))
    each = [log_likelihoods(p, as_table(p, r)) for p, r in zip(parts, rows, strict=True)]
    np.testing.assert_allclose(logs, np.sum(each, axis=0), atol=1e-10)
    possible = logs > -np.inf
    answer = posterior(whole, as_table(whole, np.hstack(rows)[possible]), of=whole.names)
    for part, own in zip(parts, rows, strict=True):
        alone = posterior(part, as_table(part, own[possible]), of=part.names)
        for name in part.names:
            np.testing.assert_allclose(answer[name], alone[name], atol=1e-12)


def test_variables_without_arcs():
    network = Network([TableCPD(Variable(f"V{i}", "ab"), [], [0.2, 0.8]) for i in range(30)])
    answer = posterior(network, {"V3": "a", "V7": "b"})
    assert answer.log_evidence[0] == pytest.approx(np.log(0.2 * 0.8))
    assert len(answer.variables) == 28
    assert all(answer.of(name) == pytest.approx({"a": 0.2, "b": 0.8}) for name in answer.variables)


def test_one_variable_with_one_state():
    network = Network([TableCPD(Variable("only", ["x"]), [], [1.0])])
    assert posterior(network).of("only") == {"x": 1.0}
    assert posterior(network, {"only": "x"}, of="only").log_evidence.tolist() == [0.0]


def test_many_states():
    """More than 255 states, so codes are wider than a byte."""
    generator = np.random.default_rng(8)
    big, small = Variable("big", range(300)), Variable("small", range(2))
    network = Network(
        [random_cpd(big, [], generator, 0.0), random_cpd(small, [big], generator, 0.0)]
    )
    truth = Enumeration(network)
    for codes in ([255, -1], [299, 1], [-1, 0]):
        answer = posterior(network, as_table(network, [codes] * 9), of=["big", "small"])
        for name in ("big", "small"):
            expected = truth.posterior([name], codes)
            np.testing.assert_allclose(answer[name], [expected] * 9, atol=1e-12)


def test_barren_variables_change_nothing():
    """The front doors leave out what is below all that is asked or seen."""
    for seed in range(40):
        generator = np.random.default_rng(seed)
        network = random_network(generator, n_variables=6)
        rows = random_rows(network, 10, generator)
        rows[:, 3:] = -1
        logs, marginals = JunctionTree(network).marginals(
            evidence_from(network, network.names, as_table(network, rows), {}), range(2)
        )
        np.testing.assert_allclose(
            log_likelihoods(network, as_table(network, rows)), logs, rtol=0, atol=1e-12
        )
        rows = rows[logs > -np.inf]
        answer = posterior(network, as_table(network, rows), of=network.names[:2])
        for name, marginal in zip(network.names, marginals, strict=False):
            np.testing.assert_allclose(answer[name], marginal[logs > -np.inf], atol=1e-12)


def test_relevant_network_keeps_ancestors_only():
    network = chain([[0.5, 0.5], *[np.eye(2)] * 4])
    assert relevant_network(network, ["X2"]).names == ("X0", "X1", "X2")
    assert relevant_network(network, ["X4", "X0"]) is network


def test_no_rows():
    network = chain([[0.5, 0.5], np.eye(2)])
    table = Table(network.variables, [np.zeros(0, int)] * 2)
    assert log_likelihoods(network, table).shape == (0,)
    assert posterior(network, table, of="X1")["X1"].shape == (0, 2)


# Memory ----------------------------------------------------------------------------------------


def grid(n, n_states):
    """An n by n grid with arcs to the right and down: its cliques grow with n."""
    variables = {(i, j): Variable(f"G{i}_{j}", range(n_states)) for i in range(n) for j in range(n)}
    cpds = []
    for (i, j), variable in variables.items():
        above = [variables[p] for p in ((i - 1, j), (i, j - 1)) if p in variables]
        cpds.append(TableCPD.uniform(variable, above))
    return Network(cpds)


def test_too_large_is_refused_before_anything_is_built(monkeypatch):
    network = grid(14, 4)
    monkeypatch.setattr(JunctionTree, "plan", property(lambda _: pytest.fail("the tree was built")))
    with pytest.raises(SizeError) as error:
        posterior(network)
    said = re.search(
        r"about ([\d,]+) MiB \(([\d,]+) cells, ([\d,]+) in the largest clique\); "
        r"the limit is ([\d,]+) MiB",
        str(error.value),
    )
    needed, cells, biggest, limit = (int(x.replace(",", "")) for x in said.groups())
    assert cells > biggest >= 4**14
    assert needed > cells * 20 / 2**20 > limit > 100
    assert "max_bytes" in str(error.value)
    assert "approximate" in str(error.value)


def test_limit_in_bytes():
    network = grid(4, 3)
    forecast = JunctionTree(network).forecast
    assert JunctionTree(network, max_bytes=forecast).forecast == forecast
    with pytest.raises(SizeError):
        JunctionTree(network, max_bytes=forecast - 1)
    for question in (
        lambda: posterior(network, max_bytes=100),
        lambda: joint_posterior(network, ["G3_3", "G0_0"], max_bytes=100),
        lambda: most_probable(network, max_bytes=100),
        lambda: posterior(network, network.sample(100, seed=1).without("G3_3"), max_bytes=100),
        lambda: log_likelihoods(
            network, network.sample(2, seed=1).knock_out(0.9, seed=1), None, 100
        ),
    ):
        with pytest.raises(SizeError, match="the limit is 0 MiB"):
            question()


def test_forecast_covers_the_arrays_of_one_row():
    tree = JunctionTree(grid(6, 3))
    plan = tree.plan
    arrays = plan.potential.nbytes + plan.up.nbytes + plan.down.nbytes + 8 * tree.n_cells
    arrays += 2 * 8 * (int(plan.sep_first[-1]) - 1)
    assert arrays <= tree.forecast <= 1.1 * arrays


def test_products_too_small_for_a_reciprocal():
    """1e-301 times 1e-13: no ordinary number any more, and one over it would be infinite."""
    a, b, c = Variable("A", range(3)), Variable("B", range(100)), Variable("C", range(4))
    of_a = np.array([0.3, 0.7, 1e-301])
    of_b = np.full((3, 100), 0.01)
    of_b[2] = [1e-13, *[(1 - 1e-13) / 99] * 99]
    of_c = np.random.default_rng(0).dirichlet(np.ones(4), 100)
    network = Network([TableCPD(a, [], of_a / of_a.sum()), TableCPD(b, [a], of_b),
                       TableCPD(c, [b], of_c)])  # fmt: skip
    found = posterior(network, {"A": 2, "B": 0}, of="C")
    np.testing.assert_allclose(found["C"][0], of_c[0], rtol=1e-6)
    expected = np.log(of_a[2]) + np.log(of_b[2, 0])
    assert found.log_evidence[0] == pytest.approx(expected, abs=1e-6)
