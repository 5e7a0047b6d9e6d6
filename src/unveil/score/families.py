"""`FamilyScores`: scores of families and whole graphs, from any engine, cached and compiled.

Searches see nothing else of the data. Variables are positions here; names come back at the door
above. Results do not depend on the number of threads: every family is scored on its own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.kernels.scoring import (
    DataTerm,
    base_positions,
    family_bitmaps,
    score_additions,
    score_families,
)
from unveil.kernels.sparse_scoring import score_sparse
from unveil.score.base import Sample, Score
from unveil.score.structure import StructurePrior
from unveil.statistics import MemoryStatistics, Statistics
from unveil.table.core import Table

__all__ = ["Family", "FamilyScores"]

Indices = npt.NDArray[np.int64]
Family = tuple[int, tuple[int, ...]]
"""A child and its parents, as positions; parents in ascending order."""

DENSE_CELLS, DENSE_ANYHOW, DENSE_PER_ROW = 1 << 20, 1 << 14, 4
"""Tables are laid out in full up to so many cells, unless they are large beside the rows: more than
some number anyhow and so many per row. Of larger ones only what occurs is visited."""
MOST_KEYS = 1 << 62
LARGEST_PAIR, LARGEST_FAMILY = 1 << 24, 1 << 20
"""No search by steps adds a parent that would give a family a larger table than this; a first
parent may give it a larger one than further parents."""
BITMAP_BYTES = 1 << 21
MOST_BITMAPS = 320
"""Counting by bitmaps pays while they stay in the cache and there are at most so many."""
THREAD_WORK = 4_000_000
"""Below this many row visits, handing work to threads costs more than it saves."""


class FamilyScores:
    """The score of any family or graph over the variables of a table or another engine.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu
    >>> scores = FamilyScores(datasets.table("college_plans"), BDeu(5))
    >>> best = DAG.from_parents({"SEX": [], "SES": [], "IQ": ["SES", "PE"],
    ...                          "PE": ["SEX", "SES"], "CP": ["SES", "IQ", "PE"]})
    >>> round(scores.total(best), 2)
    -45652.73
    """

    def __init__(
        self,
        data: Table | Statistics,
        score: Score,
        structure_prior: StructurePrior | None = None,
        n_jobs: int | None = None,
        cache_bytes: int = 256 << 20,
    ) -> None:
        self.statistics: Statistics = MemoryStatistics(data) if isinstance(data, Table) else data
        self.score = score
        self.structure_prior = structure_prior
        self.names = tuple(v.name for v in self.statistics.variables)
        self.n_variables = len(self.names)
        self.sample = Sample(self.statistics.total_weight, self.n_variables)
        self._sizes = [v.n_states for v in self.statistics.variables]
        self._cards = np.array(self._sizes, dtype=np.float64)
        self._known: dict[Family, float] = {}
        self._rows: dict[Family, npt.NDArray[np.float64]] = {}
        self._most_known = max(1000, cache_bytes // 2 // 200)
        self._most_rows = max(16, cache_bytes // 2 // (8 * self.n_variables + 200))
        self._n_jobs = n_jobs or os.cpu_count() or 1
        self._pool: ThreadPoolExecutor | None = None
        self.n_scored = 0
        """How many families were computed rather than remembered."""

    # Scores ------------------------------------------------------------------------------------

    def family(self, child: int, parents: Iterable[int]) -> float:
        """The score of one family."""
        return float(self.many([(child, tuple(sorted(parents)))])[0])

    def many(self, families: Sequence[Family]) -> npt.NDArray[np.float64]:
        """The scores of several families; what is known is not computed again."""
        unknown = list(dict.fromkeys(f for f in families if f not in self._known))
        if unknown:
            if len(self._known) + len(unknown) > self._most_known:
                self._known.clear()
            self._known.update(zip(unknown, self._compute(unknown).tolist(), strict=True))
        return np.array([self._known[f] for f in families])

    def toggles(self, child: int, parents: Iterable[int]) -> npt.NDArray[np.float64]:
        """What the family gains when each variable is added to, or dropped from, its parents.

        Shape (n_variables,); the entry of the child itself is `-inf`, and so are those of parents
        with which the family's table would have more than `LARGEST_FAMILY` cells (`LARGEST_PAIR`
        for a first parent). With few rows and many states, BDeu goes on adding parents:
        configurations that occur once cost nothing.
        """
        key = (child, tuple(sorted(parents)))
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= self._most_rows:
                self._rows.clear()
            row = self._rows[key] = self._compute_toggles(*key)
            row.flags.writeable = False
        return row

    def total(self, dag: DAG) -> float:
        """The score of a graph: the sum over its families (Eq. 2.14)."""
        return math.fsum(self.per_family(dag).values())

    def per_family(self, dag: DAG) -> dict[str, float]:
        """The score of every family of a graph, by the name of the child."""
        place = {name: i for i, name in enumerate(self.names)}
        strangers = [name for name in dag.nodes if name not in place]
        if strangers or len(dag.nodes) != len(place):
            absent = [name for name in self.names if name not in dag.nodes]
            raise DataError(
                "the graph and the table must have the same variables; only in the graph: "
                f"{strangers or 'none'}, only in the table: {absent or 'none'}"
            )
        families = [
            (place[name], tuple(sorted(place[p] for p in dag.parents(name)))) for name in dag.nodes
        ]
        return dict(zip(dag.nodes, self.many(families).tolist(), strict=True))

    # Computing ---------------------------------------------------------------------------------

    def _compute_toggles(self, child: int, parents: tuple[int, ...]) -> npt.NDArray[np.float64]:
        cells = math.prod([self._sizes[v] for v in (child, *parents)])
        outside = cells * self._cards <= (LARGEST_FAMILY if parents else LARGEST_PAIR)
        outside[[child, *parents]] = False
        others = outside.nonzero()[0]
        fewer = [(child, parents[:i] + parents[i + 1 :]) for i in range(len(parents))]
        known = self.many([(child, parents), *fewer])
        row = np.full(self.n_variables, -np.inf)
        if parents:
            row[list(parents)] = known[1:] - known[0]
        row[others] = self._additions(child, parents, others) - known[0]
        return row

    def _additions(
        self, child: int, parents: tuple[int, ...], candidates: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """The scores of the family with each candidate added to its parents."""
        term = self._compiled_term()
        if term is None or candidates.size == 0:
            return self.many([(child, tuple(sorted((*parents, int(c))))) for c in candidates])
        self.n_scored += candidates.size
        statistics = self.statistics
        assert isinstance(statistics, MemoryStatistics)
        rows = statistics.rows
        n_rows = rows.codes.shape[1]
        n_configurations = math.prod([self._sizes[p] for p in parents])
        out = np.empty(candidates.size)
        if n_configurations * self._sizes[child] * max(self._sizes) <= _dense_cells(n_rows):
            family = np.array([*parents, child], dtype=np.int64)
            maps, index, sizes = self._bitmap_room(rows.bits)
            n_maps = family_bitmaps(rows, family, maps, index, sizes) if len(maps) else -1
            base = np.empty(0 if n_maps >= 0 else n_rows, np.int64)
            if n_maps < 0:
                base_positions(rows.codes, rows.cards, family, base)

            def work(start: int, stop: int) -> None:
                score_additions(
                    rows, child, n_configurations, base, n_maps, maps, index, sizes, candidates,
                    term, start, stop, out,
                )  # fmt: skip
        else:
            groups = _grouped(rows, parents)

            def work(start: int, stop: int) -> None:
                score_sparse(
                    rows, *groups, child, float(n_configurations), candidates, term, start, stop,
                    out,
                )  # fmt: skip

        self._spread(work, candidates.size, n_rows)
        shape = n_configurations * self._cards[candidates], self._cards[child], len(parents) + 1.0
        out -= self.score.penalty(*shape, self.sample)
        if self.structure_prior is not None:
            out += [self._prior(child, (*parents, int(c))) for c in candidates]
        return out

    def _compute(self, families: list[Family]) -> npt.NDArray[np.float64]:
        """The scores of families nobody has asked for before."""
        self.n_scored += len(families)
        term = self._compiled_term()
        out = np.empty(len(families))
        if term is None:
            for i, (child, parents) in enumerate(families):
                out[i] = self._by_the_book(child, parents)
        else:
            self._compute_compiled(families, term, out)
        if self.structure_prior is not None:
            out += [self._prior(child, parents) for child, parents in families]
        return out

    def _compute_compiled(
        self, families: list[Family], term: DataTerm, out: npt.NDArray[np.float64]
    ) -> None:
        statistics = self.statistics
        assert isinstance(statistics, MemoryStatistics)
        rows = statistics.rows
        # Often these are a handful of families; plain lists then cost less than array arithmetic.
        most = max(len(parents) for _, parents in families)
        members = np.array([(*ps, child, *[-1] * (most - len(ps))) for child, ps in families])
        sizes = self._sizes
        n_u = [math.prod([sizes[p] for p in parents]) for _, parents in families]
        states = [sizes[child] for child, _ in families]
        most_cells = _dense_cells(rows.codes.shape[1])
        dense = [i for i, (q, r) in enumerate(zip(n_u, states, strict=True)) if q * r <= most_cells]
        chosen, scores = members, out
        if len(dense) < len(families):
            chosen, scores = members[dense], np.empty(len(dense))
        room = self._most_bitmaps(rows.bits)

        def work(start: int, stop: int) -> None:
            score_families(rows, chosen, term, room, start, stop, scores)

        self._spread(work, len(dense), rows.codes.shape[1])
        if scores is not out:
            out[dense] = scores
            nobody = np.array([-1])
            for i in set(range(len(families))).difference(dense):
                child, parents = families[i]
                groups = _grouped(rows, parents)
                score_sparse(
                    rows, *groups, child, float(n_u[i]), nobody, term, 0, 1, out[i : i + 1]
                )
        n_parents = np.array([float(len(parents)) for _, parents in families])
        shape = np.array(n_u, np.float64), np.array(states, np.float64), n_parents
        out -= self.score.penalty(*shape, self.sample)

    def _by_the_book(self, child: int, parents: tuple[int, ...]) -> float:
        """The score of a family from its full counts, for scores and engines without kernels."""
        variables = self.statistics.variables
        counts = self.statistics.counts([*parents, child])
        return self.score.family(
            variables[child], [variables[p] for p in parents], counts, self.sample
        )

    def _compiled_term(self) -> DataTerm | None:
        return self.score.term if isinstance(self.statistics, MemoryStatistics) else None

    def _prior(self, child: int, parents: Sequence[int]) -> float:
        assert self.structure_prior is not None
        return self.structure_prior.family(self.names[child], [self.names[p] for p in parents])

    def _most_bitmaps(self, bits: npt.NDArray[Any]) -> int:
        words = bits.shape[1]
        return min(MOST_BITMAPS, BITMAP_BYTES // (8 * words)) if words else 0

    def _bitmap_room(self, bits: npt.NDArray[Any]) -> tuple[Any, Any, Any]:
        room = self._most_bitmaps(bits)
        return (
            np.empty((room, bits.shape[1]), np.uint64),
            np.empty(room, np.int64),
            np.empty(room, np.int64),
        )

    def _spread(self, work: Callable[[int, int], None], n_items: int, n_rows: int) -> None:
        """Do `work(start, stop)` over all items, on several threads when that pays."""
        if self._n_jobs == 1 or n_items < 2 or n_items * n_rows < THREAD_WORK:
            work(0, n_items)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._n_jobs)
        edges = np.linspace(0, n_items, min(n_items, 4 * self._n_jobs) + 1).astype(int)
        tasks = [self._pool.submit(work, int(a), int(b)) for a, b in pairwise(edges)]
        for task in tasks:
            task.result()


def _dense_cells(n_rows: int) -> int:
    """The size of the largest table to lay out in full."""
    return min(DENSE_CELLS, max(DENSE_ANYHOW, DENSE_PER_ROW * n_rows))


def _grouped(rows: Any, parents: tuple[int, ...]) -> tuple[Indices, Indices]:
    """The rows sorted by the parents' configuration, and where each one that occurs begins."""
    key = np.zeros(rows.codes.shape[1], np.int64)
    n_keys = 1
    for parent in parents:
        n_states = int(rows.cards[parent])
        if n_keys * n_states > MOST_KEYS:
            occurring, key = np.unique(key, return_inverse=True)
            n_keys = len(occurring)
        key = key * n_states + rows.codes[parent]
        n_keys *= n_states
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    return order, np.append(starts, len(order))
