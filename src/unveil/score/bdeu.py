"""BDeu: the Bayesian Dirichlet score, equivalent sample size spread evenly (thesis 2.3.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from unveil.errors import ModelError
from unveil.kernels.scoring import DIRICHLET, DataTerm
from unveil.score.base import CountScore
from unveil.table.variable import Variable

__all__ = ["BDeu", "b_course_sample_size"]


@dataclass(frozen=True)
class BDeu(CountScore):
    """Eq. 2.15 with alpha = `equivalent_sample_size` / (cells of the family) in every cell.

    The log marginal likelihood of the data, with the prior that treats equivalent graphs alike
    (Buntine 1991; Heckerman, Geiger and Chickering 1995).
    """

    equivalent_sample_size: float = 1.0
    name: ClassVar[str] = "bdeu"

    def __post_init__(self) -> None:
        size = self.equivalent_sample_size
        if not (math.isfinite(size) and size > 0):
            raise ModelError(f"the equivalent sample size must be a positive number, got {size}")

    @property
    def term(self) -> DataTerm:
        """The imagined cases spread over all cells."""
        return DataTerm(DIRICHLET, float(self.equivalent_sample_size), True)


def b_course_sample_size(variables: Sequence[Variable]) -> float:
    """The equivalent sample size that B-Course takes: the sum of the cardinalities over 2 n.

    >>> b_course_sample_size([Variable("x", [0, 1]), Variable("y", [0, 1, 2, 3])])
    1.5
    """
    return sum(v.n_states for v in variables) / (2 * len(variables))
