"""How many states a hidden variable has, as all rows tell.

Agglomeration (Ch. 5) gives rows that are alike the same state, and with millions of rows ever more
states pay. Where rows are grouped, a run of EM takes no pass, so it is simply tried: every number
of states in turn, from some random tables, and the best score of all rows wins.
"""

from __future__ import annotations

import numpy as np

from unveil.discovery.all_rows import BY_GROUPS, Everything, climbed_by_em
from unveil.em.grouped import can_be_grouped
from unveil.em.steps import em_problem
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD
from unveil.progress import Ticker
from unveil.table.variable import Variable

__all__ = ["fitted_anew", "resized", "with_random_tables"]

MOST_STATES = 12
"""States at most."""
STARTS, SHORT = 5, 60
"""So many random starts have so many steps of EM; the best of them goes on."""
FURTHER = 2
"""So many more states than the best number are tried before it is left at that."""


def resized(everything: Everything, network: Network, name: str, ticker: Ticker) -> Network:
    """The network with as many states of a hidden variable as all rows ask for, fitted to them.

    Only where rows that are alike around it can be grouped; else the network as it is.
    """
    if everything.settings.n_states or not can_be_grouped(network, everything.rows):
        return network
    best, score, most = network, everything.score(network), network.variable(name).n_states
    for n_states in range(2, MOST_STATES + 1):
        if n_states > most + FURTHER or not ticker.keep_going():
            break
        found = fitted_anew(everything, network, name, n_states, ticker)
        own = everything.score(found)
        if own > score:
            best, score, most = found, own, n_states
    return best


def fitted_anew(
    everything: Everything, network: Network, name: str, n_states: int, ticker: Ticker
) -> Network:
    """The same graph with so many states, by EM from the best of some random starts."""
    starts = [
        with_random_tables(
            network, name, n_states, np.random.default_rng([everything.seed, n_states, i])
        )
        for i in range(STARTS)
    ]
    problem = em_problem(starts[0], everything.rows, everything.settings.prior)
    weight = everything.rows.total_weight
    runs = [climbed_by_em(problem, problem.pack(s), SHORT, weight, ticker) for s in starts]
    best, _ = max(runs, key=lambda found: found[1])
    return problem.unpack(climbed_by_em(problem, best, BY_GROUPS, weight, ticker)[0])


def with_random_tables(
    network: Network, name: str, n_states: int, generator: np.random.Generator
) -> Network:
    """The network with so many states of a variable, and random tables where it takes part."""
    own = Variable(name, range(n_states), hidden=True)
    cpds = []
    for cpd in network.cpds.values():
        family = [own if v.name == name else v for v in (*cpd.parents, cpd.variable)]
        if own not in family:
            cpds.append(cpd)
            continue
        *parents, variable = family
        shape = [p.n_states for p in parents]
        values = generator.dirichlet(np.ones(variable.n_states), shape)
        cpds.append(TableCPD(variable, parents, values))
    return Network(cpds)
