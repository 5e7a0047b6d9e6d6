"""Candidates found again from other rows: of what was known before, only the place is kept.

A structure that was learned from all rows knows the rows left out, however its parameters are
estimated: with few rows it predicts them far better than new ones. So a fold gets the variables
that a candidate was linked to in the end, without a word on how, and works out states, their number
and all arcs itself, as the phases of a round do: a first look, adapting, polishing.

(Where it ended tells more than where it began: with the place alone that ALARM without INTUBATION
began at, folds of 1,000 rows find a third of what there is to find.)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from unveil.discovery.adaptation import adapt_candidate, adapted
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Place
from unveil.discovery.cleanly import put_cleanly
from unveil.discovery.narrow import Narrow, narrowed
from unveil.discovery.polish import polish_candidate
from unveil.discovery.rivals import readapted
from unveil.discovery.starts import Star, first_look, graphs_at, started
from unveil.model.network import Network
from unveil.progress import Ticker

__all__ = ["Known", "found_afresh", "known_of"]

AS_CONSTRUCTED, ANEW = 1, 2
"""So many of the best of each kind are adapted at every place."""
TURNS = 4
"""So often the best is polished, at most."""

Known = Place | Star | Narrow
"""All that a fold is told of a candidate."""


def known_of(candidates: Sequence[Candidate], most: int, seed: int) -> tuple[Known, ...]:
    """What folds are told of the candidates: where they ended, each place once.

    Of one that is linked to more than `most` variables, where it began; of one that began as a
    star, that too: its states then come from elsewhere than from what is around it. One that came
    of a continuation is followed again in the same way.
    """
    known: dict[Known, None] = {}
    for c in candidates:
        if c.place.is_followed:
            known[Narrow.again(c)] = None
            continue
        ended = tuple(n for n in c.network.names if n in c.neighbours)
        if len(ended) <= most:
            known[Place(c.name, ended)] = None
        if c.place.start in ("cluster", "random"):
            known[Star(c.place, c.n_states, c.place.start, seed)] = None
        elif len(ended) > most:
            known[c.place] = None
    return tuple(known)


def found_afresh(bench: Bench, known: Sequence[Known], ticker: Ticker) -> Network | None:
    """The best network that comes of the places on the rows of `bench`, if there is one."""
    found = [c for place in known if (c := _found_at(bench, place, ticker)) is not None]
    if not found:
        return None
    best = _polished(bench, found, ticker).network
    return best if bench.glanced is bench.table else readapted(bench, best, bench.table, ticker)


def _found_at(bench: Bench, known: Known, ticker: Ticker) -> Candidate | None:
    try:
        match known:
            case Star():
                return _at_a_star(bench, known, ticker)
            case Narrow():
                return _at_a_course(bench, known, ticker)
            case Place():
                return _at_a_place(bench, known, ticker)
    except MemoryError:
        return None


def _at_a_place(bench: Bench, place: Place, ticker: Ticker) -> Candidate | None:
    looked = [c for dag in graphs_at(bench, place) for c in first_look(bench, place, dag, ticker)]
    ranked = sorted((c for c in looked if isinstance(c, Candidate)), key=lambda c: -c.gain)
    chosen = [c for c in ranked if not c.anew][:AS_CONSTRUCTED]
    chosen += [c for c in ranked if c.anew][:ANEW]
    return max((adapt_candidate(bench, c, ticker) for c in chosen), key=_gain, default=None)


def _at_a_course(bench: Bench, start: Narrow, ticker: Ticker) -> Candidate | None:
    start = replace(start, n_states=start.n_states or bench.n_states)
    tried = (c for c in narrowed(bench, start, ticker) if isinstance(c, Candidate))
    return max(tried, key=_gain, default=None)


def _at_a_star(bench: Bench, star: Star, ticker: Ticker) -> Candidate | None:
    adapt = bench.settings.adapt
    plain = adapted(bench, started(bench, star, ticker), "em", ticker)
    if adapt == "em":
        return plain
    return max(plain, adapted(bench, plain, adapt, ticker), key=_gain)


def _polished(bench: Bench, found: Sequence[Candidate], ticker: Ticker) -> Candidate:
    """The best after a few larger changes, where all arcs may be learned anew; put cleanly.

    Each is polished once before they are compared, for which one is ahead often changes by it; the
    one that is ahead then is polished until nothing helps.
    """
    if bench.settings.adapt != "full":
        return max(found, key=_gain)
    tried = [(c, _larger(bench, c, ticker)) for c in found]
    before, best = max(tried, key=lambda pair: pair[1].gain)
    for _ in range(TURNS - 1):
        if best is before:
            break
        before, best = best, _larger(bench, best, ticker)
    if best.place.is_followed:
        return best
    with suppress(MemoryError):
        best = next(iter(put_cleanly(bench, best, ticker, walk=False)), best)
    return best


def _larger(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate:
    """The candidate after a larger change, if one helps; one that was followed in gamma stays."""
    followed = candidate.place.is_followed
    return candidate if followed else polish_candidate(bench, candidate, ticker)


def _gain(candidate: Candidate) -> float:
    return candidate.gain
