"""Kicks: some children of a hidden root come and go at random, and a walk begins there.

A walk changes a child at a time; two or three wrong ones that hold each other in place are a
maximum for it. Iterated local search (Lourenço, Martin and Stützle 2003): the graph is kicked out
of the maximum by a few children at once, arcs among its children are found anew, a walk leads on,
and the end is kept if it is better. Kicks are the same for the same graph: no clock has a say.
"""

from __future__ import annotations

import numpy as np

from unveil.discovery.continuous.adapting import adapted, all_have_children
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.continuous.starts import FEW_STEPS, ROUGH, most_parents
from unveil.discovery.continuous.walk import walked
from unveil.em.line_structure import LineGraph, fitted_graph
from unveil.em.lines import Observed
from unveil.graph.dag import DAG
from unveil.ideal.layers import LEAST_CHILDREN
from unveil.progress import Ticker

__all__ = ["kicked"]

KICKS, IN_VAIN = 30, 10
"""So many kicks at most, and so many in vain."""
MOST_NEW, MOST_GONE = 3, 2
"""A kick gives a root so many further children at most, and takes so many away."""
FEW_ROUNDS, PATIENCE = 2, 15
"""Rounds of structural EM after a kick, and steps in vain of the walk from there."""


def kicked(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker
) -> LineGraph:
    """The best graph after kicks, with as many hidden roots, for a table without gaps."""
    generator = np.random.default_rng(14)
    best, since = graph, 0
    for _ in range(KICKS):
        if since >= IN_VAIN or not ticker.keep_going():
            break
        since += 1
        start = _kick(best, observed, settings, generator)
        if start is None:
            continue
        there = adapted(start, observed, settings, None, FEW_ROUNDS, polish=False)
        if len(there.hidden) < len(best.hidden) or not all_have_children(there):
            continue
        end = walked(there, observed, settings, ticker, PATIENCE)
        if end.score > best.score + 0.01:
            best, since = end, 0
    return best


def _kick(
    graph: LineGraph, observed: Observed, settings: NumberSettings, generator: np.random.Generator
) -> LineGraph | None:
    """A root with other children, none of its arcs among them; `None` if that cannot be."""
    root = graph.hidden[int(generator.integers(len(graph.hidden)))]
    own = graph.dag.children(root)
    others = [n for n in observed.names if n not in own]
    n_new = min(int(generator.integers(MOST_NEW + 1)), len(others))
    n_gone = min(int(generator.integers(MOST_GONE + 1)), len(own) - LEAST_CHILDREN)
    new = {str(n) for n in generator.choice(others, n_new, replace=False)} if n_new else set()
    gone = {str(n) for n in generator.choice(own, n_gone, replace=False)} if n_gone > 0 else set()
    if not new and not gone:
        return None
    children = ({*own} | new) - gone
    arcs = [(a, b) for a, b in graph.dag.arcs
            if a != root and not (a in children and b in children)]  # fmt: skip
    arcs += [(root, n) for n in observed.names if n in children]
    dag = DAG(graph.lines.names, arcs)
    if max(len(dag.parents(n)) for n in dag.nodes) > most_parents(observed, settings):
        return None
    return fitted_graph(observed, dag, graph.hidden, graph.lines, None, FEW_STEPS, ROUGH)
