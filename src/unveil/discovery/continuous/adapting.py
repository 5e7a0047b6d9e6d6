"""What all ways to hidden parents share: a network that was tried, and arcs learned anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.line_structure import LineGraph, line_structural_em
from unveil.em.lines import Observed
from unveil.ideal.families import IdealFamilies
from unveil.ideal.layers import LEAST_CHILDREN
from unveil.progress import Ticker
from unveil.score.protocol import Families
from unveil.search.constraints import Constraints
from unveil.statistics.moments import GaussianMoments

__all__ = ["Tried", "adapted", "all_have_children", "moments_of", "shortlist"]


@dataclass(frozen=True, eq=False)
class Tried:
    """A network that was tried: how it began, and what came of it."""

    how: str
    graph: LineGraph
    gain: float


def adapted(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker | None,
    rounds: int = 20, polish: bool = True,
) -> LineGraph:  # fmt: skip
    """The graph after structural EM."""
    rules, few = Constraints(max_parents=settings.max_parents), shortlist(settings)
    return line_structural_em(observed, graph, None, rules, few, rounds, ticker, polish)


def shortlist(settings: NumberSettings) -> Callable[[Families], Families]:
    """What stands between scores and search: ideal parents, if they were asked for."""

    def shortlisted(families: Families) -> Families:
        return families if settings.ideal is None else IdealFamilies(families, settings.ideal)

    return shortlisted


def moments_of(baseline: LineGraph, observed: Observed) -> GaussianMoments:
    """Moments of the columns; with gaps, as the baseline expects them."""
    return observed.moments if observed.moments is not None else baseline.moments(observed)


def all_have_children(graph: LineGraph) -> bool:
    """Whether every hidden variable has so many children that it can be told from an arc."""
    return all(len(graph.dag.children(h)) >= LEAST_CHILDREN for h in graph.hidden)
