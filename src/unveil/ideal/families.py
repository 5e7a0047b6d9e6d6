"""`IdealFamilies`: a search sees only the parents that look like the ideal one (thesis 7.2).

It stands between any search and whoever scores: of all additions to a family, only the K that the
guide ranks first are scored, and of all removals the K that lose least; the others are as if they
were not permitted. So are arcs that would be turned, unless turning may pay. Replacements of a
parent are ranked together with additions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.ideal.guides import CurveGuide, Guide, LinearGuide
from unveil.score.curve_families import CurveFamilies
from unveil.score.gaussian_families import GaussianFamilies
from unveil.score.protocol import Families, Family
from unveil.score.structure import StructurePrior

__all__ = ["IdealFamilies", "guide_for"]

Numbers = npt.NDArray[np.float64]

TURNING = 0.5
"""An arc may be turned if the guide promises at least this share of what losing it would cost."""


class IdealFamilies:
    """The families of `scores`, additions shortlisted to the `k` most promising.

    With `over="family"` these are the `k` best of each family (7.2); with `over="all"` the `k` best
    over all families at once (7.7), `k` being a number of candidates per variable on average.
    `guide` ranks them; by default C2 for linear families, and tangents for curves. With `replace`,
    for a search that makes such moves (`hill_climbing(..., replace=True)`), the `k` best are those
    of additions and of replacements of a parent together (7.2), by the score that is promised.

    >>> from unveil import Table
    >>> from unveil.score import BIC, GaussianFamilies
    >>> from unveil.search import hill_climbing
    >>> generator = np.random.default_rng(1)
    >>> a, b, e = generator.normal(size=(3, 500))
    >>> table = Table.from_frame({"a": a, "b": b, "c": a - b + e})
    >>> few = IdealFamilies(GaussianFamilies(table, BIC()), k=1)
    >>> sorted(map(sorted, hill_climbing(few).dag.skeleton))  # doctest: +SKIP
    [['a', 'c'], ['b', 'c']]
    """

    def __init__(
        self,
        scores: Families,
        k: int = 5,
        over: Literal["family", "all"] = "family",
        guide: Guide | None = None,
        replace: bool = False,
    ) -> None:
        if k < 1:
            raise DataError(f"ideal parents: at least 1 candidate must be scored, got {k}")
        if over not in ("family", "all"):
            raise DataError(f"over is 'family' or 'all', not {over!r}")
        if replace and over == "all":
            raise DataError("replacements are ranked for each family, not over all of them")
        self.scores, self.k, self.over, self.replace = scores, k, over, replace
        self.guide = guide if guide is not None else guide_for(scores)
        self.names, self.n_variables = scores.names, scores.n_variables
        self._turned: dict[int, dict[int, float]] = defaultdict(dict)
        self._guesses: dict[int, tuple[tuple[int, ...], Numbers]] = {}
        self._rows: dict[Family, tuple[frozenset[int], Numbers]] = {}
        self._lists: dict[int, tuple[tuple[int, ...], tuple[list[int], list[tuple[int, int]]]]] = {}
        self.n_guessed = 0
        """How many additions the guide was asked about."""

    @property
    def score_name(self) -> str:
        """What the score is called."""
        return self.scores.score_name

    @property
    def equivalent(self) -> bool:
        """Whether the score promises equivalent graphs equal values."""
        return self.scores.equivalent

    @property
    def structure_prior(self) -> StructurePrior | None:
        """The prior over structures that the scores contain, if any."""
        return self.scores.structure_prior

    @property
    def n_scored(self) -> int:
        """How many families were computed rather than remembered."""
        return self.scores.n_scored

    def many(self, families: Sequence[Family]) -> Numbers:
        """The scores of several families, whoever their parents are."""
        return self.scores.many(families)

    def toggles(self, child: int, parents: Iterable[int]) -> Numbers:
        """The gains of removals and of the shortlisted additions; `-inf` for all others."""
        own = tuple(sorted(parents))
        wanted = frozenset((*self._additions(child, own), *self._removals(child, own)))
        known = self._rows.get((child, own))
        if known is not None and known[0] >= wanted:
            return known[1]
        changed = sorted(wanted)
        families = [(child, own), *((child, tuple(sorted({*own} ^ {v}))) for v in changed)]
        found = self.scores.many(families)
        row = np.full(self.n_variables, -np.inf)
        row[changed] = found[1:] - found[0]
        row.flags.writeable = False
        self._rows[child, own] = wanted, row
        return row

    def replacements(self, child: int, parents: Iterable[int]) -> Numbers:
        """The gains of the shortlisted replacements, (n_parents, n_variables); `-inf` for others.

        None are without `replace`.
        """
        own = tuple(sorted(parents))
        out = np.full((len(own), self.n_variables), -np.inf)
        if self.replace and own:
            pairs = self._shortlisted(child, own)[1]
            swapped = [(child, tuple(sorted({*own} - {own[i]} | {v}))) for i, v in pairs]
            found = self.scores.many([(child, own), *swapped])
            for (i, v), value in zip(pairs, found[1:] - found[0], strict=True):
                out[i, v] = value
        return out

    def all_toggles(self, families: Sequence[Family]) -> Iterator[Numbers]:
        """The toggles of each family, in order; over all, their candidates are ranked together."""
        if self.over == "all":
            for child, parents in families:
                self._guess(child, tuple(sorted(parents)))
        return (self.toggles(*family) for family in families)

    def total(self, dag: DAG) -> float:
        """The score of a graph (Eq. 2.14)."""
        return self.scores.total(dag)

    def _guess(self, child: int, own: tuple[int, ...]) -> Numbers:
        known = self._guesses.get(child)
        if known is None or known[0] != own:
            known = self._guesses[child] = own, self.guide.gains(child, own)
            self.n_guessed += self.n_variables - 1 - len(own)
        return known[1]

    def _additions(self, child: int, own: tuple[int, ...]) -> set[int]:
        """The additions to score: the best, and those that turn an arc at little loss."""
        gains = self._guess(child, own)
        usable = np.flatnonzero(gains > -np.inf)
        turned = {y for y, loss in self._turned[child].items() if gains[y] >= TURNING * loss}
        best = self._shortlisted(child, own)[0] if self.replace and own else None
        return {*(self._best(gains, usable).tolist() if best is None else best), *turned}

    def _shortlisted(
        self, child: int, own: tuple[int, ...]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The `k` best of additions and of replacements together.

        An addition has to pay for what the score takes for a parent. A replacement is a place in
        `own` and the variable that takes it.
        """
        known = self._lists.get(child)
        if known is not None and known[0] == own:
            return known[1]
        promised = [self._guess(child, own) - self._price(own)]
        promised += [self.guide.replacements(child, own, old) for old in own]
        table = np.array(promised)
        flat = np.argsort(-table, axis=None, kind="stable")[: self.k]
        best = [divmod(int(at), self.n_variables) for at in flat if table.flat[at] > -np.inf]
        made = [v for row, v in best if row == 0], [(row - 1, v) for row, v in best if row]
        self._lists[child] = own, made
        return made

    def _price(self, own: tuple[int, ...]) -> float:
        """What the score takes for one parent more, beside the likelihood; 0 if it does not say."""
        scores = self.scores
        cost = getattr(getattr(scores, "score", None), "cost", None)
        if cost is None or not isinstance(scores, CurveFamilies | GaussianFamilies):
            return 0.0
        k = len(own)
        if isinstance(scores, CurveFamilies):
            sizes = [scores.curve.n_parameters(k), scores.curve.n_parameters(k + 1)]
        else:
            sizes = [k + 2, k + 3]
        before, after = (
            float(cost(float(p), float(n), scores.sample))
            for p, n in zip(sizes, (k, k + 1), strict=True)
        )
        return after - before

    def _removals(self, child: int, own: tuple[int, ...]) -> list[int]:
        """The removals to score: those that lose least, as many as additions."""
        if not own:
            return []
        losses = self.guide.losses(child, own)
        for p, loss in zip(own, losses.tolist(), strict=True):
            self._turned[p][child] = loss
        return [own[i] for i in np.argsort(losses, kind="stable")[: self.k]]

    def _best(self, gains: Numbers, usable: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        if self.over == "all" and self._guesses:
            everyone = np.concatenate([g for _, g in self._guesses.values()])
            everyone = everyone[everyone > -np.inf]
            most = min(self.k * self.n_variables, everyone.size)
            if most == 0:
                return usable[:0]
            bar = np.partition(everyone, everyone.size - most)[everyone.size - most]
            return usable[gains[usable] >= bar]
        order = np.argsort(-gains[usable], kind="stable")
        return usable[order[: self.k]]


def guide_for(scores: Families, measure: str | None = None) -> Guide:
    """The guide that suits who scores: from moments for linear families, from rows for curves."""
    if isinstance(scores, GaussianFamilies):
        return LinearGuide(scores.moments, measure or "c2")
    if isinstance(scores, CurveFamilies):
        return CurveGuide(scores.fitter, measure or "tangent")
    raise DataError(
        "ideal parents are for continuous tables (linear Gaussian families and curves); this one "
        "is scored by counts, which need none"
    )
