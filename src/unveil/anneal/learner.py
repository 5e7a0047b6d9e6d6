"""What annealing asks of a learner, and of a way to reweight: two small protocols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from unveil.progress import Ticker

__all__ = ["Learner", "Reweighting"]

Vector = npt.NDArray[np.float64]
H = TypeVar("H")


class Learner(Protocol[H]):
    """Anything that climbs on weighted rows from a hypothesis H and can say what it is worth.

    Weights have shape (n_rows,) and sum to what `weights` sums to.
    """

    @property
    def weights(self) -> Vector:
        """The rows' own weights."""

    def optimise(self, hypothesis: H, weights: Vector, ticker: Ticker) -> H:
        """A better hypothesis under these weights, from the one given: a climb, or a few steps."""

    def finish(self, hypothesis: H, ticker: Ticker) -> H:
        """The same with the rows' own weights, until it converges."""

    def score(self, hypothesis: H, weights: Vector) -> float:
        """What the hypothesis is worth under these weights; more is better."""

    def slopes(self, hypothesis: H, weights: Vector) -> Vector:
        """d score / d w for every row: for additive scores (Eq. 3.1), the score of the row."""


class Reweighting(Protocol):
    """A way to perturb weights; they are told as log-ratios to the rows' own (`weights.py`)."""

    @property
    def name(self) -> str:
        """What it is called."""

    def first(self, own: Vector, slopes: Callable[[], Vector]) -> Reweighting:
        """Itself, or the same with what it takes from the first hypothesis."""

    def ratio(
        self,
        own: Vector,
        before: Vector,
        slopes: Callable[[], Vector],
        temperature: float,
        generator: np.random.Generator,
    ) -> Vector:
        """The next log-ratios, from those before and the slopes of the present hypothesis."""
