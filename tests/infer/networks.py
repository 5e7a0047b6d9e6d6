"""Random small networks and rows of evidence for the tests of inference."""

import numpy as np
from hypothesis import strategies as st

from unveil import Network, Table, TableCPD, Variable


def random_cpd(variable, parents, generator, zeros):
    """A random table; about `zeros` of its cells are zero and as many of its rows certain."""
    shape = [v.n_states for v in (*parents, variable)]
    values = generator.dirichlet(np.full(shape[-1], 0.8), size=shape[:-1])
    gone = generator.random(shape) < zeros
    gone[gone.all(axis=-1)] = False
    values[gone] = 0.0
    certain = generator.random(shape[:-1]) < zeros
    values[certain] = np.eye(shape[-1])[generator.integers(shape[-1], size=certain.sum())]
    return TableCPD(variable, parents, values / values.sum(axis=-1, keepdims=True))


def build(sizes, parents, generator, zeros):
    """The network with these numbers of states and parent positions, its CPDs in random order."""
    variables = [Variable(f"V{i}", [f"s{k}" for k in range(n)]) for i, n in enumerate(sizes)]
    cpds = [
        random_cpd(v, [variables[j] for j in above], generator, zeros)
        for v, above in zip(variables, parents, strict=True)
    ]
    return Network([cpds[i] for i in generator.permutation(len(cpds))])


def random_network(generator, n_variables=None, max_states=4, max_parents=3):
    """Two to six variables of one to four states, with zeros and certain rows now and then."""
    n = n_variables or int(generator.integers(2, 7))
    sizes = generator.integers(1, max_states + 1, size=n)
    while np.prod(sizes) > 2000:
        sizes[generator.integers(n)] = 2
    parents = [
        generator.permutation(i)[: generator.integers(0, min(i, max_parents) + 1)] for i in range(n)
    ]
    return build(sizes, parents, generator, generator.choice([0.0, 0.2, 0.5]))


@st.composite
def networks(draw):
    """The same by hypothesis, so that a failure shrinks to few variables, states and arcs."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=6))
    parents = [
        draw(st.lists(st.integers(0, i - 1), max_size=3, unique=True)) if i else []
        for i in range(len(sizes))
    ]
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return build(sizes, parents, generator, draw(st.sampled_from([0.0, 0.2, 0.5])))


def random_rows(network, n_rows, generator):
    """Codes of shape (n_rows, n_variables), -1 where unknown.

    The first row is all unknown, the second complete. Half of the rows come from the network, so
    are possible; the rest are any.
    """
    sizes = [v.n_states for v in network.variables]
    rows = np.column_stack([generator.integers(k, size=n_rows) for k in sizes])
    drawn = network.sample(n_rows, seed=generator)
    likely = np.column_stack([drawn.column(name).astype(int) for name in network.names])
    rows = np.where(generator.random((n_rows, 1)) < 0.5, likely, rows)
    hidden = generator.random(rows.shape) < generator.random((n_rows, 1))
    rows[hidden] = -1
    rows[0] = -1
    rows[1:2] = likely[1:2]
    return rows


def random_likelihood(network, generator):
    """Soft evidence about one or two variables: as the library takes it, and by position."""
    chosen = generator.permutation(len(network.names))[: generator.integers(1, 3)]
    soft = {}
    for place in chosen:
        values = generator.random(network.variables[place].n_states)
        values[generator.random(values.size) < 0.2] = 0.0
        soft[int(place)] = values
    named = {
        network.names[place]: dict(zip(network.variables[place].labels, values, strict=True))
        for place, values in soft.items()
    }
    return named, soft


def as_table(network, rows):
    return Table(network.variables, list(np.asarray(rows).T))
