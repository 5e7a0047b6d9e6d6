"""Settling: the two steps repeated at one gamma, and what a place is once they have settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.course import Continuation, Place
from unveil.bottleneck.exact import Exact, Followed, Look
from unveil.bottleneck.forest import Forest
from unveil.bottleneck.near import Messages, Near
from unveil.em.loop import run_em
from unveil.em.squared import squared_steps
from unveil.progress import Ticker

__all__ = ["Settler"]

Vector = npt.NDArray[np.float64]

VECTORS = 0
"""The number by which the vectors are drawn from which eigenvectors are looked for."""
STRETCH = 10
"""After so many steps it is asked whether a run can still reach what it has to."""
ALLOWED, MOST_RATIO = 4.0, 0.9
"""So many times what gains seem to add up to is allowed for; they shrink to this part at most."""


class Settler:
    """EM at one gamma, to a tolerance; it counts the steps taken."""

    def __init__(
        self,
        settings: Continuation,
        tolerance: float,
        max_iterations: int,
        generator: np.random.Generator,
        ticker: Ticker,
    ) -> None:
        self.settings, self.tolerance, self.max_iterations = settings, tolerance, max_iterations
        self.generator, self.ticker = generator, ticker
        # Eigenvectors are looked for from the same vectors every time: only noise needs a seed.
        self.starts = np.random.default_rng(VECTORS)
        self.n_iterations = 0
        self._told: tuple[Look, Messages] | None = None

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

    def settle_near(
        self, near: Near, parameters: Any, gamma: float, most: int
    ) -> tuple[Any, float]:
        """The same for the tables of one hidden variable; such steps are cheap and not counted."""
        found = run_em(
            lambda p: near.step(p, gamma), parameters, most, self.settings.tolerance, self.ticker,
            f"bottleneck, gamma {gamma:.3f}",
        )  # fmt: skip
        return found.parameters, found.objective

    def settle_above(
        self, problem: Followed, parameters: Any, gamma: float, tolerance: float, target: float
    ) -> tuple[Any, float]:
        """The fixed point, or where it was given up for not going to reach `target`.

        EM's gains shrink by a factor that hardly changes near the end, so that what is still to
        come is a geometric series; several times as much is allowed for.
        """
        value, last = -np.inf, 0.0
        while True:
            before = self.n_iterations
            parameters, found = self.settle(problem, parameters, gamma, tolerance, STRETCH)
            gained, value = found - value, found
            if self.n_iterations - before < STRETCH or not self.ticker.keep_going():
                return parameters, value
            if np.isfinite(gained):
                ratio = min(gained / last, MOST_RATIO) if last > 0 else MOST_RATIO
                if value + ALLOWED * gained * ratio / (1 - ratio) < target:
                    return parameters, value
                last = gained

    def settle_fast(self, place: Place) -> tuple[Any, float]:
        """The fixed point at the last gamma, by steps that go further on EM's way (`squared`)."""
        problem, common = place.problem, place.parameters
        if place.gamma < 1 or not isinstance(problem, Exact | Forest):
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

    def nearby(self, place: Place) -> Callable[[int], Near] | None:
        """Steps for one hidden variable at a time, where several form a forest."""
        problem = place.problem
        if not isinstance(problem, Forest) or len(problem.shape) < 2:
            return None
        if self._told is None or self._told[0] is not place.look:
            self._told = place.look, Messages(problem, place.parameters, place.gamma)
        told = self._told[1]
        return lambda i: Near(told, i)

    def at(self, place: Place, parameters: Any, objective: float) -> Place:
        """The same problem and gamma at other parameters."""
        look = place.problem.look(parameters, place.gamma)
        return replace(place, parameters=parameters, objective=objective, look=look)

    def carried(self, place: Place, problem: Followed) -> tuple[Vector, ...]:
        """The eigenvectors found so far, laid out for a problem with other numbers of states."""
        old, new = place.problem.layout, problem.layout  # type: ignore[attr-defined]
        same = [a == b for a, b in zip(old.shapes, new.shapes, strict=True)]
        found = []
        for j, vector in enumerate(place.vectors):
            fresh = problem.begin(j, self.starts)
            for f in np.flatnonzero(same):
                fresh[new.first[f] : new.first[f + 1]] = vector[old.first[f] : old.first[f + 1]]
            found.append(fresh)
        return tuple(found)

    def settled_at(self, place: Place, problem: Followed, parameters: Any) -> Place:
        """The same gamma in a problem in which a hidden variable has other states."""
        before = self.n_iterations
        parameters, objective = self.settle(
            problem, parameters, place.gamma, self.settings.tolerance
        )
        vectors = self.carried(place, problem)
        look = problem.look(parameters, place.gamma)
        return replace(
            place, problem=problem, parameters=parameters, objective=objective, look=look,
            vectors=vectors, n_iterations=place.n_iterations + self.n_iterations - before,
        )  # fmt: skip
