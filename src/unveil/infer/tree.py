"""`JunctionTree`: a network compiled for exact inference over whole tables (thesis 2.1.4).

Triangulated once, turned into index maps once; after that, rows run through compiled message
passing, many at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import Hint, SizeError
from unveil.infer import costs
from unveil.infer.clique_layout import CliqueLayout
from unveil.kernels.collect import TreePlan
from unveil.kernels.propagate import calibrate, explain
from unveil.kernels.propagate_logs import calibrate_logs, explain_logs
from unveil.kernels.slices import agreeing_cells, calibrate_slices, explain_slices
from unveil.kernels.threads import in_threads
from unveil.model.network import Network

__all__ = ["Evidence", "JunctionTree", "memory_limit"]

MANY_LANES = 64
LANE_BYTES = 256 << 20
"""Many rows of a tree that is not too large are taken 64 at a time, one per vector lane."""
SMALL_TREE = 1000
"""With no more cells, a single row takes 64 lanes as well: a tenth of a millisecond at most, where
compiling message passing for one lane takes seconds."""
THREAD_CELLS = 2_000_000
"""Less work than this (rows times cells) is not worth handing to threads."""
N_PARTS = 4
"""Into how many blocks more work is cut."""

ALWAYS_FITS = 16 << 20
"""So many bytes are there: the system is not asked."""

Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]


def memory_limit() -> int:
    """How many bytes inference may use unless told otherwise: half of what is available now."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        kib = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return 4 << 30
    return kib * 1024 // 2


@dataclass(frozen=True)
class Evidence:
    """What is known of each row.

    `codes` has shape (n_variables, n_rows), with `missing` where nothing is known. `soft` lists
    likelihoods of states, shape (n_soft_states, n_rows); those of variable v start at
    `soft_first[v]`, which is -1 for variables without any.
    """

    codes: Codes
    missing: int
    soft: Matrix
    soft_first: npt.NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.codes.shape[1])


class JunctionTree:
    """Exact inference in a network of tables.

    A tree that would need more than `max_bytes` (by default half of the available memory) is
    refused before it is built, with a forecast.
    """

    def __init__(self, network: Network, max_bytes: int | None = None) -> None:
        self.network = network
        self.names = network.names
        self.layout = CliqueLayout(network)
        self.n_cells = self.layout.n_cells
        self._n_states = self.layout.n_states
        self._last: list[Any] = []
        self.check_memory(max_bytes)

    def check_memory(self, max_bytes: int | None = None) -> None:
        """Refuse, with a forecast, what would not fit."""
        if max_bytes is None and self.forecast <= ALWAYS_FITS:
            return
        limit = memory_limit() if max_bytes is None else max_bytes
        if self.forecast > limit:
            biggest = max(math.prod(shape) for shape in self.layout.shapes)
            raise SizeError(
                f"exact inference in this network needs about {self.forecast / 2**20:,.0f} MiB "
                f"({self.n_cells:,} cells, {biggest:,} in the largest clique); the limit is "
                f"{limit / 2**20:,.0f} MiB.",
                hint=Hint(
                    "Raise max_bytes, ask for fewer variables, or take an approximate method "
                    "(method='loopy', 'weighting' or 'gibbs').",
                    "Ask for fewer variables, or take an approximate method (query --method loopy, "
                    "weighting or gibbs).",
                ),
            )

    @property
    def forecast(self) -> int:
        """The bytes that a single row needs: potentials, index maps and working tables."""
        return self.layout.forecast

    @property
    def n_factor_cells(self) -> int:
        """How many cells the tables of all families are multiplied into, each counted anew."""
        return self.layout.n_factor_cells

    @cached_property
    def plan(self) -> TreePlan:
        """The tree as flat arrays for the kernels."""
        return self.layout.plan(self.tables)

    @cached_property
    def tables(self) -> Matrix:
        """The tables of all families as one vector."""
        return np.concatenate([cpd.values.ravel() for cpd in self.network.cpds.values()])  # type: ignore[attr-defined]

    @cached_property
    def _log_plan(self) -> TreePlan:
        return self.layout.in_logs(self.tables)

    def with_tables(self, tables: Matrix) -> JunctionTree:
        """The same tree with other tables, given as one vector in the order of the variables."""
        other = object.__new__(JunctionTree)
        other.__dict__.update(self.__dict__, tables=tables, plan=self.layout.refilled(tables))
        other.__dict__.pop("_log_plan", None)
        return other

    def _lanes(self, n_rows: int) -> tuple[int, ...]:
        """As many zeros as rows are taken at a time (a tuple's length is known when compiling)."""
        many = n_rows >= 8 or self.n_cells <= SMALL_TREE
        many = many and 8 * MANY_LANES * self.n_cells <= LANE_BYTES
        return (0,) * (MANY_LANES if many else 1)

    # Running -----------------------------------------------------------------------------------

    def log_likelihoods(self, evidence: Evidence, n_jobs: int | None = None) -> Matrix:
        """log P(evidence) of every row, shape (n_rows,); `-inf` where it is impossible."""
        return self._run(evidence, (), None, n_jobs)[0]

    def marginals(
        self, evidence: Evidence, targets: Sequence[int], n_jobs: int | None = None
    ) -> tuple[Matrix, list[Matrix]]:
        """log P(evidence), and P(target | evidence) per target, of shape (n_rows, n_states)."""
        log_z, flat, _ = self._run(evidence, targets, None, n_jobs)
        edges = np.cumsum([0, *(self._n_states[t] for t in targets)])
        return log_z, [flat[:, a:b] for a, b in pairwise(edges)]

    def expected_counts(
        self, evidence: Evidence, weights: Matrix, n_jobs: int | None = None
    ) -> tuple[Matrix, list[Matrix]]:
        """log P(evidence) of every row, and the expected counts of all families (Eq. 2.16).

        Families are in the order of the network's variables, each with the shape of its table.
        """
        log_z, _, cells = self._run(evidence, (), weights, n_jobs)
        return log_z, [self.layout.family(v, cells) for v in range(len(self.names))]

    def explain(
        self, evidence: Evidence, generator: np.random.Generator | None = None
    ) -> tuple[Matrix, Codes]:
        """All variables' states completed: the most probable explanation, or a posterior draw.

        Returns its log-probability with the evidence (for a draw, that of the evidence alone) and
        codes of shape (n_variables, n_rows), of the evidence's type; an impossible row has none.
        """
        n_rows, n_cliques = evidence.n_rows, len(self.layout.cliques)
        uniform = np.zeros((1, 1)) if generator is None else generator.random((n_rows, n_cliques))
        out = np.full_like(evidence.codes, evidence.missing)
        log_z = np.empty(n_rows)
        top, codes, missing = generator is None, evidence.codes, evidence.missing
        few, many, most = self._by_agreement(evidence)
        if few.size:
            explain_slices(self.plan, codes, missing, few, most, uniform, top, log_z, out)
        if many.size:
            explain(
                self.plan, self._lanes(many.size), codes, missing, evidence.soft,
                evidence.soft_first, many, *self.layout.cells_by_entry, uniform, top, log_z, out,
            )  # fmt: skip
        vanished = np.flatnonzero(np.isnan(log_z))
        if vanished.size:
            explain_logs(
                self._log_plan, codes, missing, evidence.soft, evidence.soft_first, vanished,
                uniform, top, log_z, out,
            )  # fmt: skip
        return log_z, out

    def _run(
        self, evidence: Evidence, targets: Sequence[int], weights: Matrix | None, n_jobs: int | None
    ) -> tuple[Matrix, Matrix, Matrix]:
        n_rows = evidence.n_rows
        chosen = np.asarray(targets, dtype=np.int64)
        ends = list(accumulate((self._n_states[t] for t in targets), initial=0))
        columns = np.array(ends[:-1], np.int64)
        flat = np.empty((n_rows, ends[-1]))
        log_z = np.empty(n_rows)
        row_weights = np.zeros(n_rows) if weights is None else np.asarray(weights, np.float64)
        plan, codes, missing = self.plan, evidence.codes, evidence.missing
        few, many, most = self._by_agreement(evidence)
        lanes = self._lanes(many.size)

        def visit_few(rows: Rows, cells: Matrix) -> None:
            calibrate_slices(
                plan, codes, missing, row_weights, rows, most, log_z, chosen, columns, flat, cells
            )

        def visit_many(rows: Rows, cells: Matrix) -> None:
            calibrate(
                plan, lanes, codes, missing, evidence.soft, evidence.soft_first, row_weights, rows,
                log_z, chosen, columns, flat, cells,
            )  # fmt: skip

        total = np.zeros(0 if weights is None else self.n_cells)
        if few.size:
            total += _in_parts(visit_few, few, self._slice_cost(most), total.size, n_jobs)
        if many.size:
            cost = self.n_cells if len(lanes) > 1 else 0
            total += _in_parts(visit_many, many, cost, total.size, n_jobs)
        vanished = np.flatnonzero(np.isnan(log_z))
        if vanished.size:
            calibrate_logs(
                self._log_plan, codes, missing, evidence.soft, evidence.soft_first, row_weights,
                vanished, log_z, chosen, columns, flat, total,
            )  # fmt: skip
        return log_z, flat, total

    def cost(self, unseen: Sequence[int]) -> int:
        """What a row costs that lacks these variables, in visits of a cell."""
        lacks = set(unseen)
        cells = sum(
            math.prod(self._n_states[v] for v in clique if v in lacks)
            for clique in self.layout.cliques
        )
        return min(self.n_cells, self._slice_cost(cells))

    def _slice_cost(self, n_agreeing: int) -> int:
        return costs.SLICE * n_agreeing + costs.CLIQUE * len(self.layout.cliques)

    def _by_agreement(self, evidence: Evidence) -> tuple[Rows, Rows, int]:
        """The rows to take through the few cells they agree with, and those through all.

        Also the most cells that one of the first kind agrees with. The tables do not matter for
        it, so passes over the same rows with other tables share the answer.
        """
        key = (costs.SLICE, costs.CLIQUE)
        if not (self._last and self._last[0] is evidence and self._last[1] == key):
            self._last[:] = [evidence, key, self._agreement(evidence)]
        found: tuple[Rows, Rows, int] = self._last[2]
        return found

    def _agreement(self, evidence: Evidence) -> tuple[Rows, Rows, int]:
        # A pass over all cells takes as long for one row as for a lane each: fewer rows share it.
        empty = len(self._lanes(evidence.n_rows)) / max(1, evidence.n_rows)
        all_cells = int(self.n_cells * max(1.0, empty))
        limit = (all_cells - self._slice_cost(0)) // costs.SLICE
        agreeing = np.full(evidence.n_rows, limit + 1)
        if limit > 0 and not (evidence.soft_first >= 0).any():
            agreeing_cells(self.plan, evidence.codes, evidence.missing, limit, agreeing)
        few = agreeing <= limit
        most = int(agreeing[few].max()) if few.any() else 0
        return np.flatnonzero(few), np.flatnonzero(~few), most

    def expected_vector(
        self, evidence: Evidence, weights: Matrix, size: int
    ) -> tuple[Matrix, Matrix]:
        """log P(evidence) per row, and the expected counts of all families as one vector."""
        log_z, _, cells = self._run(evidence, (), weights, None)
        return log_z, self.layout.vector(cells, size)


def _in_parts(
    visit: Callable[[Rows, Matrix], None],
    rows: Rows,
    cost: float,
    n_cells: int,
    n_jobs: int | None,
) -> Matrix:
    """Visit the rows, in blocks by threads where that pays; the sums over the cells.

    The blocks depend on the work alone, so sums are the same whatever the number of threads.
    """
    if len(rows) * cost < THREAD_CELLS:
        whole = np.zeros(n_cells)
        visit(rows, whole)
        return whole
    blocks = np.array_split(rows, N_PARTS)
    cells = np.zeros((len(blocks), n_cells))
    in_threads(lambda i: visit(blocks[i], cells[i]), len(blocks), n_jobs)
    return np.asarray(cells.sum(axis=0))
