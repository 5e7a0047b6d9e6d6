"""The rival explanation: no further hidden variable, but local structure inside of tables (2.1.3).

A parent that matters only when another has a certain value makes a table that is larger than it has
to be, and a hidden variable can seem to pay because it writes the same thing shorter. Trees of
contexts, default tables and noisy-or write it shorter still, and say what it is.
"""

from __future__ import annotations

from collections.abc import Callable

from unveil.discovery.patience import inside
from unveil.discovery.settings import Settings
from unveil.em.structural import structural_em
from unveil.errors import ModelError
from unveil.model.compact import CompactCPD
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.search.learn import learn
from unveil.table.core import Table

__all__ = ["compacted", "is_compact"]


def compacted(
    network: Network,
    rows: Table,
    settings: Settings,
    seed: int,
    ticker: Ticker,
    local: str = "auto",
) -> Network | None:
    """The best network near this one whose tables may have `local` structure; `None` if none can.

    Some scores do not add up over groups of configurations, and cannot judge local structure.
    """
    whole = rows.is_complete and not set(network.names) - set(rows.names)
    work: Callable[..., Network] = _searched if whole else _by_structural_em
    try:
        return work(network, rows, settings, seed, ticker, local)
    except ModelError:
        if settings.score == "bdeu":
            raise
        return None


def is_compact(network: Network) -> bool:
    """Whether some distribution of a network has local structure."""
    return any(isinstance(cpd, CompactCPD) for cpd in network.cpds.values())


def _searched(
    network: Network, rows: Table, settings: Settings, seed: int, ticker: Ticker, local: str
) -> Network:
    return learn(
        rows, settings.criterion, "hill-climbing", start=network.dag, local=local, seed=seed,
        constraints=settings.limits(), structure_prior=settings.structure_prior,
        prior=settings.prior, **inside(ticker),
    ).network  # fmt: skip


def _by_structural_em(
    network: Network, rows: Table, settings: Settings, seed: int, ticker: Ticker, local: str
) -> Network:
    limits = settings.limits([n for n in network.names if n not in rows])
    return structural_em(
        rows, network, settings.criterion, prior=settings.prior, constraints=limits, max_rounds=2,
        em_iterations=30, negligible=1e-3, seed=seed, local=local,
        structure_prior=settings.structure_prior, **inside(ticker),
    ).network  # fmt: skip
