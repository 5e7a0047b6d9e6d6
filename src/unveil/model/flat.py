"""The tables of a network as one vector, so that an EM step is a handful of array operations.

Whoever sums over unseen cells, differentiates or re-estimates tables works on this vector; only
the ends of a calculation see a `Network`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.families import add_looked_up, tally
from unveil.model.compact import CompactCPD
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import EXACT, TableCPD, table_of
from unveil.statistics.counting import positions

__all__ = ["FlatTables"]

Vector = npt.NDArray[np.float64]


class FlatTables:
    """Where the tables of a network's families lie in one vector; parents first, child fastest."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.names = network.names
        place = {name: i for i, name in enumerate(self.names)}
        self.families: list[tuple[int, ...]] = []
        self.shapes: list[tuple[int, ...]] = []
        self.compact: dict[int, CompactCPD] = {}
        """The families whose distributions are compact: their rows are tied."""
        for v, cpd in enumerate(network.cpds.values()):
            if isinstance(cpd, CompactCPD):
                self.compact[v] = cpd
            self.shapes.append(table_of(cpd).values.shape)
            self.families.append(tuple(place[v.name] for v in (*cpd.parents, cpd.variable)))
        sizes = [math.prod(shape) for shape in self.shapes]
        self.first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.size = int(self.first[-1])
        lengths = np.array([shape[-1] for shape in self.shapes], np.int64)
        self._row_length = np.repeat(lengths, np.array(sizes, np.int64) // lengths)
        self._row_first = np.concatenate([[0], np.cumsum(self._row_length)[:-1]]).astype(np.int64)

    @cached_property
    def own(self) -> Vector:
        """The tables of the network that the layout was made for."""
        return self.pack(self.network)

    def pack(self, network: Network) -> Vector:
        """The tables of a network with this layout as one vector."""
        return np.concatenate([table_of(cpd).values.ravel() for cpd in network.cpds.values()])

    def pack_prior(self, prior: DirichletPrior | None) -> Vector:
        """The pseudo-counts of all tables; zeros without a prior.

        Zeros for compact distributions, too: `estimated` and `log_prior` ask them themselves.
        """
        if prior is None:
            return np.zeros(self.size)
        parts = []
        for v, (cpd, shape) in enumerate(zip(self.network.cpds.values(), self.shapes, strict=True)):
            compact = v in self.compact
            alpha = np.zeros(1) if compact else prior.pseudo_counts(cpd.variable, cpd.parents)
            plain = alpha.size == 1
            size = math.prod(shape)
            parts.append(
                np.full(size, alpha.item()) if plain else np.broadcast_to(alpha, shape).ravel()
            )
        return np.concatenate(parts)

    def unpack(self, vector: Vector) -> Network:
        """The network with these tables."""
        sums = self.row_sums(vector)
        is_plain = bool((vector >= 0).all() and (np.abs(sums - 1) <= EXACT).all())
        table_cpd = (
            TableCPD._trusted if is_plain else TableCPD
        )  # which rescales, or says what is wrong
        cpds = [
            cpd.with_values(table)
            if isinstance(cpd, CompactCPD)
            else table_cpd(cpd.variable, cpd.parents, table)
            for cpd, table in zip(self.network.cpds.values(), self.split(vector), strict=True)
        ]
        return Network(cpds, self.network.name, self.network.description)

    def split(self, vector: Vector) -> list[Vector]:
        """The part of every family, in the shape of its table."""
        return [
            vector[a:b].reshape(shape)
            for a, b, shape in zip(self.first, self.first[1:], self.shapes, strict=False)
        ]

    def count(self, codes: Any, weights: Vector, families: Iterable[int] | None = None) -> Vector:
        """The counts of complete rows as one vector; zeros for families left out.

        `codes` has shape (n_variables, n_rows).
        """
        counts = np.zeros(self.size)
        for v in range(len(self.names)) if families is None else families:
            tally(self._positions(v, codes), weights, counts[self.first[v] : self.first[v + 1]])
        return counts

    def add_log_probabilities(
        self, total: Vector, tables: Vector, codes: Any, families: Iterable[int] | None = None
    ) -> None:
        """Add to each complete row the sum over families of log P(x | u)."""
        with np.errstate(divide="ignore"):
            logs = np.log(tables)
        for v in range(len(self.names)) if families is None else families:
            own = logs[self.first[v] : self.first[v + 1]]
            add_looked_up(total, own, self._positions(v, codes))

    def _positions(self, v: int, codes: Any) -> Any:
        """Which cell of its table each row shows of family `v`."""
        return positions([codes[m] for m in self.families[v]], self.shapes[v], codes.shape[1])

    def row_sums(self, vector: Vector) -> Vector:
        """The sum over the child's states for every configuration of every family's parents."""
        return np.asarray(np.add.reduceat(vector, self._row_first), np.float64)

    @cached_property
    def row_edges(self) -> npt.NDArray[np.int64]:
        """Where every distribution begins, and where the last one ends."""
        return np.append(self._row_first, self.size)

    def normalised(self, counts: Vector) -> Vector:
        """Every row divided by its sum; rows without any count become uniform."""
        sums = self.row_sums(counts)
        seen = sums > 0
        # Not times 1 / sum: that is infinite for the vanishing counts of a state EM drives out.
        shares = counts / np.repeat(np.where(seen, sums, 1.0), self._row_length)
        return np.where(np.repeat(seen, self._row_length), shares, self._uniform)

    def estimated(
        self, counts: Vector, prior: DirichletPrior | None, alpha: Vector | None = None
    ) -> Vector:
        """The tables estimated from counts under a prior; rows that are tied stay so.

        `alpha` is what `pack_prior` says of the prior, if it is at hand.
        """
        tables = self.normalised(counts + (self.pack_prior(prior) if alpha is None else alpha))
        for v, cpd in self.compact.items():
            own = slice(self.first[v], self.first[v + 1])
            found = cpd.refitted(counts[own].reshape(self.shapes[v]), prior)
            tables[own] = found.values.ravel()
        return tables

    def log_prior_of_compact(self, tables: Vector, prior: DirichletPrior | None) -> float:
        """The part that compact distributions have in the log of the prior's density."""
        parts = self.split(tables) if self.compact and prior is not None else []
        return sum(
            self.compact[v].with_values(parts[v]).log_prior(prior) for v in self.compact if parts
        )

    @cached_property
    def _uniform(self) -> Vector:
        return np.repeat(1.0 / self._row_length, self._row_length)
