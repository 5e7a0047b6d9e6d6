"""Networks in which the rows are given the states of a hidden variable, as a first guess for EM."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from unveil.discovery.baseline import learn_complete
from unveil.discovery.bench import Bench
from unveil.discovery.patience import inside, steps_of
from unveil.em.short import short_em
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import Agglomeration
from unveil.hidden.cardinality import completed_fit
from unveil.model.beside import fit_beside
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.search.hill_climbing import hill_climbing
from unveil.search.learn import in_order
from unveil.search.legal import made_legal
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["from_states", "learned_anew", "named_as_before", "with_states"]

TABU = 5
"""Length of the tabu list where arcs are learned anew from states."""


def with_states(
    bench: Bench, dag: DAG, name: str, tree: Agglomeration, k: int, ticker: Ticker
) -> Network:
    """The network in which the hidden variable has the k states of a tree of merges, after EM."""
    start = completed_fit(bench.completed, dag, name, tree.states(k), k, bench.prior)
    named = named_as_before(bench, start, name)
    return short_em(named, bench.glanced, bench.prior, 30, progress=steps_of(ticker))


def from_states(
    bench: Bench,
    name: str,
    states: npt.NDArray[np.int64],
    k: int,
    before: DAG,
    around: Collection[str],
    ticker: Ticker,
) -> Network | None:
    """The network with these states of the rows, arcs learned anew from them, after a short EM.

    The search begins with the arcs of `before` that do not lead to the hidden variable or to what
    is `around` it: from nothing it takes twice as long and ends lower, and with the arcs that stood
    in for the variable it would hardly get away from them. `None`, if a hidden variable would have
    no child.
    """
    column = Variable(name, range(k), hidden=True)
    completed = bench.completed.with_column(column, states)
    ordered = completed.select(sorted(completed.names))
    kept = [
        (a, b) for a, b in before.arcs if name not in (a, b) and b not in around and a in ordered
    ]
    limits = bench.settings.limits([n for n in ordered.names if n not in bench.table])
    start = made_legal(DAG(ordered.names, kept), limits.rules(ordered.names), ordered.names)
    scores = bench.settings.families(ordered, bench.glanced)
    found = hill_climbing(scores, start, limits, tabu=TABU, **inside(ticker))
    dag = in_order(found.dag, completed.names)
    if not dag.children(name) or bench.childless(dag):
        return None
    network = named_as_before(bench, fit_beside(bench.glanced, completed, dag, bench.prior), name)
    return short_em(network, bench.glanced, bench.prior, 15, progress=steps_of(ticker))


def learned_anew(
    bench: Bench, completed: Table, name: str, restarts: int, ticker: Ticker
) -> Network | None:
    """The best network of completed rows; `None` if a hidden variable would have no child."""
    hidden = [n for n in completed.names if n not in bench.table]
    network = learn_complete(
        completed, bench.settings, restarts, bench.seed, ticker=ticker, hidden=hidden,
        shown=bench.glanced,
    )  # fmt: skip
    if not network.dag.children(name) or bench.childless(network.dag):
        return None
    return named_as_before(bench, network, name)


def named_as_before(bench: Bench, network: Network, name: str) -> Network:
    """The network with earlier hidden variables marked as such: as columns they were not."""
    return network.map_variables(lambda v: v if v.name == name else bench.network.variable(v.name))
