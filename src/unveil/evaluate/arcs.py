"""What an arc is worth: the score lost when it is removed, in numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unveil.graph.dag import DAG
from unveil.records import Record
from unveil.score.protocol import Families

__all__ = ["ArcWorth", "arc_worth", "bits_in_words", "is_readable", "odds_in_words"]

MOST_READABLE = 6 * math.log(10)
"""Nats up to which people can read a factor as such: a million times."""

BAYESIAN = ("bdeu", "bde", "k2", "fnml", "qnml", "mdl", "bic", "bge")
"""Scores that are log-probabilities of the data, or approximate one, up to a constant."""


@dataclass(frozen=True)
class ArcWorth(Record):
    """An arc and the score (nats) the graph loses without it; negative if it is better off.

    `confidence` is the share of bootstrap samples that join the two, if that was asked for.
    """

    parent: str
    child: str
    loss: float
    words: str
    confidence: float | None = None


def arc_worth(scores: Families, dag: DAG) -> tuple[ArcWorth, ...]:
    """Every arc with what it is worth, the most valuable first.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu, FamilyScores
    >>> scores = FamilyScores(datasets.table("college_plans"), BDeu(5))
    >>> dag = DAG(scores.names, [("PE", "CP"), ("SEX", "PE")])
    >>> [f"{a.parent} -> {a.child}: {a.words}" for a in arc_worth(scores, dag)][1]
    'SEX -> PE: removing it costs 107 bits'
    """
    place = {name: i for i, name in enumerate(scores.names)}
    worth = []
    for child in dag.nodes:
        own = sorted(place[p] for p in dag.parents(child))
        if not own:
            continue
        without = [tuple(p for p in own if p != place[q]) for q in dag.parents(child)]
        whole, *left = scores.many([(place[child], p) for p in (tuple(own), *without)]).tolist()
        for parent, rest in zip(dag.parents(child), left, strict=True):
            loss = whole - rest
            worth.append(ArcWorth(parent, child, loss, _words(loss, scores.score_name)))
    return tuple(sorted(worth, key=lambda arc: (-arc.loss, arc.parent, arc.child)))


def odds_in_words(nats: float) -> str:
    """e to the power of `nats`, as a person would say it.

    >>> odds_in_words(2.0), odds_in_words(8.07), odds_in_words(1000.0)
    ('7.4', '3,200', '2.0e+434')
    """
    power = abs(nats) / math.log(10)
    if power < 2:
        return f"{10**power:.2g}"
    if power < 6:
        digits = int(power) - 1
        return f"{round(10**power / 10**digits) * 10**digits:,}"
    exponent = math.floor(power)
    leading = f"{10 ** (power - exponent):.1f}"
    return f"1.0e+{exponent + 1}" if leading == "10.0" else f"{leading}e+{exponent}"


def is_readable(nats: float) -> bool:
    """Whether the odds of so many nats are a factor that people can read."""
    return abs(nats) < MOST_READABLE


def bits_in_words(nats: float) -> str:
    """So many nats as bits, whatever their sign: the unit for what is too large for odds.

    >>> bits_in_words(3.4), bits_in_words(-1239.1)
    ('4.9 bits', '1,788 bits')
    """
    bits = abs(nats) / math.log(2)
    return f"{bits:.1f} bits" if bits < 100 else f"{bits:,.0f} bits"


def _words(loss: float, score_name: str) -> str:
    if score_name not in BAYESIAN:
        return f"removing it changes the {score_name} score by {-loss:+.2f} nats"
    if not is_readable(loss):
        return f"removing it {'costs' if loss > 0 else 'saves'} {bits_in_words(loss)}"
    factor = f"{odds_in_words(loss)} times {'less' if loss > 0 else 'more'} probable"
    return f"removing it makes the model {factor} ({bits_in_words(loss)})"
