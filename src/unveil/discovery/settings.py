"""How to discover: everything that can be set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from unveil.anneal.choice import annealing_named
from unveil.errors import DataError, did_you_mean
from unveil.model.prior import EquivalentSampleSize

__all__ = ["Adapt", "Settings"]

Adapt = Literal["em", "blanket", "full"]

LEAST = {
    "max_hidden": 1, "n_states": 2, "max_candidates": 1, "max_adapted": 1, "max_polished": 1,
    "max_parents": 1, "soft": 0, "restarts": 0,
}  # fmt: skip
"""The least value of each setting that counts something."""


@dataclass(frozen=True)
class Settings:
    """How to discover.

    - `equivalent_sample_size`: that of the BDeu and Cheeseman-Stutz scores
    - `adapt`: let the graph be as constructed (`em`), change what is around the variable
      (`blanket`), or learn all arcs anew and polish the best few (`full`)
    - `max_hidden`: at most so many hidden variables
    - `n_states`: a fixed number of states instead of agglomeration
    - `max_parents`: at most so many parents for any variable
    - `max_candidates`, `max_adapted`, `max_polished`: how many places are looked at, how many of
      the best candidates are adapted (as constructed, as constructed with two states, and twice as
      many learned anew), and how many of all are polished, in every round
    - `soft`: use the confidence of arcs over so many bootstrap samples as the signature (0: not)
    - `min_gain`: the least gain in nats for a hidden variable to be kept
    - `restarts`: how often the search for the network without hidden variables starts again, at
      most (large tables get fewer), and how many hidden variables are tried in random places of a
      table that is small
    - `anneal`: anneal the weights of the rows (`adversary` or `random`, see `unveil.anneal`) in
      structural EM, when the network of what was observed is learned from rows with gaps and when
      the best candidates are polished; slower
    - `blocks`: leave out blocks of neighbouring rows in cross-validation, for rows in order of time
    """

    equivalent_sample_size: float = 1.0
    adapt: Adapt = "full"
    max_hidden: int = 3
    n_states: int | None = None
    max_candidates: int = 30
    max_adapted: int = 20
    max_polished: int = 8
    max_parents: int | None = None
    soft: int = 0
    min_gain: float = 1.0
    restarts: int = 20
    blocks: bool = False
    anneal: str | None = None

    def __post_init__(self) -> None:
        if self.adapt not in get_args(Adapt):
            raise DataError(
                f"adapt is one of {', '.join(get_args(Adapt))}, not {self.adapt!r}."
                + did_you_mean(self.adapt, get_args(Adapt))
            )
        EquivalentSampleSize(self.equivalent_sample_size)  # refuses what is no size
        annealing_named(self.anneal)  # refuses what is none
        for name, least in LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise DataError(f"{name} must be at least {least}, got {value}")

    @property
    def prior(self) -> EquivalentSampleSize:
        """The prior that the scores imply."""
        return EquivalentSampleSize(self.equivalent_sample_size)
