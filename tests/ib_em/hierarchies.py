"""Made hierarchies."""

import numpy as np

from unveil import Network, TableCPD, Variable


def two_groups(n_rows=900):
    """Four columns of one hidden variable, four of another below it; and rows."""
    one, two = (Variable(name, [0, 1], hidden=True) for name in ("T1", "T2"))
    cpds = [TableCPD(one, [], [0.5, 0.5]), TableCPD(two, [one], [[0.7, 0.3], [0.3, 0.7]])]
    for parent, letter in ((one, "a"), (two, "b")):
        for i in range(4):
            column = Variable(f"{letter}{i}", [0, 1])
            cpds.append(TableCPD(column, [parent], [[0.85, 0.15], [0.15, 0.85]]))
    network = Network(cpds)
    return network, network.sample(n_rows, seed=1).without("T1").without("T2")


def one_parent(rows):
    """A hidden parent of all columns, with random parameters."""
    random = np.random.default_rng(0)
    root = Variable("T1", [0, 1], hidden=True)
    cpds = [TableCPD(root, [], [0.5, 0.5])]
    for v in rows.variables:
        cpds.append(TableCPD(v, [root], random.dirichlet(np.ones(v.n_states), 2)))
    return Network(cpds)
