"""How many states each of several hidden variables has, by the score of the whole network (6.8).

At the last gamma a hidden variable may get a state where a split gains most, or give one up where a
merge loses least. AIC of the whole network decides, with three instead of two for every parameter
(AIC3, Bozdogan 1993): with several hidden variables the difference that 6.8 has for two states does
not know what others could explain, BIC and the score of Cheeseman and Stutz ask for fewer states
than predict best, and plain AIC for more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.bottleneck.course import Place
from unveil.bottleneck.ending import best_split
from unveil.bottleneck.settling import Settler

__all__ = ["place_score", "weighed"]

FINE = 1e-7
"""EM settles to this part of its objective before a score is believed."""


def place_score(place: Place) -> float:
    """AIC3 / -2 of the network at a place: log-likelihood less 1.5 per parameter, in nats."""
    network = place.problem.network(place.parameters)
    return float(network.log_likelihood(place.problem.table)) - 1.5 * network.n_parameters


def weighed(settler: Settler, place: Place, most: Sequence[int]) -> Place:
    """The place with states added and merged, at most so many, while the score grows."""
    place = _settled(settler, place)
    score, changed = place_score(place), True
    while changed:
        changed = False
        for i in range(len(place.problem.shape)):
            for change in (_more, _fewer):
                while settler.ticker.keep_going():
                    other = change(settler, place, i, most[i])
                    if other is None:
                        break
                    own = place_score(other)
                    if own <= score + 1e-6 * abs(score):
                        break
                    place, score, changed = other, own, True
    return place


def _settled(settler: Settler, place: Place) -> Place:
    found = settler.settle(place.problem, place.parameters, place.gamma, FINE)
    return settler.at(place, *found)


def _more(settler: Settler, place: Place, i: int, most: int) -> Place | None:
    """One state more of hidden variable i, where it gains most."""
    if place.problem.shape[i] >= most:
        return None
    return _settled(settler, settler.settled_at(place, *best_split(place, i)))


def _fewer(settler: Settler, place: Place, i: int, most: int) -> Place | None:
    """One state less, where it is missed least."""
    if place.problem.shape[i] <= 2:
        return None
    losses = place.problem.losses(place.look, i)
    one, other = sorted(int(x) for x in np.unravel_index(int(losses.argmin()), losses.shape))
    return _settled(
        settler, settler.settled_at(place, *place.problem.merge(place.look, i, one, other))
    )
