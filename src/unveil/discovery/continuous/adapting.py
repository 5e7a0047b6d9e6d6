"""What all ways to hidden parents share: a network that was tried, and arcs learned anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.curve_structure import CurveGraph
from unveil.em.line_structure import LineGraph, fitted_graph, line_structural_em
from unveil.em.lines import Observed
from unveil.graph.dag import DAG
from unveil.ideal.families import IdealFamilies
from unveil.ideal.find_layers import joint_luck, luck
from unveil.ideal.layers import LEAST_CHILDREN
from unveil.progress import Ticker
from unveil.score.protocol import Families
from unveil.search.constraints import Constraints
from unveil.statistics.moments import GaussianMoments

__all__ = [
    "AnyGraph", "Tried", "adapted", "all_have_children", "left_without", "moments_of", "needed_for",
    "needed_together",
    "shortlist", "without",
]  # fmt: skip

AnyGraph = LineGraph | CurveGraph
G = TypeVar("G", LineGraph, CurveGraph)


@dataclass(frozen=True, eq=False)
class Tried(Generic[G]):
    """A network that was tried: how it began, and what came of it."""

    how: str
    graph: G
    gain: float


def adapted(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker | None,
    rounds: int = 20, polish: bool = True,
) -> LineGraph:  # fmt: skip
    """The graph after structural EM."""
    rules, few = Constraints(max_parents=settings.max_parents), shortlist(settings)
    return line_structural_em(observed, graph, None, rules, few, rounds, ticker, polish)


def without(
    graph: LineGraph, name: str, observed: Observed, settings: NumberSettings,
    ticker: Ticker | None = None,
) -> LineGraph:  # fmt: skip
    """The network without one hidden variable, its arcs learned anew."""
    dag, rest = left_without(graph, name)
    begun = fitted_graph(observed, dag, rest, graph.lines, ticker=ticker)
    return adapted(begun, observed, settings, ticker)


def left_without(graph: AnyGraph, name: str) -> tuple[DAG, list[str]]:
    """The arcs and the hidden variables that are left without one of these."""
    kept = [n for n in graph.dag.nodes if n != name]
    dag = DAG(kept, [(a, b) for a, b in graph.dag.arcs if name not in (a, b)])
    return dag, [h for h in graph.hidden if h != name]


def needed_for(graph: AnyGraph, n_columns: int, settings: NumberSettings) -> float:
    """What the score has to gain, so that it is not luck."""
    smallest = min(len(graph.dag.children(h)) for h in graph.hidden)
    return max(luck(n_columns, smallest), settings.min_gain)


def needed_together(graph: AnyGraph, n_columns: int, settings: NumberSettings) -> float:
    """What the score has to gain by all hidden variables at once, so that it is not luck."""
    children = [graph.dag.children(h) for h in graph.hidden]
    return max(joint_luck(n_columns, children), settings.min_gain)


def shortlist(
    settings: NumberSettings, unless_told: int | None = None
) -> Callable[[Families], Families]:
    """What stands between scores and search: ideal parents, if they were asked for."""
    k = settings.ideal or unless_told

    def shortlisted(families: Families) -> Families:
        return families if k is None else IdealFamilies(families, k)

    return shortlisted


def moments_of(baseline: LineGraph, observed: Observed) -> GaussianMoments:
    """Moments of the columns; with gaps, as the baseline expects them."""
    return observed.moments if observed.moments is not None else baseline.moments(observed)


def all_have_children(graph: AnyGraph) -> bool:
    """Whether every hidden variable has so many children that it can be told from an arc."""
    return all(len(graph.dag.children(h)) >= LEAST_CHILDREN for h in graph.hidden)
