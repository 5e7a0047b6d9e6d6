"""EM from where a network is, for the many short runs of a search for hidden variables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.em.expectation import Expectation, rows_to_learn_from
from unveil.model.flat import FlatTables
from unveil.em.loop import run_em
from unveil.em.parametric import em_step
from unveil.model.cpd import CPD
from unveil.model.fit import table_from_counts
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import TableCPD
from unveil.statistics.counting import family_counts
from unveil.table.core import Table

__all__ = ["short_em"]

Vector = npt.NDArray[np.float64]

LARGE = 20_000
"""Tables of families that rows show whole are taken out of EM when they have so many cells."""


def short_em(
    network: Network,
    table: Table,
    prior: DirichletPrior | None,
    iterations: int,
    tolerance: float = 1e-7,
) -> Network:
    """The network after at most `iterations` of EM on the rows, from its present parameters.

    Families that every row shows whole get their parameters at once. They are still carried along,
    which costs less than to part with them, unless they are large.
    """
    names = [n for n in network.names if n in table and not network.variable(n).hidden]
    observed = rows_to_learn_from(network, table.select(names))
    lacking = {n for n in network.names if n not in observed or observed.missing(n).any()}
    seen = [n for n in network.names if not lacking & {n, *network.dag.parents(n)}]
    if sum(_size(network, n) for n in seen) < LARGE:
        return _run(network, observed, prior, iterations, tolerance)
    fitted: dict[str, CPD] = {}
    log_likelihood = 0.0
    for name in seen:
        variable, parents = network.variable(name), network.cpd(name).parents
        counts = family_counts(observed, variable, parents)
        cpd = fitted[name] = table_from_counts(variable, parents, counts, prior)
        occurs = counts > 0
        log_likelihood += float(counts[occurs] @ np.log(cpd.values[occurs]))
    if lacking:
        part = _part_without(network, seen)
        found = _run(part, observed, prior, iterations, tolerance, log_likelihood)
        fitted.update({n: found.cpd(n) for n in network.names if n not in fitted})
    return Network([fitted[n] for n in network.names], network.name, network.description)


def _run(
    network: Network,
    table: Table,
    prior: DirichletPrior | None,
    iterations: int,
    tolerance: float,
    constant: float = 0.0,
) -> Network:
    """EM; `constant` is added to the objective, of which `tolerance` is a share."""
    flat = FlatTables(network)
    step = em_step(Expectation(flat, table), flat, prior)

    def shifted(parameters: Vector) -> tuple[Vector, float]:
        better, objective = step(parameters)
        return better, objective + constant

    return flat.unpack(run_em(shifted, flat.pack(network), iterations, tolerance).parameters)


def _part_without(network: Network, seen: list[str]) -> Network:
    """The other families; variables that are only parents in them become roots."""
    rest = [cpd for name, cpd in network.cpds.items() if name not in seen]
    roots = {p.name: TableCPD.uniform(p) for cpd in rest for p in cpd.parents if p.name in seen}
    return Network([*roots.values(), *rest])


def _size(network: Network, name: str) -> int:
    cpd = network.cpd(name)
    return cpd.values.size if isinstance(cpd, TableCPD) else 0
