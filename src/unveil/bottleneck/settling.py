"""Settling: the two steps repeated at one gamma, and what a place is once they have settled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.course import Continuation, Place
from unveil.bottleneck.exact import Exact, Followed
from unveil.bottleneck.forest import Forest
from unveil.em.loop import run_em
from unveil.em.squared import squared_steps
from unveil.progress import Ticker

__all__ = ["Settler"]

Vector = npt.NDArray[np.float64]


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
        self.n_iterations = 0

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

    def at(self, place: Place, parameters: Any, objective: float) -> Place:
        """The same problem and gamma at other parameters."""
        look = place.problem.look(parameters, place.gamma)
        return replace(place, parameters=parameters, objective=objective, look=look)

    def settled_at(self, place: Place, problem: Followed, parameters: Any) -> Place:
        """The same gamma in a problem in which a hidden variable has other states."""
        before = self.n_iterations
        parameters, objective = self.settle(
            problem, parameters, place.gamma, self.settings.tolerance
        )
        vectors = tuple(problem.begin(j, self.generator) for j in range(len(place.vectors)))
        look = problem.look(parameters, place.gamma)
        return replace(
            place, problem=problem, parameters=parameters, objective=objective, look=look,
            vectors=vectors, n_iterations=place.n_iterations + self.n_iterations - before,
        )  # fmt: skip
