"""Hidden parents where rows are few for the columns: rows left out judge both sides (8.2).

With fewer than `FEW` rows for each column the best graph by BIC has arcs that are luck. It scores
high and predicts badly, and no score says what a hidden variable is worth beside it. So there are
several ways to a graph without hidden variables, and to one with them:

| way | gives |
| --- | --- |
| no arcs | every column alone |
| one parent | the best graph by MDL with at most one parent for each column |
| sparse | the best graph by MDL, which pays log n for every parent (Eq. 2.13) |
| two layers | hidden roots above columns that gain more than luck over no arcs (7.3) |
| two layers and sparse arcs | the same with arcs between columns as well, by MDL |

In every fold each way is gone anew from the other rows, which are told nothing of what all rows
showed. Of either side the way that predicts rows left out best stands for it. Hidden variables are
kept if most folds find some, and they save more bits than luck would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from unveil.discovery.continuous.adapting import all_have_children, moments_of
from unveil.discovery.continuous.graphs import baseline_graph, graph_of_layers
from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.line_structure import LineGraph, fitted_graph, line_structural_em
from unveil.em.lines import Observed
from unveil.errors import DataError
from unveil.evaluate.folds import fold_tables, n_cases
from unveil.evaluate.log_loss import LogLoss, log_loss
from unveil.graph.dag import DAG
from unveil.ideal.find_layers import FoundLayers, find_layers
from unveil.ideal.layers import LEAST_CHILDREN, Leaves
from unveil.progress import Ticker
from unveil.score.mdl import MDL
from unveil.search.constraints import Constraints
from unveil.search.learn import FEW
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["FewRows", "clearly_better", "few_rows", "find_in_few", "with_sparse_arcs"]

FOLDS = 10
SURE = 0.95
"""How sure rows left out have to be (Student's t): it is luck one time in twenty at most."""
STEPS, ROUGH, ROUNDS = 200, 1e-5, 5
"""Steps of EM in a fold, where they stop (nats per row), and rounds of structural EM."""

Graphs = dict[str, LineGraph]
Bits = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FewRows:
    """The best graph of either side by rows left out, what hidden variables save, all tried."""

    without: LineGraph
    with_hidden: LineGraph | None
    saved: LogLoss | None
    tried: tuple[tuple[str, LineGraph], ...]
    layers: FoundLayers | None
    share: float = 0.0
    """The share of rows left out for which the others led to hidden variables as well."""

    @property
    def chosen(self) -> LineGraph:
        """The graph with hidden variables if these were found in most folds and clearly save bits,
        else the one without.
        """
        sure = self.share > 0.5 and clearly_better(self.saved)
        return self.with_hidden if self.with_hidden is not None and sure else self.without


def few_rows(observed: Observed) -> bool:
    """Whether there are fewer than `FEW` rows for each column."""
    return bool(observed.total < FEW * len(observed.names))


def clearly_better(saved: LogLoss | None) -> bool:
    """Whether rows left out are predicted better than luck would (one-sided, Student's t).

    >>> bits, ones = np.array([3.0, 2.0, 3.0]), np.ones(3)
    >>> clearly_better(LogLoss.of(bits, ones)), clearly_better(LogLoss.of(bits - 2, ones))
    (True, False)
    """
    if saved is None:
        return False
    freedom = max(float(saved.weights.sum()) - 1, 1.0)
    return bool(saved.bits > float(stdtrit(freedom, SURE)) * saved.standard_error)


def find_in_few(observed: Observed, settings: NumberSettings, ticker: Ticker) -> FewRows:
    """The best graphs without and with hidden parents, as rows left out judge them.

    Where no rows can be left out, or there is no time, nothing hidden is kept.
    """
    plain = _without(observed, settings, ticker.part("baseline", 0.1))
    hidden, layers = _with(observed, plain, settings, ticker.part("two layers", 0.2))
    judged = _left_out(observed, settings, ticker.part("rows left out"))
    if not judged:
        return FewRows(list(plain.values())[-1], None, None, tuple(hidden.items()), layers)
    side = min(plain, key=lambda way: _mean(judged[way]))
    tried = tuple(hidden.items())
    if not hidden:
        return FewRows(plain[side], None, None, tried, layers)
    # Where a fold's rows lead to no hidden variable, these save nothing there.
    own = {way: _filled(judged[way], judged[side]) for way in hidden}
    best = min(own, key=lambda way: _mean(own[way]))
    bits, weights = judged[side].T
    saved = LogLoss.of(bits - own[best][:, 0], weights)
    share = float(np.average(~np.isnan(judged[best][:, 0]), weights=weights))
    return FewRows(plain[side], hidden[best], saved, tried, layers, share)


def with_sparse_arcs(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker
) -> LineGraph:
    """The graph with arcs between columns by MDL, hidden parents and their children as they are."""
    above = {(h, c) for h in graph.hidden for c in graph.dag.children(h)}
    others = [(h, c) for h in graph.hidden for c in observed.names if (h, c) not in above]
    rules = Constraints(
        max_parents=settings.max_parents, required=sorted(above), forbidden=others
    )  # fmt: skip
    found = line_structural_em(
        observed, graph, MDL(), rules, max_rounds=ROUNDS, ticker=ticker, polish=False
    )
    return _fitted(found, observed)


def _without(observed: Observed, settings: NumberSettings, ticker: Ticker) -> Graphs:
    """Graphs without hidden variables; as many as there is time for, at least one."""
    narrow = replace(settings, max_parents=1)
    ways: dict[str, Callable[[], LineGraph]] = {
        "no arcs": lambda: fitted_graph(observed, DAG(observed.names)),
        "one parent": lambda: baseline_graph(observed, narrow, ticker.part(), MDL()),
        "sparse": lambda: baseline_graph(observed, settings, ticker.part(), MDL()),
    }
    found: Graphs = {}
    for name, way in ways.items():
        if not found or ticker.keep_going():
            found[name] = way()
    return found


def _with(
    observed: Observed, plain: Graphs, settings: NumberSettings, ticker: Ticker
) -> tuple[Graphs, FoundLayers | None]:
    """Graphs with hidden parents, if there are any."""
    enough = len(observed.names) > LEAST_CHILDREN and settings.max_hidden
    if not enough or not ticker.keep_going():
        return {}, None
    moments = moments_of(plain["no arcs"], observed)
    leaves = Leaves(moments, max_parents=settings.max_parents)
    rows = observed.values if observed.moments is not None else None
    layers = find_layers(leaves, settings.max_hidden, ticker=ticker.part(), rows=rows)
    if not layers.layers.n_hidden:
        return {}, layers
    begun = _fitted(graph_of_layers(layers.layers, observed, leaves), observed)
    found = {"two layers": begun}
    if ticker.keep_going():
        more = with_sparse_arcs(begun, observed, settings, ticker.part())
        found["two layers and sparse arcs"] = more
    return {way: graph for way, graph in found.items() if all_have_children(graph)}, layers


def _left_out(
    observed: Observed, settings: NumberSettings, ticker: Ticker
) -> dict[str, npt.NDArray[np.float64]]:
    """Bits and weights of rows left out by every way, shape (n_rows, 2); NaN where a fold has no
    such graph. Empty where nothing could be left out, or there was no time.
    """
    table = Table([Variable(n) for n in observed.names], list(observed.values.T), observed.weights)
    known = {v.name: v for v in table.variables}
    folds, parts = min(FOLDS, n_cases(table)), list[tuple[dict[str, Bits], Bits]]()
    for rows, left_out in fold_tables(table, folds, 0, settings.blocks) if folds > 1 else ():
        if not ticker.keep_going():
            return {}
        try:
            here = Observed.of(rows)
        except DataError:  # a column that varies in rows left out only
            continue
        graphs = _without(here, settings, ticker.part())
        graphs |= _with(here, graphs, settings, ticker.part())[0]
        bits = {
            way: log_loss(g.lines.network(known, g.dag, g.hidden), left_out).per_row
            for way, g in graphs.items()
        }
        parts.append((bits, left_out.row_weights))
    if not ticker.keep_going():
        return {}
    return {way: _joined(parts, way) for way in WAYS} if parts else {}


WAYS = ("no arcs", "one parent", "sparse", "two layers", "two layers and sparse arcs")


def _joined(parts: list[tuple[dict[str, Bits], Bits]], way: str) -> Bits:
    """Bits and weights of all folds below one another."""
    rows = [
        np.column_stack([bits.get(way, np.full(len(weights), np.nan)), weights])
        for bits, weights in parts
    ]
    return np.concatenate(rows)


def _filled(bits: Bits, others: Bits) -> Bits:
    return np.where(np.isnan(bits), others, bits)


def _mean(bits: Bits) -> float:
    return float(np.average(bits[:, 0], weights=bits[:, 1]))


def _fitted(graph: LineGraph, observed: Observed) -> LineGraph:
    return fitted_graph(observed, graph.dag, graph.hidden, graph.lines, None, STEPS, ROUGH)
