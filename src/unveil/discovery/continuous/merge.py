"""Two hidden roots that are parts of one: merged above the children of both.

Where a root has many weak children, the first root found may have half of them and the next one the
other half. Each is a maximum of its own: giving one of them a child of the other changes little. A
root above the children of both says the same with fewer parameters, if they are one.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from unveil.discovery.continuous.adapting import adapted
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.continuous.starts import FEW_STEPS, ROUGH, best_of, most_parents
from unveil.em.line_structure import LineGraph, fitted_graph
from unveil.em.lines import Lines, Observed
from unveil.graph.dag import DAG
from unveil.progress import Ticker

__all__ = ["merged"]

MOST_PAIRS, KEPT = 10, 2
"""So many pairs are tried at most, and so many of the graphs that come of them are given back."""
FEW_ROUNDS = 3
"""Rounds of structural EM for each."""


def merged(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker
) -> list[LineGraph]:
    """The best graphs with two roots made one, after some structural EM.

    The sign of a hidden variable is free, so each pair is tried both ways round.
    """
    pairs = list(combinations(graph.hidden, 2))[:MOST_PAIRS]
    found = list[LineGraph]()
    for one, other in pairs:
        for sign in (1.0, -1.0):
            if not ticker.keep_going():
                return best_of(found, KEPT)
            start = _as_one(graph, one, other, sign, observed, settings)
            if start is not None:
                found.append(adapted(start, observed, settings, None, FEW_ROUNDS, polish=False))
    return best_of(found, KEPT)


def _as_one(
    graph: LineGraph, one: str, other: str, sign: float, observed: Observed,
    settings: NumberSettings,
) -> LineGraph | None:  # fmt: skip
    """The root `one` above the children of both; `None` if that is too many parents."""
    names = tuple(n for n in graph.lines.names if n != other)
    arcs = {(one if a == other else a, c) for a, c in graph.dag.arcs}
    dag = DAG(names, sorted(arcs))
    if max(len(dag.parents(n)) for n in names) > most_parents(observed, settings):
        return None
    i, j = (graph.lines.names.index(n) for n in (one, other))
    kept = [k for k in range(len(graph.lines.names)) if k != j]
    b = graph.lines.coefficients.copy()
    b[:, i] += sign * b[:, j]
    lines = Lines(
        names, b[np.ix_(kept, kept)], graph.lines.intercept[kept], graph.lines.variances[kept]
    )
    hidden = [h for h in graph.hidden if h != other]
    return fitted_graph(observed, dag, hidden, lines, None, FEW_STEPS, ROUGH)
