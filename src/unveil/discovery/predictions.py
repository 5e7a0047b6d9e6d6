"""How well a graph predicts rows that were left out when its parameters were estimated."""

from __future__ import annotations

from unveil.discovery.settings import Settings
from unveil.em.short import short_em
from unveil.evaluate.cross_validation import CrossValidation, cross_validate
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["cross_validated"]

FORGETTING = (300, 1e-8)
"""Iterations at most, and tolerance, of EM on the rows of a fold.

EM goes on long enough to forget where it began: at parameters that knew the rows left out.
"""


def cross_validated(
    network: Network, table: Table, settings: Settings, folds: int, seed: int
) -> CrossValidation:
    """The log-loss of a graph: each fold's rows predicted by tables fitted to the other folds."""
    prior = settings.prior
    observed = table.select([n for n in network.names if n in table])
    complete = observed.is_complete and observed.n_columns == len(network.names)

    def fitted(rows: Table) -> Network:
        if complete:
            return fit(network.dag, rows, prior)
        return short_em(network, rows, prior, *FORGETTING)

    return cross_validate(observed, fitted, folds, seed, blocks=settings.blocks)
