"""`FamilyScores`: scores of families and whole graphs, from any engine, remembered.

A score is the data term that an engine gives, less the score's penalty, plus the structure prior.
Variables are positions here; names come back at the door above.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from unveil.score.base import CountScore, Sample, Score
from unveil.score.remembered import RememberedFamilies
from unveil.score.structure import StructurePrior
from unveil.statistics.memory import MemoryStatistics, as_statistics
from unveil.statistics.protocol import Family, ScoreTerms, Statistics
from unveil.statistics.remembered import RememberedCounts
from unveil.table.core import Table

__all__ = ["Family", "FamilyScores"]

Numbers = npt.NDArray[np.float64]

LARGEST_PAIR, LARGEST_FAMILY = 1 << 24, 1 << 20
"""No search by steps adds a parent that would give a family a larger table than this; a first
parent may give it a larger one than further parents."""

LOOK_AHEAD = 4096
"""When an engine that only counts must be asked anyway, it is asked for up to so many families more
that a search is likely to want next."""


class FamilyScores(RememberedFamilies):
    """The score of any family or graph over the variables of a table or another engine.

    >>> from unveil import datasets
    >>> from unveil.graph import DAG
    >>> from unveil.score import BDeu
    >>> scores = FamilyScores(datasets.table("college_plans"), BDeu(5))
    >>> best = DAG.from_parents({"SEX": [], "SES": [], "IQ": ["SES", "PE"],
    ...                          "PE": ["SEX", "SES"], "CP": ["SES", "IQ", "PE"]})
    >>> round(scores.total(best), 2)
    -45652.73
    """

    def __init__(
        self,
        data: Table | Statistics,
        score: Score,
        structure_prior: StructurePrior | None = None,
        n_jobs: int | None = None,
        cache_bytes: int = 256 << 20,
    ) -> None:
        self.statistics: Statistics = as_statistics(data, n_jobs)
        if isinstance(self.statistics, MemoryStatistics):
            self.statistics.check_learnable()
        self.score = score
        names = (v.name for v in self.statistics.variables)
        self._hold_names(names, structure_prior, cache_bytes // 2)
        self.sample = Sample(self.statistics.total_weight, self.n_variables)
        self.n_jobs = n_jobs
        self.n_scored = 0
        """How many families were computed rather than remembered."""
        # The engine's own way to the data terms, if it has one for this score. Other engines are
        # asked for counts, in few calls.
        engine = self.statistics
        self._terms = engine if isinstance(engine, ScoreTerms) and score.term else None
        self._penalised = type(score).penalty is not CountScore.penalty
        remembers = isinstance(engine, ScoreTerms | RememberedCounts)
        self._counts = engine if remembers else RememberedCounts(engine)
        self._next: dict[int, tuple[float, Family]] = {}
        self._sizes = [v.n_states for v in engine.variables]
        self._cards = np.array(self._sizes, dtype=np.float64)
        self._known: dict[Family, float] = {}
        self._most_known = max(1000, cache_bytes // 2 // 200)

    @property
    def score_name(self) -> str:
        """What the score is called."""
        return self.score.name

    @property
    def equivalent(self) -> bool:
        """Whether the score promises equivalent graphs equal values, the structure prior aside."""
        return self.score.equivalent

    # Scores ------------------------------------------------------------------------------------

    def many(self, families: Sequence[Family]) -> Numbers:
        """The scores of several families; what is known is not computed again."""
        unknown = list(dict.fromkeys(f for f in families if f not in self._known))
        if unknown:
            computed = dict(zip(unknown, self._compute(unknown).tolist(), strict=True))
            if len(self._known) + len(unknown) > self._most_known:
                computed |= {f: self._known[f] for f in families if f in self._known}
            self._remember(computed)
        return np.array([self._known[f] for f in families])

    def all_toggles(self, families: Sequence[Family]) -> Iterator[Numbers]:
        """The toggles of each family, in order; counts they need are asked for in one call."""
        if self._terms is None:
            self._fetch([f for f in families if f not in self._rows])
        return (self.toggles(*family) for family in families)

    # Computing ---------------------------------------------------------------------------------

    def _compute_toggles(self, child: int, parents: tuple[int, ...]) -> Numbers:
        """The gains; `-inf` also where a table would have more than `LARGEST_FAMILY` cells.

        (`LARGEST_PAIR` for a first parent.) With few rows and many states, BDeu goes on adding
        parents: configurations that occur once cost nothing.
        """
        term = self.score.term
        if self._terms is None or term is None:
            scores = self._toggled_one_by_one(child, parents)
        else:
            scores = self._terms.toggle_terms(child, parents, _largest(parents), term)
            if self._penalised:
                scores -= self._toggled_penalties(child, parents)
            if self.structure_prior is not None:
                toggled = [{*parents} ^ ({v} - {child}) for v in range(self.n_variables)]
                scores += [self._prior(child, sorted(ps)) for ps in toggled]
            self.n_scored += int(np.count_nonzero(scores > -np.inf))
            found = {(child, parents): scores.item(child)}
            for i, p in enumerate(parents):
                found[child, parents[:i] + parents[i + 1 :]] = scores.item(p)
            self._remember(found)
        row: Numbers = scores - scores[child]
        row[child] = -np.inf
        if self._terms is None:
            self._look_ahead(child, parents, row)
        return row

    def _remember(self, scores: dict[Family, float]) -> None:
        if len(self._known) + len(scores) > self._most_known:
            self._known.clear()
        self._known.update(scores)

    def _toggled_one_by_one(self, child: int, parents: tuple[int, ...]) -> Numbers:
        """The scores of the family with each variable toggled, the child's own as it is."""
        toggled = self._toggled(child, parents)
        scores = np.full(self.n_variables, -np.inf)
        scores[list(toggled)] = self.many(list(toggled.values()))
        return scores

    def _toggled(self, child: int, parents: tuple[int, ...]) -> dict[int, Family]:
        """The family with each variable toggled that may be, the child's own as it is."""
        cells = math.prod([self._sizes[v] for v in (child, *parents)])
        fits = cells * self._cards <= _largest(parents)
        fits[[child, *parents]] = True
        changed = fits.nonzero()[0].tolist()
        return {v: (child, tuple(sorted({*parents} ^ ({v} - {child})))) for v in changed}

    # Asking engines that only count --------------------------------------------------------------

    def _fetch(self, families: Sequence[Family]) -> None:
        """Score all toggles of the families, and of those likely to come next, in one call."""
        wanted = {f for family in families for f in self._toggled(*family).values()}
        if all(f in self._known for f in wanted):
            return
        for _, family in sorted(self._next.values(), reverse=True):
            if len(wanted) > LOOK_AHEAD:
                break
            wanted.update(self._toggled(*family).values())
        self.many(sorted(wanted))

    def _look_ahead(self, child: int, parents: tuple[int, ...], row: Numbers) -> None:
        """Note the family that the child would have with its best further parent."""
        added = row.copy()
        added[list(parents)] = -np.inf
        best = int(added.argmax())
        self._next.pop(child, None)
        if added[best] > 0:
            self._next[child] = float(added[best]), (child, tuple(sorted((*parents, best))))

    def _toggled_penalties(self, child: int, parents: tuple[int, ...]) -> Numbers | float:
        n_u = math.prod([self._sizes[p] for p in parents])
        inside = list(parents)
        configurations = n_u * self._cards
        configurations[inside] = n_u / self._cards[inside]
        configurations[child] = n_u
        n_parents = np.full(self.n_variables, len(parents) + 1.0)
        n_parents[inside] = len(parents) - 1.0
        n_parents[child] = len(parents)
        return self.score.penalty(configurations, self._cards[child], n_parents, self.sample)

    def _compute(self, families: list[Family]) -> Numbers:
        """The scores of families nobody has asked for before."""
        self.n_scored += len(families)
        term = self.score.term
        if self._terms is None or term is None:
            out = self._by_the_book(families)
        else:
            out = self._terms.family_terms(families, term)
            n_u = [math.prod([self._sizes[p] for p in parents]) for _, parents in families]
            states = [self._sizes[child] for child, _ in families]
            n_parents = [len(parents) for _, parents in families]
            out -= self.score.penalty(
                np.array(n_u, np.float64),
                np.array(states, np.float64),
                np.array(n_parents, np.float64),
                self.sample,
            )
        if self.structure_prior is not None:
            out += [self._prior(child, parents) for child, parents in families]
        return out

    def _by_the_book(self, families: list[Family]) -> Numbers:
        """The scores from full counts, for scores and engines without kernels."""
        variables, sample = self.statistics.variables, self.sample
        found = self._counts.counts([(*parents, child) for child, parents in families])
        return np.array(
            [
                self.score.family(variables[child], [variables[p] for p in parents], counts, sample)
                for (child, parents), counts in zip(families, found, strict=True)
            ]
        )


def _largest(parents: Sequence[int]) -> int:
    return LARGEST_FAMILY if parents else LARGEST_PAIR
