"""Parameters of a network from complete, weighted rows (thesis 2.2)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, UnveilWarning
from unveil.graph.dag import DAG
from unveil.model.compact import CompactCPD
from unveil.model.cpd import CPD
from unveil.model.kinds import kind_for
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import TableCPD, n_cells
from unveil.statistics.memory import as_statistics
from unveil.statistics.protocol import Need, Statistics
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["estimated", "family_statistics", "fit", "table_from_counts"]


def fit(
    structure: DAG | Network, data: Table | Statistics, prior: DirichletPrior | None = None
) -> Network:
    """The network over a graph whose distributions are estimated from a table or another engine.

    Without a prior, the maximum likelihood estimate S[x, u] / S[u] (Eq. 2.8); parent
    configurations that no row shows get the uniform distribution. With a prior, the posterior mean
    (S[x, u] + alpha(x, u)) / (S[u] + alpha(u)) (Eq. 2.12). Continuous columns get linear Gaussian
    distributions by least squares. Columns outside the graph are ignored. If `structure` is a
    network, compact distributions keep their local structure.

    >>> table = Table.from_frame({"x": ["a", "a", "b"]})
    >>> fit(DAG(["x"]), table).cpd("x").values.round(3).tolist()
    [0.667, 0.333]
    >>> from unveil import PseudoCount
    >>> fit(DAG(["x"]), table, PseudoCount(1)).cpd("x").values.tolist()
    [0.6, 0.4]
    """
    dag = structure.dag if isinstance(structure, Network) else structure
    statistics = as_statistics(data)
    variables = _variables(dag, statistics)
    compact = _compact_parts(structure, variables)
    parents = {n: dag.parents(n) for n in dag.nodes}
    parents |= {n: tuple(p.name for p in cpd.parents) for n, cpd in compact.items()}
    families = [(variables[n], [variables[p] for p in parents[n]]) for n in dag.nodes]
    if isinstance(data, Table):
        _refuse_gaps(dag, data)
    return Network(estimated(statistics, families, prior, compact))


def estimated(
    statistics: Statistics,
    families: Sequence[tuple[Variable, Sequence[Variable]]],
    prior: DirichletPrior | None = None,
    compact: Mapping[str, CompactCPD] | None = None,
) -> list[CPD]:
    """The distribution of each family (variable, parents); those of `compact` keep their form."""
    compact = compact or {}
    kinds = [kind_for(*family) for family in families]
    for kind, family in zip(kinds, families, strict=True):
        if kind.needs is Need.COUNTS:
            n_cells(*family)
    found = family_statistics(statistics, families, kinds)
    return [
        compact[family[0].name].with_variables(*family).refitted(known, prior)
        if family[0].name in compact
        else kind.estimate(*family, known, prior)
        for kind, family, known in zip(kinds, families, found, strict=True)
    ]


def _compact_parts(
    structure: DAG | Network, variables: Mapping[str, Variable]
) -> dict[str, CompactCPD]:
    """The compact distributions whose local structure is kept: those whose states are the same."""
    cpds = structure.cpds if isinstance(structure, Network) else {}
    compact = {name: cpd for name, cpd in cpds.items() if isinstance(cpd, CompactCPD)}
    other = [
        name
        for name, cpd in compact.items()
        if any(variables[v.name].n_states != v.n_states for v in (*cpd.parents, cpd.variable))
    ]
    if other:
        warnings.warn(
            f"the local structure of {', '.join(other)} is for other numbers of states than the "
            "table has: tables are fitted instead",
            UnveilWarning,
            stacklevel=3,
        )
    return {name: cpd for name, cpd in compact.items() if name not in other}


def family_statistics(
    statistics: Statistics,
    families: Sequence[tuple[Variable, Sequence[Variable]]],
    kinds: Sequence[type[CPD]],
) -> list[Any]:
    """What each kind needs to know of its family; all counts are asked for at once."""
    place = {v.name: i for i, v in enumerate(statistics.variables)}
    counted = [
        [place[v.name] for v in (*parents, variable)]
        for (variable, parents), kind in zip(families, kinds, strict=True)
        if kind.needs is Need.COUNTS
    ]
    counts = iter(statistics.counts(counted) if counted else [])
    found: list[Any] = []
    for (variable, parents), kind in zip(families, kinds, strict=True):
        if kind.needs is Need.COUNTS:
            found.append(next(counts))
            continue
        members = [*(p for p in parents if not p.is_discrete), variable]
        by = [place[p.name] for p in parents if p.is_discrete]
        moments = statistics.moments([place[v.name] for v in members], by)
        found.append(moments.at(()) if kind.needs is Need.MOMENTS else moments)
    return found


def table_from_counts(
    variable: Variable,
    parents: Sequence[Variable],
    counts: npt.NDArray[np.float64],
    prior: DirichletPrior | None = None,
) -> TableCPD:
    """The table estimated from counts; see `TableCPD.estimate`."""
    return TableCPD.estimate(variable, parents, counts, prior)


def _variables(dag: DAG, statistics: Statistics) -> dict[str, Variable]:
    known = {v.name: v for v in statistics.variables}
    for name in dag.nodes:
        if name not in known:
            names = ", ".join(repr(n) for n in list(known)[:12])
            raise DataError(f"the table has no column {name!r}; it has {names}")
    return known


def _refuse_gaps(dag: DAG, table: Table) -> None:
    for name in dag.nodes:
        missing = table.missing(name)
        if missing.any():
            raise DataError(
                f"column {name!r} has {int(missing.sum())} missing cells (the first in row "
                f"{int(missing.argmax()) + 1}); fitting by counting needs complete rows"
            )
