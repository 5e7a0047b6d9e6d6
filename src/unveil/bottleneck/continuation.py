"""Following one solution from gamma = 0, where it is trivial, to gamma = 1, where it is EM's.

Thesis 6.3: gamma grows by as much as changes I(T; Y) by a given part of log |T| (Eq. 6.9), within
bounds; at each gamma the two steps are repeated until they settle. Three things go beyond it.

- States begin as one and split where the eigenvalue of `splits.py` says so, along its eigenvector:
  nothing is left to noise, and no work is spent on copies of a state.
- When all states are in use, states are exchanged (`race.py`).
- The direction may come from the whole derivative (`derivative.py`) instead of its diagonal.

Perturbation by noise and steps of a fixed length are kept for comparison.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unveil.bottleneck.course import Continuation, Place, Point
from unveil.bottleneck.ending import filled, padded, trimmed
from unveil.bottleneck.exact import Followed
from unveil.bottleneck.race import exchanged
from unveil.bottleneck.resplitting import resplit
from unveil.bottleneck.settling import Settler
from unveil.progress import Run, Step, StopReason, Ticker, run

__all__ = ["Follower", "follow"]

STILL = 1e-3
"""An eigenvalue that changes by less than this part of itself is known well enough to begin."""


class Follower(Settler):
    """From one gamma to the next; what is the same at every gamma."""

    def __init__(
        self,
        settings: Continuation,
        states: Sequence[int],
        end: float,
        adapt: bool,
        tolerance: float,
        max_iterations: int,
        generator: np.random.Generator,
        ticker: Ticker,
        judge: Any = None,
    ) -> None:
        super().__init__(settings, tolerance, max_iterations, generator, ticker)
        self.states, self.end, self.adapt, self.judge = tuple(states), end, adapt, judge
        self.scale = math.log(max(2.0, math.prod(float(s) for s in states)))

    def first(self, problem: Followed, parameters: Any) -> Place:
        """The trivial solution, at the gamma where it is about to split."""
        parameters, _ = problem.step(parameters, 1.0)  # even a run without time has columns' shares
        parameters, _ = self.settle(problem, parameters, 1.0, self.settings.tolerance)
        look = problem.look(parameters, 1.0)
        vectors, largest = [], 0.0
        for i in range(len(problem.shape)):
            start = problem.begin(i, self.starts)
            growth = problem.growth(look, i, start, 40 if len(problem.shape) == 1 else 15, STILL)
            vectors.append(growth.vectors)
            largest = max(largest, float(growth.values.max()))
        gamma = min(self.end, (1 + self.settings.margin) / max(largest, 1e-9))
        if self.settings.splits == "noise" or self.settings.steps == "fixed":
            gamma = min(gamma, self.end / self.settings.n_steps)
        place = Place(problem, parameters, 0.0, 0.0, tuple(vectors), 0.0, (), look)
        place = replace(self.recorded(place, ""), gamma=gamma)
        return self.grown(replace(place, look=problem.look(parameters, gamma)), "")

    def stepped(self, place: Place) -> tuple[Place, Step]:
        """The next gamma: how far, where to begin, the fixed point, splits."""
        problem, settings = place.problem, self.settings
        direction = problem.direction(place.look, settings.direction)
        slope = place.slope if direction is None else max(direction.information, 0.0)
        gamma = self.next_gamma(place, slope)
        start = place.parameters
        if direction is not None:
            start = direction.moved(start, problem, gamma - place.gamma)
        before = self.n_iterations
        parameters, objective = self.settle(problem, start, gamma, settings.tolerance)
        what = ""
        if settings.splits == "noise":
            shaken, other = self.shaken(problem, parameters, gamma)
            if other > objective:
                parameters, objective, what = shaken, other, "shaken"
        look = problem.look(parameters, gamma)
        gained = sum(look.information) - sum(place.look.information)
        slope = max(gained, 0.0) / (gamma - place.gamma)
        moved = replace(
            place, parameters=parameters, gamma=gamma, objective=objective, slope=slope, look=look,
            n_iterations=self.n_iterations - before,
        )  # fmt: skip
        moved = self.grown(moved, what)
        if gamma >= self.end:
            moved = self.ended(moved)
        point = moved.course[-1]
        words = f"gamma {gamma:.3f}, {_states(point.n_states)}, I(T;Y) {sum(point.information):.3f}"
        change = point.log_likelihood - place.course[-1].log_likelihood
        return moved, Step(
            "bottleneck", len(moved.course), point.log_likelihood, change, detail=words
        )

    def next_gamma(self, place: Place, slope: float) -> float:
        """As far as I(T; Y) is to change (Eq. 6.9), within bounds, and not past the next split."""
        s, gamma = self.settings, place.gamma
        if s.steps == "fixed":
            return min(self.end, gamma + self.end / s.n_steps)
        least, most = s.least_step * gamma, s.most_step * gamma
        length = s.information_step * self.scale / slope if slope > 0 else least
        further = gamma + min(max(length, least), most)
        if s.splits == "eigenvalue" and place.largest > 0:
            crossing = (1 + s.margin) * gamma / place.largest
            further = min(further, max(crossing, gamma + 0.1 * least))
        return min(self.end, further)

    def may_grow(self, place: Place, i: int) -> bool:
        """Whether hidden variable i may get one more state: room left, and none to spare (6.8)."""
        if place.problem.shape[i] >= self.states[i]:
            return False
        return not self.adapt or not (place.problem.scores(place.look, i) > 0).any()

    def shaken(self, problem: Followed, parameters: Any, gamma: float) -> tuple[Any, float]:
        """The fixed point after a little noise (6.3)."""
        noise = self.settings.noise * self.generator.normal(size=parameters.tables.size)
        tables = problem.layout.normalised(parameters.tables * np.exp(noise))  # type: ignore[attr-defined]
        return self.settle(
            problem, parameters._replace(tables=tables), gamma, self.settings.tolerance
        )

    # Splits ------------------------------------------------------------------------------------

    def grown(self, place: Place, what: str) -> Place:
        """The place after every state that is about to split has done so, the first one first."""
        if self.settings.splits == "eigenvalue":
            while self.ticker.keep_going():
                vectors, largest = [], 0.0
                crossing: list[tuple[float, int, int, Any]] = []
                for i, start in enumerate(place.vectors):
                    if not self.may_grow(place, i):
                        vectors.append(start)
                        continue
                    growth = place.problem.growth(place.look, i, start, 5)
                    vectors.append(growth.vectors)
                    state = int(growth.values.argmax())
                    largest = max(largest, float(growth.values[state]))
                    if growth.values[state] > 1 + self.settings.margin / 2:
                        crossing.append((float(growth.values[state]), i, state, growth))
                place = replace(place, vectors=tuple(vectors), largest=largest)
                if not crossing:
                    break
                crossing.sort(key=lambda item: -item[0])
                for _, i, _, _ in crossing:
                    splits = f"{place.problem.hidden[i]} splits"
                    what = f"{what}; {splits}" if what else splits
                place = self.split(place, crossing)
        return self.recorded(place, what)

    def split(self, place: Place, crossing: Sequence[tuple[float, int, int, Any]]) -> Place:
        """The place after these hidden variables had a state split, settled again."""
        _, i, state, growth = crossing[0]
        problem, parameters = place.problem.split(place.look, i, state, growth, self.settings.kick)
        for _, i, _, _ in crossing[1:]:  # tables have other sizes now
            look = problem.look(parameters, place.gamma)
            growth = problem.growth(look, i, self.carried(place, problem)[i], 3)
            state = int(growth.values.argmax())
            problem, parameters = problem.split(look, i, state, growth, self.settings.kick)
        return self.settled_at(place, problem, parameters)

    def recorded(self, place: Place, what: str) -> Place:
        """The place with a point of the course."""
        problem, look = place.problem, place.look
        held_out = None if self.judge is None else self.judge(problem.network(place.parameters))
        point = Point(
            place.gamma, look.log_likelihood, look.information, tuple(problem.shape),
            tuple(problem.effective(look, i) for i in range(len(problem.shape))),
            place.n_iterations, what, held_out,
        )  # fmt: skip
        return replace(place, course=(*place.course, point))

    def ended(self, place: Place) -> Place:
        """The last gamma: all states taken, or spare ones given back; exchanges; EM to the end."""
        place = (trimmed if self.adapt else filled)(self, place, self.states)
        for i in range(len(place.problem.shape)):
            place = exchanged(self, place, i)
        place = resplit(self, place)
        place = self.at(place, *self.settle_fast(place))
        return self.recorded(replace(place, course=place.course[:-1]), place.course[-1].what)


def _states(numbers: Sequence[int]) -> str:
    words = " x ".join(str(n) for n in numbers) if len(numbers) < 4 else f"{sum(numbers)} in all"
    return f"{words} states" if words != "1" else "1 state"


def follow(
    problem: Followed,
    network: Any,
    states: Sequence[int],
    settings: Continuation,
    *,
    end: float = 1.0,
    adapt: bool = False,
    tolerance: float = 1e-8,
    max_iterations: int = 500,
    generator: np.random.Generator,
    ticker: Ticker,
    judge: Any = None,
) -> Run[Place]:
    """The course from the trivial solution to gamma = `end`, with at most `states` of each.

    `problem` has the hidden variables with one state each (or all their states, for noise), and
    `network` its first parameters. With `adapt` the score decides how many states there are.
    `judge` gives the held-out log-likelihood of a network, for the course.
    """
    follower = Follower(
        settings, states, end, adapt, tolerance, max_iterations, generator, ticker, judge
    )
    first = follower.first(problem, problem.parameters(network))

    def done(place: Place, info: Step) -> StopReason | None:
        return "converged" if place.gamma >= end else None

    if first.gamma >= end:
        first = follower.ended(first)
        return Run(first, (), "converged")
    found = run(follower.stepped, first, done, ticker)
    if found.stopped == "converged" or adapt:
        return found
    return replace(found, state=padded(follower, found.state, states))
