"""Data terms of scores straight from the rows: compiled, on several threads, dense or sparse.

A table of counts that is small beside the rows is laid out in full, and counted by bitmaps where
that pays; of a larger one only the cells that occur are visited. The terms are those of
`unveil.kernels.scoring`. Results do not depend on the number of threads: every family is
computed on its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from unveil.kernels.scoring import (
    DIRICHLET,
    NO_MEMO,
    DataTerm,
    Rows,
    base_positions,
    family_bitmaps,
    score_families,
    score_toggles,
)
from unveil.kernels.sparse_scoring import score_sparse
from unveil.kernels.threads import Threads
from unveil.statistics.counting import grouped_rows
from unveil.statistics.protocol import Family

__all__ = ["RowTerms"]

Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

DENSE_CELLS, DENSE_ANYHOW, DENSE_PER_ROW = 1 << 20, 1 << 14, 4
"""Tables are laid out in full up to so many cells, unless they are large beside the rows: more than
some number anyhow and so many per row. Of larger ones only what occurs is visited."""
BITMAP_BYTES = 1 << 21
MOST_BITMAPS = 320
"""Counting by bitmaps pays while they stay in the cache and there are at most so many."""
MEMO_CELLS, MEMO_COUNTS, MEMO_STATES = 129, 256, 8
"""Log-gammas are remembered for tables of fewer cells, smaller counts, children of fewer states."""
THREAD_WORK = 4_000_000
"""Below this many row visits, handing work to threads costs more than it saves."""


class RowTerms:
    """Data terms of families over rows in memory."""

    def __init__(self, rows: Rows, n_jobs: int | None = None) -> None:
        self.rows = rows
        self.n_rows = rows.codes.shape[1]
        self._sizes: list[int] = rows.cards.tolist()
        self._most_states = max(self._sizes)
        # The size of the largest table to lay out in full, and how many bitmaps to make at most.
        self._most_cells = min(DENSE_CELLS, max(DENSE_ANYHOW, DENSE_PER_ROW * self.n_rows))
        words = rows.bits.shape[1]
        self._room = min(MOST_BITMAPS, BITMAP_BYTES // (8 * words)) if words else 0
        self._threads = Threads(n_jobs)
        self._memos: dict[tuple[DataTerm, int], Numbers] = {}

    def families(self, families: Sequence[Family], term: DataTerm) -> Numbers:
        """The data terms of many families."""
        rows, sizes = self.rows, self._sizes
        out = np.empty(len(families))
        # Often these are a handful of families; plain lists then cost less than array arithmetic.
        most = max(len(parents) for _, parents in families)
        members = np.array([(*ps, child, *[-1] * (most - len(ps))) for child, ps in families])
        n_u = [math.prod([sizes[p] for p in parents]) for _, parents in families]
        most_cells = self._most_cells
        dense = [i for i, (child, _) in enumerate(families) if n_u[i] * sizes[child] <= most_cells]
        chosen, scores = members, out
        if len(dense) < len(families):
            chosen, scores = members[dense], np.empty(len(dense))
        room = self._room

        def work(start: int, stop: int) -> None:
            score_families(rows, chosen, term, room, start, stop, scores)

        self._spread(work, len(dense))
        if scores is not out:
            out[dense] = scores
            nobody = np.array([-1])
            for i in set(range(len(families))).difference(dense):
                child, parents = families[i]
                groups = self._grouped(parents)
                score_sparse(
                    rows, *groups, child, float(n_u[i]), nobody, term, 0, 1, out[i : i + 1]
                )
        return out

    def toggles(self, child: int, parents: Sequence[int], largest: int, term: DataTerm) -> Numbers:
        """The data terms of one family with each variable added to, or dropped from, its parents.

        The child's own entry is the family as it is; families with more than `largest` cells get
        minus infinity.
        """
        rows = self.rows
        n_u = math.prod([self._sizes[p] for p in parents])
        if n_u * self._sizes[child] * self._most_states > self._most_cells:
            return self._sparse_toggles(child, parents, largest, term)
        members = np.array([*parents, child], np.int64)
        out = np.empty(len(self._sizes))
        maps = np.empty((self._room, rows.bits.shape[1]), np.uint64)
        index, sizes = np.empty((2, self._room), np.int64)
        n_maps = family_bitmaps(rows, members, maps, index, sizes) if self._room else -1
        base = np.empty(0 if n_maps >= 0 else self.n_rows, np.int64)
        if n_maps < 0:
            base_positions(rows.codes, rows.cards, members, base)
        memo = self._memo(term, self._sizes[child])

        def work(start: int, stop: int) -> None:
            score_toggles(
                rows, members, largest, base, n_maps, maps, index, sizes, term, memo,
                start, stop, out,
            )  # fmt: skip

        self._spread(work, out.size)
        return out

    def _sparse_toggles(
        self, child: int, parents: Sequence[int], largest: int, term: DataTerm
    ) -> Numbers:
        """The same where a table would be large beside the rows."""
        rows = self.rows
        n_u = math.prod([self._sizes[p] for p in parents])
        fits = rows.cards * float(n_u * self._sizes[child]) <= largest
        fits[[child, *parents]] = False
        added = fits.nonzero()[0]
        scores = np.empty(added.size)
        groups = self._grouped(parents)

        def work(start: int, stop: int) -> None:
            score_sparse(rows, *groups, child, float(n_u), added, term, start, stop, scores)

        self._spread(work, added.size)
        out = np.full(len(self._sizes), -np.inf)
        out[added] = scores
        fewer = [(child, tuple(p for p in parents if p != q)) for q in parents]
        out[[child, *parents]] = self.families([(child, tuple(parents)), *fewer], term)
        return out

    def _memo(self, term: DataTerm, n_states: int) -> Numbers:
        """What `data_term` remembers from call to call; rows with weights have no whole counts."""
        if self.rows.weights.size or n_states > MEMO_STATES or term.mode != DIRICHLET:
            return NO_MEMO
        if (term, n_states) not in self._memos:
            shape = MEMO_CELLS, 2, min(self.n_rows + 1, MEMO_COUNTS)
            self._memos[term, n_states] = np.zeros(shape)
        return self._memos[term, n_states]

    def _grouped(self, parents: Sequence[int]) -> tuple[Indices, Indices]:
        """The rows sorted by the parents' configuration, and where each that occurs begins."""
        columns = [self.rows.codes[p] for p in parents]
        return grouped_rows(columns, [self._sizes[p] for p in parents], self.n_rows)

    def _spread(self, work: Callable[[int, int], None], n_items: int) -> None:
        """Do `work(start, stop)` over all items, on several threads when that pays."""
        if n_items * self.n_rows < THREAD_WORK:
            work(0, n_items)
        else:
            self._threads.blocks(work, n_items)
