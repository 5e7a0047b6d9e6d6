"""Growing local structures inside a family: trees of contexts, and default tables.

The configurations of a family's parents that matter are listed: `codes` has a row for each (a
column per parent), `counts` how often each state of the child was seen there. A local structure
puts configurations into groups that share one distribution; its score is the sum of what every
group is worth, `group_worth`, less what it costs to write the structure down.

`pseudo` has the pseudo-counts of every configuration listed, or no rows where all cells have the
same (then only configurations that occur need be listed).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.numbers import whole
from unveil.kernels.scoring import DIRICHLET, FACTORISED_NML, log_complexity

__all__ = [
    "ALL_STATES",
    "LEAF",
    "ONE_STATE",
    "UP_TO",
    "GroupTerm",
    "default_rows",
    "group_worth",
    "grow_tree",
]

Array = npt.NDArray[Any]

LEAF, ALL_STATES, ONE_STATE, UP_TO = -1, 0, 1, 2
"""How a node of a tree splits on a parent: not at all, a branch for every state, one state against
the others, the states up to one against those after it."""

TIE = 1e-9
FOLLOWED = 128
"""Default tables of at most so many rows are followed to the end; beyond, while rows gain."""


class GroupTerm(NamedTuple):
    """What a group of configurations is worth.

    `mode` is that of a data term; `alpha` the pseudo-count of a cell for every configuration in the
    group if `spread`, else of the group; `cost` is the penalty for a group, `structure` how much
    of the length of a local structure counts (0 or 1).
    """

    mode: int
    alpha: float
    spread: bool
    cost: float
    structure: float


@compiled
def group_worth(counts: Array, pseudo: Array, size: float, term: GroupTerm) -> float:
    """The score of a group of `size` configurations with these counts of the child's states.

    `pseudo` are the group's pseudo-counts, or empty where `term` says them. A group of no
    configurations is worth nothing.
    """
    if size <= 0.0:
        return 0.0
    row, total, row_alpha = 0.0, -term.cost, 0.0
    alpha = term.alpha * size if term.spread else term.alpha
    for x in range(counts.size):
        count = max(counts[x], 0.0)
        if term.mode == DIRICHLET:
            a = pseudo[x] if pseudo.size else alpha
            row_alpha += a
            if count > 0.0 and a > 0.0:
                total += math.lgamma(a + count) - math.lgamma(a)
                row += count
        elif count > 0.0:
            total += count * math.log(count)
            row += count
    if row > 0.0:
        if term.mode == DIRICHLET:
            total += math.lgamma(row_alpha) - math.lgamma(row_alpha + row)
        else:
            total -= row * math.log(row)
            if term.mode == FACTORISED_NML:
                total -= log_complexity(row, float(counts.size))
    return total


@compiled
def _context(node: int, nodes: Array, first_state: Array, cards: Array, available: Array) -> float:
    """Mark the states of every parent that lead to a node; returns how many configurations do."""
    available[:] = True
    below = node
    while nodes[below, 4] >= 0:
        above = nodes[below, 4]
        v, how, point, branch = nodes[above, 0], nodes[above, 1], nodes[above, 2], whole(0)
        branch = below - nodes[above, 3]
        for s in range(cards[v]):
            if how == ALL_STATES:
                inside = s == branch
            elif how == ONE_STATE:
                inside = (s == point) == (branch == 0)
            else:
                inside = (s <= point) == (branch == 0)
            if not inside:
                available[first_state[v] + s] = False
        below = above
    size = 1.0
    for v in range(cards.size):
        n = 0
        for s in range(cards[v]):
            n += available[first_state[v] + s]
        size *= n
    return size


@compiled
def _branch(how: int, point: int, state: int) -> int:
    """Which branch of a split a state goes to."""
    if how == ALL_STATES:
        return state
    if how == ONE_STATE:
        return 0 if state == point else 1
    return 0 if state <= point else 1


@compiled
def grow_tree(
    codes: Array, counts: Array, pseudo: Array, cards: Array, term: GroupTerm
) -> tuple[float, Array]:
    """The score of the best tree found, and its nodes, one per row.

    The columns of a node are the parent it splits on (`LEAF` if none), how (`ALL_STATES`,
    `ONE_STATE`, `UP_TO`) and at which state, its first child and the node above it; children of a
    node follow each other. Every node is split in the way that gains most, even if that is
    less than nothing, while rows can be told apart; then what does not pay is cut away from below.
    Of all splits at a node one must be named, which costs log(how many there are).
    """
    n, r = counts.shape
    most_card = whole(1)
    n_states = whole(0)
    first_state = np.zeros(cards.size, np.int64)
    for v in range(cards.size):
        first_state[v] = n_states
        n_states += cards[v]
        most_card = max(most_card, cards[v])
    room = 1 + max(n - 1, 0) * max(most_card, 2)
    nodes = np.full((room, 5), LEAF, np.int64)
    low, high = np.zeros(room, np.int64), np.zeros(room, np.int64)
    value, length = np.zeros(room), np.zeros(room)
    order, buffer = np.arange(n), np.arange(n)
    available = np.ones(n_states, np.bool_)
    own = np.zeros((most_card, r))
    own_pseudo = np.zeros((most_card, r if pseudo.size else 0))
    n_rows = np.zeros(most_card, np.int64)
    total, total_pseudo = np.zeros(r), np.zeros(own_pseudo.shape[1])
    part, part_pseudo = np.zeros(r), np.zeros(own_pseudo.shape[1])
    high[0] = n
    n_nodes = whole(1)
    node = whole(0)
    while node < n_nodes:
        a, b = low[node], high[node]
        size = _context(node, nodes, first_state, cards, available)
        total[:] = 0.0
        total_pseudo[:] = 0.0
        for i in range(a, b):
            total += counts[order[i]]
            if pseudo.size:
                total_pseudo += pseudo[order[i]]
        value[node] = group_worth(total, total_pseudo, size, term)
        pure = 0
        for x in range(r):
            pure += total[x] > 0.0
        if b - a < 2 or pure < 2:
            node += 1
            continue
        best, best_v, best_how, best_point, n_splits = -np.inf, whole(-1), whole(0), whole(0), 0
        for v in range(cards.size):
            states = 0
            for s in range(cards[v]):
                states += available[first_state[v] + s]
            if states < 2:
                continue
            n_splits += 1 + (states if states > 2 else 0) + (states - 3 if states > 3 else 0)
            own[:] = 0.0
            own_pseudo[:] = 0.0
            n_rows[:] = 0
            for i in range(a, b):
                s = codes[order[i], v]
                own[s] += counts[order[i]]
                n_rows[s] += 1
                if pseudo.size:
                    own_pseudo[s] += pseudo[order[i]]
            each = size / states
            occurring, gain = 0, 0.0
            for s in range(cards[v]):
                if available[first_state[v] + s]:
                    occurring += n_rows[s] > 0
                    gain += group_worth(own[s], own_pseudo[s], each, term)
            if occurring < 2:
                continue
            if gain > best:
                best, best_v, best_how, best_point = gain, v, whole(ALL_STATES), whole(0)
            if states > 2:
                for s in range(cards[v]):
                    if n_rows[s] == 0:
                        continue
                    gain = group_worth(own[s], own_pseudo[s], each, term) + group_worth(
                        total - own[s], total_pseudo - own_pseudo[s], size - each, term
                    )
                    if gain > best:
                        best, best_v, best_how, best_point = gain, v, whole(ONE_STATE), s
            if states > 3:
                part[:] = 0.0
                part_pseudo[:] = 0.0
                before, passed = 0, 0
                for s in range(cards[v]):
                    if not available[first_state[v] + s]:
                        continue
                    passed += 1
                    before += n_rows[s]
                    part += own[s]
                    part_pseudo += own_pseudo[s]
                    if passed < 2 or passed > states - 2 or before == 0 or before == b - a:
                        continue
                    gain = group_worth(part, part_pseudo, passed * each, term) + group_worth(
                        total - part, total_pseudo - part_pseudo, size - passed * each, term
                    )
                    if gain > best:
                        best, best_v, best_how, best_point = gain, v, whole(UP_TO), s
        if best_v < 0:
            node += 1
            continue
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = best_v, best_how, best_point
        nodes[node, 3] = n_nodes
        length[node] = term.structure * math.log(n_splits)
        n_children = cards[best_v] if best_how == ALL_STATES else 2
        place = a
        for child in range(n_children):
            low[n_nodes] = place
            for i in range(a, b):
                if _branch(best_how, best_point, codes[order[i], best_v]) == child:
                    buffer[place] = order[i]
                    place += 1
            high[n_nodes] = place
            nodes[n_nodes, 4] = node
            n_nodes += 1
        order[a:b] = buffer[a:b]
        node += 1
    for node in range(n_nodes - 1, -1, -1):
        if nodes[node, 0] < 0:
            continue
        v, how, first = nodes[node, 0], nodes[node, 1], nodes[node, 3]
        n_children = cards[v] if how == ALL_STATES else 2
        split = -length[node]
        for child in range(first, first + n_children):
            split += value[child]
        if split > value[node] + TIE * (1.0 + abs(value[node])):
            value[node] = split
        else:
            nodes[node, 0] = LEAF
    return value[0], nodes[:n_nodes]


@compiled
def default_rows(
    counts: Array, pseudo: Array, rest: Array, n_configurations: float, term: GroupTerm
) -> tuple[float, Array]:
    """The score of the best default table found, and which listed configurations have own rows.

    At first all share the default. One after the other, the configuration that gains most (or
    loses least) gets a row of its own; the best stage wins. `rest` are the pseudo-counts of
    configurations that are not listed. To name k rows of q costs log(q choose k).
    """
    n, r = counts.shape
    explicit, best_explicit = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    none = np.zeros(0)
    total, total_pseudo = np.zeros(r), rest.copy()
    alone = np.zeros(n)
    for i in range(n):
        total += counts[i]
        if pseudo.size:
            total_pseudo += pseudo[i]
        alone[i] = group_worth(counts[i], pseudo[i] if pseudo.size else none, 1.0, term)
    size = n_configurations
    worth, length = 0.0, 0.0
    best = group_worth(total, total_pseudo, size, term)
    idle = 0
    for k in range(n):
        chosen, chosen_gain = -1, -np.inf
        for i in range(n):
            if explicit[i]:
                continue
            if pseudo.size:
                left = group_worth(total - counts[i], total_pseudo - pseudo[i], size - 1.0, term)
            else:
                left = group_worth(total - counts[i], none, size - 1.0, term)
            if alone[i] + left > chosen_gain:
                chosen, chosen_gain = i, alone[i] + left
        explicit[chosen] = True
        worth += alone[chosen]
        total -= counts[chosen]
        if pseudo.size:
            total_pseudo -= pseudo[chosen]
        size -= 1.0
        length += term.structure * math.log((n_configurations - k) / (k + 1.0))
        now = worth + chosen_gain - alone[chosen] - length
        if now > best + TIE * (1.0 + abs(best)):
            best, idle = now, 0
            best_explicit[:] = explicit
        else:
            idle += 1
        if n > FOLLOWED and idle > 5:
            break
    return best, best_explicit
