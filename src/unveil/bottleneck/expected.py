"""Expected counts of pairs from mean-field factors: where new families begin (6.7).

Q(T | Y) is a product, so that the expected counts of a hidden variable and any other are one
product of two matrices, from which tables of new families follow.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.mean_field import FieldParameters, MeanField
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.table.variable import Variable

__all__ = ["PairCounts", "factors_of", "pair_counts", "smoothed"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
PairCounts = Callable[[str, str], Matrix]


def factors_of(problem: MeanField, parameters: FieldParameters) -> dict[str, Matrix]:
    """The factors of every variable that rows lack, by name."""
    found = {}
    for v in problem.unseen.tolist():
        first, k = int(problem.plan.at[v]), int(problem.plan.n_states[v])
        found[problem.layout.names[v]] = parameters.q[:, first : first + k]
    return found


def pair_counts(problem: MeanField, parameters: FieldParameters) -> PairCounts:
    """A function from a variable and a hidden parent to expected counts, (parent, variable)."""
    factors = factors_of(problem, parameters)
    weights = problem.weights

    def counts(name: str, parent: str) -> Matrix:
        above = factors[parent] * weights[:, None]
        if name == parent:
            return np.diag(above.sum(axis=0))
        if name in problem.hidden:
            return np.asarray(above.T @ factors[name], np.float64)
        codes = problem.codes[problem.layout.names.index(name)]
        n = problem.layout.network.variable(name).n_states
        seen = codes < n
        return np.array([np.bincount(codes[seen], a[seen], n) for a in above.T])

    return counts


def smoothed(
    counts: Vector, prior: DirichletPrior | None, variable: Variable, parents: list[Variable]
) -> Vector:
    """The posterior mean of a table."""
    alpha = (prior or EquivalentSampleSize(1.0)).pseudo_counts(variable, parents)
    whole = counts + alpha
    return np.asarray(whole / whole.sum(axis=-1, keepdims=True), np.float64)
