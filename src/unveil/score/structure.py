"""Prior probabilities of structures, as log terms per family; the default is uniform (zero)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["ArcPenalty", "FamilyPrior", "StructurePrior"]


class StructurePrior(Protocol):
    """log P(G) as a sum over families."""

    def family(self, child: str, parents: Sequence[str]) -> float:
        """The term of one family."""


@dataclass(frozen=True)
class ArcPenalty:
    """Every arc costs `penalty` nats: log P(G) = -penalty * (number of arcs) + constant.

    >>> ArcPenalty(2.0).family("x", ["a", "b"])
    -4.0
    """

    penalty: float

    def family(self, child: str, parents: Sequence[str]) -> float:
        """The cost of the arcs into `child`."""
        return -self.penalty * len(parents)


@dataclass(frozen=True)
class FamilyPrior:
    """Any log prior per family, from a function of the child and its parents.

    >>> FamilyPrior(lambda child, parents: -1.0 if "z" in parents else 0.0).family("x", ["z"])
    -1.0
    """

    log_prior: Callable[[str, Sequence[str]], float]

    def family(self, child: str, parents: Sequence[str]) -> float:
        """What the function says."""
        return float(self.log_prior(child, parents))
