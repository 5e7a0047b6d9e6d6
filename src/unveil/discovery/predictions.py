"""How well a graph predicts rows that were left out when its parameters were estimated."""

from __future__ import annotations

import numpy as np

from unveil.discovery.patience import steps_of
from unveil.discovery.settings import Settings
from unveil.em.short import short_em
from unveil.evaluate.cross_validation import CrossValidation, cross_validate
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["cross_validated", "drawn_rows"]

FORGETTING = (300, 1e-8)
"""Iterations at most, and tolerance, of EM on the rows of a fold.

EM goes on long enough to forget where it began: at parameters that knew the rows left out.
"""


MOST_ROWS = 100_000
"""Of more different rows than these, so many that are drawn are left out and predicted.

Ten times as many would take ten times as long and make the interval three times as short, where it
is short enough.
"""


def cross_validated(
    network: Network,
    table: Table,
    settings: Settings,
    folds: int,
    seed: int,
    ticker: Ticker | None = None,
) -> CrossValidation | None:
    """The log-loss of a graph: each fold's rows predicted by tables fitted to the other folds.

    Of a very large table, rows that are drawn stand for all of them.

    `None`, if it was stopped: some folds say less, and EM that was cut short still knows the rows
    that were left out.
    """
    prior, ticker = settings.prior, ticker or Ticker()
    if not ticker.keep_going():
        return None
    listener = steps_of(ticker)
    observed = drawn_rows(table.select([n for n in network.names if n in table]), seed)
    complete = observed.is_complete and observed.n_columns == len(network.names)

    def fitted(rows: Table) -> Network:
        if complete:
            return fit(network.dag, rows, prior)
        return short_em(network, rows, prior, *FORGETTING, progress=listener)

    result = cross_validate(observed, fitted, folds, seed, listener, blocks=settings.blocks)
    return result if result.is_whole and ticker.keep_going() else None


def drawn_rows(table: Table, seed: int) -> Table:
    """The table, or as many of its rows as are enough, in their order; the same for every graph."""
    most = MOST_ROWS
    if table.n_rows <= most or table.folded().n_rows <= most:
        return table
    chosen = np.random.default_rng(seed).choice(table.n_rows, most, replace=False)
    return table.take(np.sort(chosen))
