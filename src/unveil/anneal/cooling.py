"""How the temperature falls: geometrically, or by how far the weights moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from unveil.errors import DataError

__all__ = ["Adaptive", "Cooling", "Geometric"]


class Cooling(Protocol):
    """A course of temperatures, from the first to zero."""

    @property
    def start(self) -> float:
        """The first temperature."""

    def next(self, temperature: float, moved: float) -> float:
        """The temperature after this one; 0.0 once it is negligible.

        `moved` is the share of all weight that the last step moved from some rows to others.
        """


@dataclass(frozen=True)
class Geometric:
    """The schedule of the thesis (3.2): `factor` times the temperature before, down to `least`.

    >>> cooling, temperature = Geometric(1.0, 0.5, 0.2), 1.0
    >>> while temperature:
    ...     print(temperature)
    ...     temperature = cooling.next(temperature, 0.0)
    1.0
    0.5
    0.25
    """

    start: float = 1.0
    factor: float = 0.9
    least: float = 0.02

    def __post_init__(self) -> None:
        _check(self.start, self.factor, self.least)

    @classmethod
    def over(cls, steps: int, start: float, end: float) -> Geometric:
        """So many temperatures, from `start` to a little above `end`.

        >>> Geometric.over(2, 1.0, 0.25)
        Geometric(start=1.0, factor=0.5, least=0.375)
        """
        factor = (end / start) ** (1.0 / steps)
        return cls(start, factor, end * (1.0 + 1.0 / factor) / 2)

    def next(self, temperature: float, moved: float) -> float:
        """factor T, or zero below `least`."""
        return _or_zero(self.factor * temperature, self.least)


@dataclass(frozen=True)
class Adaptive:
    """Cooling without a policy for every step (8.4): the weights say how far the next one goes.

    A step that moved the share `step` of all weight is followed by one of `factor`; one that moved
    half as much, by two such factors at once (at most `longest`), and one that moved twice as much,
    by half a factor. So the temperature falls slowly while the hypothesis still changes under the
    weights, and fast once it does not: as continuation takes steps of equal information (6.3).

    >>> cooling = Adaptive(1.0, 0.81, step=0.2)
    >>> [round(cooling.next(1.0, moved), 3) for moved in (0.8, 0.2, 0.1, 0.0)]
    [0.9, 0.81, 0.656, 0.43]
    """

    start: float = 1.0
    factor: float = 0.8
    least: float = 0.02
    step: float = 0.2
    longest: float = 4.0

    def __post_init__(self) -> None:
        _check(self.start, self.factor, self.least)
        if not (self.step > 0 and self.longest >= 1):
            raise DataError(
                f"adaptive cooling needs step > 0 and longest >= 1, got {self.step} and "
                f"{self.longest}"
            )

    def next(self, temperature: float, moved: float) -> float:
        """factor^k T with k = step / moved, from 1/2 to `longest`; or zero below `least`."""
        power = self.longest if moved <= 0 else min(self.longest, max(0.5, self.step / moved))
        return _or_zero(self.factor**power * temperature, self.least)


def _or_zero(temperature: float, least: float) -> float:
    return temperature if temperature >= least else 0.0


def _check(start: float, factor: float, least: float) -> None:
    if not (start >= 0 and 0 < factor < 1 and least > 0):
        raise DataError(
            "cooling needs a start >= 0, a factor between 0 and 1 and a least temperature > 0, got "
            f"{start}, {factor} and {least}"
        )
