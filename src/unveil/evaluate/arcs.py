"""What an arc is worth: the score lost when it is removed, in numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unveil.graph.dag import DAG
from unveil.records import Record
from unveil.score.families import FamilyScores

__all__ = ["ArcWorth", "arc_worth", "odds_in_words"]

BAYESIAN = ("bdeu", "bde", "k2", "fnml", "qnml", "mdl", "bic")
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


def arc_worth(scores: FamilyScores, dag: DAG) -> tuple[ArcWorth, ...]:
    """Every arc with what it is worth, the most valuable first.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu
    >>> scores = FamilyScores(datasets.table("college_plans"), BDeu(5))
    >>> dag = DAG(scores.names, [("PE", "CP"), ("SEX", "PE")])
    >>> [f"{a.parent} -> {a.child}: {a.words}" for a in arc_worth(scores, dag)][1]
    'SEX -> PE: removing it makes the model 1.6e+32 times less probable'
    """
    place = {name: i for i, name in enumerate(scores.names)}
    worth = []
    for child in dag.nodes:
        parents = [place[p] for p in dag.parents(child)]
        if not parents:
            continue
        gains = scores.toggles(place[child], parents)
        for parent in dag.parents(child):
            loss = -float(gains[place[parent]])
            worth.append(ArcWorth(parent, child, loss, _words(loss, scores.score.name)))
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


def _words(loss: float, score_name: str) -> str:
    if score_name not in BAYESIAN:
        return f"removing it changes the {score_name} score by {-loss:+.2f} nats"
    comparison = "less" if loss > 0 else "more"
    return f"removing it makes the model {odds_in_words(loss)} times {comparison} probable"
