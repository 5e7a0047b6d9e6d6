"""An annealing by one word: `anneal="adversary"` or `anneal="random"`.

What a word stands for depends on the learner: one that climbs far at every step bears less heat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from unveil.anneal.adversary import Adversary
from unveil.anneal.cooling import Cooling, Geometric
from unveil.anneal.learner import Reweighting
from unveil.anneal.random import Random
from unveil.errors import DataError, did_you_mean

__all__ = ["ANNEALINGS", "Annealing", "annealing_named"]


@dataclass(frozen=True)
class Annealing:
    """How to anneal: a way to reweight, how the temperature falls, and how often it is heated.

    >>> Annealing().reweighting.name
    'adversary'
    """

    reweighting: Reweighting = field(default_factory=Adversary)
    cooling: Cooling = field(default_factory=Geometric)
    cycles: int = 1

    def __post_init__(self) -> None:
        if self.cycles < 1:
            raise DataError(f"annealing needs at least one cycle, got {self.cycles}")


ANNEALINGS: dict[str, Annealing] = {
    "adversary": Annealing(Adversary(), Geometric(4.0)),
    "random": Annealing(Random(), Geometric(4.0)),
}
"""Annealings by the names that Python calls and the command line know them under."""


def annealing_named(
    word: Annealing | str | None, known: Mapping[str, Annealing] = ANNEALINGS
) -> Annealing | None:
    """The annealing of that name among the `known` ones, the one given, or none.

    >>> annealing_named("random").reweighting
    Random(centre='mean')
    """
    if word is None or isinstance(word, Annealing):
        return word
    if word not in known:
        raise DataError(
            f"weights are annealed by {' or '.join(known)}, not {word!r}."
            + did_you_mean(str(word), known)
        )
    return known[word]
