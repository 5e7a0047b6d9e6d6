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
    data_term,
    family_bitmaps,
    score_additions,
    score_families,
)
from unveil.score.base import Sample, Score
from unveil.score.structure import StructurePrior
from unveil.statistics import MemoryStatistics, Statistics
from unveil.table.core import Table

__all__ = ["Family", "FamilyScores"]

Family = tuple[int, tuple[int, ...]]
"""A child and its parents, as positions; parents in ascending order."""

DENSE_CELLS = 1 << 20
"""Tables up to this size are laid out in full; of larger ones only the rows that occur."""
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

        Shape (n_variables,); the entry of the child itself is `-inf`.
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
        outside = np.ones(self.n_variables, bool)
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
        family = np.array([*parents, child], dtype=np.int64)
        maps, index, sizes = self._bitmap_room(rows.bits)
        n_configurations = math.prod([self._sizes[p] for p in parents])
        dense = n_configurations * self._sizes[child] * max(self._sizes) <= DENSE_CELLS
        n_maps = family_bitmaps(rows, family, maps, index, sizes) if dense and len(maps) else -1
        base, n_u = np.zeros(0, np.int64), n_configurations
        if n_maps < 0:
            base, n_u = _positions(rows, parents, child, dense)
        out = np.empty(candidates.size)

        def work(start: int, stop: int) -> None:
            score_additions(
                rows, child, n_u, float(n_configurations), base, n_maps, maps, index, sizes,
                candidates, term, start, stop, out,
            )  # fmt: skip

        self._spread(work, candidates.size, rows.codes.shape[1])
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
        dense = [
            i for i, (q, r) in enumerate(zip(n_u, states, strict=True)) if q * r <= DENSE_CELLS
        ]
        chosen, scores = members, out
        if len(dense) < len(families):
            chosen, scores = members[dense], np.empty(len(dense))
        room = self._most_bitmaps(rows.bits)

        def work(start: int, stop: int) -> None:
            score_families(rows, chosen, term, room, start, stop, scores)

        self._spread(work, len(dense), rows.codes.shape[1])
        if scores is not out:
            out[dense] = scores
            for i in set(range(len(families))).difference(dense):
                cells = float(n_u[i] * states[i])
                out[i] = _sparse_data_term(rows, *families[i], cells, term)
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


def _positions(
    rows: Any, parents: tuple[int, ...], child: int, dense: bool
) -> tuple[npt.NDArray[np.int64], int]:
    """Every row's position over (parents, child) and the number of parent rows it ranges over.

    When the full table is too large, parent configurations are renumbered to those that occur.
    """
    states = int(rows.cards[child])
    n_rows = rows.codes.shape[1]
    if dense:
        base = np.empty(n_rows, np.int64)
        base_positions(rows.codes, rows.cards, np.array([*parents, child], np.int64), base)
        return base, math.prod(int(rows.cards[p]) for p in parents)
    base, n_u = np.zeros(n_rows, np.int64), 1
    for parent in parents:
        base = base * int(rows.cards[parent]) + rows.codes[parent]
        n_u *= int(rows.cards[parent])
        if n_u > DENSE_CELLS:
            occurring, base = np.unique(base, return_inverse=True)
            n_u = len(occurring)
    return base * states + rows.codes[child], n_u


def _sparse_data_term(
    rows: Any, child: int, parents: tuple[int, ...], cells: float, term: DataTerm
) -> float:
    base, n_u = _positions(rows, parents, child, dense=False)
    states = int(rows.cards[child])
    weights = rows.weights if rows.weights.size else None
    counts = np.bincount(base, weights, n_u * states).astype(np.float64)
    return float(data_term(counts, n_u, states, 1, cells, term))
