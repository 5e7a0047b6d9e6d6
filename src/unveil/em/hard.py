"""The hard E-step: every row completed by its most probable explanation, then counted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.em.expectation import Expected, rows_to_learn_from
from unveil.em.flat import FlatTables
from unveil.infer.evidence import evidence_from
from unveil.infer.tree import JunctionTree
from unveil.kernels.families import push_digit, tally
from unveil.table.core import Table

__all__ = ["HardExpectation"]


class HardExpectation:
    """Counts of the rows as completed by their most probable explanation.

    `log_likelihood` is that of the completed rows, which hard EM climbs; it is a lower bound of
    the likelihood of what was seen.
    """

    def __init__(self, flat: FlatTables, table: Table) -> None:
        network = flat.network
        known = rows_to_learn_from(network, table)
        self._flat = flat
        self._tree = JunctionTree(network)
        self._evidence = evidence_from(network, network.names, known, {})
        self._weights = known.row_weights

    def __call__(self, tables: npt.NDArray[np.float64]) -> Expected:
        """Counts of the completed rows under the current tables."""
        log_p, codes = self._tree.with_tables(tables).explain(self._evidence)
        possible = log_p > -np.inf
        codes, weights = codes[:, possible], self._weights[possible]
        counts = np.zeros(self._flat.size)
        for v, family in enumerate(self._flat.families):
            position = np.zeros(codes.shape[1], np.int64)
            for m, k in zip(family, self._flat.shapes[v], strict=True):
                push_digit(position, codes[m], k)
            tally(position, weights, counts[self._flat.first[v] : self._flat.first[v + 1]])
        return Expected(counts, float(log_p @ self._weights))
