"""A walk over graphs with hidden roots: children and arcs come and go, also for a while in vain.

Structural EM stays where it began: what a hidden variable means is set by the children that it has,
and one that has half of its children sees no use for the other half. The walk compares graphs by
the likelihood of the columns alone (`unveil.em.line_moves`). In each step the changes that promise
most (one arc more, one less, or both at once, which turns an arc or gives a hidden variable another
child) are fitted, and the best of them is taken, also where it does not help. Graphs that were seen
are not taken again (tabu, Glover 1989), nor any with the score of one that was: these only turn
arcs that may point either way. It ends when nothing was gained for some time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.continuous.starts import most_parents
from unveil.em.line_moves import Marginal, Moves
from unveil.em.line_structure import LineGraph, fitted_graph
from unveil.em.lines import Lines, Observed, parents_matrix
from unveil.graph.dag import DAG
from unveil.ideal.layers import LEAST_CHILDREN
from unveil.progress import Ticker
from unveil.score.base import Sample
from unveil.score.bic import BIC

__all__ = ["walked"]

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

TRIED, LOOKED = 4, 12
"""So many of the most promising changes that lead somewhere new are fitted in a step; of all, so
many at most."""
RANKED = 400
"""No more changes are looked at for them."""
MOST_STEPS, NEAR = 300, 30
"""No walk has more steps; only arcs among so many columns change, those nearest to the roots."""
GAINED, ALIKE = 0.01, 0.002
"""Less is no gain, and scores this close are the same (nats)."""


@dataclass(frozen=True, eq=False)
class _Place:
    """A graph on the walk, in standard units: `mask[child, parent]`, weights, variances, score."""

    mask: Mask
    weights: Matrix
    variances: Matrix
    score: float


def walked(
    graph: LineGraph, observed: Observed, settings: NumberSettings, ticker: Ticker, patience: int
) -> LineGraph:
    """The best graph on a walk from a graph with hidden roots, fitted, for a table without gaps.

    The walk ends after `patience` steps in vain.
    """
    assert observed.moments is not None
    moments, n = observed.moments, len(observed.names)
    spread = np.sqrt(moments.scatter.diagonal() / moments.weight)
    seen = moments.scatter / moments.weight / np.outer(spread, spread)
    near = _near(graph, observed)
    marginal = Marginal(seen, moments.weight, observed.floor / spread**2, near)
    units = np.append(spread, np.ones(len(graph.hidden)))
    price = float(BIC().cost(1.0, 0.0, Sample(observed.total, n)))
    most = most_parents(observed, settings)

    def placed(mask: Mask, weights: Matrix, variances: Matrix) -> _Place:
        b, d, likelihood = marginal.fitted(weights, variances, mask)
        return _Place(mask, b, d, likelihood - price * float(mask.sum()))

    here = best = placed(
        parents_matrix(graph.lines.names, graph.dag) > 0,
        graph.lines.coefficients * units / units[:, None],
        graph.lines.variances / units**2,
    )
    taken, scores, since = {here.mask.tobytes()}, [here.score], 0
    for _ in range(MOST_STEPS):
        if since >= patience or not ticker.keep_going():
            break
        moves = marginal.moves(here.weights, here.variances, here.mask)
        tried: list[_Place] = []
        for looked, mask in enumerate(_legal(moves, here.mask, taken, n, price, most)):
            there = placed(mask, here.weights, here.variances)
            if np.abs(np.array(scores) - there.score).min() < ALIKE:
                taken.add(mask.tobytes())
            else:
                tried.append(there)
            if len(tried) == TRIED or looked == LOOKED:
                break
        if not tried:
            break
        here = max(tried, key=lambda place: place.score)
        taken.add(here.mask.tobytes())
        scores.append(here.score)
        since += 1
        if here.score > best.score + GAINED:
            best, since = here, 0
    return _as_graph(graph, best, observed, units)


def _near(graph: LineGraph, observed: Observed) -> Mask:
    """The columns nearest to hidden variables: their children, the neighbours of these, and on."""
    place = {name: i for i, name in enumerate(observed.names)}
    linked = np.zeros((len(place), len(place)), dtype=bool)
    for a, b in graph.dag.arcs:
        if a in place and b in place:
            linked[place[a], place[b]] = linked[place[b], place[a]] = True
    near = np.zeros(len(place), dtype=bool)
    ring = np.array([bool({*graph.dag.parents(n)} & {*graph.hidden}) for n in observed.names])
    while ring.any() and (not near.any() or near.sum() + ring.sum() <= NEAR):
        near |= ring
        ring = linked[near].any(axis=0) & ~near
    return near if len(near) > NEAR else np.ones(len(near), dtype=bool)


def _legal(
    moves: Moves, mask: Mask, taken: set[bytes], n: int, price: float, most: int
) -> Iterator[Mask]:
    """Graphs one change away that were not taken, the most promising first."""
    arcs, others = len(moves.places), len(moves.others)
    promised = np.concatenate([moves.add - price, moves.drop + price, moves.swap.ravel()])
    ranked = np.argsort(-promised, kind="stable")[:RANKED]
    for change in ranked:
        changed = mask.copy()
        if change >= others:
            less = change - others if change < others + arcs else (change - others - arcs) // others
            changed[tuple(moves.places[less])] = False
        if not others <= change < others + arcs:
            more = change if change < others else (change - others - arcs) % others
            changed[tuple(moves.others[more])] = True
        if (
            changed.tobytes() not in taken
            and changed.sum(axis=1).max() <= most
            and changed[:, n:].sum(axis=0).min() >= LEAST_CHILDREN
            and _acyclic(changed)
        ):
            yield changed


def _acyclic(mask: Mask) -> bool:
    """Whether variables without parents can be taken away until none is left.

    >>> _acyclic(np.array([[False, True], [False, False]])), _acyclic(~np.eye(2, dtype=bool))
    (True, False)
    """
    left = np.ones(len(mask), dtype=bool)
    while left.any():
        free = left & ~(mask & left).any(axis=1)
        if not free.any():
            return False
        left &= ~free
    return True


def _as_graph(graph: LineGraph, place: _Place, observed: Observed, units: Matrix) -> LineGraph:
    """A place on the walk in the units of the columns, EM gone to its end."""
    assert observed.moments is not None
    names = graph.lines.names
    b = place.weights * units[:, None] / units
    mean = np.append(observed.moments.mean, np.zeros(len(graph.hidden)))
    lines = Lines(names, b, mean - b @ mean, place.variances * units**2)
    dag = DAG(names, [(names[j], names[i]) for i, j in np.argwhere(place.mask)])
    return fitted_graph(observed, dag, graph.hidden, lines)
