"""Expected counts of pairs from mean-field factors: what structures are scored and fitted by (6.7).

Q(T | Y) is a product, so that the expected counts of a hidden variable and any other are one
product of two matrices; the BDe score of a family follows from them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from unveil.bottleneck.mean_field import FieldParameters, MeanField
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.table.variable import Variable

__all__ = ["PairCounts", "factors_of", "family_score", "pair_counts", "smoothed"]

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


def _pseudo(prior: DirichletPrior | None, shape: tuple[int, ...]) -> Vector:
    """Pseudo-counts of a table of this shape."""
    dummies = [Variable(f"v{i}", range(n)) for i, n in enumerate(shape)]
    alpha = (prior or EquivalentSampleSize(1.0)).pseudo_counts(dummies[-1], dummies[:-1])
    return np.asarray(np.broadcast_to(alpha, shape), np.float64)


def family_score(counts: Matrix, prior: DirichletPrior | None) -> float:
    """The BDe score of a family from its expected counts, (parent, child)."""
    a = _pseudo(prior, counts.shape)
    rows = gammaln(a.sum(axis=1)) - gammaln((counts + a).sum(axis=1))
    return float((rows + (gammaln(counts + a) - gammaln(a)).sum(axis=1)).sum())


def smoothed(
    counts: Vector, prior: DirichletPrior | None, variable: Variable, parents: list[Variable]
) -> Vector:
    """The posterior mean of a table."""
    alpha = (prior or EquivalentSampleSize(1.0)).pseudo_counts(variable, parents)
    whole = counts + alpha
    return np.asarray(whole / whole.sum(axis=-1, keepdims=True), np.float64)
