"""Small problems that several tests share."""

import numpy as np

from unveil import DAG, EquivalentSampleSize, Network, Table, TableCPD, Variable, datasets
from unveil.bottleneck.lagrangian import Parameters
from unveil.em.starts import network_to_start

PRIOR = EquivalentSampleSize(2.0)


def asia_rows(missing, n=300):
    """Rows of asia without two variables, perhaps with gaps in leaves and in others."""
    rows = datasets.network("asia").sample(n, seed=1)
    if missing:
        rows = rows.knock_out(0.2, seed=2)
    return rows.without("lung").without("either")


def started(problem, table, seed=0):
    """Random parameters."""
    network = problem.layout.network
    variables = {v.name: v for v in network.variables}
    found = network_to_start(
        "random", network.dag, variables, table, None, np.random.default_rng(seed)
    )
    common = np.random.default_rng(seed).dirichlet(np.ones(problem.rows.n_hidden))
    return Parameters(problem.layout.pack(found), problem.compression.projected(common))


def classes(n_classes=3, n_columns=6, n_rows=1500, sure=0.85, seed=0):
    """Rows of a latent class model with two states a column, and its structure."""
    root = Variable("class", range(n_classes), hidden=True)
    cpds = [TableCPD(root, [], np.full(n_classes, 1 / n_classes))]
    for i in range(n_columns):
        up = np.where(np.arange(n_classes) == i % n_classes, sure, 1 - sure)
        cpds.append(TableCPD(Variable(f"x{i}", [0, 1]), [root], np.column_stack([1 - up, up])))
    network = Network(cpds)
    return network, network.sample(n_rows, seed=seed).without("class")


def latent_dag(table: Table) -> DAG:
    return DAG(["class", *table.names], [("class", name) for name in table.names])
