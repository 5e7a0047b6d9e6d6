"""`RememberedFamilies`: what all kinds of families share, given how to score some of them.

Whoever scores says how to score several families (`many`) and what a family gains when each
variable is added or dropped (`_compute_toggles`); here the answers are remembered and summed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from unveil.graph.dag import DAG
from unveil.score.protocol import families_of
from unveil.score.structure import StructurePrior
from unveil.statistics.protocol import Family

__all__ = ["RememberedFamilies"]

Numbers = npt.NDArray[np.float64]


class RememberedFamilies(ABC):
    """Families over the variables `names`; rows of toggles are kept, `row_bytes` of them."""

    names: tuple[str, ...]
    n_variables: int
    structure_prior: StructurePrior | None

    def _hold_names(
        self, names: Iterable[str], structure_prior: StructurePrior | None, row_bytes: int
    ) -> None:
        self.names = tuple(names)
        self.n_variables = len(self.names)
        self.structure_prior = structure_prior
        self._rows: dict[Family, Numbers] = {}
        self._most_rows = max(16, row_bytes // (8 * self.n_variables + 200))

    @abstractmethod
    def many(self, families: Sequence[Family]) -> Numbers:
        """The scores of several families."""

    @abstractmethod
    def _compute_toggles(self, child: int, parents: tuple[int, ...]) -> Numbers:
        """What `toggles` gives, computed; the parents are in ascending order."""

    def family(self, child: int, parents: Iterable[int]) -> float:
        """The score of one family."""
        return float(self.many([(child, tuple(sorted(parents)))])[0])

    def toggles(self, child: int, parents: Iterable[int]) -> Numbers:
        """What the family gains when each variable is added to, or dropped from, its parents.

        Shape (n_variables,); `-inf` for the child itself, and for parents that cannot be had.
        """
        key = (child, tuple(sorted(parents)))
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= self._most_rows:
                self._rows.clear()
            row = self._rows[key] = self._compute_toggles(*key)
            row.flags.writeable = False
        return row

    def all_toggles(self, families: Sequence[Family]) -> Iterator[Numbers]:
        """The toggles of each family, in order."""
        return (self.toggles(*family) for family in families)

    def total(self, dag: DAG) -> float:
        """The score of a graph: the sum over its families (Eq. 2.14)."""
        return math.fsum(self.per_family(dag).values())

    def per_family(self, dag: DAG) -> dict[str, float]:
        """The score of every family of a graph, by the name of the child."""
        return dict(zip(dag.nodes, self.many(families_of(dag, self.names)).tolist(), strict=True))

    def _prior(self, child: int, parents: Sequence[int]) -> float:
        assert self.structure_prior is not None
        return self.structure_prior.family(self.names[child], [self.names[p] for p in parents])
