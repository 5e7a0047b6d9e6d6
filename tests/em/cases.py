"""Random small networks with incomplete rows, and what an oracle says about them."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from infer.networks import as_table, networks
from infer.oracle import Enumeration

from unveil import EquivalentSampleSize, Network, PriorNetwork, PseudoCount, Table, TableCPD
from unveil.model.flat import FlatTables


class Case(NamedTuple):
    """A network and rows drawn from it: `codes` (n_rows, n_variables) with -1 for missing."""

    network: Network
    codes: np.ndarray
    weights: np.ndarray
    table: Table

    @property
    def flat(self):
        return FlatTables(self.network)


@st.composite
def cases(draw, max_rows=12, max_cells=300):
    """Rows that are possible under the network, with gaps; some variables may be unseen altogether,
    with their column or without it. Weights are ones or fractional, a few of them zero.
    """
    network = draw(
        networks().filter(lambda n: np.prod([v.n_states for v in n.variables]) <= max_cells)
    )
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, max_rows))
    drawn = network.sample(n_rows, seed=random)
    codes = np.column_stack([drawn.column(name).astype(int) for name in network.names])
    codes[random.random(codes.shape) < draw(st.sampled_from([0.0, 0.2, 0.6]))] = -1
    hidden = random.random(len(network.names)) < draw(st.sampled_from([0.0, 0.3]))
    hidden[random.integers(len(hidden))] = False
    codes[:, hidden] = -1
    weights = np.ones(n_rows)
    if draw(st.booleans()):
        weights = random.gamma(1.0, size=n_rows) * (random.random(n_rows) < 0.8)
        weights[random.integers(n_rows)] += 0.5
    table = as_table(network, codes).with_weights(weights)
    absent = [n for n, h in zip(network.names, hidden, strict=True) if h and draw(st.booleans())]
    return Case(network, codes, weights, table.without(absent) if absent else table)


def priors(network):
    """No prior, and one of each kind; those of a network need all its cells to be possible."""
    flat = FlatTables(network)
    mixed = flat.unpack(0.5 * flat.pack(network) + 0.5 * flat.normalised(np.ones(flat.size)))
    return [None, PseudoCount(0.3), EquivalentSampleSize(0.7), PriorNetwork(mixed, 2.0)]


def log_likelihood(network, codes, weights):
    """The weighted log-likelihood of what the rows show, by enumeration."""
    oracle = Enumeration(network)
    return sum(
        w * oracle.log_likelihood(row) for row, w in zip(codes, weights, strict=True) if w > 0
    )


def best_completions(network, codes, weights):
    """The weighted log-likelihood of every row's most probable completion, by enumeration."""
    oracle = Enumeration(network)
    return sum(w * oracle.best(row) for row, w in zip(codes, weights, strict=True) if w > 0)


def expected_counts(network, codes, weights):
    """Eq. 2.16 by enumeration, as one vector."""
    counts = Enumeration(network).expected_counts(codes, None, weights)
    return np.concatenate([c.ravel() for c in counts])


def random_tables(flat, seed):
    """Tables without zeros, as one vector."""
    return flat.normalised(np.random.default_rng(seed).gamma(1.0, size=flat.size) + 0.01)


def naive_bayes(n_classes, n_children, seed=0, name="H"):
    """A network with a hidden root and binary children with random tables."""
    from unveil import Variable

    random = np.random.default_rng(seed)
    root = Variable(name, range(n_classes), hidden=True)
    children = [Variable(f"X{i}", [0, 1]) for i in range(n_children)]
    cpds = [TableCPD(root, [], random.dirichlet(np.full(n_classes, 5.0)))]
    cpds += [TableCPD(x, [root], random.dirichlet([1, 1], n_classes)) for x in children]
    return Network(cpds)
