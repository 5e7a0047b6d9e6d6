"""Networks and questions for the tests of approximate inference."""

import warnings

import numpy as np

from infer.networks import as_table, build, random_network, random_rows
from unveil.infer.approximate import METHODS
from unveil.infer.posterior import log_likelihoods

SAMPLERS = ["gibbs", "weighting"]


def ask(method, network, table, targets=None, likelihoods=None, **settings):
    """The answer about all variables unless told otherwise, with few samples and a fixed seed."""
    settings = {"seed": 5} | settings
    if method in SAMPLERS:
        settings = {"n_samples": 4000} | settings
    return METHODS[method](network, table, targets or network.names, likelihoods or {}, **settings)


def quietly(*args, **settings):
    """`ask` where a warning is no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ask(*args, **settings)


def positive_network(generator, n_variables=6):
    """Every variable of two or three states with up to two parents, and no probability small."""
    sizes = generator.integers(2, 4, size=n_variables)
    parents = [
        generator.permutation(i)[: generator.integers(0, min(i, 2) + 1)] for i in range(n_variables)
    ]
    sharp = build(sizes, parents, generator, 0.0)
    return mixed_with_uniform(sharp)


def mixed_with_uniform(network):
    """The network with every table half way to uniform."""
    cpds = [
        type(cpd)(cpd.variable, cpd.parents, 0.5 * cpd.values + 0.5 / cpd.variable.n_states)
        for cpd in network.cpds.values()
    ]
    return type(network)(cpds)


def polytree(generator, n_variables=7, zeros=0.0):
    """A random network whose arcs, directions forgotten, form a forest."""
    sizes = generator.integers(1, 4, size=n_variables)
    order = generator.permutation(n_variables)
    rank = np.argsort(order)
    parents = [[] for _ in range(n_variables)]
    for i in range(1, n_variables):
        if generator.random() < 0.9:
            a, b = sorted((i, int(generator.integers(i))), key=rank.__getitem__)
            parents[b].append(a)
    # `build` wants parents first
    return build(
        sizes[order], [[int(rank[a]) for a in parents[v]] for v in order], generator, zeros
    )


def possible_rows(network, n_rows, generator, soft=None):
    """A table of random partly empty rows that the network permits."""
    table = as_table(network, random_rows(network, n_rows, generator))
    return table.take(np.flatnonzero(np.isfinite(log_likelihoods(network, table, soft))))


def random_question(seed, n_rows=12):
    """A small network, perhaps with zeros and one-state variables, and possible rows."""
    generator = np.random.default_rng(seed)
    network = random_network(generator)
    return network, possible_rows(network, n_rows, generator)
