"""The best network without a further hidden variable: what every candidate has to beat.

A search that stops at a local maximum makes hidden variables look better than they are: the gain
would be the search's, not theirs. So the search goes on from where it ends on randomly reweighted
rows (weight annealing, Ch. 3), which reaches better maxima than random moves do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from unveil.anneal import Geometric, Random, anneal
from unveil.discovery.patience import inside
from unveil.discovery.settings import Settings
from unveil.em.completion import complete_rows
from unveil.em.structural import structural_em
from unveil.graph.dag import DAG
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.search.annealed import GraphLearner
from unveil.search.combined import combined_search
from unveil.search.learn import in_order
from unveil.search.legal import made_legal
from unveil.table.core import Table

__all__ = [
    "best_graph",
    "learn_complete",
    "learn_observed",
    "learn_without",
    "n_random_starts",
    "n_restarts",
]


def learn_observed(table: Table, settings: Settings, seed: int, ticker: Ticker) -> Network:
    """The network over the table's own columns, by search or (with gaps) by structural EM."""
    if table.is_complete:
        restarts = n_restarts(table, settings.restarts)
        return learn_complete(table, settings, restarts, seed, settings.first_graph, ticker)
    return structural_em(
        table, settings.first_graph, settings.criterion, constraints=settings.limits(), seed=seed,
        prior=settings.prior, structure_prior=settings.structure_prior, anneal=settings.anneal,
        **inside(ticker),
    ).network  # fmt: skip


def learn_without(
    network: Network,
    names: Sequence[str],
    table: Table,
    settings: Settings,
    seed: int,
    ticker: Ticker,
) -> Network:
    """The best network near `network` that has none of `names`: the same chance for all sides."""
    others = [n for n in network.names if n not in names]
    dag = DAG(others, [arc for arc in network.dag.arcs if not set(names) & set(arc)])
    if table.is_complete and not set(others) - set(table.names):
        return learn_complete(table, settings, 2, seed, dag, ticker)
    completed = complete_rows(network, table, cap=32, draws=8, seed=seed).without(names)
    limits = settings.limits([n for n in others if n not in table])
    dag = made_legal(dag, limits.rules(others), others)
    return structural_em(
        table, fit(dag, completed, settings.prior), settings.criterion, prior=settings.prior,
        constraints=limits, structure_prior=settings.structure_prior, seed=seed, **inside(ticker),
    ).network  # fmt: skip


def learn_complete(
    table: Table,
    settings: Settings,
    restarts: int,
    seed: int,
    start: DAG | None = None,
    ticker: Ticker | None = None,
    hidden: Sequence[str] = (),
    shown: Table | None = None,
) -> Network:
    """The network of `best_graph`, fitted."""
    dag = best_graph(table, settings, restarts, seed, start, ticker, hidden, shown)
    return fit(dag, table, settings.prior)


def best_graph(
    table: Table,
    settings: Settings,
    restarts: int,
    seed: int,
    start: DAG | None = None,
    ticker: Ticker | None = None,
    hidden: Sequence[str] = (),
    shown: Table | None = None,
) -> DAG:
    """The graph with the best score on complete rows, of a search and as much as `restarts`.

    These are searches under random weights, each from where the last one ended, and from there
    under the true weights; hardly cooled, for it is the variety that helps. `start` is another
    place to begin from; `hidden` are columns that stand for hidden variables, `shown` the same rows
    without them.
    """
    ticker = ticker or Ticker()
    ordered = table.select(sorted(table.names))
    limits = settings.limits(hidden)
    scores = settings.families(ordered, shown)
    best = combined_search(scores, None, limits, **inside(ticker))
    if start is not None:
        first = made_legal(start, limits.rules(ordered.names), ordered.names)
        found = combined_search(scores, first, limits, **inside(ticker))
        best = max(best, found, key=lambda r: r.score)
    dag = best.dag
    if restarts and ticker.keep_going():
        # A search that goes on from another takes less time than one from nothing.
        cooling = Geometric.over(restarts * 3 // 2, 1.0, 0.9)
        learner = GraphLearner(scores, partial(combined_search, constraints=limits))
        dag = anneal(
            learner, dag, Random(), cooling, polish=True, seed=seed, **inside(ticker)
        ).hypothesis
    return in_order(dag, table.names)


def n_restarts(table: Table, most: int) -> int:
    """How many restarts a table of this size can afford: all `most`, and two at least."""
    work = table.n_rows * table.n_columns**2
    return min(most, max(2, 100_000_000 // max(work, 1)))


def n_random_starts(table: Table, most: int) -> int:
    """How many random places for a hidden variable a table of this size can afford."""
    work = table.folded().n_rows * table.n_columns**2
    return min(most, 500_000 // max(work, 1))
