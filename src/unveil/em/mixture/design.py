"""Covariates as numbers: a constant, an indicator for every state but the first, and numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.table.core import Table
from unveil.table.variable import Variable, label_text

__all__ = ["Design", "design_of"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """What the terms are, and where the numbers lie: fitting goes on in standard units."""

    variables: tuple[Variable, ...]
    terms: tuple[str, ...]
    means: Matrix
    scales: Matrix

    def matrix(self, covariates: Table) -> Matrix:
        """The terms of every row as they are, shape (n_rows, n_terms)."""
        known = covariates.select([v.name for v in self.variables])
        known = known.like([v for v in self.variables if v.is_discrete])
        columns = [np.ones(known.n_rows)]
        for v in self.variables:
            column = known.column(v.name)
            if known.missing(v.name).any():
                raise DataError(f"covariate {v.name!r} is missing in some rows")
            if v.is_discrete:
                columns += [(column == s).astype(float) for s in range(1, v.n_states)]
            else:
                columns.append(column.astype(float))
        return np.stack(columns, axis=1)

    def scaled(self, covariates: Table) -> Matrix:
        """The same in standard units."""
        return np.asarray((self.matrix(covariates) - self.means) / self.scales)

    @property
    def back(self) -> Matrix:
        """The matrix that takes coefficients in standard units to those of the terms as they are.

        g z' = sum of g_j (z_j - m_j) / s_j: slopes are g_j / s_j, and the constant takes the rest.
        """
        made = np.diag(1 / self.scales)
        made[0] -= self.means / self.scales
        made[0, 0] = 1.0
        return made


def design_of(covariates: Table) -> Design:
    """The design of some columns; one that is the same in all rows explains nothing."""
    terms, means, scales = ["constant"], [0.0], [1.0]
    for v in covariates.variables:
        column = covariates.column(v.name)
        if len(np.unique(column)) < 2:
            raise DataError(f"covariate {v.name!r} is the same in all rows; leave it out")
        if v.is_discrete:
            terms += [f"{v.name} = {label_text(label)}" for label in v.labels[1:]]
            means += [0.0] * (v.n_states - 1)
            scales += [1.0] * (v.n_states - 1)
        else:
            terms.append(v.name)
            means.append(float(column.mean()))
            scales.append(float(column.std()) or 1.0)
    return Design(covariates.variables, tuple(terms), np.array(means), np.array(scales))
