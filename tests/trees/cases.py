"""Small tables that the tests of this room share."""

from functools import cache

import numpy as np

from unveil import Network, TableCPD, Variable


@cache
def two_groups():
    """A top variable, two below it, and three columns below each of these."""
    random = np.random.default_rng(1)
    top = Variable("top", range(2), hidden=True)
    cpds = [TableCPD(top, [], [0.4, 0.6])]
    for g in "ab":
        h = Variable(g, range(3), hidden=True)
        cpds.append(TableCPD(h, [top], [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]))
        for i in range(3):
            x = Variable(f"{g}{i}", range(2 + i % 2))
            cpds.append(TableCPD(x, [h], random.dirichlet(np.full(x.n_states, 0.5), 3)))
    return Network(cpds)


@cache
def rows(n=300):
    """Rows of `two_groups` as a table sees them."""
    return two_groups().sample(n, seed=2).without(["top", "a", "b"])


GROUPS = {"top": {"a": ["a0", "a1", "a2"], "b": ["b0", "b1", "b2"]}}
