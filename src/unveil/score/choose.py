"""`families_for`: who scores the families of a table, by what its columns are."""

from __future__ import annotations

from typing import cast

from unveil.errors import DataError, Hint
from unveil.score.base import Score
from unveil.score.families import FamilyScores
from unveil.score.gaussian import GaussianScore
from unveil.score.gaussian_families import GaussianFamilies
from unveil.score.likelihood import LogLikelihood
from unveil.score.mixed_families import MixedFamilies
from unveil.score.structure import StructurePrior
from unveil.statistics.protocol import Statistics
from unveil.table.core import Table

__all__ = ["AnyFamilies", "families_for"]

AnyFamilies = FamilyScores | GaussianFamilies | MixedFamilies


def families_for(
    data: Table | Statistics,
    score: Score | GaussianScore,
    structure_prior: StructurePrior | None = None,
    n_jobs: int | None = None,
) -> AnyFamilies:
    """Scores of tables, of Gaussian families or of both, as the columns are discrete or not.

    >>> from unveil.score import BIC
    >>> table = Table.from_frame({"x": [0.5, 1.5, 3.5], "y": [1.25, 1.0, 2.5]})
    >>> type(families_for(table, BIC())).__name__
    'GaussianFamilies'
    """
    kinds = {v.is_discrete for v in data.variables}
    if False not in kinds:
        if not hasattr(score, "term"):
            raise _unsuited(score.name, "discrete columns", "bdeu, bic, mdl, aic, k2, fnml, qnml")
        return FamilyScores(data, cast("Score", score), structure_prior, n_jobs)
    if True not in kinds:
        if not isinstance(score, GaussianScore):
            raise _unsuited(score.name, "continuous columns", "bic, aic, mdl, bge, likelihood")
        return GaussianFamilies(data, score, structure_prior)
    if not isinstance(score, LogLikelihood):
        both = "tables that have discrete and continuous columns"
        raise _unsuited(score.name, both, "bic, aic, mdl, likelihood")
    return MixedFamilies(data, score, structure_prior, n_jobs)


def _unsuited(name: str, what: str, others: str) -> DataError:
    cut = Hint("Or cut continuous columns with discretize=.", "Or cut them with --discretize.")
    return DataError(
        f"the score {name!r} is not for {what}; take one of {others}.",
        hint=cut if "continuous" in what else None,
    )
