"""Exchanges of states as a race: all candidates run a little, the better half goes on.

What a merge costs and what a split gains is told beforehand (`exchange.py`, `cardinality.py`); only
EM itself knows where an exchange leads. The winner has to gain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.bottleneck.course import Place
from unveil.bottleneck.settling import Settler

__all__ = ["exchanged"]

FINALISTS = 2
"""So many of the candidates for an exchange go on until they have settled."""
FEW, LEAD = 8, 3
"""So many of those that are ahead at once go on, and so many of these until they have settled."""
FIRST, LEG = 2, 8
"""Candidates are compared after so many steps each: a few, and then as many again and again."""
GAIN = 1e-5
"""An exchange has to gain this part of the objective: less is EM's own, which has not settled."""
SLACK = 2e-3
"""A candidate that lags by more than this part of the objective is given up."""


def exchanged(settler: Settler, place: Place, i: int) -> Place:
    """The place after all exchanges of states of hidden variable i that gain."""
    settings = settler.settings
    if place.problem.shape[i] < 3 or not settings.exchanges:
        return place
    fine = settings.tolerance / 10
    found, objective = settler.settle(place.problem, place.parameters, place.gamma, fine)
    place = settler.at(place, found, objective)
    for _ in range(settings.rounds):
        target = place.objective + GAIN * abs(place.objective)
        runners = _candidates(place, i)[: settings.exchanges]
        ends = _raced(settler, place, i, runners, target)
        best = _winner(settler, place, ends, fine, target)
        if best[1] < target:
            break
        place = settler.at(place, *best)
        if not settler.ticker.keep_going():
            break
    return place


def _winner(
    settler: Settler, place: Place, ends: list[Any], fine: float, target: float
) -> tuple[Any, float]:
    """Where the best of the ends settles, or where it was given up for not going to reach `target`.

    In a forest ends were followed by the tables of one hidden variable alone: there, the one that
    is ahead after some steps of all tables stays ahead.
    """
    if settler.nearby(place) is not None and len(ends) > 1:
        begun = [settler.settle(place.problem, p, place.gamma, fine, LEG) for p in ends]
        ends = [max(begun, key=lambda end: end[1])[0]]
    settled = (settler.settle_above(place.problem, p, place.gamma, fine, target) for p in ends)
    return max(settled, key=lambda end: end[1], default=(None, -np.inf))


def _raced(settler: Settler, place: Place, i: int, runners: list[Any], target: float) -> list[Any]:
    """Parameters that are ahead after some steps: the better half goes on, again and again.

    An exchange that gains much does so at once: where some are beyond the target after a few steps,
    the race is over. What is still below may be on its way up, or on its way back to where it came
    from, and only more steps can tell. In a forest only the tables of hidden variable i are
    followed.
    """
    slack = SLACK * abs(place.objective)
    nearby = settler.nearby(place)
    near = None if nearby is None else nearby(i)

    def leg(parameters: Any, n: int) -> tuple[Any, float]:
        if near is not None:
            return settler.settle_near(near, parameters, place.gamma, n)
        return settler.settle(place.problem, parameters, place.gamma, settler.settings.tolerance, n)

    ends = sorted((leg(p, FIRST) for p in runners), key=lambda end: -end[1])
    ahead = [p for p, value in ends[:FEW] if value > target]
    if ahead:
        ends = sorted((leg(p, LEG) for p in ahead), key=lambda end: -end[1])
        return [p for p, _ in ends[:LEAD]]
    runners = [p for p, _ in ends[: max(FINALISTS, len(ends) // 2)]]
    while runners and settler.ticker.keep_going():
        ends = [leg(p, LEG) for p in runners]
        ends.sort(key=lambda end: -end[1])
        runners = [p for p, value in ends if value > place.objective - slack]
        if len(runners) <= FINALISTS:
            break
        runners = runners[: max(FINALISTS, len(ends) // 2)]
        if len(ends) <= FINALISTS:
            break
    return runners[:FINALISTS]


def _candidates(place: Place, i: int) -> list[Any]:
    """Parameters after an exchange, most promising first; two merges for each split."""
    problem = place.problem
    growth = problem.growth(place.look, i, place.vectors[i], 8)
    gains, pair = problem.gains(place.look, i, growth)
    losses = problem.losses(place.look, i)
    found = []
    for state in range(problem.shape[i]):
        free = losses.copy()
        free[state] = free[:, state] = np.inf
        for place_of in np.argsort(free, axis=None)[:2]:
            one, other = np.unravel_index(int(place_of), free.shape)
            if np.isfinite(free[one, other]):
                found.append((gains[state] - free[one, other], state, int(one), int(other)))
    found.sort(key=lambda item: -item[0])
    return [
        problem.exchange(place.look, i, state, (one, other), pair) for _, state, one, other in found
    ]
