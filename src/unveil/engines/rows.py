"""`PartedRows`: rows that are never in memory all at once, as an engine that counts.

Counts, distinct assignments, moments and whatever else is a sum over parts. Every question is one
pass over the parts (`n_passes` tells how many there were), so many sets are counted in one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unveil.engines import on_parts
from unveil.engines.ceiling import BASE, Ceiling, size_words
from unveil.engines.coding import joined, row_bytes
from unveil.engines.covering import covering, summed_to
from unveil.engines.on_parts import added
from unveil.engines.protocol import Runner
from unveil.engines.runners import ThreadRunner
from unveil.engines.store import Held, Store
from unveil.errors import DataError, Hint, SizeError, did_you_mean
from unveil.seeds import generator_of
from unveil.statistics.counting import check_cells
from unveil.statistics.moments import ConditionalMoments
from unveil.statistics.protocol import Distinct
from unveil.statistics.remembered import RememberedCounts
from unveil.table.core import Table
from unveil.table.options import Unknown
from unveil.table.places import count, listing
from unveil.table.variable import Variable

__all__ = ["PartedRows"]

Numbers = npt.NDArray[np.float64]
T = TypeVar("T")

SAMPLE_ROWS = 100_000
"""How many rows are drawn where some must do: for first parameters, or for cuts."""


class PartedRows:
    """Coded rows in parts, the runner that works on them, and what is known of the columns.

    Made by `unveil.open_rows`; in every call where an engine can stand for a table it can.
    """

    def __init__(
        self,
        parts: Sequence[Any],
        variables: Sequence[Variable],
        total_weight: float,
        n_missing: dict[str, int],
        n_rows: int,
        runner: Runner | None = None,
        ceiling: Ceiling | None = None,
        name: str = "the rows",
        store: Store | None = None,
    ) -> None:
        self.parts = tuple(parts)
        self.variables = tuple(variables)
        self.total_weight = float(total_weight)
        self.missing_cells = {v.name: n_missing.get(v.name, 0) for v in self.variables}
        self.n_rows = n_rows
        self.runner: Runner = runner or ThreadRunner()
        self.ceiling = ceiling or Ceiling.of(None)
        self.name = name
        self._store = store  # its files are there as long as somebody holds it
        self._passes = [0]
        self._half: on_parts.Half | None = None
        self._known: RememberedCounts | None = None

    @classmethod
    def of_tables(cls, tables: Sequence[Table], n_workers: int = 1) -> PartedRows:
        """Parts that are in memory already; all of them have the same variables."""
        first = tables[0]
        missing = {n: sum(int(t.missing(n).sum()) for t in tables) for n in first.names}
        return cls(
            [Held(t) for t in tables], first.variables, math.fsum(t.total_weight for t in tables),
            missing, sum(t.n_rows for t in tables), ThreadRunner(n_workers),
        )  # fmt: skip

    # Looking -----------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(v.name for v in self.variables)

    @property
    def n_columns(self) -> int:
        """The number of columns, the weights not counted."""
        return len(self.variables)

    def weigh(self) -> float:
        """The sum of the row weights, by one pass."""
        return float(self.sum(on_parts.mass))

    @property
    def n_stored(self) -> int:
        """The number of rows stored; equal rows of one part may be one."""
        return sum(part.n_rows for part in self.parts)

    @property
    def n_missing(self) -> int:
        """The number of missing cells."""
        return sum(self.missing_cells.values())

    @property
    def n_passes(self) -> int:
        """How often the parts were gone over, by whatever shows these rows."""
        return self._passes[0]

    @property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return self.n_missing == 0

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def variable(self, name: str) -> Variable:
        """The variable behind a column."""
        found = next((v for v in self.variables if v.name == name), None)
        if found is None:
            raise DataError(
                f"the table has no column {name!r}; it has {listing(self.names)}."
                + did_you_mean(name, self.names)
            )
        return found

    def __repr__(self) -> str:
        rows, columns = count(self.n_rows, "row"), count(self.n_columns, "column")
        return f"PartedRows({rows}, {columns}, {count(len(self.parts), 'part')}: {self.name})"

    # Passes ------------------------------------------------------------------------------------

    def sum(
        self, work: Callable[..., T], *shared: Any, add: Callable[[Any, Any], Any] = added
    ) -> T:
        """The sum of `work(part, *shared)` over all parts, in a fixed tree: one pass."""
        self._passes[0] += 1
        shown = *self._shown, *shared
        found: T = self.runner.sum(on_parts.on_part, self.parts, work, *shown, add=add)
        return found

    def each(self, work: Callable[..., T], *shared: Any) -> Iterator[T]:
        """`work(part, *shared)` for every part in order: one pass."""
        self._passes[0] += 1
        return self.runner.each(on_parts.on_part, self.parts, work, *self._shown, *shared)

    @property
    def _shown(self) -> tuple[tuple[str, ...], on_parts.Half | None]:
        """What of every part is shown: some columns, and all rows or half of them."""
        return self.names, self._half

    # Statistics --------------------------------------------------------------------------------

    def counts(self, sets: Sequence[Sequence[int]]) -> list[Numbers]:
        """S[members] for every set: joint counts, one axis per member in its order (Eq. 2.7).

        All sets are counted in one pass, in a few where their tables take much memory.
        """
        if self._known is not None:
            return self._known.counts(sets)
        return self._counted(sets, (), on_parts.counted)

    def shared_counts(
        self, sets: Sequence[Sequence[int]], n_shares: int, shares: Callable[..., Any], *shared: Any
    ) -> list[Numbers]:
        """The same with every row shared out: one more axis, the first, says among whom.

        `shares(part, *shared)` gives what of each row is whose, of shape (n_shares, n_rows).
        """
        return self._counted(sets, (n_shares,), on_parts.counted_in_shares, shares, *shared)

    def _counted(
        self, sets: Sequence[Sequence[int]], first: tuple[int, ...], work: Any, *shared: Any
    ) -> list[Numbers]:
        """What `work(part, sets, *shared)` counts, each table with the axes `first` before it."""
        self.check_countable({m for members in sets for m in members})
        for members in sets:
            check_cells([self.variables[m] for m in members])
        cards = {m: self.variables[m].n_states for members in sets for m in members}
        covers = covering(sets, cards)
        counted: dict[tuple[int, ...], Numbers] = {}
        for batch in self._batches(list(dict.fromkeys(covers)), math.prod(first)):
            flat = self.sum(work, batch, *shared)
            ends = np.cumsum([self._n_cells(members) for members in batch])
            for members, cells in zip(batch, np.split(flat, ends[:-1], axis=-1), strict=True):
                counted[members] = cells.reshape([*first, *(cards[m] for m in members)])
        return [
            summed_to(counted[cover], cover, members)
            for cover, members in zip(covers, sets, strict=True)
        ]

    def distinct(self, members: Sequence[int]) -> Distinct:
        """The assignments of the members that occur."""
        self.check_countable(members)
        cards = [self.variables[m].n_states for m in members]
        places, most = tuple(members), self.ceiling.room
        codes, weights = self.sum(
            on_parts.distinct, places, cards, most, add=on_parts.Merged(cards, most)
        )
        return Distinct(codes, weights)

    def moments(self, members: Sequence[int], by: Sequence[int] = ()) -> ConditionalMoments:
        """The moments of continuous members per configuration of the discrete variables in `by`."""
        return self.sum(on_parts.moments, tuple(members), tuple(by))

    def _n_cells(self, members: Sequence[int]) -> int:
        return math.prod(self.variables[m].n_states for m in members)

    def _batches(
        self, sets: Sequence[Sequence[int]], times: int = 1
    ) -> list[list[tuple[int, ...]]]:
        """The sets, as many together as have room for `times` their tables on every worker."""
        most = self.ceiling.room // (8 * 4 * times * (self.runner.n_workers + 4))
        batches: list[list[tuple[int, ...]]] = []
        room = -1
        for members in sets:
            need = self._n_cells(members)
            if need > room or not batches:
                batches.append([])
                room = most
            batches[-1].append(tuple(members))
            room -= need
        return batches

    # Rows --------------------------------------------------------------------------------------

    def select(self, names: Sequence[str]) -> PartedRows:
        """The same rows with the named columns only, in that order."""
        made = PartedRows(
            self.parts, [self.variable(n) for n in names], self.total_weight, self.missing_cells,
            self.n_rows, self.runner, self.ceiling, self.name, self._store,
        )  # fmt: skip
        made._passes, made._half = self._passes, self._half
        return made

    def remembering(self) -> PartedRows:
        """The same rows, with counts that are remembered: no set is counted twice.

        >>> from unveil import datasets
        >>> rows = PartedRows.of_tables([datasets.network("asia").sample(1000, seed=1)])
        >>> again = rows.remembering()
        >>> _ = again.counts([(0, 1)]), again.counts([(1,)])
        >>> again.n_passes
        1
        """
        made = self.select(self.names)
        made._known = RememberedCounts(self)
        return made

    @property
    def known(self) -> RememberedCounts:
        """Its counts, remembered."""
        return self._known or RememberedCounts(self)

    def half(self, which: int, seed: int) -> PartedRows:
        """The first or the second (0 or 1) of two halves that the rows are dealt to by the seed.

        A row of whole weight w stands for w cases, which are dealt one by one. Nothing is copied:
        every pass deals them in the same way. One pass weighs the half.

        >>> from unveil import datasets
        >>> rows = PartedRows.of_tables([datasets.network("asia").sample(1000, seed=1)])
        >>> sum(rows.half(which, seed=1).total_weight for which in (0, 1))
        1000.0
        """
        made = self.select(self.names)
        made._half = which, seed
        weight, n_rows, *missing = made.sum(on_parts.weighed)
        made.total_weight, made.n_rows = float(weight), int(n_rows)
        made.missing_cells = dict(zip(made.names, map(int, missing), strict=True))
        return made

    def transformed(
        self, work: Callable[..., Iterable[Table]], *shared: Any, own: Sequence[Any] | None = None
    ) -> PartedRows:
        """The rows that `work(part, *shared)` makes of every part, kept like these: one pass.

        With `own`, every part has an argument of its own, the first after the part.
        """
        self._passes[0] += 1
        store = Store(self.ceiling.kept // 2, self._store.asked if self._store else None)
        items: list[Any] = list(self.parts)
        if own is not None:
            items = list(zip(self.parts, own, strict=True))
        way = on_parts.on_part if own is None else on_parts.on_own_part
        parts = self.runner.keep(way, items, work, *self._shown, *shared, store=store)
        first = parts[0].load()
        made = PartedRows(
            parts, first.variables, 0.0, {}, sum(p.n_rows for p in parts), self.runner,
            self.ceiling, self.name, store,
        )  # fmt: skip
        made._passes = self._passes
        weights, _, *missing = made.sum(on_parts.weighed)
        made.total_weight = float(weights)
        made.missing_cells = dict(zip(made.names, map(int, missing), strict=True))
        return made

    def conform(self, variables: Sequence[Variable], unknown: Unknown = "error") -> PartedRows:
        """The columns of `variables` in that order, coded by their states; see `Table.conform`."""
        if self.variables == tuple(variables):
            return self
        inside = [v for v in variables if v.name in self]
        mine = self.select([v.name for v in inside])
        if mine.variables == tuple(inside):
            return mine
        made = mine.transformed(on_parts.conformed, tuple(inside), unknown)
        made.n_rows = self.n_rows
        return made

    def fits(self) -> bool:
        """Whether the rows can be worked on as one table in memory."""
        return self.ceiling.holds(self.n_stored, self._row_bytes)

    @property
    def _row_bytes(self) -> int:
        return row_bytes(Table(self.variables, [np.zeros(0, np.int64)] * self.n_columns))

    def as_table(self) -> Table:
        """All rows as a table in memory, if they fit below the ceiling."""
        if not self.fits():
            need = BASE + self.n_stored * (4 * self._row_bytes + 100) / 0.6
            raise SizeError(
                f"{self.name}: this work goes over single rows, and {self.n_stored:,} rows of "
                f"{self.n_columns} columns in memory need about {size_words(need)}; the ceiling is "
                f"{size_words(self.ceiling.n_bytes)}.",
                hint=Hint(
                    "Allow more (memory=...), or take some rows (rows.sample(100_000, seed=1)).",
                    "Allow more (--memory), or give fewer rows.",
                ),
            )
        return joined(list(self.each(on_parts.same)))

    def sample(self, n_rows: int = SAMPLE_ROWS, seed: int | None = 0, cases: bool = False) -> Table:
        """About `n_rows` rows drawn at random, each as likely as it weighs; all if they are fewer.

        So many `cases`, if these are meant: few rows may stand for more. How many each part gives
        is drawn first, so the seed decides whatever the workers.
        """
        if (self.total_weight if cases else self.n_stored) <= n_rows:
            return joined(list(self.each(on_parts.same)))
        masses = np.array(list(self.each(on_parts.mass)))
        generator = generator_of(seed)
        shares = generator.multinomial(n_rows, masses / masses.sum())
        seeds = generator.integers(2**63, size=len(masses))
        own = list(zip(self.parts, shares.tolist(), seeds.tolist(), strict=True))
        self._passes[0] += 1
        drawn = self.runner.each(on_parts.on_own_part, own, on_parts.drawn, *self._shown)
        return joined([table for table in drawn if table.n_rows])

    # What is refused ---------------------------------------------------------------------------

    def check_countable(self, members: Any) -> None:
        """An error unless all these columns are discrete and complete."""
        for m in sorted(set(members)):
            variable = self.variables[m]
            if not variable.is_discrete:
                raise DataError(
                    f"column {variable.name!r} is continuous; counting needs discrete columns. "
                    "Leave it out or cut it, with",
                    hint=Hint("discretize=.", "--discretize."),
                )
            if self.missing_cells[variable.name]:
                raise DataError(
                    f"column {variable.name!r} has {self.missing_cells[variable.name]:,} missing "
                    "cells; counting needs complete rows. Fill them in, leave those rows out, or "
                    "leave the column out."
                )
