"""Classifiers with hidden variables: naive Bayes with hidden states, and discovery.

Naive Bayes takes the predictors to be independent within a class. With a hidden variable that
refines the class, C -> H and {C, H} -> X, they are so within each of its states only: a mixture in
every class, learned by EM (the course: "The Finite Mixture Model").
"""

from __future__ import annotations

import itertools

from unveil.classify.columns import Columns
from unveil.em.parametric import fit_em
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.prior import PseudoCount
from unveil.progress import Ticker
from unveil.table.places import free_name

__all__ = ["discovered_network", "hidden_network"]

IMAGINED = 1.0
"""The prior's count in every cell of a table."""

STARTS, MOST_STEPS = 3, 100
"""EM starts so many times, and takes at most so many steps each time."""


def hidden_network(
    columns: Columns, n_states: int, seed: int | None = None, ticker: Ticker | None = None
) -> Network:
    """Naive Bayes with a hidden variable of `n_states` states within every class."""
    target, names = columns.target.name, columns.names
    hidden = free_name("H", [target, *names])
    arcs = [(target, hidden)]
    arcs += itertools.chain.from_iterable(((target, n), (hidden, n)) for n in names)
    found = fit_em(
        DAG([target, hidden, *names], arcs), columns.table, PseudoCount(IMAGINED),
        {hidden: n_states}, n_starts=STARTS, max_iterations=MOST_STEPS, tolerance=1e-6, seed=seed,
        progress=ticker,
    )  # fmt: skip
    return found.network


def discovered_network(
    columns: Columns, seed: int | None = None, ticker: Ticker | None = None
) -> Network:
    """The network that `unveil.discover` finds for the predictors and the class together."""
    from unveil.discovery.call import discover

    report = discover(
        columns.table, evidence=False, straw_men=False, seed=seed, progress=ticker, n_jobs=1
    )
    return report.network
