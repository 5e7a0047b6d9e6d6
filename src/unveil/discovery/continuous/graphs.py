"""Graphs that looking for continuous hidden parents begins with: columns alone, and two layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil.discovery.continuous.adapting import shortlist
from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.line_structure import LineGraph, fitted_graph, line_structural_em
from unveil.em.lines import Lines, Observed
from unveil.graph.dag import DAG
from unveil.hidden.candidate import fresh_name
from unveil.ideal.layers import Layers, Leaves
from unveil.progress import Ticker
from unveil.score.bic import BIC
from unveil.score.gaussian_families import GaussianFamilies
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints
from unveil.search.learn import in_order

__all__ = ["baseline_graph", "graph_of_layers", "layers_dag"]


def baseline_graph(
    observed: Observed,
    settings: NumberSettings,
    ticker: Ticker | None = None,
    score: Any = None,
) -> LineGraph:
    """The best graph over the columns alone: a search, or structural EM where cells are missing.

    By BIC unless another `score` is given; what it scores is told by BIC in any case.
    """
    rules = Constraints(max_parents=settings.max_parents)
    names = observed.names
    if observed.moments is None:
        alone = fitted_graph(observed, DAG(names), ticker=ticker)
        return line_structural_em(observed, alone, score, rules, shortlist(settings), 20, ticker)
    order = sorted(range(len(names)), key=lambda i: names[i])
    families = GaussianFamilies.of_moments(
        [names[i] for i in order], observed.moments.of_columns(order), score or BIC()
    )
    found = combined_search(shortlist(settings)(families), constraints=rules, progress=ticker)
    return fitted_graph(observed, in_order(found.dag, names))


def graph_of_layers(layers: Layers, observed: Observed, leaves: Leaves) -> LineGraph:
    """A two-layer network as a graph, in the units of the data, not yet fitted to them."""
    k, names = layers.n_hidden, list(observed.names)
    dag, hidden = layers_dag(layers, names)
    n = len(names)
    b = np.zeros((n + k, n + k))
    b[:n, n:] = layers.weights * leaves.spread[:, None]
    lines = Lines(
        (*names, *hidden), b, np.concatenate([leaves.mean, np.zeros(k)]),
        np.concatenate([layers.variances * leaves.spread**2, np.ones(k)]),
    )  # fmt: skip
    return LineGraph(dag, hidden, lines, 0.0, 0.0)


def layers_dag(layers: Layers, names: Sequence[str]) -> tuple[DAG, tuple[str, ...]]:
    """The arcs of a two-layer network above the columns `names`, and the hidden variables."""
    hidden: list[str] = []
    for _ in range(layers.n_hidden):
        hidden.append(fresh_name([*names, *hidden]))
    below = [np.flatnonzero(column).tolist() for column in layers.arcs.T]
    arcs = [(h, names[i]) for h, own in zip(hidden, below, strict=True) for i in own]
    return DAG([*names, *hidden], arcs), tuple(hidden)
