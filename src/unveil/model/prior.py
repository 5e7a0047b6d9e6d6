"""Dirichlet priors over the rows of a table (thesis 2.2.2): how many cases we imagine beforehand.

A prior gives pseudo-counts alpha with the shape of a family's table, parents first. They serve two
masters: posterior-mean parameters (`fit`) and the Bayesian Dirichlet scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.table.variable import Variable

if TYPE_CHECKING:
    from unveil.model.network import Network

__all__ = ["DirichletPrior", "EquivalentSampleSize", "PriorNetwork", "PseudoCount"]


class DirichletPrior(Protocol):
    """Pseudo-counts for any family."""

    def pseudo_counts(
        self, variable: Variable, parents: Sequence[Variable]
    ) -> npt.NDArray[np.float64]:
        """Pseudo-counts that broadcast to the shape of the family's table (parents, child)."""


@dataclass(frozen=True)
class PseudoCount:
    """The same pseudo-count `count` in every cell: 1 is Laplace's rule and the K2 prior.

    >>> PseudoCount(1.0).pseudo_counts(Variable("x", [0, 1]), [])
    array([1.])
    """

    count: float = 1.0

    def __post_init__(self) -> None:
        _check_positive("the pseudo-count", self.count)

    def pseudo_counts(
        self, variable: Variable, parents: Sequence[Variable]
    ) -> npt.NDArray[np.float64]:
        """One number for every cell."""
        return np.full((1,) * (len(parents) + 1), self.count)


@dataclass(frozen=True)
class EquivalentSampleSize:
    """The BDeu prior: `size` imagined cases spread evenly over the cells of each family.

    >>> EquivalentSampleSize(4.0).pseudo_counts(Variable("x", [0, 1]), [Variable("u", [0, 1])])
    array([[1.]])
    """

    size: float = 1.0

    def __post_init__(self) -> None:
        _check_positive("the equivalent sample size", self.size)

    def pseudo_counts(
        self, variable: Variable, parents: Sequence[Variable]
    ) -> npt.NDArray[np.float64]:
        """`size` divided by the number of cells."""
        cells = math.prod(v.n_states for v in (*parents, variable))
        return np.full((1,) * (len(parents) + 1), self.size / cells)


@dataclass(frozen=True, eq=False)
class PriorNetwork:
    """The BDe prior: `size` imagined cases distributed as `network` says (Heckerman et al. 1995).

    alpha(x, u) = size * P(x, u), so that equivalent graphs are scored equally.
    """

    network: Network
    size: float = 1.0

    def __post_init__(self) -> None:
        _check_positive("the equivalent sample size", self.size)

    def pseudo_counts(
        self, variable: Variable, parents: Sequence[Variable]
    ) -> npt.NDArray[np.float64]:
        """`size` times the family's joint marginal in the prior network."""
        from unveil.model.marginal import marginal

        for v in (*parents, variable):
            if self.network.variable(v.name).state_keys != v.state_keys:
                raise ModelError(
                    f"the prior network has other states for {v.name!r} than the table: "
                    f"{list(self.network.variable(v.name).labels)} against {list(v.labels)}"
                )
        return self.size * marginal(self.network, [v.name for v in (*parents, variable)])


def _check_positive(what: str, number: float) -> None:
    if not (math.isfinite(number) and number > 0):
        raise ModelError(f"{what} must be a positive number, got {number}")
