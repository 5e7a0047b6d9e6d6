"""`JunctionTree`: a network compiled for exact inference over whole tables (thesis 2.1.4).

Triangulated once, turned into index maps once; after that, rows run through compiled message
passing, many at a time.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import Hint, SizeError
from unveil.graph.triangulation import CliqueTree, clique_tree
from unveil.infer import costs
from unveil.kernels.propagate import TreePlan, calibrate, explain
from unveil.kernels.propagate_logs import calibrate_logs, explain_logs
from unveil.kernels.slices import agreeing_cells, calibrate_slices, explain_slices
from unveil.kernels.threads import in_threads
from unveil.model.network import Network
from unveil.model.table_cpd import table_of

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
        self._place = {name: i for i, name in enumerate(self.names)}
        self._n_states = [v.n_states for v in network.variables]
        self._families = [self._family(name) for name in self.names]
        self.cliques: CliqueTree = clique_tree(self._n_states, self._families)
        self.n_cells = self.cliques.n_cells(self._n_states)
        self._last: list[Any] = []
        self.check_memory(max_bytes)

    def check_memory(self, max_bytes: int | None = None) -> None:
        """Refuse, with a forecast, what would not fit."""
        limit = memory_limit() if max_bytes is None else max_bytes
        if self.forecast > limit:
            biggest = max(math.prod(self._n_states[v] for v in c) for c in self.cliques.cliques)
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
        down = sum(
            math.prod(self._n_states[v] for v in self.cliques.cliques[p])
            for p in self.cliques.parent
            if p >= 0
        )
        separators = sum(
            math.prod(self._n_states[v] for v in c if v in self.cliques.cliques[p])
            for c, p in zip(self.cliques.cliques, self.cliques.parent, strict=True)
            if p >= 0
        )
        return self.n_cells * (8 + 4 + 8) + 4 * down + 2 * 8 * separators

    @property
    def n_factor_cells(self) -> int:
        """How many cells the tables of all families are multiplied into, each counted anew."""
        cliques = self.cliques.cliques
        return sum(math.prod(self._n_states[v] for v in cliques[home]) for home in self._homes)

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
        return log_z, [self._family_marginal(v, cells) for v in range(len(self.names))]

    def explain(
        self, evidence: Evidence, generator: np.random.Generator | None = None
    ) -> tuple[Matrix, Codes]:
        """All variables' states completed: the most probable explanation, or a posterior draw.

        Returns its log-probability with the evidence (for a draw, that of the evidence alone) and
        codes of shape (n_variables, n_rows).
        """
        n_rows, n_cliques = evidence.n_rows, len(self.cliques.cliques)
        uniform = np.zeros((1, 1)) if generator is None else generator.random((n_rows, n_cliques))
        out = np.full((len(self.names), n_rows), -1, np.int64)
        log_z = np.empty(n_rows)
        top, codes, missing = generator is None, evidence.codes, evidence.missing
        few, many, most = self._by_agreement(evidence)
        if few.size:
            explain_slices(self.plan, codes, missing, few, most, uniform, top, log_z, out)
        if many.size:
            explain(
                self.plan, self._lanes(many.size), codes, missing, evidence.soft,
                evidence.soft_first, many, *self._cells_by_entry, uniform, top, log_z, out,
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
        sizes = [self._n_states[t] for t in targets]
        columns = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        flat = np.empty((n_rows, sum(sizes)))
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
            for clique in self.cliques.cliques
        )
        return min(self.n_cells, self._slice_cost(cells))

    def _slice_cost(self, n_agreeing: int) -> int:
        return costs.SLICE * n_agreeing + costs.CLIQUE * len(self.cliques.cliques)

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
        limit = (self.n_cells - self._slice_cost(0)) // costs.SLICE
        agreeing = np.full(evidence.n_rows, limit + 1)
        if limit > 0 and not (evidence.soft_first >= 0).any():
            agreeing_cells(self.plan, evidence.codes, evidence.missing, limit, agreeing)
        few = agreeing <= limit
        most = int(agreeing[few].max()) if few.any() else 0
        return np.flatnonzero(few), np.flatnonzero(~few), most

    def with_tables(self, tables: Matrix) -> JunctionTree:
        """The same tree with other tables, given as one vector in the order of the variables."""
        cell_of, entry_of, starts = self._factors
        potential = np.ones(self.n_cells)
        potential[cell_of] = np.multiply.reduceat(tables[entry_of], starts)
        other = copy.copy(self)
        other.__dict__["plan"] = self.plan._replace(potential=potential, floor=self._floor(tables))
        other.__dict__["_tables"] = tables
        other.__dict__.pop("_log_plan", None)
        return other

    def _floor(self, tables: Matrix) -> Matrix:
        """For each clique, a number that no product of its tables' entries is below, but zero."""
        floor = np.ones(len(self.cliques.cliques))
        positive = np.where(tables > 0, tables, 1.0)
        np.multiply.at(floor, self._homes, np.minimum.reduceat(positive, self._table_starts))
        return floor

    @cached_property
    def _table_starts(self) -> Rows:
        """Where the table of each family starts in the vector of all."""
        sizes = [math.prod(self._n_states[v] for v in family) for family in self._families]
        return np.cumsum([0, *sizes[:-1]])

    @cached_property
    def _tables(self) -> Matrix:
        """The tables of all families as one vector."""
        return np.concatenate([cpd.values.ravel() for cpd in self.network.cpds.values()])  # type: ignore[attr-defined]

    @cached_property
    def _log_plan(self) -> TreePlan:
        """The plan with the logs of the potentials: sums of logs, which cannot underflow."""
        cell_of, entry_of, starts = self._factors
        logs = np.zeros(self.n_cells)
        with np.errstate(divide="ignore"):
            logs[cell_of] = np.add.reduceat(np.log(self._tables)[entry_of], starts)
        return self.plan._replace(potential=logs)

    def expected_vector(
        self, evidence: Evidence, weights: Matrix, size: int
    ) -> tuple[Matrix, Matrix]:
        """log P(evidence) per row, and the expected counts of all families as one vector."""
        log_z, _, cells = self._run(evidence, (), weights, None)
        cell_of, entry_of, _ = self._factors
        counts = np.bincount(entry_of, np.repeat(cells[cell_of], self._n_factors), size)
        return log_z, counts.astype(np.float64)

    @cached_property
    def _n_factors(self) -> Rows:
        """How many entries each cell with factors multiplies."""
        _, entry_of, starts = self._factors
        return np.diff(starts, append=entry_of.size)

    @cached_property
    def _factors(self) -> tuple[Any, Any, Any]:
        """For each cell with factors, the entries of the tables' vector that it multiplies.

        Cells, entries grouped by cell, and where each group starts.
        """
        first = self.plan.first.astype(np.int64)
        cells, entries = [], []
        offset = 0
        for family, c in zip(self._families, self._homes, strict=True):
            members = self.cliques.cliques[c]
            shape = [self._n_states[v] for v in members]
            sizes = [self._n_states[v] for v in family]
            inside = _entry_of_cell(members, shape, family, sizes).astype(np.int64)
            cells.append(np.arange(first[c], first[c + 1]))
            entries.append(inside + offset)
            offset += math.prod(sizes)
        cell, entry = np.concatenate(cells), np.concatenate(entries)
        order = np.argsort(cell, kind="stable")
        unique, starts = np.unique(cell[order], return_index=True)
        return unique, entry[order], starts

    # Building ----------------------------------------------------------------------------------

    def _family(self, name: str) -> tuple[int, ...]:
        cpd = table_of(self.network.cpd(name), "a junction tree")
        return tuple(self._place[v.name] for v in (*cpd.parents, cpd.variable))

    @cached_property
    def _homes(self) -> list[int]:
        """The smallest clique that holds each family; there the family's table is multiplied in."""
        sets = [frozenset(c) for c in self.cliques.cliques]
        sizes = [math.prod(self._n_states[v] for v in c) for c in sets]
        where: dict[int, list[int]] = {}
        for i, members in enumerate(sets):
            for v in members:
                where.setdefault(v, []).append(i)
        homes = []
        for family in self._families:
            rarest = min(family, key=lambda v: len(where[v]))
            fitting = [i for i in where[rarest] if sets[i].issuperset(family)]
            homes.append(min(fitting, key=lambda i: (sizes[i], i)))
        return homes

    @cached_property
    def plan(self) -> TreePlan:
        """The tree as flat arrays for the kernels."""
        cliques, parent = self.cliques.cliques, self.cliques.parent
        shapes = [[self._n_states[v] for v in c] for c in cliques]
        first = np.concatenate([[0], np.cumsum([math.prod(s) for s in shapes])]).astype(np.uint64)
        up = np.zeros(self.n_cells, np.uint32)
        above_sizes = [0 if p < 0 else math.prod(shapes[p]) for p in parent]
        down_first = np.concatenate([[0], np.cumsum(above_sizes)]).astype(np.uint64)
        down = np.zeros(int(down_first[-1]), np.uint32)
        sep_first, separators = [0], []
        for c, (members, above) in enumerate(zip(cliques, parent, strict=True)):
            shared = [] if above < 0 else [v for v in members if v in set(cliques[above])]
            sizes = [self._n_states[v] for v in shared]
            if above >= 0:
                up[first[c] : first[c + 1]] = _entry_of_cell(members, shapes[c], shared, sizes)
                down[down_first[c] : down_first[c + 1]] = _entry_of_cell(
                    cliques[above], shapes[above], shared, sizes
                )
            sep_first.append(sep_first[-1] + math.prod(sizes))
            separators.append(shared)
        home, stride = self._evidence_places(first, shapes)
        return TreePlan(
            first,
            np.array(parent, np.int64),
            self._potential(first, shapes),
            np.array(sep_first, np.uint64),
            up,
            down_first,
            down,
            home,
            stride,
            np.array(self._n_states, np.int64),
            *self._listed(separators),
            *self._listed(cliques),
            self._floor(self._tables),
        )

    def _listed(self, scopes: Sequence[Sequence[int]]) -> tuple[Rows, Rows, Rows]:
        """Where each scope's variables begin, the variables, and their strides in its table."""
        first, variables, strides = [0], [], []
        for scope in scopes:
            sizes = [self._n_states[v] for v in scope]
            variables += list(scope)
            strides += [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
            first.append(len(variables))
        return np.array(first, np.int64), np.array(variables, np.int64), np.array(strides, np.int64)

    def _potential(self, first: Any, shapes: list[list[int]]) -> Matrix:
        potential = np.ones(self.n_cells)
        for name, family, c in zip(self.names, self._families, self._homes, strict=True):
            members = self.cliques.cliques[c]
            values = table_of(self.network.cpd(name)).values
            ordered = np.transpose(values, np.argsort(family))
            inside = [self._n_states[v] if v in family else 1 for v in members]
            table = potential[first[c] : first[c + 1]].reshape(shapes[c])
            table *= ordered.reshape(inside)
        return potential

    def _evidence_places(self, first: Any, shapes: list[list[int]]) -> tuple[Any, Any]:
        """For each variable the smallest clique with it, and its stride there."""
        sizes = [math.prod(s) for s in shapes]
        home = np.full(len(self.names), -1, np.int64)
        stride = np.zeros(len(self.names), np.int64)
        for c in sorted(range(len(shapes)), key=lambda i: (-sizes[i], -i)):
            step = 1
            for v, k in zip(reversed(self.cliques.cliques[c]), reversed(shapes[c]), strict=True):
                home[v], stride[v] = c, step
                step *= k
        return home, stride

    @cached_property
    def _cells_by_entry(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """The cells of every clique grouped by the separator entry they belong to."""
        plan = self.plan
        sizes = plan.first[1:].astype(np.int64) - plan.first[:-1].astype(np.int64)
        clique_of = np.repeat(np.arange(len(plan.parent)), sizes)
        entry = plan.sep_first.astype(np.int64)[clique_of] + plan.up
        order = np.argsort(entry, kind="stable")
        starts = np.searchsorted(entry[order], np.arange(int(plan.sep_first[-1]) + 1))
        return order.astype(np.uint64), starts.astype(np.uint64)

    def _family_marginal(self, v: int, cells: Matrix) -> Matrix:
        """The counts of a family from those of its home clique, in the order of its table."""
        family, c = self._families[v], self._homes[v]
        members = self.cliques.cliques[c]
        table = cells[self.plan.first[c] : self.plan.first[c + 1]]
        table = table.reshape([self._n_states[u] for u in members])
        away = tuple(i for i, u in enumerate(members) if u not in family)
        kept = [u for u in members if u in family]
        return np.transpose(table.sum(axis=away), [kept.index(u) for u in family])


def _entry_of_cell(
    members: Sequence[int], shape: Sequence[int], shared: Sequence[int], sizes: Sequence[int]
) -> npt.NDArray[np.uint32]:
    """For every cell of a clique, the cell of the table over `shared` it projects to."""
    entry = np.zeros(shape, np.uint32)
    step = 1
    for v, k in zip(reversed(shared), reversed(sizes), strict=True):
        axis = members.index(v)
        view = [1] * len(shape)
        view[axis] = k
        entry += (np.arange(k, dtype=np.uint32) * step).reshape(view)
        step *= k
    return entry.ravel()


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
    blocks = np.array_split(rows, N_PARTS if len(rows) * cost >= THREAD_CELLS else 1)
    cells = np.zeros((len(blocks), n_cells))
    in_threads(lambda i: visit(blocks[i], cells[i]), len(blocks), n_jobs)
    return np.asarray(cells.sum(axis=0))
