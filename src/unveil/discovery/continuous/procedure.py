"""Where continuous hidden parents belong: two layers, graphs, and the better of them (8.2, 7.3).

| phase | gives |
| --- | --- |
| baseline | the best graph over the columns alone |
| two layers | hidden roots above columns, by clusters of ideal profiles and by turned axes |
| adapting | the same with arcs between columns as well, by structural EM |
| inside | hidden roots inside the baseline, from what clusters of its columns have in common |
| rows left out | what they save where both sides are found anew (`left_out.py`) |

Scores are BIC in nats. A hidden variable is kept if the score gains more than luck: the logarithm
of the number of sets of children that it could have had. Several of them may pay together: they are
kept if all gain more than the logarithm of the number of ways in which they could have parted the
columns, and each the share of it that it adds. Nothing is kept that predicts rows left out worse,
by more than a standard error.

Where rows are few, BIC says little of either side, and rows left out judge both (`few.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from unveil.discovery.continuous.adapting import (
    G,
    Tried,
    adapted,
    all_have_children,
    moments_of,
    needed_for,
    needed_together,
    without,
)
from unveil.discovery.continuous.few import few_rows, find_in_few
from unveil.discovery.continuous.graphs import baseline_graph, graph_of_layers
from unveil.discovery.continuous.inside import hidden_inside
from unveil.discovery.continuous.left_out import left_out_gain, predicts_worse
from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.line_structure import LineGraph, fitted_graph
from unveil.em.lines import Lines, Observed
from unveil.evaluate.log_loss import LogLoss
from unveil.graph.dag import DAG
from unveil.hidden.candidate import fresh_name
from unveil.ideal.find_layers import FoundLayers, find_layers
from unveil.ideal.layers import LEAST_CHILDREN, Leaves
from unveil.progress import StopReason, Ticker
from unveil.search.learn import in_order

__all__ = [
    "Found", "Tried", "baseline_graph", "find_hidden_parents",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Found(Generic[G]):
    """The best network, the baseline without hidden variables, and all that was tried.

    `left_out` are the bits per row left out that hidden variables save, if any gained more than
    luck; if they save none (`predicts_worse`), none is kept; nor where rows are few, unless they
    clearly save some (`clearly_better`). Of curves, `lines` are what was found
    with lines.
    """

    graph: G
    baseline: G
    tried: tuple[Tried[G], ...]
    layers: FoundLayers | None
    needed: float
    stopped: StopReason
    lines: Found[LineGraph] | None = None
    left_out: LogLoss | None = None

    @property
    def gain(self) -> float:
        """What the score gains over the baseline, in nats."""
        return self.graph.score - self.baseline.score


def find_hidden_parents(
    observed: Observed,
    settings: NumberSettings,
    ticker: Ticker | None = None,
    *,
    leave_out: bool = True,
) -> Found[LineGraph]:
    """The best network with or without continuous hidden parents.

    Rows are asked as well that were left out, unless `leave_out` says no.
    """
    ticker = ticker or Ticker()
    if leave_out and few_rows(observed):
        return _found_in_few(observed, settings, ticker)
    baseline = baseline_graph(observed, settings, ticker.part("baseline", 0.25))
    tried: list[Tried[LineGraph]] = []
    layers = None
    if len(observed.names) > LEAST_CHILDREN and settings.max_hidden and ticker.keep_going():
        leaves = Leaves(moments_of(baseline, observed), max_parents=settings.max_parents)
        rows = observed.values if observed.moments is not None else None
        part = ticker.part("two layers", 0.5)
        layers = find_layers(leaves, settings.max_hidden, ticker=part, rows=rows)
        if layers.layers.n_hidden:
            begun = graph_of_layers(layers.layers, observed, leaves)
            plain = _refitted(begun, observed, ticker)
            tried.append(Tried("two layers", plain, plain.score - baseline.score))
            more = adapted(plain, observed, settings, ticker.part("adapting", 0.6))
            tried.append(Tried("two layers and arcs", more, more.score - baseline.score))
        tried += hidden_inside(baseline, observed, settings, ticker.part("inside"))
    tried.sort(key=lambda t: -t.graph.score)
    best, needed = baseline, 0.0
    for one in tried:
        if one.graph.hidden and all_have_children(one.graph):
            needed = needed_for(one.graph, len(observed.names), settings)
            if one.gain > needed:
                best = _warranted(one.graph, baseline, observed, settings, ticker.part("pruning"))
            break
    saved: LogLoss | None = None
    if best.hidden and leave_out:
        part = ticker.part("rows left out")
        saved = left_out_gain(best, observed, settings, baseline_graph, part)
        if predicts_worse(saved):
            best = baseline
    return Found(
        _named(best, observed), baseline, tuple(tried), layers, needed,
        ticker.reason or "converged", left_out=saved,
    )  # fmt: skip


def _found_in_few(observed: Observed, settings: NumberSettings, ticker: Ticker) -> Found[LineGraph]:
    """What rows left out say where rows are few, as everything else is told."""
    few = find_in_few(observed, settings, ticker)
    best = few.with_hidden
    needed = needed_for(best, len(observed.names), settings) if best is not None else 0.0
    tried = [Tried(how, graph, graph.score - few.without.score) for how, graph in few.tried]
    return Found(
        _named(few.chosen, observed), few.without, tuple(sorted(tried, key=lambda t: -t.gain)),
        few.layers, needed, ticker.reason or "converged", left_out=few.saved,
    )  # fmt: skip


def _warranted(
    graph: LineGraph,
    baseline: LineGraph,
    observed: Observed,
    settings: NumberSettings,
    ticker: Ticker,
) -> LineGraph:
    """The network without hidden variables that are luck; the baseline if all of them are."""
    n = len(observed.names)
    together = _pruned(graph, observed, settings, ticker, jointly=True)
    if together.score > baseline.score + needed_together(together, n, settings):
        return together
    alone = _pruned(together, observed, settings, ticker)
    paid = alone.score > baseline.score + needed_for(alone, n, settings)
    return alone if paid else baseline


def _pruned(
    graph: LineGraph,
    observed: Observed,
    settings: NumberSettings,
    ticker: Ticker,
    jointly: bool = False,
) -> LineGraph:
    """The network without hidden variables that do not pay for themselves, weakest first.

    Each on its own, or for the share that it adds to what all need together.
    """
    n = len(observed.names)
    while len(graph.hidden) > 1 and ticker.keep_going():
        fewest = min(graph.hidden, key=lambda h: len(graph.dag.children(h)))
        less = without(graph, fewest, observed, settings, ticker.part())
        needed = needed_for(graph, n, settings)
        if jointly:
            share = needed_together(graph, n, settings) - needed_together(less, n, settings)
            needed = min(needed, max(share, settings.min_gain))
        if graph.score - less.score > needed:
            break
        if not all_have_children(less):
            break
        graph = less
    return graph


def _refitted(graph: LineGraph, observed: Observed, ticker: Ticker) -> LineGraph:
    return fitted_graph(observed, graph.dag, graph.hidden, graph.lines, ticker=ticker.part())


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
