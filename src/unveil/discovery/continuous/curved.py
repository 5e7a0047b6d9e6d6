"""Where continuous hidden parents belong if columns follow curves (thesis 7.3 to 7.5).

| phase | gives |
| --- | --- |
| lines | hidden parents as lines see them: one of the starts, and a simpler explanation |
| normal scores | the same over normal scores of the columns |
| baseline | the best graph of curves over the columns alone |
| curves | EM of curves over the graphs of the first two; the best go on by structural EM |

A sigmoid of a weighted sum is a monotone function of it, so the ranks of a column, spaced like
those of normal numbers, are nearly a line in its parents: there the number of parents shows. Lines
over the columns themselves take the bend for a further parent. All are judged by curves in the end:
by BIC of the bound of the likelihood, which is exact for the baseline, so that it never favours
hidden variables; and by rows left out, which they must not predict worse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from unveil.discovery.continuous.adapting import Tried, all_have_children, needed_for, shortlist
from unveil.discovery.continuous.graphs import layers_dag
from unveil.discovery.continuous.kinds import CurveKind
from unveil.discovery.continuous.left_out import FOLDS, predicts_worse
from unveil.discovery.continuous.loadings import loadings_of
from unveil.discovery.continuous.procedure import Found, find_hidden_parents
from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.curve_structure import (
    SHORT,
    CurveGraph,
    CurveRules,
    curve_structural_em,
    fitted_curves,
)
from unveil.em.line_structure import LineGraph
from unveil.em.lines import Observed
from unveil.evaluate.cross_validation import CrossValidation, cross_validate
from unveil.evaluate.folds import n_cases
from unveil.evaluate.log_loss import LogLoss, paired_gain
from unveil.graph.dag import DAG
from unveil.graph.names import Pair
from unveil.hidden.candidate import fresh_name
from unveil.model.curve_network import fit_curves
from unveil.model.curves import Curve
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.score.bic import BIC
from unveil.score.curve_families import CurveFamilies
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints
from unveil.search.learn import in_order
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["curve_kind", "find_curved_parents", "normal_scores"]

MOST_STARTS, ADAPTED = 6, 2
"""So many graphs begin with curves; so many of the best go on by structural EM."""


def curve_kind(table: Table, settings: NumberSettings, curve: Curve) -> CurveKind:
    """Graphs of these curves, judged by BIC."""
    limits = Constraints(max_parents=settings.max_parents)
    return CurveKind(table, CurveRules(curve, BIC(), None, limits), settings)


def find_curved_parents(
    kind: CurveKind, observed: Observed, ticker: Ticker | None = None
) -> Found[CurveGraph]:
    """The best network of curves with or without continuous hidden parents."""
    ticker, table, settings = ticker or Ticker(), kind.table, kind.settings
    lines = find_hidden_parents(observed, settings, ticker.part("lines", 0.2), leave_out=False)
    baseline = _baseline(kind, ticker.part("baseline", 0.2))
    tried: list[Tried[CurveGraph]] = []
    if settings.max_hidden and ticker.keep_going():
        scores = Observed.of(normal_scores(table))
        part = ticker.part("normal scores", 0.3)
        ranked = find_hidden_parents(scores, settings, part, leave_out=False)
        tried = _curves(kind, _starts(ranked, lines), baseline, ticker.part("curves"))
    best, needed = baseline, 0.0
    for one in tried:
        if one.graph.hidden and all_have_children(one.graph):
            needed = needed_for(one.graph, table.n_columns, settings)
            if one.gain > needed:
                best = _pruned(kind, one.graph, ticker.part("pruning"))
            break
    if best.score < baseline.score + needed:
        best = baseline
    saved = _left_out(kind, best, baseline, ticker.part("rows left out")) if best.hidden else None
    if predicts_worse(saved):
        best = baseline
    return Found(
        _named(best, table), baseline, tuple(tried), None, needed, ticker.reason or "converged",
        lines, saved,
    )  # fmt: skip


def normal_scores(table: Table) -> Table:
    """The columns' ranks, spaced like those of normal numbers; gaps stay.

    >>> rows = Table.from_frame({"x": [1.0, 100.0, 10.0]})
    >>> normal_scores(rows).column("x").round(2).tolist()
    [-0.97, 0.97, 0.0]
    """
    columns = []
    for name in table.names:
        column = np.asarray(table.column(name), np.float64).copy()
        seen = ~np.isnan(column)
        column[seen] = ndtri((rankdata(column[seen]) - 0.5) / seen.sum())
        columns.append(column)
    return Table([Variable(n) for n in table.names], columns, table.weights)


def _baseline(kind: CurveKind, ticker: Ticker) -> CurveGraph:
    """The best graph of curves over the columns alone."""
    table, rules = kind.table, kind.rules
    few = shortlist(kind.settings)
    if not table.is_complete:
        alone = fitted_curves(table, DAG(table.names), rules, max_iterations=SHORT)
        return curve_structural_em(table, alone, rules, combined_search, few, ticker=ticker)
    families = CurveFamilies(table.select(sorted(table.names)), rules.score, rules.curve)
    found = combined_search(few(families), constraints=rules.constraints, progress=ticker)
    network = fit_curves(in_order(found.dag, table.names), table, rules.curve)
    return CurveGraph(network, (), network.log_likelihood(table), families.total(found.dag))


def _starts(
    ranked: Found[LineGraph], lines: Found[LineGraph]
) -> Iterator[tuple[str, DAG, tuple[str, ...]]]:
    """Graphs to begin with: how, arcs, hidden variables; each once."""
    known: set[tuple[frozenset[tuple[str, ...]], frozenset[Pair]]] = set()
    offered = [("normal scores", ranked.graph.dag, ranked.graph.hidden)]
    if ranked.layers is not None:
        names = ranked.baseline.dag.nodes
        for stage in reversed(ranked.layers.stages):
            offered.append(("two layers of normal scores", *layers_dag(stage.layers, names)))
    offered.insert(3, ("lines", lines.graph.dag, lines.graph.hidden))
    for how, dag, hidden in offered:
        behind = frozenset(dag.children(h) for h in hidden)
        arcs = frozenset(arc for arc in dag.arcs if arc[0] not in hidden)
        if hidden and (behind, arcs) not in known and len(known) < MOST_STARTS:
            known.add((behind, arcs))
            yield how, dag, hidden


def _curves(
    kind: CurveKind, starts: Iterator[tuple[str, DAG, tuple[str, ...]]], baseline: CurveGraph,
    ticker: Ticker,
) -> list[Tried[CurveGraph]]:  # fmt: skip
    """Curves over every start, then structural EM of the best; the best first."""
    begun = []
    for how, dag, hidden in starts:
        if not ticker.keep_going():
            break
        graph = fitted_curves(
            kind.table, dag, kind.rules, hidden, max_iterations=SHORT, ticker=ticker
        )
        begun.append((how, graph))
        ticker.offer("curves", len(begun), graph.score, detail=how)
    begun.sort(key=lambda pair: -pair[1].score)
    tried = [Tried(how, graph, graph.score - baseline.score) for how, graph in begun]
    for number, (how, graph) in enumerate(begun[:ADAPTED], start=1):
        if not ticker.keep_going():
            break
        more = kind.adapted(graph, ticker.part())
        if more.hidden:
            more = kind.refitted(more, kind.table, ticker)
        tried.append(Tried(f"{how}, then arcs", more, more.score - baseline.score))
        ticker.offer("curves", len(begun) + number, more.score, detail=f"{how}, then arcs")
    return sorted(tried, key=lambda t: -t.graph.score)


def _left_out(
    kind: CurveKind, graph: CurveGraph, baseline: CurveGraph, ticker: Ticker
) -> LogLoss | None:
    """The bits per row left out that hidden parents save, curves fitted anew and arcs as they are.

    `None` where there are too few rows to leave some out, or no time.
    """
    folds = min(FOLDS, n_cases(kind.table))
    if folds < 2:
        return None
    found = list[CrossValidation]()
    for one in (graph, baseline):

        def learned(rows: Table, own: CurveGraph = one) -> Network:
            return kind.refitted(own, rows, None, quick=True).network

        if not ticker.keep_going():
            return None
        blocks = kind.settings.blocks
        result = cross_validate(kind.table, learned, folds, 0, ticker.part(), blocks=blocks)
        if not result.is_whole:
            return None
        found.append(result)
    return paired_gain(*found)


def _pruned(kind: CurveKind, graph: CurveGraph, ticker: Ticker) -> CurveGraph:
    """The network without hidden variables that do not pay for themselves, weakest first."""
    dropped = True
    while len(graph.hidden) > 1 and dropped and ticker.keep_going():
        dropped = False
        needed = needed_for(graph, kind.table.n_columns, kind.settings)
        for name in sorted(graph.hidden, key=lambda h: len(graph.dag.children(h))):
            less = kind.without(graph, name, ticker.part())
            if all_have_children(less) and graph.score - less.score <= needed:
                graph, dropped = less, True
                break
            if not ticker.keep_going():
                break
    return graph


def _named(graph: CurveGraph, table: Table) -> CurveGraph:
    """Hidden variables numbered by the bits that they explain."""
    if not graph.hidden:
        return graph
    explained = {
        h: sum(x.bits for x in own) for h, own in loadings_of(graph.network, table).items()
    }
    order = sorted(graph.hidden, key=lambda h: -explained[h])
    called: list[str] = []
    for _ in order:
        called.append(fresh_name([*table.names, *called]))
    renamed = graph.network.renamed(dict(zip(order, called, strict=True)))
    network = _ordered(renamed, [*table.names, *called])
    return replace(graph, network=network, hidden=tuple(called))


def _ordered(network: Network, names: Sequence[str]) -> Network:
    return Network((network.cpd(n) for n in names), network.name, network.description)
