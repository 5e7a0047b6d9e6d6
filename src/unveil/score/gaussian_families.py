"""`GaussianFamilies`: scores of linear Gaussian families, from the moments of the rows alone.

The rows are read once. All that a search asks for afterwards comes from one matrix of the size of
the number of variables, so a search over a million rows takes as long as one over a thousand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.kernels.gaussian import gaussian_families, gaussian_toggles
from unveil.score.base import Sample
from unveil.score.gaussian import GaussianScore, GaussianTerm, spreads
from unveil.score.remembered import RememberedFamilies
from unveil.score.structure import StructurePrior
from unveil.statistics.memory import as_statistics
from unveil.statistics.moments import GaussianMoments
from unveil.statistics.protocol import Family, Statistics
from unveil.table.core import Table

__all__ = ["GaussianFamilies"]

Numbers = npt.NDArray[np.float64]


class GaussianFamilies(RememberedFamilies):
    """The score of any family or graph over continuous columns, each a linear Gaussian.

    `data` is a table of continuous columns without gaps, or another engine that gives their
    moments; `score` is `BIC`, `AIC`, `MDL`, `LogLikelihood` or `BGe`; `structure_prior` is added
    to it. Where only moments are there (those that EM expects, say), see `of_moments`.

    >>> from unveil.graph import DAG
    >>> from unveil.score import BIC
    >>> generator = np.random.default_rng(1)
    >>> a, b = generator.normal(size=(2, 500))
    >>> table = Table.from_frame({"a": a, "b": b, "c": a - b + generator.normal(size=500)})
    >>> scores = GaussianFamilies(table, BIC())
    >>> arcs = [("a", "c"), ("b", "c")]
    >>> scores.total(DAG(table.names, arcs)) > scores.total(DAG(table.names, arcs[:1]))
    True
    """

    def __init__(
        self,
        data: Table | Statistics,
        score: GaussianScore,
        structure_prior: StructurePrior | None = None,
        cache_bytes: int = 256 << 20,
    ) -> None:
        statistics = as_statistics(data)
        names = [v.name for v in statistics.variables]
        if isinstance(data, Table) and data.n_rows == 0:
            raise DataError("the table has no rows to learn from")
        if statistics.total_weight <= 0:
            raise DataError("the weights of all rows are zero; there is nothing to learn from")
        moments = statistics.moments(range(len(names))).at(())
        self._hold(names, moments, score, structure_prior, cache_bytes)

    @classmethod
    def of_moments(
        cls,
        names: Sequence[str],
        moments: GaussianMoments,
        score: GaussianScore,
        structure_prior: StructurePrior | None = None,
        cache_bytes: int = 256 << 20,
    ) -> GaussianFamilies:
        """The same for columns of which the moments are known."""
        made = cls.__new__(cls)
        made._hold(names, moments, score, structure_prior, cache_bytes)
        return made

    def _hold(
        self,
        names: Sequence[str],
        moments: GaussianMoments,
        score: GaussianScore,
        structure_prior: StructurePrior | None,
        cache_bytes: int,
    ) -> None:
        _refuse_constant(names, moments)
        self._hold_names(names, structure_prior, cache_bytes)
        self.moments, self.score = moments, score
        self.sample = Sample(moments.weight, self.n_variables)
        self.n_scored = 0
        """How many families were computed rather than remembered."""
        self.term: GaussianTerm = score.gaussian(moments, self.sample)
        """The score as a kernel sees it."""

    @property
    def score_name(self) -> str:
        """What the score is called."""
        return self.score.name

    @property
    def equivalent(self) -> bool:
        """Whether the score promises equivalent graphs equal values, the structure prior aside."""
        return self.score.equivalent

    @property
    def most_parents(self) -> int:
        """How many parents a family may have at most, whatever the constraints say."""
        return len(self.term.constant) - 1

    def many(self, families: Sequence[Family]) -> Numbers:
        """The scores of several families; `-inf` for those with more than `most_parents`."""
        matrix, offset, constant, slope, half = self.term
        children = np.array([child for child, _ in families], np.int64)
        sizes = np.array([len(parents) for _, parents in families], np.int64)
        if sizes.size and int(sizes.max()) > self.most_parents:
            return self._with_too_large(families, sizes)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        parents = np.array([p for _, parents in families for p in parents], np.int64)
        out = offset[children]
        gaussian_families(matrix, children, starts, parents, constant, slope, half, out)
        self.n_scored += len(families)
        if self.structure_prior is not None:
            out += [self._prior(child, parents) for child, parents in families]
        return out

    def _compute_toggles(self, child: int, parents: tuple[int, ...]) -> Numbers:
        matrix, _, constant, slope, half = self.term
        row = np.zeros(self.n_variables)
        chosen = np.array(parents, np.int64)
        gaussian_toggles(matrix, child, chosen, constant, slope, half, row)
        self.n_scored += self.n_variables
        if self.structure_prior is not None:
            toggled = [{*parents} ^ ({v} - {child}) for v in range(self.n_variables)]
            row += [self._prior(child, sorted(ps)) for ps in toggled]
        row -= row[child]
        row[child] = -np.inf
        return row

    def _with_too_large(self, families: Sequence[Family], sizes: npt.NDArray[np.int64]) -> Numbers:
        fits = sizes <= self.most_parents
        out = np.full(len(families), -np.inf)
        out[fits] = self.many([f for f, fit in zip(families, fits, strict=True) if fit])
        return out


def _refuse_constant(names: Sequence[str], moments: GaussianMoments) -> None:
    constant = np.flatnonzero(spreads(moments) == 0)
    if constant.size:
        place = int(constant[0])
        raise DataError(
            f"column {names[place]!r} has the value {moments.mean[place]:g} in every row; a "
            "Gaussian needs a column that varies. Leave it out."
        )
