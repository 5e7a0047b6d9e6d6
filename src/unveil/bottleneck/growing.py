"""Changes of structure between the steps of the continuation: hidden variables and their children.

Each change is kept only if -L+ gains more than its parameters cost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unveil.bottleneck.continuation import Follower
from unveil.bottleneck.course import Place
from unveil.bottleneck.enrichment import candidates, enriched
from unveil.bottleneck.mean_field import MeanField
from unveil.bottleneck.replacing import moved
from unveil.bottleneck.weighing import weighed
from unveil.model.network import Network
from unveil.progress import Run, Step, StopReason, run

__all__ = ["Grower"]

FIRST = 15
"""So many steps a new hidden variable has to show what it is worth."""
TRIES = 4
"""So many new hidden variables are tried before gamma grows further."""
ROUNDS = 5
"""At the last gamma, structure and states change at most so often in turn."""
AGAIN = 1.25
"""After one was refused, the next is tried when gamma has grown by this factor."""


class Grower:
    """The continuation with changes of structure between its steps."""

    def __init__(
        self,
        follower: Follower,
        most: int,
        max_hidden: int,
        information: float,
        entropy: float,
        moves: bool = True,
    ) -> None:
        self.follower, self.most, self.max_hidden = follower, most, max_hidden
        self.information, self.entropy, self.moves = information, entropy, moves
        self.again = 0.0

    def run(self, problem: MeanField, network: Network) -> Run[Place]:
        first = self.follower.first(problem, problem.parameters(network))

        def step(place: Place) -> tuple[Place, Step]:
            place, info = self.follower.stepped(place)
            if place.gamma < 1:
                place = self.improved(place)
            return place, info

        def done(place: Place, info: Step) -> StopReason | None:
            return "converged" if place.gamma >= 1 else None

        if first.gamma >= 1:
            return Run(self.follower.ended(first), (), "converged")
        found = run(step, first, done, self.follower.ticker)
        place = self.finished(found.state)
        place = replace(place, course=place.course[:-1])
        return replace(found, state=self.follower.recorded(place, found.state.course[-1].what))

    def adapted(self, found: Run[Place]) -> Run[Place]:
        """Where a course has ended, with as many states of each as the score tells apart (6.8)."""
        self.follower.adapt = True
        place = self.finished(self.grown(found.state))
        place = replace(place, course=place.course[:-1])
        return replace(found, state=self.follower.recorded(place, found.state.course[-1].what))

    def finished(self, place: Place) -> Place:
        """The last gamma: hidden variables, their children and states, until nothing changes."""
        for _ in range(ROUNDS):
            self.again, before = 0.0, _described(place)
            place = self.improved(place)
            if self.follower.adapt:
                place = weighed(self.follower, place, self.follower.states)
            if _described(place) == before or not self.follower.ticker.keep_going():
                break
        return self.follower.at(place, *self.follower.settle_fast(place))

    def improved(self, place: Place) -> Place:
        """New hidden variables where they are worth most, and children where they score best."""
        if not self.follower.ticker.keep_going():
            return place
        place = self.arranged(self.settled(place, 1e-6), 1e-6)
        while self.may_enrich(place):
            other = self.with_one_more(place)
            if other is None:
                self.again = AGAIN * place.gamma
                break
            place = other
        return self.grown(place)

    def with_one_more(self, place: Place) -> Place | None:
        """The place with the first of some new hidden variables that pays, if one does."""
        adapt, generator = self.follower.adapt, self.follower.starts
        place = self.settled(place, 1e-6)
        for i, chosen in candidates(place, self.information, self.entropy, TRIES):
            n_states = 2 if adapt else place.problem.shape[i]
            other = self.grown(enriched(place, i, chosen, n_states, generator))
            other = self.settled(other, 1e-5, FIRST)
            other = self.arranged(other, 1e-5, FIRST)
            if other.objective > place.objective + _price(place, other):
                return other
        self.grown(place)
        return None

    def may_enrich(self, place: Place) -> bool:
        """Whether another hidden variable may be tried now."""
        room = len(place.problem.hidden) < self.max_hidden and place.gamma >= self.again
        return room and self.follower.ticker.keep_going()

    def arranged(self, place: Place, tolerance: float, most: int | None = None) -> Place:
        """Children under other parents, if that is better: all that ask for it, or the first."""
        if not self.moves or len(place.problem.hidden) < 2:
            return place
        generator = self.follower.starts
        least = self.information if place.gamma < 1 else 0.0
        for at_once in (None, 1):
            other = self.grown(moved(place, generator, least, at_once))
            if other.problem is place.problem:
                break
            other = self.settled(other, tolerance, most)
            if other.objective > place.objective + _price(place, other):
                return other
        return self.grown(place)

    def grown(self, place: Place) -> Place:
        """The same place; every hidden variable that it has may have as many states as any."""
        self.follower.states = (self.most,) * len(place.problem.hidden)
        return place

    def settled(self, place: Place, tolerance: float, most: int | None = None) -> Place:
        """The fixed point at the same gamma, for what may be another structure."""
        found = self.follower.settle(place.problem, place.parameters, place.gamma, tolerance, most)
        return self.follower.at(place, *found)


def _described(place: Place) -> tuple[Any, ...]:
    """The arcs and the numbers of states."""
    return frozenset(place.problem.layout.network.dag.arcs), place.problem.shape


def _price(before: Place, after: Place) -> float:
    """What more parameters have to gain: half of log N each (BIC), as much as gamma lets through.

    The Lagrangian itself does not ask how many parameters P has (6.7). Below zero where a hidden
    variable of fewer states than its parent's spares parameters.
    """
    counts = [p.problem.layout.network.n_parameters for p in (before, after)]
    price = 0.5 * (counts[1] - counts[0]) * np.log(before.problem.n_cases)
    return float(before.gamma * price)
