"""Local structures found from a family's counts: trees and default tables, by any group score.

What a group of configurations is worth is a `GroupTerm` (and pseudo-counts of their own where
cells differ); `unveil.score.local` makes one of a score. Trees grow by their best split and are cut
back, default tables list the configurations that gain (Friedman and Goldszmidt 1996).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.kernels.local_structure import (
    ALL_STATES,
    LEAF,
    ONE_STATE,
    GroupTerm,
    default_rows,
    grow_tree,
)
from unveil.kernels.scoring import DIRICHLET
from unveil.model.prior import DirichletPrior, EquivalentSampleSize, PseudoCount
from unveil.model.tree_cpd import Split, Tree
from unveil.table.variable import Variable

__all__ = ["chosen_rows", "group_term", "grown_tree"]

Numbers = npt.NDArray[np.float64]

NO_PSEUDO = np.zeros((0, 0))


def group_term(
    prior: DirichletPrior,
    variable: Variable,
    parents: Sequence[Variable],
    structure: float = 1.0,
) -> tuple[GroupTerm, Numbers]:
    """BDe under a prior as worth of groups, and the pseudo-counts of all cells where they differ.

    `structure` is how much of the length of a local structure counts.
    """
    cells = math.prod(v.n_states for v in (*parents, variable))
    if isinstance(prior, EquivalentSampleSize):
        return GroupTerm(DIRICHLET, prior.size / cells, True, 0.0, structure), NO_PSEUDO
    if isinstance(prior, PseudoCount):
        return GroupTerm(DIRICHLET, float(prior.count), False, 0.0, structure), NO_PSEUDO
    shape = tuple(v.n_states for v in (*parents, variable))
    alpha = np.broadcast_to(prior.pseudo_counts(variable, parents), shape)
    pseudo = np.ascontiguousarray(alpha, np.float64).reshape(-1, variable.n_states)
    return GroupTerm(DIRICHLET, 0.0, True, 0.0, structure), pseudo


def grown_tree(
    variable: Variable,
    parents: Sequence[Variable],
    counts: Numbers,
    term: GroupTerm,
    pseudo: Numbers = NO_PSEUDO,
) -> tuple[Tree, int, float]:
    """The best tree found, how many leaves it has, and its score."""
    cards, codes, seen, own = _listed(variable, parents, counts, pseudo)
    score, nodes = grow_tree(codes, seen, own, cards, term)
    return *_tree_of(nodes, cards), score


def tree_score(counts: Numbers, cards: npt.NDArray[np.int64], term: GroupTerm) -> float:
    """The score of the best tree found alone; `counts` has shape (configurations, states)."""
    occurring = np.flatnonzero(counts.any(axis=1))
    return float(grow_tree(_digits(occurring, cards), counts[occurring], NO_PSEUDO, cards, term)[0])


def chosen_rows(
    variable: Variable,
    parents: Sequence[Variable],
    counts: Numbers,
    term: GroupTerm,
    pseudo: Numbers = NO_PSEUDO,
) -> tuple[npt.NDArray[np.int64], float]:
    """The configurations that the best default table found lists, and its score."""
    cards, codes, seen, own = _listed(variable, parents, counts, pseudo)
    n_configurations = float(cards.prod()) if cards.size else 1.0
    rest = np.zeros(own.shape[1])
    score, explicit = default_rows(seen, own, rest, n_configurations, term)
    return codes[explicit], score


def _listed(
    variable: Variable, parents: Sequence[Variable], counts: Numbers, pseudo: Numbers
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Numbers, Numbers]:
    """The numbers of states, and codes, counts and pseudo-counts of what is to be listed."""
    cards = np.array([p.n_states for p in parents], np.int64)
    rows = np.ascontiguousarray(counts, np.float64).reshape(-1, variable.n_states)
    shown = np.arange(len(rows)) if pseudo.size else np.flatnonzero(rows.any(axis=1))
    own = pseudo[shown] if pseudo.size else NO_PSEUDO
    return cards, _digits(shown, cards), rows[shown], own


def _digits(places: npt.NDArray[np.int64], cards: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The states of the parents at these configurations, shape (n_places, n_parents)."""
    codes = np.empty((places.size, cards.size), np.int64)
    left = places
    for v in range(cards.size - 1, -1, -1):
        left, codes[:, v] = np.divmod(left, cards[v])
    return codes


def _tree_of(nodes: npt.NDArray[np.int64], cards: npt.NDArray[np.int64]) -> tuple[Tree, int]:
    """The nodes of `grow_tree` as a tree, and how many leaves it has."""
    n_leaves = 0

    def made(node: int, available: list[list[int]]) -> Tree:
        nonlocal n_leaves
        v, how, point, first = nodes[node, :4].tolist()
        if v == LEAF:
            n_leaves += 1
            return n_leaves - 1
        here = available[v]
        if how == ALL_STATES:
            parts = [[s] for s in here]
            children = [first + s for s in here]
        else:
            inside = [s for s in here if (s == point if how == ONE_STATE else s <= point)]
            parts = [inside, [s for s in here if s not in inside]]
            children = [first, first + 1]
        branches = []
        for states, child in zip(parts, children, strict=True):
            below = [*available[:v], states, *available[v + 1 :]]
            branches.append((tuple(states), made(child, below)))
        return Split(v, tuple(branches))

    return made(0, [list(range(n)) for n in cards.tolist()]), n_leaves
