"""The last gamma: how many states there are in the end.

States that no eigenvalue asked for go where a split gains most (`filled`); where the score decides
(6.8), states are added while it tells all apart and merged where it does not (`trimmed`). A course
that was stopped has the states still to come as halves of those there are (`padded`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unveil.bottleneck.course import Place
from unveil.bottleneck.settling import Settler

__all__ = ["best_split", "filled", "padded", "trimmed"]


def filled(settler: Settler, place: Place, states: Sequence[int]) -> Place:
    """The place with as many states as are wanted."""
    for i, wanted in enumerate(states):
        while place.problem.shape[i] < wanted and settler.ticker.keep_going():
            place = settler.settled_at(place, *best_split(place, i))
    return place


def trimmed(settler: Settler, place: Place, most: Sequence[int]) -> Place:
    """The place with as many states as the score tells apart, at most so many."""
    place = _merged(settler, place)
    for i, limit in enumerate(most):
        while place.problem.shape[i] < limit and settler.ticker.keep_going():
            more = settler.settled_at(place, *best_split(place, i))
            if (more.problem.scores(more.look, i) > 0).any():
                break
            place = more
    return place


def padded(settler: Settler, place: Place, states: Sequence[int]) -> Place:
    """The place with as many states as are wanted, halves of the largest, not settled."""
    for i, wanted in enumerate(states):
        while place.problem.shape[i] < wanted:
            largest = int(place.problem.sizes(place.look)[i].argmax())
            growth = place.problem.growth(place.look, i, place.vectors[i], 1)
            problem, parameters = place.problem.split(place.look, i, largest, growth, 0.01)
            vectors = tuple(problem.begin(j, settler.starts) for j in range(len(states)))
            look = problem.look(parameters, place.gamma)
            place = replace(
                place, problem=problem, parameters=parameters, look=look, vectors=vectors
            )
    return place


def best_split(place: Place, i: int) -> tuple[Any, Any]:
    """The problem and its parameters after the split that gains most."""
    growth = place.problem.growth(place.look, i, place.vectors[i], 10)
    gains, pair = place.problem.gains(place.look, i, growth)
    made: tuple[Any, Any] = place.problem.split_by(place.look, i, int(gains.argmax()), pair)
    return made


def _merged(settler: Settler, place: Place) -> Place:
    """States that the score does not tell apart become one."""
    for i in range(len(place.problem.shape)):
        while place.problem.shape[i] > 1 and settler.ticker.keep_going():
            scores = place.problem.scores(place.look, i)
            one, other = np.unravel_index(int(scores.argmax()), scores.shape)
            if scores[one, other] <= 0:
                break
            a, b = sorted((int(one), int(other)))
            place = settler.settled_at(place, *place.problem.merge(place.look, i, a, b))
    return place
