"""A candidate found again from other rows: of what was known before, only the place is kept.

A structure that was learned from all rows knows the rows left out, however its parameters are
estimated: with few rows it predicts them far better than new ones. So a fold gets the place that
the candidate began at, and works out states, their number and all arcs itself, as the first phases
of a round do (`starts`, `adaptation`).
"""

from __future__ import annotations

from unveil.discovery.adaptation import adapt_candidate, adapted
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate
from unveil.discovery.narrow import Narrow, narrowed
from unveil.discovery.rivals import readapted
from unveil.discovery.starts import Star, first_look, graphs_at, started
from unveil.model.network import Network
from unveil.progress import Ticker

__all__ = ["found_afresh"]

AS_CONSTRUCTED, ANEW = 1, 2
"""So many of the best of each kind are adapted."""


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
