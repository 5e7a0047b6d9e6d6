"""Structural EM for linear Gaussian networks: gaps, hidden roots, arcs of any kind (thesis 7.4).

Expected moments of all variables are exact, so a step of structural EM is an ordinary search over
families scored from them. A step that does not raise the score of what was observed is not taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unveil.em.lines import Lines, Observed, em_lines, expected_moments, fit_lines, parents_matrix
from unveil.graph.dag import DAG
from unveil.progress import Step, StopReason, Ticker
from unveil.score.base import Sample
from unveil.score.bic import BIC
from unveil.score.gaussian_families import GaussianFamilies
from unveil.score.protocol import Families
from unveil.search.constraints import Constraints
from unveil.search.hill_climbing import hill_climbing
from unveil.statistics.moments import GaussianMoments

__all__ = ["LineGraph", "fitted_graph", "line_structural_em"]

SHORT, LONG = 60, 1000
"""Iterations of EM between changes of structure, and at the end."""
CLOSE, TIGHT = 1e-5, 1e-7
"""Where each of them stops, in nats per row."""


@dataclass(frozen=True, eq=False)
class LineGraph:
    """A graph over columns and hidden roots, fitted: its lines, likelihood and score (nats)."""

    dag: DAG
    hidden: tuple[str, ...]
    lines: Lines
    log_likelihood: float
    score: float
    trace: tuple[Step, ...] = ()
    stopped: StopReason = "converged"

    @property
    def n_parameters(self) -> int:
        """Weights of arcs, and level and variance of every column; a hidden root has none."""
        return self.dag.n_arcs + 2 * (len(self.lines.names) - len(self.hidden))

    def moments(self, observed: Observed) -> GaussianMoments:
        """The expected moments of everything, columns first."""
        return expected_moments(self.lines, observed)[1]


def fitted_graph(
    observed: Observed,
    dag: DAG,
    hidden: Sequence[str] = (),
    start: Lines | None = None,
    score: Any = None,
    max_iterations: int = LONG,
    tolerance: float = TIGHT,
    ticker: Ticker | None = None,
) -> LineGraph:
    """The graph with maximum likelihood lines: by regression, or by EM where cells are unseen.

    `start` knows some of the variables; the rest begins without weights.
    """
    names = (*observed.names, *hidden)
    mask = parents_matrix(names, dag)
    if observed.moments is not None and not hidden:
        lines = fit_lines(names, observed.moments, mask, observed.floor)
        likelihood = expected_moments(lines, observed)[0]
    else:
        begun = _begun(observed, names, mask, start)
        found = em_lines(begun, mask, observed, max_iterations, tolerance, ticker)
        lines, likelihood = found.state
    made = LineGraph(dag, tuple(hidden), lines, likelihood, 0.0)
    sample = Sample(observed.total, len(observed.names))
    cost = (score or BIC()).cost(float(made.n_parameters), 0.0, sample)
    return replace(made, score=likelihood - float(cost))


def line_structural_em(
    observed: Observed,
    first: LineGraph,
    score: Any = None,
    constraints: Constraints | None = None,
    shortlist: Callable[[Families], Families] = lambda families: families,
    max_rounds: int = 20,
    ticker: Ticker | None = None,
    polish: bool = True,
) -> LineGraph:
    """The graph after its arcs were learned anew from expected moments, as often as that helps.

    Hidden variables stay roots, and have two children at least. `shortlist` may stand between
    scores and search (`unveil.ideal.IdealFamilies`). With `polish`, EM goes on to its end.
    """
    ticker, score = ticker or Ticker(), score or BIC()
    best, trace = first, list(first.trace)
    reason: StopReason = "iteration cap"
    for number in range(max_rounds):
        if not ticker.keep_going():
            break
        families = shortlist(
            GaussianFamilies.of_moments(best.lines.names, best.moments(observed), score)
        )
        rules = with_roots(constraints, best.hidden, observed.names)
        found = hill_climbing(families, best.dag, rules, progress=ticker.part())
        if found.dag == best.dag:
            reason = "converged"
            break
        hidden = [h for h in best.hidden if len(found.dag.children(h)) >= 2]
        gone = [h for h in best.hidden if h not in hidden]
        dag = _without(found.dag, gone)
        changed = fitted_graph(
            observed, dag, hidden, best.lines, score, SHORT, CLOSE, ticker.part()
        )
        step = Step("structural EM", number + 1, changed.score, changed.score - best.score,
                    elapsed=ticker.elapsed)  # fmt: skip
        trace.append(step)
        ticker.tell(step)
        if changed.score <= best.score + 1e-6 * abs(best.score) ** 0.5:
            reason = "converged"
            break
        best = changed
    if polish:
        polished = fitted_graph(
            observed, best.dag, best.hidden, best.lines, score, LONG, TIGHT, ticker.part()
        )
        best = max(best, polished, key=lambda g: g.score)
    return replace(best, trace=tuple(trace), stopped=ticker.reason or reason)


def with_roots(
    constraints: Constraints | None, hidden: Sequence[str], columns: Sequence[str]
) -> Constraints | None:
    """The constraints, with hidden variables as roots."""
    if not hidden:
        return constraints
    own = constraints or Constraints()
    allowed = dict(own.allowed_parents) | dict.fromkeys(hidden, ())
    return replace(own, allowed_parents=allowed)


def _without(dag: DAG, nodes: Sequence[str]) -> DAG:
    if not nodes:
        return dag
    kept = [n for n in dag.nodes if n not in nodes]
    return DAG(kept, [(a, b) for a, b in dag.arcs if a not in nodes and b not in nodes])


def _begun(observed: Observed, names: tuple[str, ...], mask: Any, start: Lines | None) -> Lines:
    """Lines to start EM at: those known, small weights where an arc is new."""
    n, size = len(observed.names), len(names)
    alone = observed.alone()
    spread = alone.scatter.diagonal() / alone.weight
    b = np.zeros((size, size))
    a = np.concatenate([alone.mean, np.zeros(size - n)])
    v = np.concatenate([spread, np.ones(size - n)])
    if start is not None:
        known = [i for i, name in enumerate(names) if name in start.names]
        there = [start.names.index(names[i]) for i in known]
        b[np.ix_(known, known)] = start.coefficients[np.ix_(there, there)]
        a[known], v[known] = start.intercept[there], start.variances[there]
    b = np.where(mask, b, 0.0)
    # A root without weights would stay without: its posterior is its prior.
    for j in range(n, size):
        new = (mask[:, j] > 0) & (b[:, j] == 0)
        b[new, j] = 0.1 * np.sqrt(v[new])
    return Lines(names, b, a, v)
