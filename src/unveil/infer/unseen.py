"""`UnseenCells`: one plan for what the rows of a table do not show, and every answer from it.

Log-probabilities, posteriors, expected counts (with weights and a temperature), counts from a given
posterior, most probable completions and draws: EM, questions, completion and whatever comes next
ask here and nowhere else.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.infer.parts import Part
from unveil.infer.plan import Use, parts_of, tree_for_passes
from unveil.infer.rows import Rows, prepared_rows, remembered
from unveil.infer.tree import JunctionTree
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["Expected", "UnseenCells"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

EM_PASSES = 20.0
"""How often EM is taken to go over the rows, when set-up is weighed against work."""


@dataclass(frozen=True)
class Expected:
    """Expected counts of all families as one vector, and the data's log-likelihood.

    `log_likelihood` is the weighted sum over rows of log P(what the row shows), in nats; at a
    temperature T it is the free energy, T times the sum of log sum_h P(row, h)^(1/T).
    """

    counts: Vector
    log_likelihood: float


class UnseenCells:
    """What the rows of one table do not show of one network's variables, ready to be summed over.

    Built once for a structure; every answer takes the tables as one vector (`FlatTables`), so it
    serves all parameters over that structure. Variables without a column are unseen in every row.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> cells = UnseenCells.to_learn_from(asia, asia.sample(50, seed=1).without("lung"))
    >>> tables = cells.layout.pack(asia)
    >>> counts = cells.expected(tables).counts
    >>> round(float(counts.sum()) / 8, 6)  # one count per row in each of 8 families
    50.0
    """

    def __init__(
        self,
        layout: FlatTables,
        rows: Rows,
        use: Use,
        make_tree: Callable[[], JunctionTree] | None = None,
    ) -> None:
        self.layout, self.rows = layout, rows
        make_tree = make_tree or (lambda: tree_for_passes(layout.network))
        self.parts: Sequence[Part] = parts_of(layout, rows, use, make_tree)

    @classmethod
    def to_learn_from(cls, network: Network, table: Table) -> UnseenCells:
        """For many passes with changing tables, as EM makes them; equal rows are one.

        The plan is kept with the table, for the next run over the same structure.
        """
        layout = FlatTables(network)
        key = (network.variables, tuple(layout.families))
        use = Use(passes=EM_PASSES, tree_is_kept=False)
        found: UnseenCells = remembered(
            table,
            "unseen cells",
            key,
            lambda: cls(layout, prepared_rows(network, table, True), use),
        )
        return found

    @property
    def total_weight(self) -> float:
        """How many cases the rows stand for."""
        return self.rows.total_weight

    def with_weights(self, weights: npt.ArrayLike) -> UnseenCells:
        """The same rows with other weights, given for the rows of the table."""
        other = copy.copy(self)
        folded = self.rows.folded_weights(weights)
        other.rows = copy.copy(self.rows)
        object.__setattr__(other.rows, "weights", folded)
        other.parts = [part.with_weights(folded[part.rows]) for part in self.parts]
        return other

    # Learning ----------------------------------------------------------------------------------

    def expected(self, tables: Vector, temperature: float = 1.0) -> Expected:
        """The E-step (Eq. 2.16): expected counts under the posterior of what is not seen.

        At a temperature T other than one the posterior is that of P(row, h)^(1/T), normalised
        (deterministic annealing, Ueda and Nakano 1998): flat when hot, certain when cold.
        """
        heated = tables if temperature == 1.0 else tables ** (1.0 / temperature)
        counts = np.zeros(self.layout.size)
        total = 0.0
        for part in self.parts:
            total += part.add_expected(heated, counts)
        return Expected(counts, temperature * total)

    def completed(self, tables: Vector) -> Expected:
        """The hard E-step: counts of the rows completed by their most probable explanation.

        The log-likelihood is that of the completed rows, a lower bound of that of what is seen.
        """
        log_p, codes = self.most_probable(tables)
        possible = log_p > -np.inf
        counts = self.layout.count(codes[:, possible], self.rows.weights[possible])
        return Expected(counts, float(log_p @ self.rows.weights))

    def configurations(self, tables: Vector) -> list[Matrix]:
        """For each part, the posterior of every configuration of what its rows lack."""
        return [part.configurations(tables) for part in self.parts]

    def counts_from(self, configurations: Sequence[Matrix]) -> Vector:
        """The counts that a *given* posterior of the configurations implies.

        It need not be that of any network: a method that changes the posterior (a bottleneck, a
        clustering by hand) re-estimates tables from here.
        """
        counts = np.zeros(self.layout.size)
        for part, posterior in zip(self.parts, configurations, strict=True):
            part.add_counts(posterior, counts)
        return counts

    # Rows --------------------------------------------------------------------------------------

    def log_probabilities(self, tables: Vector) -> Vector:
        """log P(what the row shows), in nats; `-inf` where it is impossible."""
        return self.marginals(tables, ())[0]

    def marginals(self, tables: Vector, targets: Sequence[int]) -> tuple[Vector, list[Matrix]]:
        """log P(row), and P(target | row) for every target (a number), (n_rows, n_states)."""
        if len(self.parts) == 1:
            return self.parts[0].marginals(tables, targets)
        variables = self.layout.network.variables
        log_z = np.zeros(self.rows.n_rows)
        found = [np.empty((self.rows.n_rows, variables[t].n_states)) for t in targets]
        for part in self.parts:
            log_z[part.rows], shares = part.marginals(tables, targets)
            for whole, share in zip(found, shares, strict=True):
                whole[part.rows] = share
        return log_z, found

    def most_probable(self, tables: Vector) -> tuple[Vector, Any]:
        """The most probable completion of every row: its log-probability, and all codes."""
        return self._completions(lambda part: part.most_probable(tables))

    def draws(self, tables: Vector, generator: np.random.Generator) -> tuple[Vector, Any]:
        """log P(row), and the codes of one completion of every row drawn from its posterior."""
        return self._completions(lambda part: part.draws(tables, generator))

    def _completions(self, ask: Callable[[Part], tuple[Vector, Any]]) -> tuple[Vector, Any]:
        if len(self.parts) == 1:
            return ask(self.parts[0])
        log_p = np.zeros(self.rows.n_rows)
        codes = np.empty_like(self.rows.codes)
        for part in self.parts:
            log_p[part.rows], codes[:, part.rows] = ask(part)
        return log_p, codes
