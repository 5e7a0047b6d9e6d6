"""Where continuous hidden parents belong: two layers, graphs, and the better of them (8.2, 7.3).

| phase | gives |
| --- | --- |
| baseline | the best graph over the columns alone |
| two layers | hidden roots above columns, by clusters of ideal profiles and by turned axes |
| adapting | the same with arcs between columns as well, by structural EM |
| semi-cliques | hidden roots inside the baseline, where its columns are linked all to all |

Scores are BIC in nats. A hidden variable is kept if the score gains more than luck: the logarithm
of the number of sets of children that it could have had.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.line_structure import LineGraph, fitted_graph, line_structural_em
from unveil.em.lines import Lines, Observed
from unveil.graph.dag import DAG
from unveil.hidden.candidate import fresh_name
from unveil.hidden.semi_cliques import find_semi_cliques, neighbourhoods
from unveil.ideal.families import IdealFamilies
from unveil.ideal.find_layers import ROWS_PER_ROOT, FoundLayers, find_layers, luck
from unveil.ideal.layers import LEAST_CHILDREN, Layers, Leaves
from unveil.progress import StopReason, Ticker
from unveil.score.bic import BIC
from unveil.score.gaussian_families import GaussianFamilies
from unveil.score.protocol import Families
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints
from unveil.search.learn import in_order
from unveil.statistics.moments import GaussianMoments

__all__ = ["Found", "Tried", "baseline_graph", "find_hidden_parents", "graph_of_layers", "without"]

MOST_CLIQUES = 8
"""So many semi-cliques of the baseline are tried in a round."""


@dataclass(frozen=True, eq=False)
class Tried:
    """A network that was tried: how it began, and what came of it."""

    how: str
    graph: LineGraph
    gain: float


@dataclass(frozen=True, eq=False)
class Found:
    """The best network, the baseline without hidden variables, and all that was tried."""

    graph: LineGraph
    baseline: LineGraph
    tried: tuple[Tried, ...]
    layers: FoundLayers | None
    needed: float
    stopped: StopReason

    @property
    def gain(self) -> float:
        """What the score gains over the baseline, in nats."""
        return self.graph.score - self.baseline.score


def find_hidden_parents(
    observed: Observed, settings: NumberSettings, ticker: Ticker | None = None
) -> Found:
    """The best network with or without continuous hidden parents."""
    ticker = ticker or Ticker()
    baseline = baseline_graph(observed, settings, ticker.part("baseline", 0.25))
    tried: list[Tried] = []
    layers = None
    if len(observed.names) > LEAST_CHILDREN and settings.max_hidden and ticker.keep_going():
        leaves = Leaves(_moments(baseline, observed), max_parents=settings.max_parents)
        layers = find_layers(leaves, settings.max_hidden, ticker=ticker.part("two layers", 0.5))
        if layers.layers.n_hidden:
            begun = graph_of_layers(layers.layers, observed, leaves)
            plain = _refitted(begun, observed, ticker)
            tried.append(Tried("two layers", plain, plain.score - baseline.score))
            more = _adapted(plain, observed, settings, ticker.part("adapting", 0.6))
            tried.append(Tried("two layers and arcs", more, more.score - baseline.score))
        tried += _inside(baseline, observed, settings, ticker.part("semi-cliques"))
    tried.sort(key=lambda t: -t.graph.score)
    best, needed = baseline, 0.0
    for one in tried:
        if one.graph.hidden and _all_have_children(one.graph):
            needed = _needed(one.graph, observed, settings)
            if one.gain > needed:
                best = _pruned(one.graph, observed, settings, ticker.part("pruning"))
            break
    if best.score < baseline.score + needed:
        best = baseline
    return Found(
        _named(best, observed), baseline, tuple(tried), layers, needed,
        ticker.reason or "converged",
    )  # fmt: skip


def baseline_graph(
    observed: Observed, settings: NumberSettings, ticker: Ticker | None = None
) -> LineGraph:
    """The best graph over the columns alone: a search, or structural EM where cells are missing."""
    rules = Constraints(max_parents=settings.max_parents)
    names = observed.names
    if observed.moments is None:
        alone = fitted_graph(observed, DAG(names), ticker=ticker)
        return line_structural_em(observed, alone, None, rules, _shortlist(settings), 20, ticker)
    order = sorted(range(len(names)), key=lambda i: names[i])
    families = GaussianFamilies.of_moments(
        [names[i] for i in order], observed.moments.of_columns(order), BIC()
    )
    found = combined_search(_shortlist(settings)(families), constraints=rules, progress=ticker)
    return fitted_graph(observed, in_order(found.dag, names))


def graph_of_layers(layers: Layers, observed: Observed, leaves: Leaves) -> LineGraph:
    """A two-layer network as a graph, in the units of the data, not yet fitted to them."""
    k, names = layers.n_hidden, list(observed.names)
    hidden: list[str] = []
    for _ in range(k):
        hidden.append(fresh_name([*names, *hidden]))
    arcs = [(hidden[j], names[i]) for j in range(k) for i in np.flatnonzero(layers.arcs[:, j])]
    n = len(names)
    b = np.zeros((n + k, n + k))
    b[:n, n:] = layers.weights * leaves.spread[:, None]
    lines = Lines(
        (*names, *hidden), b, np.concatenate([leaves.mean, np.zeros(k)]),
        np.concatenate([layers.variances * leaves.spread**2, np.ones(k)]),
    )  # fmt: skip
    return LineGraph(DAG([*names, *hidden], arcs), tuple(hidden), lines, 0.0, 0.0)


def without(
    graph: LineGraph, name: str, observed: Observed, settings: NumberSettings,
    ticker: Ticker | None = None,
) -> LineGraph:  # fmt: skip
    """The network without one hidden variable, its arcs learned anew."""
    kept = [n for n in graph.dag.nodes if n != name]
    dag = DAG(kept, [(a, b) for a, b in graph.dag.arcs if name not in (a, b)])
    rest = [h for h in graph.hidden if h != name]
    begun = fitted_graph(observed, dag, rest, graph.lines, ticker=ticker)
    return _adapted(begun, observed, settings, ticker)


def _needed(graph: LineGraph, observed: Observed, settings: NumberSettings) -> float:
    """What the score has to gain, so that it is not luck."""
    smallest = min(len(graph.dag.children(h)) for h in graph.hidden)
    return max(luck(len(observed.names), smallest), settings.min_gain)


def _pruned(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker
) -> LineGraph:
    """The network without hidden variables that do not pay for themselves, weakest first."""
    while len(graph.hidden) > 1 and ticker.keep_going():
        fewest = min(graph.hidden, key=lambda h: len(graph.dag.children(h)))
        less = without(graph, fewest, observed, settings, ticker.part())
        if graph.score - less.score > _needed(graph, observed, settings):
            break
        if not _all_have_children(less):
            break
        graph = less
    return graph


def _inside(
    baseline: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker
) -> list[Tried]:
    """Hidden roots inside the baseline, one after the other while each gains."""
    current, found = baseline, list[Tried]()
    most = min(settings.max_hidden, int(observed.total / ROWS_PER_ROOT))
    while len(current.hidden) < most and ticker.keep_going():
        columns = DAG(
            observed.names,
            [(a, b) for a, b in current.dag.arcs if not {a, b} & {*current.hidden}],
        )
        places = [*find_semi_cliques(columns), *neighbourhoods(columns)]
        here = []
        seen: set[tuple[str, ...]] = set()
        for place in places:
            if len(seen) == MOST_CLIQUES or not ticker.keep_going():
                break
            if len(place.nodes) <= LEAST_CHILDREN or place.nodes in seen:
                continue
            crowded = [
                n for n in place.nodes
                if len({*current.dag.parents(n)} - {*place.nodes}) >= _room(observed, settings)
            ]  # fmt: skip
            if crowded:
                continue
            seen.add(place.nodes)
            graph = _with_root(current, place.nodes, observed)
            adapted = _adapted(graph, observed, settings, ticker.part())
            here.append(Tried("semi-clique", adapted, adapted.score - baseline.score))
        found += here
        better = [
            t for t in here
            if len(t.graph.hidden) > len(current.hidden) and _all_have_children(t.graph)
            and t.graph.score > current.score + luck(len(observed.names), LEAST_CHILDREN)
        ]  # fmt: skip
        if not better:
            break
        current = max(better, key=lambda t: t.graph.score).graph
    return found


def _room(observed: Observed, settings: NumberSettings) -> int:
    """How many parents leave each parameter of a column two rows."""
    room = max(0, int(observed.total / 2) - 2)
    return room if settings.max_parents is None else min(room, settings.max_parents)


def _with_root(current: LineGraph, nodes: Sequence[str], observed: Observed) -> LineGraph:
    """The graph with a hidden root above nodes, arcs among them taken away."""
    name = fresh_name([*observed.names, *current.hidden])
    inside = set(nodes)
    arcs = [(a, b) for a, b in current.dag.arcs if not (a in inside and b in inside)]
    arcs += [(name, n) for n in observed.names if n in inside]
    hidden = (*current.hidden, name)
    dag = DAG([*current.dag.nodes, name], arcs)
    return fitted_graph(
        observed, dag, hidden, _with_profile(current, name, nodes, observed), None, 60, 1e-5
    )


def _with_profile(current: LineGraph, name: str, nodes: Sequence[str], observed: Observed) -> Lines:
    """Lines with a root along the first axis of what the nodes have in common (Eq. 7.12)."""
    lines = current.lines
    _, covariance = lines.joint()
    place = [lines.names.index(n) for n in nodes]
    spread = np.sqrt(covariance.diagonal()[place])
    values, vectors = np.linalg.eigh(covariance[np.ix_(place, place)] / np.outer(spread, spread))
    n = len(lines.names)
    b = np.zeros((n + 1, n + 1))
    b[:n, :n] = lines.coefficients
    b[place, n] = spread * vectors[:, -1] * math.sqrt(max(values[-1] - 1.0, 0.1)) * 0.9
    variances = np.append(lines.variances, 1.0)
    variances[place] = np.maximum(spread**2 - b[place, n] ** 2, 0.2 * spread**2)
    return Lines((*lines.names, name), b, np.append(lines.intercept, 0.0), variances)


def _adapted(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker | None
) -> LineGraph:
    rules = Constraints(max_parents=settings.max_parents)
    return line_structural_em(observed, graph, None, rules, _shortlist(settings), 20, ticker)


def _shortlist(settings: NumberSettings) -> Callable[[Families], Families]:
    def shortlisted(families: Families) -> Families:
        return families if settings.ideal is None else IdealFamilies(families, settings.ideal)

    return shortlisted


def _refitted(graph: LineGraph, observed: Observed, ticker: Ticker) -> LineGraph:
    return fitted_graph(observed, graph.dag, graph.hidden, graph.lines, ticker=ticker.part())


def _moments(baseline: LineGraph, observed: Observed) -> GaussianMoments:
    return observed.moments if observed.moments is not None else baseline.moments(observed)


def _all_have_children(graph: LineGraph) -> bool:
    return all(len(graph.dag.children(h)) >= LEAST_CHILDREN for h in graph.hidden)


def _named(graph: LineGraph, observed: Observed) -> LineGraph:
    """Hidden variables numbered by how much they explain, signs such that they pull upwards."""
    if not graph.hidden:
        return graph
    n = len(observed.names)
    lines = graph.lines
    share = np.square(lines.coefficients[:n, n:]) / lines.variances[:n, None]
    order = np.argsort(-np.log1p(share).sum(axis=0), kind="stable")
    hidden: list[str] = []
    for _ in order:
        hidden.append(fresh_name([*observed.names, *hidden]))
    old = [graph.hidden[i] for i in order]
    new = dict(zip(old, hidden, strict=True))
    places = [*range(n), *(n + i for i in order)]
    b = lines.coefficients[np.ix_(places, places)]
    pull = (b[:n, n:] / np.sqrt(lines.variances[:n, None])).sum(axis=0)
    b[:, n:] *= np.where(pull < 0, -1.0, 1.0)
    called = [*observed.names, *hidden]
    arcs = [(new.get(a, a), new.get(c, c)) for a, c in graph.dag.arcs]
    dag = in_order(DAG(called, arcs), called)
    moved = Lines(tuple(called), b, lines.intercept[places], lines.variances[places])
    return replace(graph, dag=dag, hidden=tuple(hidden), lines=moved)
