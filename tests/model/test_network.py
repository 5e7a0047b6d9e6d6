"""Networks against the enumerated joint: rows drawn, rows scored, and what is refused."""

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import DAG, Network, Table, TableCPD, Variable
from unveil.errors import CycleError, DataError, ModelError, SizeError, UnveilError
from unveil.model import LinearGaussianCPD, marginal

A = Variable("a", ["x", "y"])
B = Variable("b", [1, 2, 3])
C = Variable("c", [False, True])
D = Variable("d", ["only"])


def network_of(seed=0, zeros=True):
    """c -> a, {a, c} -> b, b -> d, given children first; with zeros unless asked not to."""
    generator = np.random.default_rng(seed)

    def rows(*shape):
        values = generator.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        if zeros:
            values[..., 0] *= generator.random(shape[:-1]) < 0.6
        return values / values.sum(axis=-1, keepdims=True)

    return Network(
        [
            TableCPD(B, [A, C], rows(2, 2, 3)),
            TableCPD(D, [B], np.ones((3, 1))),
            TableCPD(A, [C], rows(2, 2)),
            TableCPD(C, [], rows(2)),
        ],
        name="small",
        description="for tests",
    )


def all_rows(network):
    """Every complete row, as codes."""
    return np.array(list(itertools.product(*(range(v.n_states) for v in network.variables))))


# Making one ------------------------------------------------------------------------------------


def test_the_order_is_the_order_given():
    network = network_of()
    assert network.names == ("b", "d", "a", "c") == network.dag.nodes
    assert network.variables == (B, D, A, C)
    assert set(network.dag.arcs) == {("a", "b"), ("c", "b"), ("b", "d"), ("c", "a")}
    assert network.n_parameters == 4 * 2 + 0 + 2 + 1
    assert network.variable("b") is B
    assert [p.name for p in network.cpd("b").parents] == ["a", "c"]
    assert network.is_discrete
    with pytest.raises(TypeError):
        network.cpds["a"] = None


@pytest.mark.parametrize(
    ("cpds", "words"),
    [
        ([], "a network needs at least one variable"),
        (
            [TableCPD.uniform(A), TableCPD.uniform(A, [])],
            "variable 'a' has two conditional distributions",
        ),
        (
            [TableCPD.uniform(A, [B])],
            "'a' has the parent 'b', which has no conditional distribution of its own",
        ),
        (
            [TableCPD.uniform(A, [B]), TableCPD.uniform(Variable("b", ["1", "2", "3"]))],
            "'a' sees its parent as Variable('b', states=[1, 2, 3]), but that variable is "
            "Variable('b', states=['1', '2', '3'])",
        ),
        (
            [TableCPD.uniform(A, [B]), TableCPD.uniform(B.as_hidden())],
            "'a' sees its parent as Variable('b', states=[1, 2, 3]), but that variable is "
            "Variable('b', states=[1, 2, 3], hidden=True)",
        ),
    ],
)
def test_contradictions_are_said_in_words(cpds, words):
    with pytest.raises(ModelError) as caught:
        Network(cpds)
    assert str(caught.value) == words


def test_a_cycle_is_shown():
    with pytest.raises(CycleError) as caught:
        Network([TableCPD.uniform(A, [B]), TableCPD.uniform(B, [C]), TableCPD.uniform(C, [A])])
    assert sorted(caught.value.cycle[1:]) == ["a", "b", "c"]
    assert caught.value.cycle[0] == caught.value.cycle[-1]
    around = " -> ".join(caught.value.cycle)
    assert str(caught.value).startswith(f"the arcs form a cycle: {around}. ")
    arcs = set(itertools.pairwise(caught.value.cycle))
    assert arcs == {("b", "a"), ("c", "b"), ("a", "c")}


def test_unknown_names_are_refused_with_those_there_are():
    network = network_of()
    for ask in (network.cpd, network.variable):
        with pytest.raises(UnveilError, match="'zzz'"):
            ask("zzz")
    for make in (lambda: network.renamed({"zzz": "y"}), lambda: network.with_hidden(["zzz"])):
        with pytest.raises(UnveilError, match="'zzz'"):
            make()


def test_equality_is_of_distributions_whatever_their_order():
    network = network_of()
    assert network == network_of()
    assert network == Network(list(network.cpds.values())[::-1], name="another name")
    assert network != network_of(seed=1)
    assert network != network.renamed({"a": "e"})
    assert network != "small"
    with pytest.raises(TypeError, match="unhashable"):
        hash(network)


def test_renaming_and_marking_change_names_and_marks_only():
    network = network_of()
    renamed = network.renamed({"a": "b", "b": "a"})
    assert renamed.names == ("a", "d", "b", "c")
    assert renamed.cpd("a").values.tolist() == network.cpd("b").values.tolist()
    assert [p.name for p in renamed.cpd("a").parents] == ["b", "c"]
    assert renamed.name == "small"
    assert renamed.renamed({"a": "b", "b": "a"}) == network


def test_states_called_differently_keep_their_places():
    network = network_of()
    labels = network.variable("a").labels
    new = [f"state {label}" for label in labels]
    relabelled = network.relabelled({"a": new})
    assert relabelled.variable("a").labels == tuple(new)
    assert relabelled.cpd("a").values.tolist() == network.cpd("a").values.tolist()
    assert relabelled.relabelled({"a": labels}) == network
    with pytest.raises(DataError, match=f"'a' has {len(labels)} states; 1 names were given"):
        network.relabelled({"a": ["one"]})
    with pytest.raises(UnveilError, match="zzz"):
        network.relabelled({"zzz": ["one"]})
    hidden = network.with_hidden(["a", "d"])
    assert (network.hidden, hidden.hidden) == ((), ("d", "a"))
    assert hidden.with_hidden(["c"]).hidden == ("c",)
    assert hidden.with_hidden([]) == network


def test_words():
    network = network_of().with_hidden(["c"])
    assert repr(network) == "Network('small', 4 variables (1 hidden), 4 arcs, 11 free parameters)"
    assert network.describe().splitlines() == [
        "small: 4 variables (1 hidden), 4 arcs, 11 free parameters",
        "for tests",
        "hidden: c",
        "  P(b | a, c): 3 states (1, 2, 3), 8 parameters",
        "  P(d | b): 1 state (only), 0 parameters",
        "  P(a | c): 2 states (x, y), 2 parameters",
        "  P(c): 2 states (False, True), 1 parameter",
    ]
    many = Network([TableCPD.uniform(Variable("many", range(9)))])
    assert "9 states (0, 1, 2, 3, 4, 5, ...), 8 parameters" in many.describe()
    height = Network([LinearGaussianCPD(Variable("height"), [], 170, [], 49)])
    assert "P(height): continuous, 2 parameters" in height.describe()


# Rows drawn ------------------------------------------------------------------------------------


def test_frequencies_are_those_of_the_joint(joint_of, random_seed):
    n = 40_000
    network = network_of(random_seed)
    joint = joint_of(network)
    table = network.sample(n, seed=random_seed)
    assert table.variables == network.variables
    seen = np.zeros(joint.shape)
    np.add.at(seen, tuple(table.column(name).astype(int) for name in network.names), 1 / n)
    error = np.sqrt(joint * (1 - joint) / n)
    assert (np.abs(seen - joint) <= 4.5 * error).all()
    assert (seen[joint == 0] == 0).all()
    assert (joint == 0).any()


def test_the_same_seed_draws_the_same_rows():
    network = network_of()
    assert network.sample(100, seed=5) == network.sample(100, seed=5)
    assert network.sample(100, seed=5) != network.sample(100, seed=6)
    assert network.sample(100) != network.sample(100)
    generator = np.random.default_rng(5)
    first, second = network.sample(100, seed=generator), network.sample(100, seed=generator)
    assert first == network.sample(100, seed=5)
    assert second != first


def test_the_global_generator_is_left_alone():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    network_of().sample(10)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@pytest.mark.parametrize("values", [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0.5, 0, 0.5], [0.3, 0.7, 0]])
def test_a_state_of_probability_zero_is_never_drawn(values):
    drawn = Network([TableCPD(B, [], values)]).sample(5000, seed=0).column("b")
    assert set(drawn.tolist()) == {i for i, p in enumerate(values) if p}


def test_the_last_possible_state_takes_what_rounding_left():
    """Cumulative sums that end just below one must not fall through to an impossible state."""
    cpd = TableCPD(Variable("v", range(4)), [], [0.1 + 1e-10, 0.2, 0.7 - 9e-10, 0.0])

    class AlmostOne:
        def random(self, n):
            return np.full(n, np.nextafter(1.0, 0.0))

    assert cpd.values.sum() < 1 - 5e-10
    assert cpd.sample([], 3, AlmostOne()).tolist() == [2, 2, 2]


def test_no_rows_and_fewer():
    assert network_of().sample(0).n_rows == 0
    with pytest.raises(DataError, match="cannot sample -1 rows"):
        network_of().sample(-1)


# Rows scored -----------------------------------------------------------------------------------


def test_every_complete_row(joint_of):
    network = network_of()
    table = Table(network.variables, all_rows(network).T)
    with np.errstate(divide="ignore"):
        expected = np.log(joint_of(network).ravel())
    assert (expected == -np.inf).any()
    np.testing.assert_allclose(network.row_log_likelihoods(table), expected, rtol=1e-12)
    possible = table.take(np.isfinite(expected))
    total = expected[np.isfinite(expected)].sum()
    assert network.log_likelihood(possible) == pytest.approx(total, rel=1e-12)
    assert network.log_likelihood(table) == -math.inf


def test_weights_count_and_rows_of_no_weight_do_not(joint_of):
    network = network_of()
    logs = joint_of(network).ravel()
    rows = all_rows(network)[logs > 0]
    weights = np.random.default_rng(0).gamma(1.0, size=len(rows))
    table = Table(network.variables, rows.T, weights)
    expected = weights @ np.log(logs[logs > 0])
    assert network.log_likelihood(table) == pytest.approx(expected, rel=1e-12)
    impossible = all_rows(network)[logs == 0][:1]
    padded = Table(network.variables, np.vstack([rows, impossible]).T, [*weights, 0.0])
    assert network.log_likelihood(padded) == pytest.approx(expected, rel=1e-12)
    doubled = Table(network.variables, np.vstack([rows, rows]).T, np.tile(weights, 2))
    assert network.log_likelihood(doubled) == pytest.approx(2 * expected, rel=1e-12)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_a_missing_cell_is_the_sum_over_what_it_could_be(joint_of, seed, row_seed):
    network = network_of(seed)
    joint = joint_of(network)
    generator = np.random.default_rng(row_seed)
    rows = np.column_stack([generator.integers(-1, v.n_states, 12) for v in network.variables])
    got = network.row_log_likelihoods(Table(network.variables, rows.T))
    for row, value in zip(rows, got, strict=True):
        cells = joint[tuple(slice(None) if code < 0 else int(code) for code in row)]
        with np.errstate(divide="ignore"):
            assert value == pytest.approx(np.log(cells.sum()), rel=1e-10, abs=1e-12)


def test_hidden_variables_and_absent_columns_are_summed_over(joint_of):
    network = network_of(zeros=False).with_hidden(["a"])
    table = Table([B, C], [[0, 1, 2], [1, 0, 1]])
    joint = joint_of(network).sum(axis=(1, 2))
    expected = np.log(joint[[0, 1, 2], [1, 0, 1]])
    np.testing.assert_allclose(network.row_log_likelihoods(table), expected, rtol=1e-12)
    observed = table.with_column(D, [0, 0, 0])
    np.testing.assert_allclose(network.row_log_likelihoods(observed), expected, rtol=1e-12)


def test_columns_and_labels_are_matched_by_name_not_by_place():
    network = network_of(zeros=False)
    plain = Table(network.variables, [[0, 1, 2], [0, 0, 0], [1, 0, 1], [0, 1, 0]])
    expected = network.row_log_likelihoods(plain)
    other = Table(
        [
            Variable("c", ["true", "false"]),
            Variable("unused", ["u"]),
            Variable("a", ["y", "x"]),
            D,
            Variable("b", [3.0, 1.0, 2.0]),
        ],
        [[1, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0], [1, 2, 0]],
    )
    np.testing.assert_array_equal(network.row_log_likelihoods(other), expected)
    text = Table.from_frame(
        {"b": ["1", "2", "3"], "a": ["y", "x", "y"], "c": [False, True, False], "d": ["only"] * 3},
        kinds={"b": "text"},
    )
    assert text.variable("b").labels == ("1", "2", "3")
    np.testing.assert_array_equal(network.row_log_likelihoods(text), expected)


def test_a_label_the_network_does_not_know_is_named():
    table = Table([Variable("a", ["x", "zebra"])], [[0, 1]])
    with pytest.raises(UnveilError, match=r"'zebra'.*'x', 'y'"):
        network_of().row_log_likelihoods(table)


def test_a_table_of_something_else_is_refused():
    with pytest.raises(DataError) as caught:
        network_of().log_likelihood(Table([Variable("q", [0])], [[0]]))
    assert str(caught.value) == (
        "the table has none of the network's variables; it has ['q'], "
        "the network ['b', 'd', 'a', 'c']"
    )


def test_rows_beyond_one_block(monkeypatch):
    network = network_of(zeros=False)
    table = network.sample(1000, seed=0)
    expected = network.row_log_likelihoods(table)
    monkeypatch.setattr("unveil.model.network.BLOCK", 7)
    np.testing.assert_array_equal(network.row_log_likelihoods(table), expected)


# Marginals -------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.permutations(["a", "b", "c", "d"]), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_marginals_are_sums_of_the_joint(joint_of, seed, names, n):
    network = network_of(seed)
    wanted = names[:n]
    axes = [network.names.index(name) for name in wanted]
    expected = np.einsum(joint_of(network), range(4), axes)
    np.testing.assert_allclose(marginal(network, wanted), expected, atol=1e-14)


def test_a_marginal_that_is_too_large_is_refused():
    parents = [Variable(f"p{i}", range(50)) for i in range(5)]
    network = Network([TableCPD.uniform(p) for p in parents])
    with pytest.raises(SizeError, match=re.escape("needs a table of 312,500,000 cells over 5")):
        marginal(network, [p.name for p in parents])


def test_a_marginal_needs_tables():
    network = Network([LinearGaussianCPD(Variable("height"), [], 170, [], 49)])
    with pytest.raises(ModelError, match="'height' has linear_gaussian"):
        marginal(network, ["height"])


def test_fit_is_at_hand_on_the_class():
    table = Table([A], [[0, 0, 1]])
    assert Network.fit(DAG(["a"]), table).cpd("a").values.tolist() == [2 / 3, 1 / 3]
