"""One round of looking for a hidden variable: phases that hand candidates on, each to the next.

| phase | takes | gives |
| --- | --- | --- |
| a parent of everything, random starts | `Star`s | candidates, adapted |
| following gamma (instead of the others but checking) | `Narrow`s | candidates, adapted |
| first look | `Place`s with a signature | candidates by EM alone |
| adapting | the best of each kind | the same after structural EM |
| polishing | the best few of all | the same after larger changes |
| moving children | the best two | the same with other children, if that helps |
| put in cleanly | the same two | what becomes of them as parents of columns that have no other |
| checking | all of those | the same with the rows' gaps, and what they predict |

In every phase some are refused; they are listed with a verdict and go no further.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unveil.discovery.adaptation import adapt_candidate, adapted
from unveil.discovery.baseline import n_random_starts
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Place, Refused, Verdict
from unveil.discovery.check import check_candidate
from unveil.discovery.choice import foremost, worth_adapting, worth_polishing
from unveil.discovery.cleanly import put_cleanly
from unveil.discovery.narrow import Narrow, best_of_each, distinct, narrow_starts, narrowed
from unveil.discovery.notes import Notes, Page
from unveil.discovery.patience import graced
from unveil.discovery.places import (
    place_of_everything,
    places_with_a_signature,
    random_place,
)
from unveil.discovery.polish import move_children, polish_candidate, polished_in_turns
from unveil.discovery.soft import soft_places
from unveil.discovery.starts import Star, first_look, graphs_at, started
from unveil.discovery.told import with_tree
from unveil.discovery.workers import Work, Workers
from unveil.hidden.candidate import fresh_name
from unveil.progress import Ticker

__all__ = ["WIDE_SIZES", "Looked", "look_for_hidden"]

WIDE_SIZES: tuple[int, ...] = (2, 3, 4, 5, 6)
"""Numbers of states that a parent of everything begins with."""
FOR_PLACES, FOR_POLISHING = 0.15, 0.6
"""The shares of the time left that finding places and all turns of polishing may take."""
MOVED = 2
"""So many of the best have their children moved."""
LONGER = 4
"""With a time limit, so many times more places are looked at, as far as the limit allows."""
MOST_SOFT = 12
"""So many places that the hidden variables found leave unexplained are looked at."""
CHECKED_AT_LEAST = 2
"""So many of the best candidates are checked even when the work was stopped before."""


@dataclass(frozen=True)
class Looked:
    """All that was tried in a round, the best first, and whether time cut some phase short."""

    tried: tuple[Candidate | Refused, ...]
    cut_short: bool


@dataclass(frozen=True)
class Phase:
    """What is done with every item, and the share of the time left that this may take."""

    title: str
    share: float
    work: Work


@dataclass(frozen=True)
class Outcome:
    """What a phase gave of its first `n_done` items."""

    candidates: tuple[Candidate, ...]
    refused: tuple[Refused, ...]
    n_done: int
    cut_short: bool


def look_for_hidden(
    bench: Bench,
    workers: Workers,
    ticker: Ticker,
    notes: Notes | None = None,
    *,
    wide_sizes: Sequence[int] = WIDE_SIZES,
) -> Looked:
    """All candidates of a round, the best first; what `notes` tell of is not done again.

    Every place gets a first look; the best of each place are adapted; the best of those, and of
    what was started elsewhere, are polished. With a time limit each phase takes only a share of
    what is left, so that something comes of the most promising.
    """
    settings, outcomes = bench.settings, list[Outcome]()

    def do(
        phase: Phase, items: Sequence[Any], at_least: int = 0, within: Ticker = ticker
    ) -> tuple[Candidate, ...]:
        outcomes.append(_outcome(phase, bench, items, workers, within, at_least, notes))
        return outcomes[-1].candidates

    name = fresh_name([*bench.network.names, *bench.table.names])
    if settings.method_for(bench.table) == "bottleneck":
        return _followed(bench, do, outcomes, name)
    started = [
        *do(WIDE, _wide_stars(bench, name, wide_sizes)),
        *do(RANDOM, _random_stars(bench, name)),
    ]
    places = _places(bench, name, ticker)
    longer = 1 if ticker.time_left() is None else LONGER
    looked = do(LOOK, places[: longer * settings.max_candidates])
    chosen = worth_adapting(looked, settings.max_adapted)
    # Stopped before: at least the most promising is seen to.
    settled = [*started, *do(ADAPT, chosen, at_least=0 if started else 1)]
    rest = _others(looked, chosen[: outcomes[-1].n_done])
    if settings.adapt == "full":
        best = worth_polishing(settled, settings.max_polished)
        rest += _others(settled, best)
        all_turns = ticker.part(share=FOR_POLISHING)
        settled = polished_in_turns(best, lambda pool: do(POLISH, pool, within=all_turns))
        settled.sort(key=lambda c: -c.gain)
        moved = do(MOVE, settled[:MOVED])
        settled = [*moved, *settled[len(moved) :]]
        settled += do(CLEAN, settled[:MOVED])
    # What gains less may predict more: some that were not polished are checked as well.
    others = foremost([c for c in rest if c.verdict is Verdict.PAYS], settings.max_polished)
    rest = _others(rest, others)
    settled = sorted([*settled, *others], key=lambda c: -c.gain)
    return _looked(bench, do, outcomes, settled, rest)


def _followed(
    bench: Bench, do: Callable[..., tuple[Candidate, ...]], outcomes: list[Outcome], name: str
) -> Looked:
    """All columns at once and, once something was found, places that it leaves unexplained."""
    ends = do(FOLLOW, narrow_starts(bench, name), at_least=1)
    rest = distinct(ends)
    best = [c for c in best_of_each(ends) if c.verdict is Verdict.PAYS]
    best.sort(key=lambda c: -c.n_states)  # with few rows the score asks for too few
    best = best[: bench.settings.max_polished]
    if bench.network.hidden:
        looked = do(LOOK, soft_places(bench, name, MOST_SOFT))
        chosen = worth_adapting(looked, bench.settings.max_adapted)
        local = distinct(do(ADAPT, chosen))
        rest += [*_others(looked, chosen), *local]
        best += [c for c in local if c.verdict is Verdict.PAYS][: bench.settings.max_polished]
    return _looked(bench, do, outcomes, best, _others(rest, best))


def _looked(
    bench: Bench,
    do: Callable[..., tuple[Candidate, ...]],
    outcomes: list[Outcome],
    settled: list[Candidate],
    rest: list[Candidate],
) -> Looked:
    """The candidates that have settled checked, and all the others listed beside."""
    checked = [_whole(bench, c) for c in do(CHECK, settled, CHECKED_AT_LEAST)]
    rest += settled[outcomes[-1].n_done :]
    refused = [c for outcome in outcomes for c in outcome.refused]
    gaps = not bench.table.is_complete
    tried: list[Candidate | Refused] = [*checked]
    tried += [replace(c, filled_in=gaps) for c in rest]
    tried += [replace(c, filled_in=gaps) for c in refused]
    tried.sort(key=lambda c: (isinstance(c, Refused), -c.gain))
    return Looked(tuple(tried), any(outcome.cut_short for outcome in outcomes))


def _outcome(
    phase: Phase,
    bench: Bench,
    items: Sequence[Any],
    workers: Workers,
    ticker: Ticker,
    at_least: int,
    notes: Notes | None,
) -> Outcome:
    """The phase's work done with every item in turn, or with the first of them if time is up."""
    part = ticker.part(phase.title, phase.share)
    page = None if notes is None else Page(notes, bench.network, phase.title, items)
    found = workers.in_turn(phase.work, bench, items, part, page)
    last = graced(part)
    while len(found) < min(at_least, len(items)):
        found.append(phase.work(bench, items[len(found)], last))
    tried = [c for of_item in found for c in of_item]
    return Outcome(
        tuple(c for c in tried if isinstance(c, Candidate)),
        tuple(c for c in tried if isinstance(c, Refused)),
        len(found),
        part.reason == "time limit",
    )


def _whole(bench: Bench, candidate: Candidate) -> Candidate:
    """The candidate with its tree of merges, which notes do not hold."""
    if candidate.verdict is not Verdict.PAYS:
        return candidate
    return with_tree(candidate, bench.completed)


def _others(candidates: Sequence[Candidate], chosen: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that were not chosen."""
    return [c for c in candidates if all(c is not other for other in chosen)]


def _places(bench: Bench, name: str, ticker: Ticker) -> tuple[Place, ...]:
    """Places with a signature, found in their share of the time."""
    if not ticker.keep_going():
        return ()
    return places_with_a_signature(bench, name, ticker.part(share=FOR_PLACES))


def _wide_stars(bench: Bench, name: str, sizes: Sequence[int]) -> list[Star]:
    """Parents of everything, their states from clustered rows: latent classes, to begin with."""
    if bench.network.hidden:
        return []
    sizes = sizes if bench.n_states is None else (bench.n_states,)
    place = place_of_everything(bench, name)
    return [Star(place, k, "cluster", bench.seed) for k in sizes]


def _random_stars(bench: Bench, name: str) -> list[Star]:
    """Parents of random columns, of two and three states in turns; they take their arcs anew."""
    if bench.network.hidden or bench.settings.adapt != "full":
        return []
    return [
        Star(random_place(bench, name, i), bench.n_states or 2 + i % 2, "random", i)
        for i in range(n_random_starts(bench.table, bench.settings.restarts))
    ]


# What is done with one item. Functions of a module, so that other processes know them. -----------


def _start_wide(bench: Bench, star: Star, ticker: Ticker) -> list[Candidate | Refused]:
    """A parent of everything as it is, the plain latent class model, and what becomes of it."""
    adapt = bench.settings.adapt
    try:
        plain = adapted(bench, started(bench, star, ticker), "em", ticker)
        more = adapt != "em" and ticker.keep_going()
        return [plain, adapted(bench, plain, adapt, ticker)] if more else [plain]
    except MemoryError:
        return [_too_large(star.place, star.n_states)]


def _start(bench: Bench, star: Star, ticker: Ticker) -> list[Candidate | Refused]:
    try:
        return [adapted(bench, started(bench, star, ticker), "full", ticker)]
    except MemoryError:
        return [_too_large(star.place, star.n_states)]


def _look(bench: Bench, place: Place, ticker: Ticker) -> list[Candidate | Refused]:
    found: list[Candidate | Refused] = []
    for dag in graphs_at(bench, place):
        if found and not ticker.keep_going():
            break
        try:
            found += first_look(bench, place, dag, ticker)
        except MemoryError:
            found.append(_too_large(place))
    return found


def _adapt(bench: Bench, candidate: Candidate, ticker: Ticker) -> list[Candidate | Refused]:
    try:
        return [adapt_candidate(bench, candidate, ticker)]
    except MemoryError:
        return [candidate.refused(Verdict.TOO_LARGE)]


def _polish(bench: Bench, candidate: Candidate, ticker: Ticker) -> list[Candidate | Refused]:
    return [polish_candidate(bench, candidate, ticker)]


def _follow(bench: Bench, start: Narrow, ticker: Ticker) -> list[Candidate | Refused]:
    return narrowed(bench, start, ticker)


def _move(bench: Bench, candidate: Candidate, ticker: Ticker) -> list[Candidate | Refused]:
    return [move_children(bench, candidate, ticker)]


def _clean(bench: Bench, candidate: Candidate, ticker: Ticker) -> list[Candidate | Refused]:
    try:
        return [*put_cleanly(bench, candidate, ticker)]
    except MemoryError:
        return [candidate.refused(Verdict.TOO_LARGE)]


def _check(bench: Bench, candidate: Candidate, ticker: Ticker) -> list[Candidate | Refused]:
    try:
        return [check_candidate(bench, candidate, ticker)]
    except MemoryError:
        return [candidate.refused(Verdict.TOO_LARGE)]


def _too_large(place: Place, n_states: int = 1) -> Refused:
    """What is listed of a candidate that was given up before it had a network."""
    verdict = Verdict.TOO_LARGE
    return Refused(place=place, verdict=verdict, children=place.nodes, n_states=n_states)


WIDE = Phase("a parent of everything", 0.15, _start_wide)
RANDOM = Phase("random starts", 0.15, _start)
LOOK = Phase("first look", 0.3, _look)
ADAPT = Phase("adapting", 0.4, _adapt)
POLISH = Phase("polishing", 0.5, _polish)
FOLLOW = Phase("following gamma", 0.6, _follow)
MOVE = Phase("moving children", 0.3, _move)
CLEAN = Phase("put in cleanly", 0.3, _clean)
CHECK = Phase("checking", 1.0, _check)
