"""`MixedPrior`: what is believed beforehand of tables, and of Gaussian families beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unveil.model.gaussian_cpd import GaussianPrior
from unveil.model.prior import DirichletPrior
from unveil.table.variable import Variable

__all__ = ["MixedPrior"]


@dataclass(frozen=True)
class MixedPrior:
    """Pseudo-counts for the `tables` of a network, a `GaussianPrior` for its `numbers`."""

    tables: DirichletPrior
    numbers: GaussianPrior = field(default_factory=GaussianPrior)

    def pseudo_counts(
        self, variable: Variable, parents: Sequence[Variable]
    ) -> npt.NDArray[np.float64]:
        """Those of the tables' prior."""
        return self.tables.pseudo_counts(variable, parents)
