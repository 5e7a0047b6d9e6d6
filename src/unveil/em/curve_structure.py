"""Structural EM for networks of curves: gaps, hidden roots, arcs of any kind (thesis 7.4, 7.5).

A step completes the rows by points of their nearest Gaussians and lets a search find a graph of
curves over them. It is taken if it raises the score: the bound of the log-likelihood less the cost
of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unveil.em.curves import LONG, fit_curves_em
from unveil.em.line_structure import with_roots
from unveil.graph.dag import DAG
from unveil.infer.gaussian.curves import row_posteriors
from unveil.model.curve_fit import Fitter
from unveil.model.curve_network import curve_cpd
from unveil.model.curves import Curve
from unveil.model.network import Network
from unveil.progress import Step, StopReason, Ticker
from unveil.score.base import Sample
from unveil.score.curve_families import CurveFamilies, ParameterCost
from unveil.score.protocol import Families
from unveil.score.structure import StructurePrior
from unveil.search.constraints import Constraints
from unveil.search.hill_climbing import hill_climbing
from unveil.table.core import Table

__all__ = ["CurveGraph", "CurveRules", "curve_structural_em", "expected_families", "fitted_curves"]

SHORT = 20
"""Iterations of EM between changes of structure."""
LEAST_CHILDREN = 2
"""A hidden root with fewer children says nothing."""


@dataclass(frozen=True, eq=False)
class CurveGraph:
    """A network of curves over columns and hidden roots, fitted: its bound and its score (nats)."""

    network: Network
    hidden: tuple[str, ...]
    bound: float
    score: float
    n_scored: int = 0
    """How many families a search fitted on the way."""
    trace: tuple[Step, ...] = ()
    stopped: StopReason = "converged"

    @property
    def dag(self) -> DAG:
        """The graph."""
        return self.network.dag

    @property
    def n_parameters(self) -> int:
        """Those of the network; mean and variance of a hidden root are fixed."""
        return self.network.n_parameters - 2 * len(self.hidden)


@dataclass(frozen=True)
class CurveRules:
    """Which curves, judged by what, within which limits."""

    curve: Curve
    score: ParameterCost
    structure_prior: StructurePrior | None = None
    constraints: Constraints | None = None

    def judged(self, network: Network, hidden: Sequence[str], bound: float, table: Table) -> float:
        """The bound less the cost of parameters, and the prior of the structure."""
        n_parameters = float(network.n_parameters - 2 * len(hidden))
        sample = Sample(table.total_weight, table.n_columns)
        value = bound - float(self.score.cost(n_parameters, float(network.dag.n_arcs), sample))
        if self.structure_prior is not None:
            prior = self.structure_prior
            value += sum(prior.family(n, network.dag.parents(n)) for n in network.names)
        return value


def fitted_curves(
    table: Table,
    dag: DAG,
    rules: CurveRules,
    hidden: Sequence[str] = (),
    start: Network | None = None,
    max_iterations: int = LONG,
    ticker: Ticker | None = None,
) -> CurveGraph:
    """The graph with curves fitted by EM, from `start` if that is given, else from lines."""
    network, bound = fit_curves_em(
        dag, table, rules.curve, hidden, max_iterations, ticker.part() if ticker else None, start
    )
    return CurveGraph(network, tuple(hidden), bound, rules.judged(network, hidden, bound, table))


def curve_structural_em(
    table: Table,
    first: CurveGraph,
    rules: CurveRules,
    search: Callable[..., Any] = hill_climbing,
    shortlist: Callable[[Families], Families] = lambda families: families,
    max_rounds: int = 10,
    ticker: Ticker | None = None,
) -> CurveGraph:
    """The network after its arcs were learned anew from completed rows, as often as that helps.

    Hidden variables stay roots; those left with fewer than two children go. `shortlist` may stand
    between scores and search (`unveil.ideal.IdealFamilies`). `hill_climbing` goes on from the graph
    there is, other searches begin where they like.
    """
    ticker = ticker or Ticker()
    best, n_scored = first, first.n_scored
    trace = [*first.trace, Step("structural EM", 0, first.score, 0.0)]
    reason: StopReason = "iteration cap"
    for number in range(max_rounds):
        if not ticker.keep_going():
            break
        dag, n = _searched(best, table, rules, search, shortlist, ticker)
        n_scored += n
        if {*dag.arcs} == {*best.dag.arcs}:
            reason = "converged"
            break
        changed = _changed(best, dag, table, rules, ticker)
        gain = changed.score - best.score
        step = Step("structural EM", number + 1, best.score + max(gain, 0.0), gain,
                    elapsed=ticker.elapsed)  # fmt: skip
        trace.append(step)
        ticker.tell(step)
        if gain <= 1e-6 * abs(best.score):
            reason = "converged"
            break
        best = changed
    return replace(best, n_scored=n_scored, trace=tuple(trace), stopped=ticker.reason or reason)


def expected_families(graph: CurveGraph, table: Table, rules: CurveRules) -> CurveFamilies:
    """The scores of families over the rows as the network completes them."""
    points = _completed(graph, table)
    return CurveFamilies(
        points.select(sorted(points.names)), rules.score, rules.curve, rules.structure_prior
    )


def _searched(
    graph: CurveGraph, table: Table, rules: CurveRules, search: Callable[..., Any],
    shortlist: Callable[[Families], Families], ticker: Ticker,
) -> tuple[DAG, int]:  # fmt: skip
    """The graph that the search finds over completed rows, and how many families that fitted.

    Hidden roots of few children are left out.
    """
    families = shortlist(expected_families(graph, table, rules))
    limits = with_roots(rules.constraints, graph.hidden, table.names)
    given: dict[str, Any] = {} if limits is None else {"constraints": limits}
    if getattr(search, "func", search) is hill_climbing:  # with options or none
        given["start"] = graph.dag
    dag = search(families, progress=ticker.part(), **given).dag
    gone = {h for h in graph.hidden if len(dag.children(h)) < LEAST_CHILDREN}
    order = [n for n in (*table.names, *graph.hidden) if n not in gone]
    place = {name: i for i, name in enumerate(order)}
    parents = {
        n: sorted((p for p in dag.parents(n) if p in place), key=place.__getitem__) for n in order
    }
    return DAG.from_parents(parents), families.n_scored


def _changed(
    graph: CurveGraph, dag: DAG, table: Table, rules: CurveRules, ticker: Ticker
) -> CurveGraph:
    """The other graph after some EM, begun with the families that stayed as they are."""
    points = _completed(graph, table)
    columns = np.array([points.column(n) for n in points.names], np.float64)
    fitter = Fitter(columns, points.row_weights, rules.curve, points.names)
    place = {n: i for i, n in enumerate(points.names)}
    begun = Network(
        graph.network.cpd(n)
        if dag.parents(n) == graph.dag.parents(n)
        else curve_cpd(points, n, dag.parents(n), fitter, place)
        for n in dag.nodes
    )
    hidden = [h for h in graph.hidden if h in dag.nodes]
    return fitted_curves(table, dag, rules, hidden, begun, SHORT, ticker)


def _completed(graph: CurveGraph, table: Table) -> Table:
    return row_posteriors(graph.network, table).completed(graph.network, table.row_weights)
