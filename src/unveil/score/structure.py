"""Prior probabilities of structures, as log terms per family; the default is uniform (zero)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from unveil.graph.dag import DAG

__all__ = ["ArcPenalty", "FamilyPrior", "StructurePrior", "log_prior_of"]


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


def log_prior_of(prior: StructurePrior | None, dag: DAG) -> float:
    """log P(G) of a graph, up to a constant; zero without a prior.

    >>> log_prior_of(ArcPenalty(2.0), DAG(["x", "y"], [("x", "y")]))
    -2.0
    """
    if prior is None:
        return 0.0
    return sum(prior.family(name, dag.parents(name)) for name in dag.nodes)
