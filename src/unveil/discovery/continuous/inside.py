"""Hidden roots inside a graph: from profiles of clusters, by search, to networks (thesis 7.3, 7.4).

Every cluster of linked columns gives profiles of a hidden variable (`unveil.ideal.inside`). Taken
as a column, a search says which arcs it would replace; a few rounds of structural EM then say what
is left of that when the variable is not seen. The best of these go on to the end, and the best of
all are searched anew from nothing, which leads past the graph that they began with. Walks over
graphs (`walks.py`) lead past what structural EM cannot leave.
"""

from __future__ import annotations

from collections.abc import Sequence

from unveil.discovery.continuous.adapting import Tried, adapted, all_have_children, shortlist
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.continuous.starts import FEW_STEPS, ROUGH, best_of, replaced, searched
from unveil.discovery.continuous.walks import as_one, walks
from unveil.em.line_structure import LineGraph, fitted_graph, with_roots
from unveil.em.lines import Observed
from unveil.graph.dag import DAG
from unveil.hidden.semi_cliques import find_semi_cliques, neighbourhoods
from unveil.ideal.find_layers import ROWS_PER_ROOT, luck
from unveil.ideal.inside import inner_profiles
from unveil.ideal.layers import LEAST_CHILDREN
from unveil.progress import Ticker
from unveil.score.bic import BIC
from unveil.score.gaussian_families import GaussianFamilies
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints
from unveil.search.learn import FEW

__all__ = ["clusters_of", "hidden_inside"]

MOST_CLUSTERS = 120
"""So many clusters of a graph give profiles; those with most links come first."""
MOST_REPLACED = 16
"""For so many of them, a root above all their columns instead of their arcs is tried as well."""
MOST_COLUMNS = 12
"""No cluster has more columns."""
ADAPTED, ANEW = 6, 3
"""So many of the best starts begin structural EM to its end; so many of the best of these are
searched anew."""
FEW_ROUNDS = 3
"""Rounds of structural EM for every start."""


def hidden_inside(
    baseline: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker
) -> list[Tried[LineGraph]]:
    """Hidden roots inside the baseline, one after the other while each gains more than luck.

    None where rows are few (`FEW` for each column): BIC finds arcs in noise there, and roots behind
    them.
    """
    current, found = baseline, list[Tried[LineGraph]]()
    if observed.total < FEW * len(observed.names):
        return found
    most = min(settings.max_hidden, int(observed.total / ROWS_PER_ROOT))
    least = luck(len(observed.names), LEAST_CHILDREN)
    while len(current.hidden) < most and ticker.keep_going():
        here = [
            Tried("inside", graph, graph.score - baseline.score)
            for graph in _with_one_more(current, observed, settings, ticker)
        ]
        found += here
        whole = [t.graph for t in here if all_have_children(t.graph)]
        several = max((g for g in whole if len(g.hidden) > 1), key=lambda g: g.score, default=None)
        if several is not None:
            one = as_one(several, observed, settings, ticker)
            if one is not several:
                found.append(Tried("inside, merged", one, one.score - baseline.score))
                whole.append(one)
        # One root more has to pay for itself; as many or fewer have only to be better.
        roots = len(current.hidden)
        better = [
            g for g in whole
            if g.score > current.score + (least if len(g.hidden) > roots else 0.01)
        ]  # fmt: skip
        if not better:
            break
        current = max(better, key=lambda g: g.score)
    return found


def clusters_of(dag: DAG, columns: Sequence[str]) -> list[tuple[int, ...]]:
    """Positions of columns that a hidden variable may stand behind, the most linked first.

    Semi-cliques and neighbourhoods (4.1), and every column with its children, or its parents: where
    a parent is missing, one of its children takes its place in the learned graph.
    """
    place = {name: i for i, name in enumerate(columns)}
    inside = DAG(columns, [(a, b) for a, b in dag.arcs if a in place and b in place])
    sets = [s.nodes for s in find_semi_cliques(inside)]
    sets += [s.nodes for s in neighbourhoods(inside, max_size=MOST_COLUMNS)]
    for name in columns:
        sets += [(name, *inside.children(name)), (name, *inside.parents(name))]
    unique = {tuple(sorted(place[n] for n in s)) for s in sets}
    sized = [s for s in unique if LEAST_CHILDREN <= len(s) <= MOST_COLUMNS]
    links = {frozenset((place[a], place[b])) for a, b in inside.arcs}

    def linked(cluster: tuple[int, ...]) -> float:
        pairs = [(i, j) for i in cluster for j in cluster if i < j]
        return sum(frozenset(pair) in links for pair in pairs) / len(cluster)

    return sorted(sized, key=lambda s: (-linked(s), s))[:MOST_CLUSTERS]


def _with_one_more(
    current: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker
) -> list[LineGraph]:
    """The best graphs with one hidden root more, adapted."""
    names = current.lines.names
    moments = current.moments(observed)
    dag = DAG(names, current.dag.arcs)
    clusters = clusters_of(current.dag, observed.names)
    linked = {*clusters[:MOST_REPLACED]}
    begun = []
    for profile in inner_profiles(moments, dag, clusters):
        if not ticker.keep_going():
            break
        for begin in (searched, replaced)[: 2 if profile.cluster in linked else 1]:
            graph = begin(current, profile, observed, settings)
            if graph is not None:
                begun.append(adapted(graph, observed, settings, None, FEW_ROUNDS, polish=False))
    made: list[LineGraph] = []
    for graph in best_of(begun, ADAPTED):
        if made and not ticker.keep_going():
            break
        made.append(adapted(graph, observed, settings, ticker.part()))
    for graph in best_of(made, ANEW):
        if not ticker.keep_going():
            break
        made.append(_anew(graph, observed, settings, ticker))
    return made + walks(current, made, observed, settings, ticker)


def _anew(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker
) -> LineGraph:
    """The graph searched from nothing by what it expects, as often as that gains."""
    best = graph
    while best.hidden and ticker.keep_going():
        families = GaussianFamilies.of_moments(best.lines.names, best.moments(observed), BIC())
        rules = with_roots(
            Constraints(max_parents=settings.max_parents), best.hidden, observed.names
        )
        found = combined_search(
            shortlist(settings)(families), constraints=rules, progress=ticker.part()
        )
        kept = [h for h in best.hidden if len(found.dag.children(h)) >= LEAST_CHILDREN]
        if len(kept) < len(best.hidden):
            break
        start = fitted_graph(observed, found.dag, kept, best.lines, None, FEW_STEPS, ROUGH)
        better = adapted(start, observed, settings, ticker.part())
        if better.score <= best.score + 0.01:
            break
        best = better
    return best
