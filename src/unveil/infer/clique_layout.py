"""`CliqueLayout`: a tree of cliques as index maps, all of a junction tree that no table changes.

Which cells each family's table is multiplied into, which entries of the separators the cells
belong to, where evidence enters: worked out once for a structure, when it is first asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.graph.triangulation import CliqueTree, clique_tree
from unveil.kernels.collect import LEAST, TreePlan
from unveil.model.network import Network
from unveil.model.table_cpd import table_of

__all__ = ["CliqueLayout"]

Vector = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


class CliqueLayout:
    """The cliques of a network of tables, and how vectors of its tables fill them."""

    def __init__(self, network: Network) -> None:
        self.names = network.names
        self.n_states = [v.n_states for v in network.variables]
        place = {name: i for i, name in enumerate(self.names)}
        self.families: list[tuple[int, ...]] = []
        for name in self.names:
            cpd = table_of(network.cpd(name), "a junction tree")
            self.families.append(tuple(place[v.name] for v in (*cpd.parents, cpd.variable)))
        self.tree: CliqueTree = clique_tree(self.n_states, self.families)
        self.n_cells = self.tree.n_cells(self.n_states)

    @property
    def cliques(self) -> Sequence[Sequence[int]]:
        """The variables of every clique; a clique stands behind the one above it."""
        return self.tree.cliques

    @cached_property
    def shapes(self) -> list[list[int]]:
        """The numbers of states of every clique's variables."""
        return [[self.n_states[v] for v in clique] for clique in self.cliques]

    @cached_property
    def forecast(self) -> int:
        """The bytes that a single row needs: potentials, index maps and working tables."""
        above = [p for p in self.tree.parent if p >= 0]
        down = sum(math.prod(self.shapes[p]) for p in above)
        separators = sum(
            math.prod(self.n_states[v] for v in c if v in self.cliques[p])
            for c, p in zip(self.cliques, self.tree.parent, strict=True)
            if p >= 0
        )
        return self.n_cells * (8 + 4 + 8) + 4 * down + 2 * 8 * separators

    @property
    def n_factor_cells(self) -> int:
        """How many cells the tables of all families are multiplied into, each counted anew."""
        return sum(math.prod(self.shapes[home]) for home in self.homes)

    @cached_property
    def homes(self) -> list[int]:
        """The smallest clique that holds each family; there the family's table is multiplied in."""
        sets = [frozenset(c) for c in self.cliques]
        sizes = [math.prod(shape) for shape in self.shapes]
        where: dict[int, list[int]] = {}
        for i, members in enumerate(sets):
            for v in members:
                where.setdefault(v, []).append(i)
        homes = []
        for family in self.families:
            rarest = min(family, key=lambda v: len(where[v]))
            fitting = [i for i in where[rarest] if sets[i].issuperset(family)]
            homes.append(min(fitting, key=lambda i: (sizes[i], i)))
        return homes

    # Index maps --------------------------------------------------------------------------------

    def plan(self, tables: Vector) -> TreePlan:
        """The tree as flat arrays for the kernels, with these tables in it.

        Tables are one vector, in the order of the variables.
        """
        return self._plan._replace(potential=self._potential(tables), **self._bounds(tables))

    def refilled(self, tables: Vector) -> TreePlan:
        """The same, faster for the many passes of EM; the index maps for it take more memory."""
        cell_of, entry_of, starts = self.factors
        potential = np.ones(self.n_cells)
        potential[cell_of] = np.multiply.reduceat(tables[entry_of], starts)
        return self._plan._replace(potential=potential, **self._bounds(tables))

    def in_logs(self, tables: Vector) -> TreePlan:
        """The plan with the logs of the potentials: sums of logs, which cannot underflow."""
        cell_of, entry_of, starts = self.factors
        logs = np.zeros(self.n_cells)
        with np.errstate(divide="ignore"):
            logs[cell_of] = np.add.reduceat(np.log(tables)[entry_of], starts)
        return self._plan._replace(potential=logs)

    @cached_property
    def _plan(self) -> TreePlan:
        """The index maps, without potentials."""
        cliques, parent, shapes = self.cliques, self.tree.parent, self.shapes
        first = np.concatenate([[0], np.cumsum([math.prod(s) for s in shapes])]).astype(np.uint64)
        up = np.zeros(self.n_cells, np.uint32)
        above_sizes = [0 if p < 0 else math.prod(shapes[p]) for p in parent]
        down_first = np.concatenate([[0], np.cumsum(above_sizes)]).astype(np.uint64)
        down = np.zeros(int(down_first[-1]), np.uint32)
        sep_first, separators = [0], []
        for c, (members, above) in enumerate(zip(cliques, parent, strict=True)):
            shared = [] if above < 0 else [v for v in members if v in set(cliques[above])]
            sizes = [self.n_states[v] for v in shared]
            if above >= 0:
                up[first[c] : first[c + 1]] = _entry_of_cell(members, shapes[c], shared, sizes)
                down[down_first[c] : down_first[c + 1]] = _entry_of_cell(
                    cliques[above], shapes[above], shared, sizes
                )
            sep_first.append(sep_first[-1] + math.prod(sizes))
            separators.append(shared)
        home, stride = self._evidence_places()
        return TreePlan(
            first,
            np.array(parent, np.int64),
            np.empty(0),
            np.array(sep_first, np.uint64),
            up,
            down_first,
            down,
            home,
            stride,
            np.array(self.n_states, np.int64),
            *self._listed(separators),
            *self._listed(cliques),
            np.empty(0),
            True,
        )

    def _listed(self, scopes: Sequence[Sequence[int]]) -> tuple[Places, Places, Places]:
        """Where each scope's variables begin, the variables, and their strides in its table."""
        first, variables, strides = [0], [], []
        for scope in scopes:
            sizes = [self.n_states[v] for v in scope]
            variables += list(scope)
            strides += [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
            first.append(len(variables))
        return np.array(first, np.int64), np.array(variables, np.int64), np.array(strides, np.int64)

    def _evidence_places(self) -> tuple[Places, Places]:
        """For each variable the smallest clique with it, and its stride there."""
        sizes = [math.prod(s) for s in self.shapes]
        home = np.full(len(self.names), -1, np.int64)
        stride = np.zeros(len(self.names), np.int64)
        for c in sorted(range(len(sizes)), key=lambda i: (-sizes[i], -i)):
            step = 1
            for v, k in zip(reversed(self.cliques[c]), reversed(self.shapes[c]), strict=True):
                home[v], stride[v] = c, step
                step *= k
        return home, stride

    @cached_property
    def cells_by_entry(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """The cells of every clique grouped by the separator entry they belong to."""
        plan = self._plan
        sizes = plan.first[1:].astype(np.int64) - plan.first[:-1].astype(np.int64)
        clique_of = np.repeat(np.arange(len(plan.parent)), sizes)
        entry = plan.sep_first.astype(np.int64)[clique_of] + plan.up
        order = np.argsort(entry, kind="stable")
        starts = np.searchsorted(entry[order], np.arange(int(plan.sep_first[-1]) + 1))
        return order.astype(np.uint64), starts.astype(np.uint64)

    # Tables into cells, and cells into tables --------------------------------------------------

    @cached_property
    def _table_starts(self) -> Places:
        """Where the table of each family starts in the vector of all."""
        sizes = [math.prod(self.n_states[v] for v in family) for family in self.families]
        return np.cumsum([0, *sizes[:-1]])

    def _potential(self, tables: Vector) -> Vector:
        potential = np.ones(self.n_cells)
        first = self._plan.first
        for family, c, start in zip(self.families, self.homes, self._table_starts, strict=True):
            shape = [self.n_states[v] for v in family]
            values = tables[start : start + math.prod(shape)].reshape(shape)
            ordered = np.transpose(values, np.argsort(family))
            inside = [self.n_states[v] if v in family else 1 for v in self.cliques[c]]
            table = potential[first[c] : first[c + 1]].reshape(self.shapes[c])
            table *= ordered.reshape(inside)
        return potential

    def _bounds(self, tables: Vector) -> dict[str, Any]:
        """Whether products could vanish, and a number that no clique's are below, but zero.

        Entries of cliques and messages are at most one, and a message is divided by a sum of at
        most as many of them as its clique has cells. So whatever comes together in a clique is
        zero or at least (the least entry of a table) ^ (number of tables) / (product over the
        cliques of their numbers of cells). While that is a fair number, nothing finer is needed.
        """
        least = float(tables.min())
        if least == 0.0:
            least = float(tables[tables > 0].min())
        lowest = len(self.families) * math.log(least) - self._log_cells
        if lowest > math.log(LEAST):
            return {"floor": least**self._n_tables, "guarded": False}
        floor = np.ones(len(self.cliques))
        positive = np.where(tables > 0, tables, 1.0)
        np.multiply.at(floor, self.homes, np.minimum.reduceat(positive, self._table_starts))
        return {"floor": floor, "guarded": True}

    @cached_property
    def _n_tables(self) -> npt.NDArray[np.intp]:
        """How many tables are multiplied into each clique."""
        return np.bincount(self.homes, minlength=len(self.cliques))

    @cached_property
    def _log_cells(self) -> float:
        """The log of the product, over the cliques, of their numbers of cells."""
        return sum(math.log(math.prod(shape)) for shape in self.shapes)

    @cached_property
    def factors(self) -> tuple[Places, Places, Places]:
        """For each cell with factors, the entries of the tables' vector that it multiplies.

        Cells, entries grouped by cell, and where each group starts.
        """
        first = self._plan.first.astype(np.int64)
        cells, entries = [], []
        for family, c, start in zip(self.families, self.homes, self._table_starts, strict=True):
            sizes = [self.n_states[v] for v in family]
            inside = _entry_of_cell(self.cliques[c], self.shapes[c], family, sizes)
            cells.append(np.arange(first[c], first[c + 1]))
            entries.append(inside.astype(np.int64) + start)
        cell, entry = np.concatenate(cells), np.concatenate(entries)
        order = np.argsort(cell, kind="stable")
        unique, starts = np.unique(cell[order], return_index=True)
        return unique, entry[order], starts

    @cached_property
    def _n_factors(self) -> Places:
        """How many entries each cell with factors multiplies."""
        _, entry_of, starts = self.factors
        return np.diff(starts, append=entry_of.size)

    def vector(self, cells: Vector, size: int) -> Vector:
        """The counts of all families as one vector, from those of the cells."""
        cell_of, entry_of, _ = self.factors
        counts = np.bincount(entry_of, np.repeat(cells[cell_of], self._n_factors), size)
        return counts.astype(np.float64, copy=False)

    def family(self, v: int, cells: Vector) -> Vector:
        """The counts of a family from those of its home clique, in the order of its table."""
        family, c = self.families[v], self.homes[v]
        members = self.cliques[c]
        table = cells[self._plan.first[c] : self._plan.first[c + 1]].reshape(self.shapes[c])
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
