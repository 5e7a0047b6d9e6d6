"""How well a model reproduces the cells of a contingency table: G2 and X2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unveil.errors import DataError, Hint
from unveil.model.network import Network
from unveil.records import Record
from unveil.table.core import Table

__all__ = ["GoodnessOfFit", "goodness_of_fit"]

CASES_PER_CELL = 5.0
"""With fewer cases than this per cell on average the statistics are not distributed as chi2."""


@dataclass(frozen=True)
class GoodnessOfFit(Record):
    """Counts against those that a model expects, over all cells of the table.

    `g2` is the likelihood-ratio statistic (deviance) 2 sum O log(O / E), `x2` is Pearson's sum of
    (O - E)^2 / E. `degrees_of_freedom` is the number of cells, less one, less the free parameters;
    where it is not positive, the model has more parameters than the table can tell.
    """

    told: ClassVar = ("p_g2", "p_x2", "is_sparse")

    g2: float
    x2: float
    degrees_of_freedom: int
    n_cells: int
    n_cases: float

    @property
    def p_g2(self) -> float:
        """How probable so large a G2 is if the model holds, by the chi2 distribution."""
        return _tail(self.g2, self.degrees_of_freedom)

    @property
    def p_x2(self) -> float:
        """The same for X2."""
        return _tail(self.x2, self.degrees_of_freedom)

    @property
    def is_sparse(self) -> bool:
        """Whether there are too few cases per cell to trust the two probabilities."""
        # Not times the number of cells: that may be more than a float can hold.
        return self.n_cases / CASES_PER_CELL < self.n_cells


def goodness_of_fit(network: Network, table: Table) -> GoodnessOfFit:
    """G2 and X2 of a network on the rows of a table without gaps (Agresti 2002, 1.5.2).

    The cells are all combinations of states of the table's columns. Only those that occur are gone
    through: an empty cell adds nothing to G2 and its expected count to X2.

    >>> from unveil import DAG, Table, fit
    >>> rows = Table.from_frame({"x": [0, 0, 1, 1], "y": [0, 0, 1, 1]})
    >>> independent = goodness_of_fit(fit(DAG(["x", "y"]), rows), rows)
    >>> independent.x2, independent.degrees_of_freedom, round(independent.g2, 3)
    (4.0, 1, 5.545)
    """
    names = [v.name for v in network.variables if v.name in table]
    rows = table.select(names).conform([network.variable(name) for name in names])
    rows = rows.take(rows.row_weights > 0)
    if not rows.is_complete:
        raise DataError(
            "G2 and X2 compare the counts of whole rows, and some rows have gaps.",
            hint=Hint("Give the complete rows only, or look at pairs: bivariate_residuals."),
        )
    folded = rows.folded()
    observed = folded.row_weights
    log_expected = math.log(observed.sum()) + network.row_log_likelihoods(folded)
    g2 = max(0.0, 2 * float(observed @ (np.log(observed) - log_expected)))
    expected = np.exp(log_expected)
    with np.errstate(divide="ignore", over="ignore"):
        x2 = float(((observed - expected) ** 2 / expected).sum())
    x2 += max(0.0, float(observed.sum() - expected.sum()))
    n_cells = math.prod(v.n_states for v in rows.variables)
    return GoodnessOfFit(g2, x2, n_cells - 1 - network.n_parameters, n_cells, float(observed.sum()))


def _tail(statistic: float, degrees_of_freedom: int) -> float:
    from scipy.stats import chi2

    if degrees_of_freedom <= 0:
        return math.nan
    # A table of many columns has more cells than a float can count.
    return float(chi2.sf(max(0.0, statistic), float(min(degrees_of_freedom, 10**15))))
