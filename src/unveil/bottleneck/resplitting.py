"""Two states of one hidden variable among several, told apart in another way.

Early on, each hidden variable splits while the others tell little. At the end they tell more: its
two states become one, and what is best to tell apart now is looked for from some directions, as in
`exchange.py`. The ways that gain most are followed a little (in a forest, by the tables of this
hidden variable alone: `near.py`), the better ones until they have settled, and one is kept if -L is
higher. (With three states or more an exchange does the same.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.bottleneck.course import Place
from unveil.bottleneck.settling import Settler
from unveil.model.network import Network
from unveil.model.table_cpd import table_of

__all__ = ["resplit"]

DIRECTIONS = 6
"""So many directions are tried for every hidden variable."""
SAME = 0.98
"""Two ways to tell states apart that correlate more than this are the same."""
FINALISTS = 2
"""So many of the ways go on until they have settled, or until they cannot be better."""
LEG, NEAR_LEG = 8, 20
SLACK = 1e-3
"""A way that lags by more than this part of the objective after so many steps is given up; there
are more steps where only the tables of one hidden variable are followed."""


def resplit(settler: Settler, place: Place) -> Place:
    """The place after all hidden variables of two states were split anew where that gains."""
    if not settler.settings.exchanges or len(place.problem.shape) < 2:
        return place
    fine = settler.settings.tolerance / 10
    found = settler.settle(place.problem, place.parameters, place.gamma, fine)
    place = settler.at(place, *found)
    refused: set[int] = set()
    for _ in range(settler.settings.rounds):
        before = place.objective
        for i, k in enumerate(place.problem.shape):
            if k != 2 or i in refused or not settler.ticker.keep_going():
                continue
            other = _other_way(settler, place, i, fine)
            if other is None:
                refused.add(i)
            else:
                place = other
                refused = (refused - _near(place, i)) | {i}
        if place.objective <= before:
            break
    return place


def _other_way(settler: Settler, place: Place, i: int, fine: float) -> Place | None:
    """The place with hidden variable i split anew, if that is better."""
    slack = SLACK * abs(place.objective)
    target = place.objective + 1e-7 * abs(place.objective)
    ends = []
    nearby = settler.nearby(place)
    for problem, start in _ways(settler, place, i):
        if nearby is None:
            parameters, value = settler.settle(problem, start, place.gamma, fine, LEG)
        else:
            parameters, value = settler.settle_near(nearby(i), start, place.gamma, NEAR_LEG)
        if value > place.objective - slack:
            ends.append((value, problem, parameters))
    ends.sort(key=lambda end: -end[0])
    for _, problem, start in ends[:FINALISTS]:
        parameters, value = settler.settle_above(problem, start, place.gamma, fine, target)
        if value >= target:
            return settler.settled_at(place, problem, parameters)
    return None


def _near(place: Place, i: int) -> set[int]:
    """The hidden variables next to one of them."""
    problem = place.problem
    dag, name = problem.layout.network.dag, problem.hidden[i]
    around = {*dag.parents(name), *dag.children(name)}
    return {j for j, other in enumerate(problem.hidden) if other in around}


def _ways(settler: Settler, place: Place, i: int) -> list[tuple[Any, Any]]:
    """Problems and parameters in which i is split along other directions, two that gain most."""
    problem, parameters = place.problem.merge(place.look, i, 0, 1)
    look = problem.look(parameters, place.gamma)
    now = place.problem.network(place.parameters)
    found: list[tuple[float, Any]] = []
    for _ in range(DIRECTIONS):
        growth = problem.growth(look, i, problem.begin(i, settler.starts), 2)
        gains, pair = problem.gains(look, i, growth)
        if all(abs(gains[0] - g) > 1e-3 * abs(g) for g, _ in found):
            found.append((float(gains[0]), pair))
    best = sorted(found, key=lambda item: -item[0])[:3]
    made = [problem.split_by(look, i, 0, pair) for gain, pair in best if np.isfinite(gain)]
    name = place.problem.hidden[i]
    return [(p, x) for p, x in made if abs(_alike(now, p.network(x), name)) < SAME]


def _alike(one: Network, other: Network, name: str) -> float:
    """The correlation of the log ratios of the two states' tables, over the children."""
    ratios = []
    for network in (one, other):
        parts = []
        for child in one.dag.children(name):
            cpd = table_of(network.cpd(child))
            logs = np.log(np.maximum(cpd.values, 1e-6))
            logs = np.moveaxis(logs, [p.name for p in cpd.parents].index(name), 0)
            parts.append((logs[0] - logs[1]).ravel())
        ratios.append(np.concatenate(parts))
    return float(np.corrcoef(ratios[0], ratios[1])[0, 1])
