"""Lines and curves behind one face: what evidence asks of a fitted graph, whatever its families."""

from __future__ import annotations

from typing import Any, Protocol

from unveil.discovery.continuous.adapting import AnyGraph, left_without, shortlist, without
from unveil.discovery.continuous.few import few_rows, with_sparse_arcs
from unveil.discovery.continuous.settings import NumberSettings
from unveil.em.curve_structure import (
    CurveGraph,
    CurveRules,
    curve_structural_em,
    fitted_curves,
)
from unveil.em.line_structure import LineGraph, fitted_graph
from unveil.em.lines import Observed
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["CurveKind", "Kind", "LineKind"]

FEW, ROUNDS = 5, 6
"""Additions that are scored per family while rows are completed, and rounds of structural EM."""
QUICK = 200, 1e-5
"""Steps of EM for a resampled table, and where they stop (nats per row)."""


class Kind(Protocol):
    """Graphs of one kind of families: fitted to other rows, without a variable, as networks."""

    def refitted(
        self, graph: Any, rows: Table, ticker: Ticker | None, quick: bool = False
    ) -> AnyGraph:
        """The same arcs, parameters fitted to `rows`."""

    def without(self, graph: Any, name: str, ticker: Ticker | None) -> AnyGraph:
        """The graph without one hidden variable, its arcs learned anew from the table."""

    def network(self, graph: Any) -> Network:
        """The network; its hidden variables are marked."""


class LineKind:
    """Linear Gaussian graphs of a table."""

    def __init__(self, table: Table, observed: Observed, settings: NumberSettings) -> None:
        self.table, self.observed, self.settings = table, observed, settings

    def refitted(
        self, graph: LineGraph, rows: Table, ticker: Ticker | None, quick: bool = False
    ) -> LineGraph:
        """By regression, or by EM from the lines there are."""
        dag, hidden, lines = graph.dag, graph.hidden, graph.lines
        observed = Observed.of(rows)
        if quick:
            return fitted_graph(observed, dag, hidden, lines, None, *QUICK)
        return fitted_graph(observed, dag, hidden, lines, ticker=ticker)

    def without(self, graph: LineGraph, name: str, ticker: Ticker | None) -> LineGraph:
        """By structural EM; where rows are few, by sparse arcs if there are any."""
        if not few_rows(self.observed):
            return without(graph, name, self.observed, self.settings, ticker)
        dag, rest = left_without(graph, name)
        begun = fitted_graph(self.observed, dag, rest, graph.lines, ticker=ticker)
        if all(a in graph.hidden for a, _ in graph.dag.arcs):
            return begun
        return with_sparse_arcs(begun, self.observed, self.settings, ticker or Ticker())

    def network(self, graph: LineGraph) -> Network:
        """Its lines, in the table's units."""
        known = {v.name: v for v in self.table.variables}
        return graph.lines.network(known, graph.dag, graph.hidden)


class CurveKind:
    """Graphs of curves of a table; likelihoods are bounds where something is unseen."""

    def __init__(self, table: Table, rules: CurveRules, settings: NumberSettings) -> None:
        self.table, self.rules, self.settings = table, rules, settings

    def refitted(
        self, graph: CurveGraph, rows: Table, ticker: Ticker | None, quick: bool = False
    ) -> CurveGraph:
        """By EM from the curves there are."""
        steps = 10 if quick else 100
        return fitted_curves(
            rows, graph.dag, self.rules, graph.hidden, graph.network, steps, ticker
        )

    def adapted(self, graph: CurveGraph, ticker: Ticker | None) -> CurveGraph:
        """The graph after structural EM, over shortlists."""
        few = shortlist(self.settings, FEW)
        return curve_structural_em(
            self.table, graph, self.rules, shortlist=few, max_rounds=ROUNDS, ticker=ticker
        )

    def without(self, graph: CurveGraph, name: str, ticker: Ticker | None) -> CurveGraph:
        """By structural EM."""
        dag, rest = left_without(graph, name)
        begun = fitted_curves(self.table, dag, self.rules, rest, max_iterations=20, ticker=ticker)
        return self.adapted(begun, ticker)

    def network(self, graph: CurveGraph) -> Network:
        """The network that the graph has."""
        return graph.network
