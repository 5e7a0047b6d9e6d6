"""Do hidden parents predict rows left out as well? Arcs are found anew in every fold.

A score may gain by what is no hidden variable: a bent relation, say, that arcs cannot follow. What
it gains is then lost again on rows that it was not chosen by. So in each of five folds both sides
are found anew from the other rows: the best graph over the columns alone, and one with hidden
parents. All that a fold is told is which columns were their children. Where its rows would not
choose hidden parents, the fold has none, and saves nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unveil.discovery.continuous.adapting import adapted, all_have_children
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.continuous.starts import most_parents
from unveil.discovery.continuous.walk import walked
from unveil.em.line_structure import LineGraph, fitted_graph
from unveil.em.lines import Observed
from unveil.errors import DataError
from unveil.evaluate.folds import fold_tables, n_cases
from unveil.evaluate.log_loss import LogLoss, log_loss
from unveil.graph.dag import DAG
from unveil.progress import Ticker
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["FOLDS", "left_out_gain", "predicts_worse"]

FOLDS = 5
STEPS, ROUGH, ROUNDS = 200, 1e-5, 5
"""Steps of EM in a fold, where they stop (nats per row), and rounds of structural EM."""
IN_VAIN = 5
"""A fold's walk (`walk.py`) ends after so many steps that gain nothing."""


def predicts_worse(saved: LogLoss | None) -> bool:
    """Whether rows left out are predicted worse, by more than their standard error.

    >>> bits, ones = np.array([-3.0, -2.0, -3.0]), np.ones(3)
    >>> predicts_worse(LogLoss.of(bits, ones)), predicts_worse(LogLoss.of(-bits, ones))
    (True, False)
    """
    return saved is not None and saved.bits < -saved.standard_error


def left_out_gain(
    graph: LineGraph,
    observed: Observed,
    settings: NumberSettings,
    search: Callable[[Observed, NumberSettings, Ticker], LineGraph],
    ticker: Ticker,
) -> LogLoss | None:
    """The bits per row left out that hidden parents save; `search` finds a graph without them.

    `None` where there are too few rows to leave some out, or no time.
    """
    table = Table([Variable(n) for n in observed.names], list(observed.values.T), observed.weights)
    folds = min(FOLDS, n_cases(table))
    if folds < 2:
        return None
    bits, weights = list[np.ndarray](), list[np.ndarray]()
    for rows, left_out in fold_tables(table, folds, 0, settings.blocks):
        if not ticker.keep_going():
            return None
        try:
            here = Observed.of(rows)
        except DataError:
            return None
        plain = search(here, settings, ticker.part())
        found = _anew(graph, plain, here, settings, ticker)
        chosen = found if all_have_children(found) and found.score > plain.score else plain
        known = {v.name: v for v in table.variables}
        without, own = (
            log_loss(g.lines.network(known, g.dag, g.hidden), left_out).per_row
            for g in (plain, chosen)
        )
        bits.append(without - own)
        weights.append(left_out.row_weights)
    return LogLoss.of(np.concatenate(bits), np.concatenate(weights))


def _anew(
    graph: LineGraph, plain: LineGraph, rows: Observed, settings: NumberSettings, ticker: Ticker
) -> LineGraph:
    """The best graph with hidden parents that other rows lead to, all arcs between columns theirs.

    Told are the children of hidden parents alone. They begin above the graph that these rows have
    without them, beside the arcs among their children and instead of these.
    """
    above = [(h, c) for h in graph.hidden for c in graph.dag.children(h)]
    own = [{*graph.dag.children(h)} for h in graph.hidden]
    apart = [(a, b) for a, b in plain.dag.arcs if not any({a, b} <= some for some in own)]
    made = []
    starts = [DAG([*plain.dag.nodes, *graph.hidden], [*a, *above]) for a in (plain.dag.arcs, apart)]
    most = most_parents(rows, settings)
    fit = [dag for dag in starts if max(len(dag.parents(n)) for n in rows.names) <= most]
    for dag in fit or [graph.dag]:
        begun = fitted_graph(rows, dag, graph.hidden, graph.lines, None, STEPS, ROUGH)
        made.append(adapted(begun, rows, settings, ticker.part(), ROUNDS, polish=False))
    best = max(made, key=lambda g: g.score)
    if rows.moments is None or not all_have_children(best):
        return best
    return walked(best, rows, settings, ticker, IN_VAIN)
