"""Signatures in the network of all rows: what drawn rows are too few to show.

A faint variable hardly pays among ten thousand rows, and is not among their candidates. In the
network of all rows its children are linked, as each of these arcs pays there. So a hidden parent of
every semi-clique of that network (4.1) is fitted to all rows as well: where rows that are alike
around it can be grouped, EM takes no pass over them.
"""

from __future__ import annotations

import numpy as np

from unveil.discovery.all_rows import Everything
from unveil.discovery.stars_of_all import Children, with_parent
from unveil.discovery.states_of_all import fitted_anew, with_random_tables
from unveil.em.grouped import can_be_grouped
from unveil.graph.dag import DAG
from unveil.hidden.semi_cliques import find_semi_cliques
from unveil.model.cpd import CPD
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD
from unveil.progress import Ticker
from unveil.table.variable import Variable

__all__ = ["n_signatures", "stars_at_signatures"]

LOOKED, TAKEN = 20, 2
"""So many semi-cliques are looked at with two states, and so many of the best go on."""


def stars_at_signatures(
    everything: Everything, dag: DAG, name: str, ticker: Ticker, seen: set[Children]
) -> list[Network]:
    """The best networks of all rows with a hidden parent of a semi-clique, the best first."""
    found: list[tuple[float, Network]] = []
    for children in _signatures(everything, dag):
        if children in seen or not ticker.keep_going():
            continue
        star = _binary(everything, dag, name, children)
        if can_be_grouped(star, everything.rows):
            own = fitted_anew(everything, star, name, everything.settings.n_states or 2, ticker)
            found.append((everything.score(own), own))
    found.sort(key=lambda x: -x[0])
    return [network for _, network in found[:TAKEN]]


def n_signatures(everything: Everything, dag: DAG) -> int:
    """In how many places such a parent is tried."""
    return len(_signatures(everything, dag))


def _signatures(everything: Everything, dag: DAG) -> list[Children]:
    """Semi-cliques of a network over the columns; none where rows have gaps or limits are set."""
    settings, rows = everything.settings, everything.rows
    plain = rows.is_complete and settings.limits().only_max_parents
    if not plain or set(dag.nodes) - set(rows.names):
        return []
    cliques = find_semi_cliques(dag, max_size=settings.max_children)
    return [frozenset(clique.nodes) for clique in cliques[:LOOKED]]


def _binary(everything: Everything, dag: DAG, name: str, children: Children) -> Network:
    """The graph with a binary hidden parent of these, fitted where that shows in the rows."""
    arcs = with_parent(everything, dag, name, children)
    shown = DAG(dag.nodes, [(x, y) for x, y in arcs if x != name])
    fitted = fit(shown, everything.known, everything.settings.prior)
    hidden = Variable(name, range(2), hidden=True)
    cpds: list[CPD] = [TableCPD.uniform(hidden)]
    for n in dag.nodes:
        own = fitted.cpd(n)
        cpds.append(TableCPD.uniform(own.variable, [hidden]) if n in children else own)
    generator = np.random.default_rng(everything.seed)
    return with_random_tables(Network(cpds), name, 2, generator)
