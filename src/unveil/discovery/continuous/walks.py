"""Walks from wide starts: hidden roots above whole neighbourhoods, of which children come and go.

Weak children are linked to few of one another in a graph without their parent, so no cluster of
links has most of them. A column and all that tells of it (its Markov blanket: parents, children,
and parents of these) has more, and others. A root above a blanket instead of the arcs among it,
after a few rounds of structural EM, is where a walk begins (`walk.py`). The best go on: in turns,
arcs are searched from nothing by what the hidden variable is expected to be, children free or as
they are, and the walk goes on from there, while that gains.
"""

from __future__ import annotations

from collections.abc import Sequence

from unveil.discovery.continuous.adapting import adapted, all_have_children, shortlist
from unveil.discovery.continuous.kicks import kicked
from unveil.discovery.continuous.merge import merged
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.continuous.starts import FEW_STEPS, ROUGH, best_of, replaced
from unveil.discovery.continuous.walk import walked
from unveil.em.line_structure import LineGraph, fitted_graph, with_roots
from unveil.em.lines import Observed
from unveil.graph.dag import DAG
from unveil.ideal.inside import inner_profiles
from unveil.ideal.layers import LEAST_CHILDREN
from unveil.progress import Ticker
from unveil.score.bic import BIC
from unveil.score.gaussian_families import GaussianFamilies
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints

__all__ = ["as_one", "blankets_of", "walks"]

MOST_COLUMNS, MOST_BLANKETS = 16, 40
"""No blanket has more columns, and no more of them are begun with."""
SHORT, LONG = 8, 4
"""So many of the best starts are walked from, and so many of the best of these further, beside the
best graph there was without walks."""
IMPATIENT, PATIENT = 5, 15
"""Steps in vain after which the first and the further walks end."""
FEW_ROUNDS, ROUNDS = 3, 4
"""Rounds of structural EM for every start, and turns of search and walk."""


def walks(
    current: LineGraph,
    made: Sequence[LineGraph],
    observed: Observed,
    settings: NumberSettings,
    ticker: Ticker,
) -> list[LineGraph]:
    """Graphs with one hidden root more than `current` at the ends of walks; `made` are those
    there were without walks.

    None where cells are missing: the walk compares graphs by the moments of all rows.
    """
    if observed.moments is None:
        return []
    moments = current.moments(observed)
    dag = DAG(current.lines.names, current.dag.arcs)
    begun = []
    for profile in inner_profiles(moments, dag, blankets_of(current.dag, observed.names)):
        if not ticker.keep_going():
            return []
        graph = replaced(current, profile, observed, settings)
        if graph is not None:
            begun.append(adapted(graph, observed, settings, None, FEW_ROUNDS, polish=False))
    more = len(current.hidden) + 1
    ends: list[LineGraph] = []
    for graph in best_of([g for g in begun if _whole(g, more)], SHORT):
        if ticker.keep_going():
            ends.append(walked(graph, observed, settings, ticker, IMPATIENT))
    further = best_of(ends, LONG) + best_of([g for g in made if _whole(g, more)], 1)
    ended = [_turns(graph, observed, settings, ticker) for graph in further]
    best = max(ended, key=lambda g: g.score, default=current)
    if best.score > current.score:
        whole = [g for g in ended if _whole(g, more)]
        ended += [kicked(g, observed, settings, ticker) for g in best_of(whole, LONG)]
    return ended


def as_one(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker
) -> LineGraph:
    """The graph, or a better one in which two of its roots are one (`merge.py`)."""
    if observed.moments is None:
        return graph
    best = graph
    for start in merged(graph, observed, settings, ticker):
        if not all_have_children(start):
            continue
        end = _turns(walked(start, observed, settings, ticker, PATIENT), observed, settings, ticker)
        best = max(best, _turns(start, observed, settings, ticker), end, key=lambda g: g.score)
    return best


def blankets_of(dag: DAG, columns: Sequence[str]) -> list[tuple[int, ...]]:
    """Positions of columns and of all that tells of them, the smallest first.

    >>> blankets_of(DAG([*"abcd"], [("a", "c"), ("b", "c"), ("c", "d")]), "abcd")
    [(0, 1, 2), (0, 1, 2, 3)]
    """
    place = {name: i for i, name in enumerate(columns)}
    found = set()
    for name in columns:
        below = [c for c in dag.children(name) if c in place]
        own = {name, *dag.parents(name), *below, *(p for c in below for p in dag.parents(c))}
        found.add(tuple(sorted(place[n] for n in own if n in place)))
    sized = [s for s in found if LEAST_CHILDREN <= len(s) <= MOST_COLUMNS]
    return sorted(sized, key=lambda s: (len(s), s))[:MOST_BLANKETS]


def _turns(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker
) -> LineGraph:
    """The graph after turns of a search from nothing and a walk, as often as that gains."""
    best = graph
    for _ in range(ROUNDS):
        here = []
        for free in (False, True):
            if not ticker.keep_going():
                return best
            start = _anew(best, observed, settings, ticker, free)
            if _whole(start, len(best.hidden)):
                here.append(walked(start, observed, settings, ticker, PATIENT))
        better = max(here, key=lambda g: g.score, default=best)
        if better.score <= best.score + 0.01:
            break
        best = better
    return best


def _anew(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker, free: bool
) -> LineGraph:
    """The graph searched from nothing by what it expects; its roots keep their children, or not."""
    families = GaussianFamilies.of_moments(graph.lines.names, graph.moments(observed), BIC())
    hidden = {h: {*graph.dag.children(h)} for h in graph.hidden}
    rules = Constraints(
        max_parents=settings.max_parents,
        required=() if free else [(h, c) for h, own in hidden.items() for c in sorted(own)],
        forbidden=() if free else [
            (h, c) for h, own in hidden.items() for c in observed.names if c not in own
        ],
    )  # fmt: skip
    found = combined_search(
        shortlist(settings)(families), progress=ticker.part(),
        constraints=with_roots(rules, graph.hidden, observed.names),
    )  # fmt: skip
    kept = [h for h in graph.hidden if len(found.dag.children(h)) >= LEAST_CHILDREN]
    if len(kept) < len(graph.hidden):
        return graph
    return fitted_graph(observed, found.dag, kept, graph.lines, None, FEW_STEPS, ROUGH)


def _whole(graph: LineGraph, n_hidden: int) -> bool:
    return len(graph.hidden) == n_hidden and all_have_children(graph)
