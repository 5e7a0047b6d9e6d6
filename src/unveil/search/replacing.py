"""Replacing a parent by another in one move (thesis 7.2): what that gains, and which is best.

Where two columns are much alike, the one that is taken first may keep a better one out: dropping it
loses, and adding the other gains little while it is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.score.protocol import Families, Replacing
from unveil.search.graph_state import NO_TABU, GraphState

__all__ = ["Replacement", "Replacements", "replacement_gains"]

Numbers = npt.NDArray[np.float64]


class Replacement(NamedTuple):
    """A parent `old` of `child` gives its place to `new`; positions."""

    old: int
    new: int
    child: int


def replacement_gains(scores: Families, child: int, parents: Iterable[int]) -> Numbers:
    """What a family gains when each variable takes the place of each parent.

    Shape (n_parents, n_variables), parents ascending; `-inf` for the family's own variables. With U
    the parents, u the old and z the new one, from the gains of toggles d:

        d(z; U - u) + d(u; U).

    >>> from unveil import Table
    >>> from unveil.score import BIC, GaussianFamilies
    >>> numbers = np.random.default_rng(1).normal(size=(3, 50))
    >>> table = Table.from_frame(dict(zip("abc", numbers)))
    >>> scores = GaussianFamilies(table, BIC())
    >>> gains = replacement_gains(scores, 2, [0])
    >>> bool(np.isclose(gains[0, 1], scores.family(2, [1]) - scores.family(2, [0])))
    True
    """
    own = sorted(parents)
    if isinstance(scores, Replacing):
        return scores.replacements(child, own)
    out = np.full((len(own), scores.n_variables), -np.inf)
    if own:
        drops = scores.toggles(child, own)
        for row, old in zip(out, own, strict=True):
            row[:] = scores.toggles(child, [p for p in own if p != old]) + drops[old]
    out[:, [child, *own]] = -np.inf
    return out


class _Sorted(NamedTuple):
    """The replacements of one family, the best first."""

    version: int
    gains: Numbers
    olds: npt.NDArray[np.intp]
    news: npt.NDArray[np.intp]


class Replacements:
    """The replacements that can be made in a graph under search."""

    def __init__(self, state: GraphState) -> None:
        self.state = state
        self._known: dict[int, _Sorted] = {}

    def best(
        self, tabu: npt.NDArray[np.int64] = NO_TABU, least: float = -np.inf
    ) -> tuple[Replacement, float] | None:
        """The legal replacement with the largest gain above `least`, and its gain."""
        state, found = self.state, None
        required = state.rules.required_now(state.parents)
        for child in state.inner:
            gains, olds, news = self._family(child)[1:]
            for gain, old, new in zip(gains, olds, news, strict=True):
                if gain <= least + state.tie:
                    break
                if required[child, old] or not self._legal(child, old, new, tabu):
                    continue
                found, least = (Replacement(int(old), int(new), child), float(gain)), float(gain)
                break
        return found

    def _legal(self, child: int, old: int, new: int, tabu: npt.NDArray[np.int64]) -> bool:
        """Whether the new arc is allowed and makes no cycle; the old one is on no path to there."""
        state = self.state
        if not state.rules.allowed[child, new] or state.reach[child, new]:
            return False
        codes = state.codes[child]
        return not tabu.size or (state.key ^ int(codes[old]) ^ int(codes[new])) not in tabu

    def _family(self, child: int) -> _Sorted:
        version = int(self.state.versions[child])
        known = self._known.get(child)
        if known is None or known.version != version:
            own = self.state.parents_of(child)
            gains = replacement_gains(self.state.scores, child, own)
            rows, news = np.nonzero(gains > -np.inf)
            values = gains[rows, news]
            order = np.argsort(-values, kind="stable")
            olds = np.array(own, np.intp)[rows[order]]
            known = self._known[child] = _Sorted(version, values[order], olds, news[order])
        return known
