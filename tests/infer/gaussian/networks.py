"""Random Gaussian and mixed networks, and an oracle that writes down the whole joint."""

import numpy as np
from graph.strategies import dags
from hypothesis import strategies as st

from unveil import Network, Table, TableCPD, Variable
from unveil.model import ConditionalGaussianCPD, LinearGaussianCPD


@st.composite
def gaussian_networks(draw, max_nodes=6):
    dag = draw(dags(max_nodes=max_nodes))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return gaussian_network(dag, generator)


def gaussian_network(dag, generator):
    cpds = []
    for name in dag.nodes:
        parents = [Variable(p) for p in dag.parents(name)]
        slopes = generator.normal(size=len(parents)) * generator.choice([0.0, 1.0, 3.0])
        variance = float(np.exp(generator.normal()))
        mean = generator.normal(scale=5)
        cpds.append(LinearGaussianCPD(Variable(name), parents, mean, slopes, variance))
    return Network(cpds)


@st.composite
def mixed_networks(draw, max_nodes=5):
    """Any DAG: discrete first, continuous last, and nothing discrete below a continuous node."""
    dag = draw(dags(min_nodes=2, max_nodes=max_nodes))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return mixed_network(dag, generator)


def mixed_network(dag, generator):
    variables = {}
    for place, name in enumerate(dag.topological_order):
        free = all(variables[p].is_discrete for p in dag.parents(name))
        n_states = int(generator.integers(1, 4))
        chosen = free and place < dag.n_nodes - 1 and generator.random() < 0.6
        discrete = place == 0 or chosen
        variables[name] = Variable(name, range(n_states) if discrete else None)
    cpds = []
    for name in dag.nodes:
        parents = [variables[p] for p in dag.parents(name)]
        shape = [p.n_states for p in parents if p.is_discrete]
        k = len(parents) - len(shape)
        if variables[name].is_discrete:
            values = generator.dirichlet(np.ones(variables[name].n_states), size=shape)
            cpds.append(TableCPD(variables[name], parents, values))
            continue
        kind = ConditionalGaussianCPD if shape else LinearGaussianCPD
        intercepts = generator.normal(scale=2, size=shape)
        slopes = generator.normal(size=(*shape, k))
        variances = np.exp(generator.normal(size=shape))
        cpds.append(kind(variables[name], parents, intercepts, slopes, variances))
    return Network(cpds)


def joint_by_inversion(network):
    """Mean and covariance in the order of the names: (I - B)^-1 b and (I - B)^-1 D (I - B)^-T."""
    names = list(network.names)
    n = len(names)
    slopes, intercepts, variances = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    for i, cpd in enumerate(network.cpds.values()):
        intercepts[i], variances[i] = cpd.intercept, cpd.variance
        for parent, slope in zip(cpd.parents, cpd.coefficients, strict=True):
            slopes[i, names.index(parent.name)] = slope
    inverse = np.linalg.inv(np.eye(n) - slopes)
    return inverse @ intercepts, inverse @ np.diag(variances) @ inverse.T


def textbook_conditional(mean, covariance, row):
    """Mean and covariance of the NaN cells of a row given the others (Bishop 2.81, 2.82)."""
    u, o = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
    gain = covariance[np.ix_(u, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
    left = covariance[np.ix_(u, u)] - gain @ covariance[np.ix_(o, u)]
    return mean[u] + gain @ (row[o] - mean[o]), left


def knocked_out(network, n_rows, generator):
    """Sampled rows with cells missing; the first row complete, the second empty."""
    table = network.sample(n_rows, generator)
    columns = []
    for name in network.names:
        column = table.column(name).astype(float)
        away = generator.random(n_rows) < 0.5
        away[:2] = False, True
        column[away] = -1 if network.variable(name).is_discrete else np.nan
        columns.append(column.astype(np.int64) if network.variable(name).is_discrete else column)
    return Table(network.variables, columns)


def matrix(network, table):
    return np.column_stack([table.column(name) for name in network.names])
