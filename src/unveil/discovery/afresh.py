"""A candidate found again from other rows: of what was known before, only the place is kept.

A structure that was learned from all rows knows the rows left out, however its parameters are
estimated: with few rows it predicts them far better than new ones. So a fold gets the place that
the candidate began at, and works out states, their number and all arcs itself, as the first phases
of a round do (`starts`, `adaptation`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.discovery.adaptation import adapt_candidate, adapted
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate
from unveil.discovery.narrow import Narrow, narrowed
from unveil.discovery.rivals import readapted, without_further
from unveil.discovery.starts import Star, first_look, graphs_at, started
from unveil.evaluate.folds import fold_tables, n_cases
from unveil.evaluate.log_loss import LogLoss, log_loss
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["bench_for", "found_afresh", "saved_afresh"]

Vector = npt.NDArray[np.float64]

AS_CONSTRUCTED, ANEW = 1, 2
"""So many of the best of each kind are adapted."""


FOLDS, ENOUGH = 5, 500
"""A fifth of the rows is left out, again and again until so many cases were."""


def saved_afresh(bench: Bench, candidate: Candidate, ticker: Ticker) -> LogLoss | None:
    """What the candidate saves on rows left out before anything was learned; `None` if stopped.

    Arcs that were found in all rows know those left out, and the more arcs the more so: a network
    with few states and many arcs would seem to predict better than one with more states and fewer.
    """
    known = vars(bench).setdefault("_afresh", {})
    gained: list[Vector] = []
    weights: list[Vector] = []
    folds = min(FOLDS, n_cases(bench.table))
    tables = fold_tables(bench.table, folds, bench.seed, bench.settings.blocks)
    for number, (rows, left_out) in enumerate(tables):
        if sum(float(w.sum()) for w in weights) >= ENOUGH:
            break
        if number not in known:
            known[number] = bench_for(bench, rows, ticker)
        here = known[number]
        network = found_afresh(here, candidate, ticker)
        if not ticker.keep_going():
            return None
        plain = log_loss(here.network, left_out)
        found = plain if network is None else log_loss(network, left_out)
        gained.append(plain.per_row - found.per_row)
        weights.append(plain.weights)
    return LogLoss.of(np.concatenate(gained), np.concatenate(weights))


def bench_for(bench: Bench, rows: Table, ticker: Ticker) -> Bench:
    """What candidates are tried against on other rows."""
    without = without_further(bench, rows, ticker)
    score = bench.settings.score_of(without, rows)
    return Bench.of(without, score, rows, bench.settings, bench.seed)


def found_afresh(bench: Bench, candidate: Candidate, ticker: Ticker) -> Network | None:
    """The network that comes of the candidate's place on the rows of `bench`, if there is one."""
    begin = _at_a_signature if candidate.place.start == "agglomerated" else _at_a_star
    if candidate.place.is_followed:
        begin = _at_a_course
    try:
        found = begin(bench, candidate, ticker)
    except MemoryError:
        return None
    if found is None or bench.glanced is bench.table:
        return None if found is None else found.network
    return readapted(bench, found.network, bench.table, ticker)


def _at_a_signature(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate | None:
    place = candidate.place
    looked = [c for dag in graphs_at(bench, place) for c in first_look(bench, place, dag, ticker)]
    ranked = sorted((c for c in looked if isinstance(c, Candidate)), key=lambda c: -c.gain)
    chosen = [c for c in ranked if not c.anew][:AS_CONSTRUCTED]
    chosen += [c for c in ranked if c.anew][:ANEW]
    return max((adapt_candidate(bench, c, ticker) for c in chosen), key=_gain, default=None)


def _at_a_course(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate | None:
    n_states = None if candidate.others and bench.n_states is None else candidate.n_states
    tried = narrowed(bench, Narrow(candidate.place, n_states), ticker, candidate)
    return max((c for c in tried if isinstance(c, Candidate)), key=_gain, default=None)


def _at_a_star(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate | None:
    place, adapt = candidate.place, bench.settings.adapt
    assert place.start in ("cluster", "random")
    first = started(bench, Star(place, candidate.n_states, place.start, bench.seed), ticker)
    plain = adapted(bench, first, "em", ticker)
    if adapt == "em":
        return plain
    return max(plain, adapted(bench, plain, adapt, ticker), key=_gain)


def _gain(candidate: Candidate) -> float:
    return candidate.gain
