"""EM over rows in parts by one pass: where what is unseen touches few columns, rows are grouped.

In rows that show all columns only hidden variables are unseen, and their posterior depends on the
columns that share a family with one of them. All rows with the same states there are one weighted
row, and the families that hold no hidden variable have counts that never change. So one pass counts
the former jointly and the latter each by itself, and every step of EM then goes over the groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unveil.em.parted import PartedTableEM
from unveil.em.steps import TableEM
from unveil.engines.rows import PartedRows
from unveil.infer.parts import LightPasses
from unveil.infer.unseen import Expected
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import TableCPD
from unveil.table.core import Table

__all__ = [
    "GroupedTableEM",
    "can_be_grouped",
    "counted_sets",
    "inner_network",
    "touching",
]

Vector = npt.NDArray[np.float64]

MOST_GROUPS = 1 << 20
"""The joint table of the columns beside hidden variables may have so many cells."""


def can_be_grouped(network: Network, rows: PartedRows) -> bool:
    """Whether only hidden variables are unseen, and few configurations of columns touch them."""
    shown = [n for n in network.names if n in rows]
    if any(rows.missing_cells[n] or rows.variable(n) != network.variable(n) for n in shown):
        return False
    around = touching(network, rows)
    if not around:
        return len(shown) == len(network.names)
    return math.prod(network.variable(n).n_states for n in around) <= MOST_GROUPS


def counted_sets(network: Network, rows: PartedRows) -> list[tuple[int, ...]]:
    """The sets of columns whose counts it takes: families without hidden variables, and groups."""
    open_ = _open_families(network, rows)
    place = {name: i for i, name in enumerate(rows.names)}
    layout = FlatTables(network)
    families = [
        tuple(place[network.names[m]] for m in layout.families[v])
        for v, name in enumerate(network.names)
        if name not in open_
    ]
    return [*families, tuple(place[n] for n in touching(network, rows))]


class GroupedTableEM(PartedTableEM):
    """EM for a network of tables over the groups of rows that are alike beside what is hidden.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> rows = PartedRows.of_tables([asia.sample(100, seed=1).without("lung")])
    >>> em, plain = GroupedTableEM(asia, rows), TableEM(asia, rows.as_table())
    >>> tables = em.pack(asia)
    >>> abs(em.step(tables)[1] - plain.step(tables)[1]) < 1e-9
    True
    """

    def __init__(
        self,
        network: Network,
        rows: PartedRows,
        prior: DirichletPrior | None = None,
        hard: bool = False,
    ) -> None:
        self._hold(FlatTables(network), prior, hard)
        open_, around = _open_families(network, rows), touching(network, rows)
        closed = [v for v, name in enumerate(network.names) if name not in open_]
        *each, jointly = rows.counts(counted_sets(network, rows))
        self._fixed = np.zeros(self.layout.size)
        for v, counts in zip(closed, each, strict=True):
            self._fixed[self._cells(v)] = counts.ravel()
        self._inner: TableEM | None = None
        if around:
            inner = inner_network(network, rows)
            self._inner = TableEM(inner, _groups(network, around, jointly), hard=hard)
            first = self._inner.layout.first
            inside = {name: slice(*first[k : k + 2]) for k, name in enumerate(inner.names)}
            self._twins = [
                (self._cells(v), inside[n]) for v, n in enumerate(network.names) if n in open_
            ]
            roots = [network.variable(n).n_states for n in around if n not in open_]
            self._roots = rows.total_weight * sum(map(math.log, roots))

    def _cells(self, v: int) -> slice:
        """Where the table of family `v` lies in the vector of all."""
        return slice(*self.layout.first[v : v + 2])

    def e_step(self, tables: Vector) -> Expected:
        """Expected counts of all rows, and the log-likelihood: no pass.

        A uniform root of k states has taken log k from the log-probability of every row.
        """
        counts, total = self._fixed.copy(), _log_likelihood(self._fixed, tables)
        if self._inner is None:
            return Expected(counts, total)
        own = self._inner.layout.own.copy()
        for mine, inside in self._twins:
            own[inside] = tables[mine]
        found = self._inner.e_step(own)
        for mine, inside in self._twins:
            counts[mine] = found.counts[inside]
        return Expected(counts, total + found.log_likelihood + self._roots)

    @property
    def light_passes(self) -> LightPasses | None:
        """Those of the groups; their families lie elsewhere in the tables of all."""
        own = None if self._inner is None or self.hard else self._inner.light_passes
        if own is None or self._inner is None or self.layout.compact:
            return None
        place = np.zeros(self._inner.layout.size, np.int64)
        for mine, inside in self._twins:
            place[inside] = np.arange(mine.start, mine.stop)
        return replace(own, entries=place[own.entries], shown=self._fixed)


def _open_families(network: Network, rows: PartedRows) -> set[str]:
    """The variables whose family holds one that no row shows."""
    shown = set(rows.names)
    return {
        cpd.variable.name
        for cpd in network.cpds.values()
        if not shown.issuperset(v.name for v in (cpd.variable, *cpd.parents))
    }


def touching(network: Network, rows: PartedRows) -> list[str]:
    """The columns that share a family with a hidden variable, in the network's order."""
    open_ = _open_families(network, rows)
    beside = {v.name for n in open_ for v in (network.cpds[n].variable, *network.cpds[n].parents)}
    return [n for n in network.names if n in beside and n in rows]


def inner_network(network: Network, rows: PartedRows) -> Network:
    """The families with hidden variables first; the other columns they need are uniform roots."""
    open_, around = _open_families(network, rows), touching(network, rows)
    families = [cpd for name, cpd in network.cpds.items() if name in open_]
    roots = [TableCPD.uniform(network.variable(n)) for n in around if n not in open_]
    return Network([*families, *roots])


def _groups(network: Network, around: Sequence[str], counts: Vector) -> Table:
    """The configurations that occur, as weighted rows."""
    where = np.nonzero(counts)
    return Table([network.variable(n) for n in around], where, counts[where])


def _log_likelihood(counts: Vector, tables: Vector) -> float:
    """The sum of S[x, u] log P(x | u) over the cells that occur."""
    used = counts > 0
    with np.errstate(divide="ignore"):
        return float(counts[used] @ np.log(tables[used]))
