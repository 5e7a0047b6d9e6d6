"""What a mixture with each number of classes is worth, and the number a criterion chooses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from unveil.em.mixture.fit import reached
from unveil.em.mixture.words import in_classes, mixture_line
from unveil.em.parametric import EMStart
from unveil.errors import DataError
from unveil.evaluate.cross_validation import CrossValidation
from unveil.evaluate.profiles import StateProfile, state_profiles
from unveil.model.network import Network
from unveil.progress import StopReason
from unveil.records import Record

__all__ = ["CRITERIA", "Criterion", "Mixture", "MixtureResult"]

Criterion = Literal["bic", "aic", "cheeseman-stutz", "held-out"]
CRITERIA: tuple[str, ...] = get_args(Criterion)


@dataclass(frozen=True)
class Mixture(Record):
    """The best mixture found with one number of classes; classes are ordered by size.

    Scores are in nats, higher is better; `held_out` (the log-loss of rows left out, of the folded
    table) is `None` unless asked for. `starts` has every start's outcome, best first; `notes` says
    in words what looks odd.
    """

    told: ClassVar = ("stopped",)

    n_classes: int
    network: Network
    log_likelihood: float
    n_parameters: int
    bic: float
    aic: float
    cheeseman_stutz: float
    held_out: CrossValidation | None
    starts: tuple[EMStart, ...]
    shares: tuple[float, ...]
    notes: tuple[str, ...]

    @property
    def n_reached(self) -> int:
        """How many starts reached the best log-likelihood."""
        return sum(reached(s.objective, self.starts[0].objective) for s in self.starts)

    @property
    def stopped(self) -> StopReason:
        """Why the best start stopped."""
        return self.starts[0].stopped

    def value(self, criterion: str) -> float:
        """What the criterion says, so that higher is better.

        A cross-validation that was cut short says nothing: it left other rows out.
        """
        if criterion == "held-out":
            if self.held_out is None or not self.held_out.is_whole:
                return -math.inf
            return -self.held_out.bits
        return float(getattr(self, criterion.replace("-", "_")))


@dataclass(frozen=True)
class MixtureResult(Record):
    """Mixtures with several numbers of classes, and the one the criterion chose."""

    told: ClassVar = ("profiles", "notes")

    mixtures: tuple[Mixture, ...]
    n_classes: int
    criterion: str
    name: str
    stopped: StopReason
    seed: int

    @property
    def best(self) -> Mixture:
        """The chosen mixture."""
        return self[self.n_classes]

    @property
    def network(self) -> Network:
        """The network of the chosen mixture; its hidden root is called `name`."""
        return self.best.network

    @property
    def profiles(self) -> tuple[StateProfile, ...]:
        """What sets every class of the chosen mixture apart, by the model alone."""
        return state_profiles(self.network, self.name)

    @property
    def notes(self) -> tuple[str, ...]:
        """What looks odd about the choice and the chosen mixture, in words."""
        return (*self._choice_notes(), *self.best.notes)

    def __getitem__(self, n_classes: int) -> Mixture:
        for mixture in self.mixtures:
            if mixture.n_classes == n_classes:
                return mixture
        tried = ", ".join(str(m.n_classes) for m in self.mixtures)
        raise DataError(f"no mixture with {n_classes} classes was fitted; there are {tried}")

    def __str__(self) -> str:
        """The summary: the numbers tried, the choice, the classes and what looks odd."""
        lines = [mixture_line(m, m.n_classes == self.n_classes) for m in self.mixtures]
        choice = f"{in_classes(self.n_classes)} by {self.criterion}"
        return "\n".join([*lines, choice, *(p.words for p in self.profiles), *self.notes])

    def _choice_notes(self) -> list[str]:
        notes = []
        if self.stopped in ("time limit", "asked to stop"):
            notes.append(f"stopped early ({self.stopped}); these are the best so far")
        if len(self.mixtures) > 1 and self.n_classes == self.mixtures[-1].n_classes:
            notes.append(
                f"{self.n_classes} is the largest number of classes that was tried; try more"
            )
        return notes
