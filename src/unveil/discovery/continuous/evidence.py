"""Are continuous hidden parents warranted? Score, rows left out, stability, straw men."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unveil.discovery.continuous.adapting import AnyGraph
from unveil.discovery.continuous.few import few_rows
from unveil.discovery.continuous.graphs import graph_of_layers
from unveil.discovery.continuous.kinds import CurveKind, Kind, LineKind
from unveil.discovery.continuous.procedure import Found
from unveil.discovery.evidence import Evidence, StrawMan, gain_in_words
from unveil.em.curve_structure import fitted_curves
from unveil.em.line_structure import LineGraph, fitted_graph
from unveil.em.lines import Observed
from unveil.evaluate.bootstrap import resampled
from unveil.evaluate.cross_validation import CrossValidation, cross_validate
from unveil.evaluate.log_loss import LogLoss, paired_gain
from unveil.graph.dag import DAG
from unveil.hidden.candidate import fresh_name
from unveil.ideal.layers import Leaves
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["Judge"]

MORE_FACTORS = 3
"""Factor analysis is tried with up to so many factors more than hidden variables were found."""


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges what was found in a table: `kind` fits its graphs, `lines` simpler ones."""

    found: Found[Any]
    kind: Kind
    lines: LineKind
    folds: int
    seed: int

    @property
    def table(self) -> Table:
        """The rows that are judged by."""
        return self.lines.table

    def predicted(
        self, graph: AnyGraph, ticker: Ticker, kind: Kind | None = None
    ) -> CrossValidation | None:
        """The log-loss of a graph, each fold's rows predicted by what is fitted to the others.

        `None` if there was no time for all folds.
        """
        own: Kind = kind or self.kind
        return self._cross_validated(
            lambda rows: own.network(own.refitted(graph, rows, ticker.part())), ticker
        )

    def evidence_for(
        self, name: str, own: LogLoss, n_resamples: int, ticker: Ticker
    ) -> Evidence | None:
        """Why one hidden variable is kept: the network with it beside the best without it."""
        words, graph = f"evidence for {name}", self.found.graph
        ticker.offer(words, 0, float("nan"), detail="cross-validation")
        before = self._without(name, ticker)
        held_out = self.predicted(before, ticker)
        if held_out is None:
            return None
        wins, done = 0, 0
        for stream in np.random.SeedSequence(self.seed).spawn(n_resamples):
            if not ticker.keep_going():
                break
            rows = resampled(self.table, np.random.default_rng(stream))
            with_it, less = (self.kind.refitted(g, rows, None, quick=True) for g in (graph, before))
            wins, done = wins + (with_it.score > less.score), done + 1
            if not ticker.offer(words, done, float("nan"), detail=f"resample {done}"):
                break
        gain = graph.score - before.score
        share = wins / done if done else float("nan")
        return Evidence(
            name, gain, gain_in_words(name, gain), paired_gain(own, held_out), share, done
        )

    def straw_men(self, ticker: Ticker) -> tuple[StrawMan, ...]:
        """Simpler explanations: none, lines, one parent of everything, factor analysis."""
        men: list[StrawMan] = []
        plain = self.predicted(self.found.baseline, ticker)
        if plain is None:
            return ()
        men.append(self._man("no hidden variable", self.found.baseline, plain, self.kind))
        if isinstance(self.kind, CurveKind):
            men += self._beside_curves(self.kind, ticker)
        return (*men, *self._factor_men(ticker))

    def _without(self, name: str, ticker: Ticker) -> AnyGraph:
        """The best network without one hidden variable.

        Where rows are few and it was the only one, that is the baseline, which rows left out chose.
        """
        baseline = self.found.baseline
        lines = isinstance(self.kind, LineKind)
        if lines and few_rows(self.lines.observed) and len(self.found.graph.hidden) == 1:
            return baseline
        less = self.kind.without(self.found.graph, name, ticker.part())
        if not less.hidden and baseline.score > less.score:
            return baseline
        return less

    def _beside_curves(self, kind: CurveKind, ticker: Ticker) -> list[StrawMan]:
        """What lines find, and a curve of one hidden variable for every column."""
        men: list[StrawMan] = []
        lines = self.found.lines
        if lines is not None and lines.graph.hidden:
            held_out = self.predicted(lines.graph, ticker, self.lines)
            if held_out is not None:
                n = len(lines.graph.hidden)
                name = f"lines, {n} hidden variable{'s' * (n != 1)}"
                men.append(self._man(name, lines.graph, held_out, self.lines))
        if self.table.n_columns >= 3 and ticker.keep_going():
            h, names = fresh_name(self.table.names), self.table.names
            dag = DAG([*names, h], [(h, n) for n in names])
            one = fitted_curves(self.table, dag, kind.rules, [h], ticker=ticker)
            held_out = self.predicted(one, ticker)
            if held_out is not None:
                men.append(self._man("one hidden parent of everything", one, held_out, kind))
        return men

    def _factor_men(self, ticker: Ticker) -> list[StrawMan]:
        """One factor (unless curves had their own), and as many as predict best."""
        base = (self.found.lines or self.found).baseline
        assert isinstance(base, LineGraph)
        men: list[StrawMan] = []
        best: tuple[int, LogLoss] | None = None
        misses = 0
        most = min(len(self.found.graph.hidden) + MORE_FACTORS, (self.table.n_columns - 1) // 2)
        for k in range(1, max(most, 1) + 1):
            if self.table.n_columns < 3 or not ticker.keep_going():
                break
            ticker.offer("straw men", k, float("nan"), detail=f"{k} factors")
            held_out = self._factors_predicted(k, base, ticker)
            if held_out is None:
                break
            if k == 1 and self.found.lines is None:
                graph = _factors(k, base, self.lines.observed)
                name = "one hidden parent of everything"
                men.append(self._man(name, graph, held_out, self.lines))
            if best is None or held_out.bits < best[1].bits:
                best, misses = (k, held_out), 0
            else:
                misses += 1
                if misses == 2:
                    break
        if best is not None and (best[0] > 1 or self.found.lines is not None):
            graph = _factors(best[0], base, self.lines.observed)
            many = f"{best[0]} factor{'s' * (best[0] != 1)}"
            name = f"factor analysis, {many} by cross-validation"
            men.append(self._man(name, graph, best[1], self.lines))
        return men

    def _factors_predicted(self, k: int, base: LineGraph, ticker: Ticker) -> CrossValidation | None:
        def learned(rows: Table) -> Network:
            observed, own = Observed.of(rows), base
            if observed.moments is None:
                own = fitted_graph(observed, base.dag, (), base.lines, None, 50, 1e-4)
            return self.lines.network(_factors(k, own, observed))

        return self._cross_validated(learned, ticker)

    def _cross_validated(
        self, learned: Callable[[Table], Network], ticker: Ticker
    ) -> CrossValidation | None:
        if not ticker.keep_going():
            return None
        blocks = self.lines.settings.blocks
        result = cross_validate(
            self.table, learned, self.folds, self.seed, ticker.part(), blocks=blocks
        )
        return result if result.is_whole else None

    def _man(self, name: str, graph: Any, held_out: LogLoss, kind: Kind) -> StrawMan:
        return StrawMan(name, kind.network(graph), graph.score, held_out)


def _factors(k: int, base: LineGraph, observed: Observed) -> LineGraph:
    """k hidden roots above every column; gaps are filled by what the baseline expects."""
    moments = observed.moments or base.moments(observed)
    leaves = Leaves(moments)
    dense = leaves.dense(k)
    dense = leaves.fitted(dense.arcs, dense.weights, dense.variances, 2000, 1e-7)
    graph = graph_of_layers(dense, observed, leaves)
    return fitted_graph(observed, graph.dag, graph.hidden, graph.lines, None, 1, 1e-3)
