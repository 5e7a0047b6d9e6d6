"""EM from where a network is, for the many short runs of a search for hidden variables."""

from __future__ import annotations

import numpy as np

from unveil.em.end import end_of_em
from unveil.em.steps import TableEM
from unveil.infer.rows import prepared_rows
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import TableCPD
from unveil.progress import Progress, Ticker
from unveil.table.core import Table

__all__ = ["short_em"]

LARGE = 20_000
"""Tables of families that rows show whole are taken out of EM when they have so many cells."""


def short_em(
    network: Network,
    table: Table,
    prior: DirichletPrior | None,
    iterations: int,
    tolerance: float = 1e-7,
    progress: Progress | None = None,
) -> Network:
    """The network after at most `iterations` of EM on the rows, from its present parameters.

    Families that every row shows whole get their parameters at once. They are still carried along,
    which costs less than to part with them, unless they are large.
    """
    shown = set(table.names).intersection(network.hidden)
    observed = table.without(shown) if shown else table
    rows = prepared_rows(network, observed, fold=True)
    lacking = set(np.flatnonzero(rows.patterns.lacks.any(axis=1)).tolist())
    layout = FlatTables(network)
    seen = [v for v, family in enumerate(layout.families) if not lacking & set(family)]
    if sum(int(layout.first[v + 1] - layout.first[v]) for v in seen) < LARGE:
        return _run(network, observed, prior, iterations, tolerance, progress)
    counts = layout.count(rows.codes, rows.weights, seen)
    tables = layout.estimated(counts, prior)
    fitted = layout.unpack(tables)
    names = [network.names[v] for v in seen]
    if not lacking:
        return fitted
    occurs = counts > 0
    constant = float(counts[occurs] @ np.log(tables[occurs]))
    part = _part_without(network, names)
    found = _run(part, observed, prior, iterations, tolerance, progress, constant)
    cpds = [(fitted if n in set(names) else found).cpd(n) for n in network.names]
    return Network(cpds, network.name, network.description)


def _run(
    network: Network,
    table: Table,
    prior: DirichletPrior | None,
    iterations: int,
    tolerance: float,
    progress: Progress | None,
    constant: float = 0.0,
) -> Network:
    """EM; `constant` is added to the objective, of which `tolerance` is a share."""
    em = TableEM(network, table, prior)
    ticker = Ticker.of(progress)
    return em.unpack(end_of_em(em, em.pack(network), iterations, tolerance, ticker, constant)[0])


def _part_without(network: Network, seen: list[str]) -> Network:
    """The other families; variables that are only parents in them become roots."""
    rest = [cpd for name, cpd in network.cpds.items() if name not in seen]
    roots = {p.name: TableCPD.uniform(p) for cpd in rest for p in cpd.parents if p.name in seen}
    return Network([*roots.values(), *rest])
