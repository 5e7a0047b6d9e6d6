"""Following one solution from gamma = 0, where it is trivial, to gamma = 1, where it is EM's.

Thesis 6.3: gamma grows by as much as changes I(T; Y) by a given part of log |T| (Eq. 6.9), within
bounds; at each gamma the two steps are repeated until they settle. Three things go beyond it.

- States begin as one and split where the eigenvalue of `splits.py` says so, along its eigenvector:
  nothing is left to noise, and no work is spent on copies of a state.
- When all states are in use, states are exchanged (`exchange.py`).
- The direction may come from the whole derivative (`derivative.py`) instead of its diagonal.

Perturbation by noise and steps of a fixed length are kept for comparison.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.exact import Exact, Followed, Look
from unveil.em.loop import run_em
from unveil.em.squared import squared_steps
from unveil.errors import DataError
from unveil.progress import Run, Step, StopReason, Ticker, run
from unveil.records import Record

__all__ = ["Continuation", "Place", "Point", "follow"]

Vector = npt.NDArray[np.float64]

DIRECTIONS = ("whole", "diagonal", "none")
SPLITS = ("eigenvalue", "noise")
STEPS = ("information", "fixed")
FINALISTS = 2
"""So many of the candidates for an exchange go on until they have settled."""
LEG = 8
"""Candidates are compared after so many steps each."""
SLACK = 2e-3
"""A candidate that lags by more than this part of the objective is given up."""


@dataclass(frozen=True)
class Continuation:
    """How gamma goes from 0 to 1.

    `direction`: the path is foreseen by the `whole` derivative, by its `diagonal` (the thesis), or
    not at all (`none`: steps are judged by the last one). `splits`: states split where an
    `eigenvalue` crosses, or all are there from the start and told apart by `noise`. `steps`:
    calibrated by `information`, or of a `fixed` length, 1 / `n_steps`.

    `information_step` is the part of log |T| by which I(T; Y) may grow in one step; gamma grows by
    at least `least_step` and at most `most_step` of itself. A state splits when its eigenvalue is
    beyond 1 + `margin`, into two that are `kick` apart. Before the end EM settles to `tolerance`.
    At the end, up to `exchanges` exchanges of states are tried in each of at most `rounds` rounds.
    """

    direction: Literal["whole", "diagonal", "none"] = "none"
    splits: Literal["eigenvalue", "noise"] = "eigenvalue"
    steps: Literal["information", "fixed"] = "information"
    information_step: float = 0.1
    least_step: float = 0.02
    most_step: float = 0.25
    n_steps: int = 100
    margin: float = 0.1
    kick: float = 0.3
    noise: float = 0.02
    tolerance: float = 1e-5
    exchanges: int = 20
    rounds: int = 5

    def __post_init__(self) -> None:
        words = (("direction", DIRECTIONS), ("splits", SPLITS), ("steps", STEPS))
        for name, known in words:
            if getattr(self, name) not in known:
                raise DataError(f"{name} is one of {', '.join(known)}, not {getattr(self, name)!r}")
        for name in ("information_step", "least_step", "most_step", "tolerance", "kick"):
            if not getattr(self, name) > 0:
                raise DataError(f"{name} must be above 0, got {getattr(self, name)}")
        if self.n_steps < 1 or self.exchanges < 0 or self.margin < 0:
            raise DataError("n_steps is at least 1, exchanges and margin at least 0")


@dataclass(frozen=True)
class Point(Record):
    """One step of the course: where gamma was and what the solution was like there.

    `log_likelihood` is that of all rows (nats), `information` I(T_i; Y) of every hidden variable
    (nats), `n_states` how many states each has, `effective` how many of them the score tells apart.
    """

    gamma: float
    log_likelihood: float
    information: tuple[float, ...]
    n_states: tuple[int, ...]
    effective: tuple[int, ...]
    n_iterations: int
    what: str = ""
    held_out: float | None = None


@dataclass(frozen=True)
class Place:
    """Where the continuation is: the problem (its states may grow in number) and its solution.

    `vectors` are the eigenvectors found last, `slope` d I(T; Y) / d gamma of the last step.
    """

    problem: Any
    parameters: Any
    gamma: float
    objective: float
    vectors: tuple[Vector, ...]
    slope: float
    course: tuple[Point, ...]
    look: Look = field(repr=False)
    n_iterations: int = 0
    largest: float = 0.0
    """The largest eigenvalue of all hidden variables that may get another state."""


class _Follower:
    """The settings, and what is the same at every gamma."""

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
        self.settings, self.states, self.end, self.adapt = settings, tuple(states), end, adapt
        self.tolerance, self.max_iterations = tolerance, max_iterations
        self.generator, self.ticker, self.judge = generator, ticker, judge
        self.scale = math.log(max(2.0, math.prod(float(s) for s in states)))
        self.n_iterations = 0

    # One gamma ---------------------------------------------------------------------------------

    def settle(
        self,
        problem: Followed,
        parameters: Any,
        gamma: float,
        tolerance: float,
        most: int | None = None,
    ) -> tuple[Any, float]:
        """The fixed point that the two steps lead to at one gamma, and -L there."""
        phase = f"bottleneck, gamma {gamma:.3f}"
        found = run_em(
            lambda p: problem.step(p, gamma), parameters, most or self.max_iterations, tolerance,
            self.ticker, phase,
        )  # fmt: skip
        self.n_iterations += found.n_iterations
        return found.parameters, found.objective

    def first(self, problem: Followed, parameters: Any) -> Place:
        """The trivial solution, at the gamma where it is about to split."""
        parameters, _ = self.settle(problem, parameters, 1.0, self.settings.tolerance)
        look = problem.look(parameters, 1.0)
        vectors, largest = [], 0.0
        for i in range(len(problem.shape)):
            start = problem.begin(i, self.generator)
            growth = problem.growth(look, i, start, 40)
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
                best: tuple[float, int, int, Any] = (1 + self.settings.margin / 2, -1, -1, None)
                for i, start in enumerate(place.vectors):
                    if not self.may_grow(place, i):
                        vectors.append(start)
                        continue
                    growth = place.problem.growth(place.look, i, start, 5)
                    vectors.append(growth.vectors)
                    state = int(growth.values.argmax())
                    largest = max(largest, float(growth.values[state]))
                    if growth.values[state] > best[0]:
                        best = (float(growth.values[state]), i, state, growth)
                place = replace(place, vectors=tuple(vectors), largest=largest)
                if best[3] is None:
                    break
                place = self.split(place, *best[1:])
                name = place.problem.hidden[best[1]]
                what = f"{what}; {name} splits" if what else f"{name} splits"
        return self.recorded(place, what)

    def split(self, place: Place, i: int, state: int, growth: Any) -> Place:
        """The place after one split, settled again."""
        problem, parameters = place.problem.split(place.look, i, state, growth, self.settings.kick)
        return self.settled_at(place, problem, parameters)

    def settled_at(self, place: Place, problem: Followed, parameters: Any) -> Place:
        """The same gamma in a problem in which a hidden variable has other states."""
        before = self.n_iterations
        parameters, objective = self.settle(
            problem, parameters, place.gamma, self.settings.tolerance
        )
        vectors = list(place.vectors)
        for j in range(len(vectors)):
            vectors[j] = problem.begin(j, self.generator)
        look = problem.look(parameters, place.gamma)
        return replace(
            place, problem=problem, parameters=parameters, objective=objective, look=look,
            vectors=tuple(vectors), n_iterations=place.n_iterations + self.n_iterations - before,
        )  # fmt: skip

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

    # The end -----------------------------------------------------------------------------------

    def ended(self, place: Place) -> Place:
        """The last gamma: all states taken, or spare ones given back; exchanges; EM to the end."""
        place = self.trimmed(place) if self.adapt else self.filled(place)
        for i in range(len(place.problem.shape)):
            place = self.exchanged(place, i)
        place = self.at(place, *self.settle_fast(place))
        return self.recorded(replace(place, course=place.course[:-1]), place.course[-1].what)

    def settle_fast(self, place: Place) -> tuple[Any, float]:
        """The fixed point at the last gamma, by steps that go further on EM's way (`squared`)."""
        problem, common = place.problem, place.parameters
        if place.gamma < 1 or not isinstance(problem, Exact):
            return self.settle(problem, common, place.gamma, self.tolerance)

        def step(tables: Vector) -> tuple[Vector, float]:
            self.n_iterations += 1
            better, objective = problem.step(common._replace(tables=tables), 1.0)
            return better.tables, objective

        faster = squared_steps(step, problem.layout.normalised)
        found = run_em(
            faster, common.tables, self.max_iterations, self.tolerance, self.ticker,
            "bottleneck, gamma 1",
        )  # fmt: skip
        better, objective = problem.step(common._replace(tables=found.parameters), 1.0)
        return better._replace(tables=found.parameters), objective

    def padded(self, place: Place) -> Place:
        """Stopped early: states still to come are halves of those there are, largest first."""
        for i, wanted in enumerate(self.states):
            while place.problem.shape[i] < wanted:
                largest = int(place.problem.sizes(place.look)[i].argmax())
                growth = place.problem.growth(place.look, i, place.vectors[i], 1)
                problem, parameters = place.problem.split(place.look, i, largest, growth, 0.01)
                vectors = tuple(problem.begin(j, self.generator) for j in range(len(self.states)))
                look = problem.look(parameters, place.gamma)
                place = replace(
                    place, problem=problem, parameters=parameters, look=look, vectors=vectors
                )
        return place

    def filled(self, place: Place) -> Place:
        """States that no eigenvalue asked for go where a split gains most."""
        for i, wanted in enumerate(self.states):
            while place.problem.shape[i] < wanted and self.ticker.keep_going():
                growth = place.problem.growth(place.look, i, place.vectors[i], 10)
                gains, pair = place.problem.gains(place.look, i, growth)
                made = place.problem.split_by(place.look, i, int(gains.argmax()), pair)
                place = self.settled_at(place, *made)
        return place

    def trimmed(self, place: Place) -> Place:
        """States are added while the score tells all apart, and merged where it does not."""
        place = self.merged(place)
        for i, most in enumerate(self.states):
            while place.problem.shape[i] < most and self.ticker.keep_going():
                growth = place.problem.growth(place.look, i, place.vectors[i], 10)
                gains, pair = place.problem.gains(place.look, i, growth)
                made = place.problem.split_by(place.look, i, int(gains.argmax()), pair)
                more = self.settled_at(place, *made)
                if (more.problem.scores(more.look, i) > 0).any():
                    break
                place = more
        return place

    def merged(self, place: Place) -> Place:
        """States that the score does not tell apart become one."""
        for i in range(len(place.problem.shape)):
            while place.problem.shape[i] > 1 and self.ticker.keep_going():
                scores = place.problem.scores(place.look, i)
                one, other = np.unravel_index(int(scores.argmax()), scores.shape)
                if scores[one, other] <= 0:
                    break
                a, b = sorted((int(one), int(other)))
                made = place.problem.merge(place.look, i, a, b)
                place = self.settled_at(place, *made)
        return place

    def exchanged(self, place: Place, i: int) -> Place:
        """The place after all exchanges of states that gain.

        All candidates run a little, the best of them further, and the winner has to gain.
        """
        if place.problem.shape[i] < 3 or not self.settings.exchanges:
            return place
        fine = self.settings.tolerance / 10
        found, objective = self.settle(place.problem, place.parameters, place.gamma, fine)
        place = self.at(place, found, objective)
        for _ in range(self.settings.rounds):
            starts = self.candidates(place, i)[: self.settings.exchanges]
            ends = self.race(place, starts)
            best = max(
                (self.settle(place.problem, p, place.gamma, fine) for p in ends),
                key=lambda e: e[1], default=(None, -np.inf),
            )  # fmt: skip
            if best[1] < place.objective + 1e-6 * abs(place.objective):
                break
            place = self.at(place, *best)
            if not self.ticker.keep_going():
                break
        return place

    def race(self, place: Place, runners: list[Any]) -> list[Any]:
        """Parameters that are ahead after a few steps: the better half goes on, again and again."""
        slack = SLACK * abs(place.objective)
        while runners and self.ticker.keep_going():
            ends = [
                self.settle(place.problem, p, place.gamma, self.settings.tolerance, LEG)
                for p in runners
            ]
            ends.sort(key=lambda end: -end[1])
            runners = [p for p, value in ends if value > place.objective - slack]
            if len(runners) <= FINALISTS:
                break
            runners = runners[: max(FINALISTS, len(ends) // 2)]
            if len(ends) <= FINALISTS:
                break
        return runners[:FINALISTS]

    def at(self, place: Place, parameters: Any, objective: float) -> Place:
        """The same problem and gamma at other parameters."""
        look = place.problem.look(parameters, place.gamma)
        return replace(place, parameters=parameters, objective=objective, look=look)

    def candidates(self, place: Place, i: int) -> list[Any]:
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
            problem.exchange(place.look, i, state, (one, other), pair)
            for _, state, one, other in found
        ]


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
    follower = _Follower(
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
    return replace(found, state=follower.padded(found.state))
