"""The reduced model against enumeration and against the junction tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.infer import reduced
from unveil.infer.evidence import evidence_from
from unveil.infer.reduced import ReducedModel
from unveil.infer.rows import prepared_rows
from unveil.infer.tree import JunctionTree
from unveil.model.flat import FlatTables

from .networks import as_table, networks
from .oracle import Enumeration

lenient = settings(max_examples=60, deadline=None)
GROUPINGS = [((0, 1),), ((0, 16),), ((0, 64),)]


@st.composite
def questions(draw):
    """A network, the variables unseen in an order of its own, and rows that lack just these.

    Half of the rows come from the network, the others are any (and may be impossible).
    """
    network = draw(networks())
    names = draw(st.permutations(network.names))
    unseen = names[: draw(st.integers(1, len(names) - 1))]
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, 8))
    drawn = network.sample(n_rows, seed=random)
    rows = np.column_stack([drawn.column(n).astype(int) for n in network.names])
    anything = np.column_stack(
        [random.integers(v.n_states, size=n_rows) for v in network.variables]
    )
    rows = np.where(random.random((n_rows, 1)) < 0.5, rows, anything)
    rows[:, [network.names.index(n) for n in unseen]] = -1
    weights = random.gamma(1.0, size=n_rows) * (random.random(n_rows) < 0.8)
    return network, unseen, rows, weights


def families(network):
    names = list(network.names)
    return [[names.index(v.name) for v in (*c.parents, c.variable)] for c in network.cpds.values()]


def log_of_seen_families(network, rows):
    """The log-probability of the families that the rows show whole: what the model leaves out."""
    total = np.zeros(len(rows))
    for cpd, family in zip(network.cpds.values(), families(network), strict=True):
        if (rows[0, family] >= 0).all():
            with np.errstate(divide="ignore"):
                total += np.log(cpd.values[tuple(rows[:, family].T)])
    return total


@given(questions(), st.sampled_from(GROUPINGS))
@lenient
def test_against_enumeration_and_the_tree(question, grouping):
    network, unseen, rows, weights = question
    flat, table = FlatTables(network), as_table(network, rows)
    tables = flat.pack(network)
    codes = prepared_rows(network, table).codes
    model = ReducedModel(network, unseen)
    before, reduced.GROUP_SIZES = reduced.GROUP_SIZES, grouping
    try:
        log_z, shares = model.posterior(tables, codes)
        same, counts = model.expected_vector(tables, codes, weights)
        np.testing.assert_array_equal(model.log_likelihoods(tables, codes), log_z)
    finally:
        reduced.GROUP_SIZES = before
    np.testing.assert_array_equal(same, log_z)
    oracle = Enumeration(network)
    seen = log_of_seen_families(network, rows)
    exact = np.array([oracle.log_likelihood(row) for row in rows])
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(
            np.where(seen == -np.inf, seen, seen + log_z), exact, rtol=1e-9, atol=1e-12
        )
    possible = np.isfinite(exact)
    for row, share in zip(rows[possible], shares[possible], strict=True):
        expected = oracle.posterior(unseen, row).ravel()
        np.testing.assert_allclose(share, expected, atol=1e-12)
    # A row that contradicts a family it shows whole is impossible, which the model cannot know.
    judged = np.where(possible | (log_z == -np.inf), weights, 0.0)
    _, counts = model.expected_vector(tables, codes, judged)
    evidence = evidence_from(network, network.names, table, {})
    tree_log_z, by_tree = JunctionTree(network).expected_vector(evidence, judged, tables.size)
    np.testing.assert_allclose(tree_log_z, exact, rtol=1e-9, atol=1e-12)
    by_hand = [c.ravel() for c in oracle.expected_counts(rows, None, judged)]
    hidden = {network.names.index(n) for n in unseen}
    for v, family in enumerate(families(network)):
        inside = slice(flat.first[v], flat.first[v + 1])
        relevant = bool(hidden & set(family))
        assert relevant == (v in model.relevant)
        expected = by_hand[v] if relevant else np.zeros(by_hand[v].size)
        np.testing.assert_allclose(counts[inside], expected, atol=1e-10)
        np.testing.assert_allclose(by_tree[inside], by_hand[v], atol=1e-10)


@pytest.mark.parametrize("n_rows", [999, 1000, 4000, 300_000])
def test_many_rows_in_groups_and_threads(n_rows):
    """The sums do not depend on how families are put together or rows are shared out."""
    from unveil import Network, TableCPD, Variable

    random = np.random.default_rng(n_rows)
    root, other = Variable("H", range(3)), Variable("G", range(2))
    children = [Variable(f"X{i}", range(2 + i % 2)) for i in range(7)]
    cpds = [TableCPD(root, [], random.dirichlet(np.ones(3)))]
    cpds += [TableCPD(other, [root], random.dirichlet(np.ones(2), 3))]
    for i, x in enumerate(children):
        parents = [[root], [other], [root, children[i - 1]]][i % 3] if i else [root]
        shape = [v.n_states for v in parents]
        cpds.append(TableCPD(x, parents, random.dirichlet(np.ones(x.n_states), shape)))
    network = Network(cpds)
    table = network.sample(n_rows, seed=random).hide(["H", "G"])
    codes = prepared_rows(network, table).codes
    weights = random.gamma(1.0, size=n_rows)
    tables = FlatTables(network).pack(network)
    log_z, counts = ReducedModel(network, ["G", "H"]).expected_vector(tables, codes, weights)
    plain = ReducedModel(network, ["G", "H"])
    plain._layouts = dict.fromkeys((1, 16, 64), plain._layout(1))
    log_z_plain, counts_plain = plain.expected_vector(tables, codes, weights)
    np.testing.assert_allclose(log_z, log_z_plain, rtol=1e-11)
    np.testing.assert_allclose(counts, counts_plain, rtol=1e-9)
