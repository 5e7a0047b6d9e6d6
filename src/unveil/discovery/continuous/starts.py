"""Graphs with one hidden root more, begun from a profile of a cluster of columns (thesis 7.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.discovery.continuous.adapting import shortlist
from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.line_structure import LineGraph, fitted_graph, with_roots
from unveil.em.lines import Observed, fit_lines, parents_matrix
from unveil.graph.dag import DAG
from unveil.hidden.candidate import fresh_name
from unveil.ideal.inside import InnerProfile, with_profile
from unveil.ideal.layers import LEAST_CHILDREN
from unveil.score.bic import BIC
from unveil.score.gaussian_families import GaussianFamilies
from unveil.search.constraints import Constraints
from unveil.search.hill_climbing import hill_climbing

__all__ = ["FEW_STEPS", "ROUGH", "best_of", "most_parents", "replaced", "searched"]

FEW_STEPS, ROUGH = 20, 1e-4
"""Steps of EM for every start, and where they stop (nats per row)."""


def searched(
    current: LineGraph, profile: InnerProfile, observed: Observed, settings: NumberSettings
) -> LineGraph | None:
    """The graph with a root behind a profile, arcs found as if it were seen; `None` if it has no
    use for it.
    """
    name = fresh_name([*observed.names, *current.hidden])
    names, hidden = (*current.lines.names, name), (*current.hidden, name)
    moments = with_profile(current.moments(observed), profile.weights)
    families = shortlist(settings)(GaussianFamilies.of_moments(names, moments, BIC()))
    rules = with_roots(Constraints(max_parents=settings.max_parents), hidden, observed.names)
    dag = hill_climbing(families, DAG(names, current.dag.arcs), rules).dag
    if len(dag.children(name)) < LEAST_CHILDREN:
        return None
    return _fitted(current, profile, dag, name, observed)


def replaced(
    current: LineGraph, profile: InnerProfile, observed: Observed, settings: NumberSettings
) -> LineGraph | None:
    """The graph with a root above a cluster instead of the arcs among it; `None` if that leaves
    some column too many parents.
    """
    name = fresh_name([*observed.names, *current.hidden])
    inside = {observed.names[i] for i in profile.cluster}
    arcs = [(a, b) for a, b in current.dag.arcs if not (a in inside and b in inside)]
    arcs += [(name, n) for n in observed.names if n in inside]
    dag = DAG([*current.lines.names, name], arcs)
    if max(len(dag.parents(n)) for n in inside) > most_parents(observed, settings):
        return None
    return _fitted(current, profile, dag, name, observed)


def best_of(graphs: Sequence[LineGraph], most: int) -> list[LineGraph]:
    """The best graphs, of those with the same children of hidden variables one."""
    found: dict[frozenset[tuple[str, ...]], LineGraph] = {}
    for graph in sorted(graphs, key=lambda g: -g.score):
        found.setdefault(frozenset(graph.dag.children(h) for h in graph.hidden), graph)
    return list(found.values())[:most]


def most_parents(observed: Observed, settings: NumberSettings) -> int:
    """How many parents a column may have: each parameter has two rows at least."""
    most = max(0, int(observed.total / 2) - 2)
    return most if settings.max_parents is None else min(most, settings.max_parents)


def _fitted(
    current: LineGraph, profile: InnerProfile, dag: DAG, name: str, observed: Observed
) -> LineGraph:
    """A few steps of EM from the lines that a profile gives."""
    names, hidden = (*current.lines.names, name), (*current.hidden, name)
    moments = with_profile(current.moments(observed), profile.weights)
    floor = np.zeros(len(names))
    floor[: len(observed.floor)] = observed.floor
    lines = fit_lines(names, moments, parents_matrix(names, dag), floor)
    return fitted_graph(observed, dag, hidden, lines, None, FEW_STEPS, ROUGH)
