"""Expected counts of any set of variables, hidden ones included, over rows in parts.

Structural EM searches on completed rows (2.4.2). Where only hidden variables are unseen these need
not be made: the posterior of the hidden variables depends on the columns that share a family with
one of them. Where these and the set have few joint states, they are counted together, which is
remembered, and their table is shared out among the hidden states. Otherwise a part works out the
posterior of the configurations it has, shares every row out, and counts. A set without hidden
variables is counted as ever.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unveil.em.grouped import inner_network, touching
from unveil.engines.rows import PartedRows
from unveil.errors import ModelError
from unveil.infer.answer import refuse_impossible
from unveil.model.network import Network
from unveil.statistics.memory import MemoryStatistics
from unveil.statistics.moments import ConditionalMoments
from unveil.statistics.protocol import Distinct
from unveil.statistics.remembered import RememberedCounts
from unveil.statistics.selected import SelectedStatistics
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["ExpectedCounts", "can_be_shared"]

Numbers = npt.NDArray[np.float64]

MOST_SHARES = 64
"""The hidden variables may have so many joint states."""
MOST_CELLS = 1 << 16
"""Tables of so many cells are counted with all columns that the posterior depends on."""


def can_be_shared(network: Network, rows: PartedRows) -> bool:
    """Whether rows lack nothing but hidden variables that have few joint states."""
    shown = [n for n in network.names if n in rows]
    if not network.is_discrete or len(shown) == len(network.names):
        return False
    if any(rows.missing_cells[n] or rows.variable(n) != network.variable(n) for n in shown):
        return False
    hidden = [v.n_states for v in network.variables if v.name not in rows]
    return math.prod(hidden) <= MOST_SHARES


class ExpectedCounts:
    """The completed rows of a network with hidden variables, as an engine that counts.

    The columns come first, in their order in the rows, then the hidden variables. `known` remembers
    counts of the columns from one network to the next.

    >>> from unveil import datasets
    >>> from unveil.em import complete_rows
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(100, seed=1).without("lung")
    >>> engine = ExpectedCounts(asia, PartedRows.of_tables([rows]))
    >>> names = [v.name for v in engine.variables]
    >>> counts, = engine.counts([[names.index("lung"), names.index("smoke")]])
    >>> completed = MemoryStatistics(complete_rows(asia, rows))
    >>> own = [asia.names.index("lung"), asia.names.index("smoke")]
    >>> bool(np.allclose(counts, completed.counts([own])[0]))
    True
    """

    def __init__(
        self, network: Network, rows: PartedRows, known: RememberedCounts | None = None
    ) -> None:
        self._rows = rows.select([n for n in rows.names if n in network.names])
        hidden = [v for v in network.variables if v.name not in rows]
        self.variables: tuple[Variable, ...] = (*self._rows.variables, *hidden)
        self.total_weight = rows.total_weight
        self._known = known or RememberedCounts(self._rows)
        self._hidden = [v.n_states for v in hidden]
        self._posterior = inner_network(network, rows), touching(network, rows), hidden
        self._around = [self.names.index(n) for n in self._posterior[1]]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(v.name for v in self.variables)

    def select(self, names: Sequence[str]) -> SelectedStatistics:
        """The same with the named variables only, in that order."""
        return SelectedStatistics(self, [self.names.index(n) for n in names])

    def counts(self, sets: Sequence[Sequence[int]]) -> list[Numbers]:
        """E[S[members]] for every set (Eq. 2.16): one axis per member in its order."""
        first = self._rows.n_columns
        shown = [tuple(m for m in members if m < first) for members in sets]
        plain = [i for i, members in enumerate(sets) if len(shown[i]) == len(members)]
        other = [i for i, members in enumerate(sets) if len(shown[i]) < len(members)]
        joined = [i for i in other if self._n_cells(self._with_around(shown[i])) <= MOST_CELLS]
        other = [i for i in other if i not in set(joined)]
        found: dict[int, Numbers] = {}
        if plain or joined:
            wanted = [sets[i] for i in plain] + [self._with_around(shown[i]) for i in joined]
            tables = self._known.counts(wanted)
            found |= dict(zip(plain, tables, strict=False))
            for i, table in zip(joined, tables[len(plain) :], strict=True):
                found[i] = self._out_of(sets[i], self._with_around(shown[i]), table)
        if other:
            asked = list(dict.fromkeys(shown[i] for i in other))
            tables = self._rows.shared_counts(
                asked, math.prod(self._hidden), _shares, *self._posterior
            )
            counted = dict(zip(asked, tables, strict=True))
            found |= {i: self._of(sets[i], shown[i], counted[shown[i]]) for i in other}
        return [found[i] for i in range(len(sets))]

    def _with_around(self, shown: Sequence[int]) -> tuple[int, ...]:
        """These columns and those that the posterior depends on."""
        return tuple(dict.fromkeys([*self._around, *shown]))

    def _n_cells(self, shown: Sequence[int]) -> int:
        return math.prod(self.variables[m].n_states for m in shown)

    @cached_property
    def _posterior_table(self) -> Numbers:
        """P(h | the columns around) of all their configurations, hidden variables first.

        A configuration that is impossible has not-a-number: it must not occur.
        """
        inner, around, hidden = self._posterior
        sizes = [inner.variable(n).n_states for n in around]
        codes = np.indices(sizes).reshape(len(sizes), math.prod(sizes))
        logs = _log_joint(inner, around, hidden, codes)
        most = logs.max(axis=0)
        shares = np.full(logs.shape, np.nan)
        there = most > -np.inf
        shares[:, there] = np.exp(logs[:, there] - most[there])
        return np.asarray((shares / shares.sum(axis=0)).reshape([*self._hidden, *sizes]))

    def _out_of(self, members: Sequence[int], union: Sequence[int], table: Numbers) -> Numbers:
        """The counts of a set from those of its columns and all that the posterior depends on."""
        shares, first = self._posterior_table, self._rows.n_columns
        own = [*range(first, first + len(self._hidden)), *self._around]
        occurs = table.sum(axis=tuple(range(len(self._around), len(union)))) > 0
        if np.isnan(shares[..., occurs]).any():
            refuse_impossible(np.array([-np.inf]))
        label = {m: k for k, m in enumerate(dict.fromkeys([*own, *union]))}
        found = np.einsum(
            np.nan_to_num(shares), [label[m] for m in own], table, [label[m] for m in union],
            [label[m] for m in members],
        )  # fmt: skip
        return np.asarray(found)

    def _of(self, members: Sequence[int], shown: tuple[int, ...], table: Numbers) -> Numbers:
        """The counts of a set from those of its columns, shared out among all hidden states."""
        first, n_hidden = self._rows.n_columns, len(self._hidden)
        table = table.reshape([*self._hidden, *table.shape[1:]])
        axes = [*range(first, first + n_hidden), *shown]
        gone = tuple(i for i, m in enumerate(axes) if m not in members)
        left = [m for m in axes if m in members]
        return np.asarray(table.sum(axis=gone)).transpose([left.index(m) for m in members])

    def distinct(self, members: Sequence[int]) -> Distinct:
        """The assignments of the members that occur."""
        if all(m < self._rows.n_columns for m in members):
            return self._rows.distinct(members)
        table = self.counts([members])[0]
        where = np.nonzero(table)
        return Distinct(np.array(where, np.int64).T, table[where])

    def moments(self, members: Sequence[int], by: Sequence[int] = ()) -> ConditionalMoments:
        """Not to be had: all is discrete."""
        raise ModelError("completed rows of a discrete network have counts, and no moments")


def _shares(table: Table, inner: Network, around: list[str], hidden: list[Variable]) -> Numbers:
    """P(h | row) of all joint hidden states h, shape (n_shares, n_rows)."""
    places = [table.names.index(n) for n in around]
    found = MemoryStatistics(table).distinct(places)
    assert found.which is not None
    logs = _log_joint(inner, around, hidden, found.codes.T)
    most = logs.max(axis=0)
    refuse_impossible(most)
    shares = np.exp(logs - most)
    return np.asarray((shares / shares.sum(axis=0))[:, found.which])


def _log_joint(
    inner: Network, around: Sequence[str], hidden: Sequence[Variable], codes: npt.NDArray[np.int64]
) -> Numbers:
    """log P(h, the columns around) of all joint hidden states h, for each column of codes."""
    shown, n_shown = [inner.variable(n) for n in around], codes.shape[1]
    sizes = [v.n_states for v in hidden]
    logs = np.empty((math.prod(sizes), n_shown))
    for i, states in enumerate(np.ndindex(*sizes)):
        columns = [*codes, *(np.full(n_shown, state) for state in states)]
        rows = Table([*shown, *hidden], columns).select(inner.names)
        logs[i] = inner.row_log_likelihoods(rows)
    return logs
