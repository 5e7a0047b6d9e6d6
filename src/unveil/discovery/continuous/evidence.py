"""Are continuous hidden parents warranted? Score, rows left out, stability, straw men."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unveil.discovery.continuous.procedure import Found, graph_of_layers, without
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.evidence import Evidence, StrawMan, gain_in_words
from unveil.em.line_structure import LineGraph, fitted_graph
from unveil.em.lines import Observed
from unveil.evaluate.bootstrap import resampled
from unveil.evaluate.cross_validation import CrossValidation, cross_validate
from unveil.evaluate.log_loss import LogLoss, paired_gain
from unveil.ideal.layers import Leaves
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["evidence_for", "network_of", "predicted", "straw_men"]

MORE_FACTORS = 3
"""Factor analysis is tried with up to so many factors more than hidden variables were found."""


def network_of(graph: LineGraph, table: Table) -> Network:
    """The network of a fitted graph; its hidden variables are marked."""
    known = {v.name: v for v in table.variables}
    return graph.lines.network(known, graph.dag, graph.hidden)


def predicted(
    graph: LineGraph, table: Table, settings: NumberSettings, folds: int, seed: int,
    ticker: Ticker,
) -> CrossValidation | None:  # fmt: skip
    """The log-loss of a graph, each fold's rows predicted by lines fitted to the others.

    `None` if there was no time for all folds.
    """

    def learned(rows: Table) -> Network:
        fitted = fitted_graph(
            Observed.of(rows), graph.dag, graph.hidden, graph.lines, ticker=ticker.part()
        )
        return network_of(fitted, table)

    return _cross_validated(table, learned, settings, folds, seed, ticker)


def evidence_for(
    found: Found, name: str, table: Table, observed: Observed, settings: NumberSettings,
    own: LogLoss, folds: int, n_resamples: int, seed: int, ticker: Ticker,
) -> Evidence | None:  # fmt: skip
    """Why one hidden variable is kept: the network with it beside the best without it."""
    words = f"evidence for {name}"
    ticker.offer(words, 0, float("nan"), detail="cross-validation")
    before = without(found.graph, name, observed, settings, ticker.part())
    held_out = predicted(before, table, settings, folds, seed, ticker)
    if held_out is None:
        return None
    wins, done = 0, 0
    for stream in np.random.SeedSequence(seed).spawn(n_resamples):
        if not ticker.keep_going():
            break
        rows = Observed.of(resampled(table, np.random.default_rng(stream)))
        scores = [
            fitted_graph(rows, g.dag, g.hidden, g.lines, None, 200, 1e-5).score
            for g in (found.graph, before)
        ]
        wins, done = wins + (scores[0] > scores[1]), done + 1
        if not ticker.offer(words, done, float("nan"), detail=f"resample {done}"):
            break
    gain = found.graph.score - before.score
    share = wins / done if done else float("nan")
    return Evidence(name, gain, gain_in_words(name, gain), paired_gain(own, held_out), share, done)


def straw_men(
    found: Found, table: Table, observed: Observed, settings: NumberSettings, folds: int, seed: int,
    ticker: Ticker,
) -> tuple[StrawMan, ...]:  # fmt: skip
    """Simpler explanations: none, one parent of everything, factor analysis."""
    men: list[StrawMan] = []
    plain = predicted(found.baseline, table, settings, folds, seed, ticker)
    if plain is None:
        return ()
    network = network_of(found.baseline, table)
    men.append(StrawMan("no hidden variable", network, found.baseline.score, plain))
    best: tuple[int, LogLoss] | None = None
    misses = 0
    most = min(len(found.graph.hidden) + MORE_FACTORS, (table.n_columns - 1) // 2)
    for k in range(1, max(most, 1) + 1):
        if table.n_columns < 3 or not ticker.keep_going():
            break
        ticker.offer("straw men", k, float("nan"), detail=f"{k} factors")
        held_out = _factors_predicted(k, found, table, settings, folds, seed, ticker)
        if held_out is None:
            break
        if k == 1:
            graph = _factors(k, found.baseline, observed)
            one = network_of(graph, table)
            men.append(StrawMan("one hidden parent of everything", one, graph.score, held_out))
        if best is None or held_out.bits < best[1].bits:
            best, misses = (k, held_out), 0
        else:
            misses += 1
            if misses == 2:
                break
    if best is not None and best[0] > 1:
        graph = _factors(best[0], found.baseline, observed)
        name = f"factor analysis, {best[0]} factors by cross-validation"
        men.append(StrawMan(name, network_of(graph, table), graph.score, best[1]))
    return tuple(men)


def _factors_predicted(
    k: int, found: Found, table: Table, settings: NumberSettings, folds: int, seed: int,
    ticker: Ticker,
) -> CrossValidation | None:  # fmt: skip
    def learned(rows: Table) -> Network:
        observed = Observed.of(rows)
        base = found.baseline
        if observed.moments is None:
            base = fitted_graph(observed, base.dag, (), base.lines, None, 50, 1e-4)
        return network_of(_factors(k, base, observed), table)

    return _cross_validated(table, learned, settings, folds, seed, ticker)


def _factors(k: int, base: LineGraph, observed: Observed) -> LineGraph:
    """k hidden roots above every column; gaps are filled by what the baseline expects."""
    moments = observed.moments or base.moments(observed)
    leaves = Leaves(moments)
    dense = leaves.dense(k)
    dense = leaves.fitted(dense.arcs, dense.weights, dense.variances, 2000, 1e-7)
    graph = graph_of_layers(dense, observed, leaves)
    return fitted_graph(observed, graph.dag, graph.hidden, graph.lines, None, 1, 1e-3)


def _cross_validated(
    table: Table, learned: Callable[[Table], Network], settings: NumberSettings, folds: int,
    seed: int, ticker: Ticker,
) -> CrossValidation | None:  # fmt: skip
    if not ticker.keep_going():
        return None
    quiet = ticker.part()
    result = cross_validate(table, learned, folds, seed, quiet, blocks=settings.blocks)
    return result if result.is_whole else None
