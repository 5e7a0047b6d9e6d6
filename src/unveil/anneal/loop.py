"""Algorithm 4: reweight, optimise, cool down; around any learner.

`Annealer.first` and `Annealer.step` are the algorithm, `anneal` drives them. A state is all that
the next step needs, chance included, so a run can be kept and taken up again at any step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from unveil.anneal.adversary import Adversary
from unveil.anneal.cooling import Cooling, Geometric
from unveil.anneal.learner import Learner, Reweighting
from unveil.anneal.weights import checked, distance, divergence, tilted
from unveil.progress import Progress, Step, StopReason, Ticker, run
from unveil.records import Record
from unveil.seeds import seed_or_fresh

__all__ = ["Annealed", "Annealer", "Point", "State", "anneal"]

Vector = npt.NDArray[np.float64]
H = TypeVar("H")

PHASE = "weight annealing"
ROUNDING = 1e-13
"""A hypothesis is better if it is by more than this part of the score."""


@dataclass(frozen=True)
class Point(Record):
    """One step of the course.

    `divergence` is KL(w || w0) of its weights from the rows' own (nats), `moved` the share of all
    weight that it moved; `perturbed` and `score` are the hypothesis' scores under its weights and
    under the rows' own, `best` the best of the latter so far.
    """

    temperature: float
    divergence: float
    moved: float
    perturbed: float
    score: float
    best: float


@dataclass(frozen=True)
class State(Generic[H]):
    """Where an annealing stands: what the next step needs.

    `ratio` holds the logs of the weights over the rows' own; `best` is the best hypothesis seen so
    far under the rows' own weights; `cycle` counts how often it was heated.
    """

    hypothesis: H
    best: H
    best_score: float
    temperature: float
    ratio: Vector = field(repr=False)
    reweighting: Reweighting
    course: tuple[Point, ...] = ()
    cycle: int = 1

    @property
    def is_cold(self) -> bool:
        """Whether nothing is left to cool."""
        return self.temperature <= 0


@dataclass(frozen=True)
class Annealed(Record, Generic[H]):
    """The best hypothesis under the rows' own weights, and the whole course.

    `first_score` is what the hypothesis was worth that it began with.
    """

    hypothesis: H = field(repr=False)
    score: float
    first_score: float
    course: tuple[Point, ...]
    stopped: StopReason
    seed: int
    reweighting: str
    elapsed: float

    @property
    def gain(self) -> float:
        """How much better than where it began."""
        return self.score - self.first_score

    def __str__(self) -> str:
        return (
            f"weight annealing ({self.reweighting}): {self.score:,.4f} after {len(self.course)} "
            f"reweightings, {self.gain:,.4f} more than at the start ({self.stopped})"
        )


@dataclass(frozen=True)
class Annealer(Generic[H]):
    """Algorithm 4 over one learner.

    With `polish`, the learner goes on from every hypothesis with the rows' own weights, and the
    best is the best of these; the course itself goes on from the hypothesis under the weights.
    After each of the `cycles` but the last it is heated again, from the best hypothesis so far.
    """

    learner: Learner[H]
    reweighting: Reweighting
    cooling: Cooling
    seed: int
    polish: bool = False
    cycles: int = 1

    def first(self, hypothesis: H) -> State[H]:
        """The state before the first step."""
        own = checked(self.learner.weights)
        ready = self.reweighting.first(own, partial(self.learner.slopes, hypothesis, own))
        score = self.learner.score(hypothesis, own)
        start = self.cooling.start
        return State(hypothesis, hypothesis, score, start, np.zeros(len(own)), ready)

    def step(self, state: State[H], ticker: Ticker) -> tuple[State[H], Step]:
        """One reweighting, the climb under it, and the next temperature."""
        own, learner, now = self.learner.weights, self.learner, state.temperature
        number = len(state.course)
        before = tilted(own, state.ratio)
        slopes = partial(learner.slopes, state.hypothesis, before)
        generator = np.random.default_rng([self.seed, number])
        # w <- Reweight(Score, w, T, h, D)
        ratio = state.reweighting.ratio(own, state.ratio, slopes, now, generator)
        weights = tilted(own, ratio)
        # h <- Optimize(Score, w, h, D)
        inside = _inside(ticker, Step(PHASE, number + 1, state.best_score, temperature=now))
        hypothesis = learner.optimise(state.hypothesis, weights, inside)
        judged = learner.finish(hypothesis, inside) if self.polish else hypothesis
        score = learner.score(judged, own)
        better = clearly(score, state.best_score)
        best, best_score = (judged, score) if better else (state.best, state.best_score)
        # T <- CoolDown(T)
        moved = distance(weights, before)
        point = Point(
            now, divergence(weights, own), moved, learner.score(hypothesis, weights), score,
            best_score,
        )  # fmt: skip
        after = replace(
            state, hypothesis=hypothesis, best=best, best_score=best_score, ratio=ratio,
            temperature=self.cooling.next(now, moved), course=(*state.course, point),
        )  # fmt: skip
        if after.is_cold and after.cycle < self.cycles and ticker.keep_going():
            after = self._heated(after, ticker)
        words = f"weights {point.divergence:.2f} nats from their own"
        change = after.best_score - state.best_score
        return after, Step(PHASE, number + 1, after.best_score, change, now, detail=words)

    def _heated(self, state: State[H], ticker: Ticker) -> State[H]:
        """At the first temperature again, the weights back home."""
        best, score = self.finished(state, ticker)
        return replace(
            state, hypothesis=best, best=best, best_score=score, temperature=self.cooling.start,
            ratio=np.zeros(len(state.ratio)), cycle=state.cycle + 1,
        )  # fmt: skip

    def finished(self, state: State[H], ticker: Ticker) -> tuple[H, float]:
        """The best of the last hypothesis and the best one seen, at the rows' own weights."""
        own = self.learner.weights
        best, best_score = state.best, state.best_score
        inside = _inside(ticker, Step(PHASE, len(state.course), state.best_score, temperature=0.0))
        for hypothesis in (state.hypothesis, state.best):
            polished = self.learner.finish(hypothesis, inside)
            score = self.learner.score(polished, own)
            if clearly(score, best_score):
                best, best_score = polished, score
        return best, best_score


def clearly(score: float, other: float) -> bool:
    """Whether a score is better than another by more than rounding.

    >>> clearly(-1000.0, -1000.0 - 1e-12), clearly(-1000.0, -1000.1)
    (False, True)
    """
    return score > other + ROUNDING * (1.0 + abs(other)) or other == float("-inf") < score


def _inside(ticker: Ticker, step: Step) -> Ticker:
    """A ticker for the learner: who listens sees where the annealing stands, and can stop it."""
    return Ticker(lambda inner: ticker.tell(replace(step, detail=inner.phase)), ticker.time_left())


def anneal(
    learner: Learner[H],
    hypothesis: H,
    reweighting: Reweighting | None = None,
    cooling: Cooling | None = None,
    polish: bool = False,
    cycles: int = 1,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    on_step: Callable[[State[H]], Any] | None = None,
) -> Annealed[H]:
    """The best hypothesis found while the weights of the rows cool down to their own (Ch. 3).

    It begins at `hypothesis`, which should be one that `learner` cannot improve, and never ends
    with a worse one. `reweighting` is an `Adversary` unless given, `cooling` is `Geometric`; with
    `polish` every hypothesis on the way is climbed from with the rows' own weights too. It is
    heated `cycles` times, each time from the best so far. `seed` repeats a run, `progress` listens,
    `time_limit` (seconds) ends it with the best so far; `on_step` is given every state.

    >>> from unveil.anneal import Adaptive
    >>> from unveil.anneal.toy import Bumps
    >>> bumps = Bumps([1.0, 5.0], [0.8, 0.2])  # the toy problem of 3.4: its better maximum is at 1
    >>> found = anneal(bumps, bumps.climb(5.0), Adversary(eta=1.0), Adaptive(start=4.0))
    >>> round(bumps.climb(5.0), 2), round(found.hypothesis, 2)
    (4.99, 1.0)
    """
    seed = seed_or_fresh(seed)
    ticker = Ticker.of(progress, time_limit)
    method = Annealer(
        learner, reweighting or Adversary(), cooling or Geometric(), seed, polish, cycles
    )
    state = method.first(hypothesis)
    first_score, stopped = state.best_score, "converged"

    def one(state: State[H]) -> tuple[State[H], Step]:
        after, info = method.step(state, ticker)
        if on_step is not None:
            on_step(after)
        return after, info

    def cold(state: State[H], _: Step) -> StopReason | None:
        return "converged" if state.is_cold else None

    if not state.is_cold:
        done = run(one, state, cold, ticker)
        state, stopped = done.state, done.stopped
    best, score = method.finished(state, ticker)
    return Annealed(
        best, score, first_score, state.course, ticker.reason or stopped, seed,  # type: ignore[arg-type]
        state.reweighting.name, ticker.elapsed,
    )  # fmt: skip
