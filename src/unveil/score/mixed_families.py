"""`MixedFamilies`: scores of families over discrete and continuous columns together.

A discrete child has discrete parents only, and a table. A continuous child has a linear Gaussian
for every configuration of its discrete parents, if it has any (thesis 2.1.3):

    sum over d of -W[d] / 2 (log(2 pi v[d]) + 1) - cost(q (p + 2)),

for q configurations d of the discrete parents and p continuous ones; W[d] is the weight of the rows
that show d. A configuration of two rows would have no variance left, so each borrows one imagined
row of what all configurations have in common for its v[d] (`ConditionalMoments.borrowing`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.kernels.gaussian import gaussian_families, gaussian_toggles
from unveil.score.base import Sample
from unveil.score.families import FamilyScores
from unveil.score.gaussian_families import GaussianFamilies
from unveil.score.likelihood import LogLikelihood
from unveil.score.remembered import RememberedFamilies
from unveil.score.structure import StructurePrior
from unveil.statistics.memory import MemoryStatistics, as_statistics
from unveil.statistics.protocol import Family, Statistics
from unveil.statistics.remembered_moments import RememberedMoments
from unveil.statistics.selected import SelectedStatistics
from unveil.table.core import Table

__all__ = ["BORROWED", "MixedFamilies"]

Numbers = npt.NDArray[np.float64]
Lines = tuple[Numbers, Numbers]
"""The weight of every configuration that occurs, and its correlation matrix."""

BORROWED = 1.0
"""Imagined rows that every configuration of discrete parents borrows from all of them."""
EXACT = 1e-11
"""The share of a column's variance that is left, at the least, within configurations: a column that
is a function of its discrete parents has a finite score, too."""
MOST_NUMBERS = 1 << 22
"""Discrete parents with so many configurations that their moments are more numbers than this are
not looked at."""
LEAST_ROWS = 2.0
"""Nor are those that leave fewer rows to a configuration, on average: within one row nothing
varies, so an identifier would explain every column exactly."""


class MixedFamilies(RememberedFamilies):
    """The score of any family or graph over discrete and continuous columns.

    `data` is a table without gaps or another engine; `score` a likelihood less a cost per parameter
    (`BIC`, `AIC`, `MDL`, `LogLikelihood`); `structure_prior` is added; `n_jobs` threads count.

    >>> from unveil.score import BIC
    >>> generator = np.random.default_rng(1)
    >>> sex = generator.integers(2, size=300)
    >>> height = 165.0 + 12 * sex + generator.normal(size=300)
    >>> table = Table.from_frame({"sex": ["fm"[s] for s in sex], "height": height})
    >>> scores = MixedFamilies(table, BIC())
    >>> bool(scores.toggles(1, ())[0] > 100), float(scores.toggles(0, ())[1])
    (True, -inf)
    """

    def __init__(
        self,
        data: Table | Statistics,
        score: LogLikelihood,
        structure_prior: StructurePrior | None = None,
        n_jobs: int | None = None,
        cache_bytes: int = 256 << 20,
    ) -> None:
        engine = as_statistics(data, n_jobs)
        known = engine if isinstance(engine, RememberedMoments) else RememberedMoments(engine)
        self.statistics = known
        self.score = score
        self._hold_names((v.name for v in known.variables), structure_prior, cache_bytes)
        self.sample = Sample(known.total_weight, self.n_variables)
        self.n_jobs = n_jobs
        self.discrete = [i for i, v in enumerate(known.variables) if v.is_discrete]
        self.continuous = known.continuous
        self._place = {
            m: i for half in (self.discrete, self.continuous) for i, m in enumerate(half)
        }
        self._sizes = [v.n_states if v.is_discrete else 0 for v in known.variables]
        self._tables = FamilyScores(_selected(known, self.discrete), score, n_jobs=n_jobs)
        whole = known.all_moments().at(())
        names = [self.names[i] for i in self.continuous]
        self._numbers = GaussianFamilies.of_moments(names, whole, score)
        # MDL counts all variables, not only those of one kind.
        self._tables.sample = self._numbers.sample = self.sample
        self._numbers.term = score.gaussian(whole, self.sample)
        self._spread = np.sqrt(np.diag(whole.scatter) / whole.weight)
        self._lines: dict[tuple[int, ...], Lines] = {}
        self._computed = 0

    @property
    def score_name(self) -> str:
        """What the score is called."""
        return self.score.name

    @property
    def equivalent(self) -> bool:
        """No: an arc from a discrete to a continuous variable cannot be turned round."""
        return False

    @property
    def n_scored(self) -> int:
        """How many families were computed rather than remembered."""
        return self._computed + self._tables.n_scored + self._numbers.n_scored

    def many(self, families: Sequence[Family]) -> Numbers:
        """The scores of several families; `-inf` where a discrete child has continuous parents."""
        out = np.array([self._family(child, *self._split(parents)) for child, parents in families])
        if self.structure_prior is not None:
            out += [self._prior(child, parents) for child, parents in families]
        return out

    # Computing ---------------------------------------------------------------------------------

    def _split(self, parents: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The discrete parents, and the continuous ones."""
        discrete = tuple(p for p in parents if self._sizes[p])
        return discrete, tuple(p for p in parents if not self._sizes[p])

    def _family(self, child: int, by: tuple[int, ...], parents: tuple[int, ...]) -> float:
        """The score of one family, the structure prior aside."""
        place = self._place
        if self._sizes[child]:
            allowed = not parents
            return self._tables.family(place[child], [place[p] for p in by]) if allowed else -np.inf
        own, numbers = place[child], np.array([place[p] for p in parents], np.int64)
        if len(parents) > self._numbers.most_parents or not self._fits(by):
            return -np.inf
        if not by:
            return self._numbers.family(own, numbers.tolist())
        if len(self._given(by)[0]) * LEAST_ROWS > self.sample.total_weight:
            return -np.inf
        self._computed += 1
        out = np.zeros(1)
        one, starts = np.array([own], np.int64), np.array([0, len(numbers)], np.int64)
        constant = np.zeros(len(self.continuous) + 1)
        for weight, matrix in zip(*self._given(by), strict=True):
            slope = np.full(len(constant), 0.5 * weight)
            gaussian_families(matrix, one, starts, numbers, constant, slope, 0.0, out)
        return float(out[0]) + self._offset(own) - self._cost(by, len(parents))

    def _compute_toggles(self, child: int, parents: tuple[int, ...]) -> Numbers:
        by, numbers = self._split(parents)
        row = np.full(self.n_variables, -np.inf)
        row[child] = 0.0
        if self._sizes[child]:
            given = [self._place[p] for p in by]
            row[self.discrete] = self._tables.toggles(self._place[child], given)
        else:
            here = self._family(child, by, numbers)
            row[self.continuous] = self._toggled_numbers(child, by, numbers, here)
            for d in self.discrete:
                with_d = tuple(sorted({*by} ^ {d}))
                row[d] = self._family(child, with_d, numbers) - here
        if self.structure_prior is not None:
            before = self._prior(child, parents)
            toggled = [{*parents} ^ ({v} - {child}) for v in range(self.n_variables)]
            row += [self._prior(child, sorted(ps)) - before for ps in toggled]
        row[child] = -np.inf
        return row

    def _toggled_numbers(
        self, child: int, by: tuple[int, ...], parents: tuple[int, ...], here: float
    ) -> Numbers:
        """What each continuous column gains as a further, or as no parent of a continuous child."""
        own = self._place[child]
        inside = np.array([self._place[p] for p in parents], np.int64)
        if not by:
            return self._numbers.toggles(own, inside.tolist())
        n, p = len(self.continuous), len(parents)
        self._computed += n
        scores, constant = np.zeros(n), np.zeros(self._numbers.most_parents + 1)
        for weight, matrix in zip(*self._given(by), strict=True):
            slope = np.full(len(constant), 0.5 * weight)
            gaussian_toggles(matrix, own, inside, constant, slope, 0.0, scores)
        costs = np.full(n, self._cost(by, p + 1))
        costs[inside] = self._cost(by, p - 1)
        return scores + self._offset(own) - costs - here

    def _given(self, by: tuple[int, ...]) -> Lines:
        """The weights of the configurations that occur, and correlations with what they borrow."""
        known = self._lines.get(by)
        if known is None:
            moments = self.statistics.all_moments(by)
            seen = moments.weights > 0
            lent = moments.borrowing(BORROWED)
            matrices = lent.scatters[seen] / lent.weights[seen][:, None, None]
            matrices /= np.outer(self._spread, self._spread)
            matrices += EXACT * np.eye(len(self.continuous))
            if sum(m.size for _, m in self._lines.values()) > 4 * MOST_NUMBERS:
                self._lines.clear()
            known = self._lines[by] = moments.weights[seen], matrices
        return known

    def _fits(self, by: tuple[int, ...]) -> bool:
        return math.prod(self._sizes[d] for d in by) * len(self.continuous) ** 2 <= MOST_NUMBERS

    def _offset(self, own: int) -> float:
        """-W / 2 (log(2 pi s^2) + 1), with s the standard deviation of the child in all rows."""
        return float(self._numbers.term.offset[own])

    def _cost(self, by: tuple[int, ...], n_parents: int) -> float:
        n_lines = math.prod(self._sizes[d] for d in by)
        n_parameters = float(n_lines * (n_parents + 2))
        return float(self.score.cost(n_parameters, float(n_parents + len(by)), self.sample))


def _selected(engine: RememberedMoments, places: Sequence[int]) -> Table | Statistics:
    """Some columns of an engine; of one that has its rows in memory, the rows themselves."""
    if isinstance(engine.statistics, MemoryStatistics):
        return engine.statistics.table.select([engine.variables[i].name for i in places])
    return SelectedStatistics(engine, places)
