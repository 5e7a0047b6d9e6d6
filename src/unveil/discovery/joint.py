"""Several hidden variables together: the earlier ones' states and places are chosen again (5.3).

A variable that was found first stood in for those found later, too: it may have too many states, or
children that are not its own. So when a new one arrives, each of the earlier ones is polished in
turn, given all others as the network now completes them, until none changes. It is the round robin
of 5.3, with places as well as states, and every step judged by the score of what was observed.
"""

from __future__ import annotations

from dataclasses import replace

from unveil.discovery.bench import Bench, complete_hidden
from unveil.discovery.candidates import Candidate, Place, Verdict
from unveil.discovery.polish import move_children, polish_candidate
from unveil.progress import Ticker

__all__ = ["polished_together"]

MOST_TURNS = 2


def polished_together(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate:
    """The candidate in the network in which the earlier hidden variables were polished again.

    `bench` is the one the candidate was tried on. The candidate itself has its turn last.
    """
    names = [*bench.network.hidden, candidate.name]
    if len(names) < 2:
        return candidate
    for _ in range(MOST_TURNS):
        before = candidate
        for name in names:
            if ticker.keep_going():
                candidate = _polished_for(bench, candidate, name, ticker)
        if candidate is before:
            break
    return candidate


def _polished_for(bench: Bench, candidate: Candidate, name: str, ticker: Ticker) -> Candidate:
    """The candidate with `name` polished, given all other hidden variables; or as it was."""
    network = candidate.network
    rows = complete_hidden(network, bench.glanced, bench.seed).without(name)
    others = replace(bench, network=network, score=bench.score + candidate.gain, completed=rows)
    first = Candidate(place=Place(name, network.dag.children(name)), network=network, gain=0.0,
                      verdict=Verdict.PAYS)  # fmt: skip
    found = move_children(others, polish_candidate(others, first, ticker), ticker)
    if found.verdict is not Verdict.PAYS or found.gain <= 0.1:
        return candidate
    return replace(candidate, network=found.network, gain=candidate.gain + found.gain)
