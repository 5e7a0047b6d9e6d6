"""Which candidates go on to the next phase, which one is kept, and the last word on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unveil.discovery.candidates import Candidate, Refused, Verdict

__all__ = [
    "choose_best",
    "foremost",
    "judged",
    "luck",
    "n_places",
    "worth_adapting",
    "worth_polishing",
]

SMALL_SIZES = (2, 3, 4)
"""Numbers of states whose best candidate is polished in any case."""


def worth_adapting(looked: Sequence[Candidate], most: int) -> list[Candidate]:
    """The best candidates of every kind: they cannot be compared before they are adapted.

    With few states the graph as constructed fits badly and ranks low, but often ends up best.
    """
    looked = _each_once(looked)
    built = [c for c in looked if not c.anew]
    chosen = foremost(built, most)
    small = [c for c in built if c.n_states == 2 and all(c is not p for p in chosen)]
    anew = [c for c in looked if c.anew]
    return [*chosen, *foremost(small, most), *foremost(anew, 2 * most)]


def _each_once(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without those that have the graph and the score of another before them.

    Places that overlap often come to the same network.
    """
    seen: dict[tuple[frozenset[tuple[str, str]], int, int], Candidate] = {}
    for c in candidates:
        seen.setdefault((frozenset(c.network.dag.arcs), c.n_states, round(10 * c.gain)), c)
    return list(seen.values())


def foremost(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """The best candidates, each set of neighbours once before any comes twice."""
    ranked = sorted(candidates, key=lambda c: -c.gain)
    seen: dict[frozenset[str], int] = {}
    turns = []
    for c in ranked:
        turns.append(seen.get(c.neighbours, 0))
        seen[c.neighbours] = turns[-1] + 1
    order = sorted(range(len(ranked)), key=lambda i: turns[i])
    return [ranked[i] for i in order[:most]]


def worth_polishing(settled: Sequence[Candidate], most: int) -> list[Candidate]:
    """The best candidates, and among them the best of every small number of states.

    A free number of states must not end below a fixed one: what is best with two states, or three,
    is polished too, even where candidates with more states promise more.
    """
    ranked = foremost(settled, len(settled))
    small = [next((c for c in ranked if c.n_states == k), None) for k in SMALL_SIZES]
    first = [c for c in small if c is not None][:most]
    others = [c for c in ranked if all(c is not other for other in first)]
    return [*first, *others[: most - len(first)]]


def n_places(tried: Sequence[Candidate | Refused]) -> int:
    """In how many different places a hidden variable was tried."""
    return len({frozenset(c.place.nodes) for c in tried})


def luck(tried: Sequence[Candidate | Refused]) -> float:
    """What the best of so many may gain by luck: log n nats, with equal odds for n places."""
    return float(np.log(max(n_places(tried), 1)))


def choose_best(tried: Sequence[Candidate | Refused], min_gain: float) -> Candidate | None:
    """The candidate to confirm: the best of those that are not redundant and predict better.

    The best of many is large by luck: with equal prior odds for each of n places, its score has to
    gain more than log n. Of those that do, the one of most `merit` is best.
    """
    chance = luck(tried)
    good = [
        c for c in tried
        if isinstance(c, Candidate) and c.verdict is Verdict.PAYS
        and c.predicted > 0 and c.gain > max(min_gain, chance)
    ]  # fmt: skip
    return max(good, key=merit, default=None)


def merit(candidate: Candidate) -> float:
    """What the score gains and what rows left out gain, together, in nats.

    The score alone weighs a table's every cell, also those that few rows will ever ask for; with
    few rows it may prefer a variable that predicts much less. Of parents of all columns, which have
    a parameter for every column and state, rows left out decide alone: the score has to gain, but
    with few rows it asks for fewer states than predict best.
    """
    if candidate.place.is_followed:
        return candidate.predicted
    return candidate.gain + candidate.predicted


def finalists(
    tried: Sequence[Candidate | Refused], best: Candidate, most: int = 2
) -> list[Candidate]:
    """The best candidate and those that come next: one of them would have been chosen instead.

    One that was followed in gamma stands alone: the others are the same with other states.
    """
    if best.place.is_followed:
        return [best]
    others = [
        c for c in tried
        if isinstance(c, Candidate) and c is not best and c.verdict is Verdict.PAYS
        and c.predicted > 0
    ]  # fmt: skip
    return [best, *sorted(others, key=merit, reverse=True)[: most - 1]]


def judged(
    tried: Sequence[Candidate | Refused],
    kept: Candidate | None,
    doubted: Candidate | None = None,
    doubt: Verdict = Verdict.NOT_CONFIRMED,
) -> tuple[Candidate | Refused, ...]:
    """All that were tried, with the last word on each; `doubted` was the best, but not kept."""
    words = {id(doubted): doubt} if doubted is not None else {}
    return tuple(replace(c, verdict=words.get(id(c)) or _last_word(c, kept)) for c in tried)


def _last_word(tried: Candidate | Refused, kept: Candidate | None) -> Verdict:
    if tried is kept:
        return Verdict.KEPT
    if tried.verdict is not Verdict.PAYS:
        return tried.verdict
    if np.isnan(tried.predicted):
        return Verdict.NOT_CHECKED
    return Verdict.MAY_BE_LUCK if kept is None else Verdict.OUTDONE
