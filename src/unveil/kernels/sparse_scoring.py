"""Scoring families whose tables are large beside the rows: only what occurs is visited.

Rows come sorted by the configuration of the parents. Each group of rows is counted in a small
buffer over the child (and a parent about to be added), summed up by visiting its rows again, and
cleared in passing. So time goes with the rows, whatever the size of the table.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.scoring import DIRICHLET, FACTORISED_NML, DataTerm, Rows, log_complexity

__all__ = ["score_sparse"]

Array = npt.NDArray[Any]


@compiled
def score_sparse(
    rows: Rows,
    order: Array,
    group_first: Array,
    child: int,
    n_configurations: float,
    candidates: Array,
    term: DataTerm,
    start: int,
    stop: int,
    out: Array,
) -> None:
    """The data terms of a family with each of candidates `start` to `stop` added to its parents.

    Rows `order[group_first[g] : group_first[g + 1]]` share a configuration of the parents, of
    which there could be `n_configurations`. Candidate -1 adds nobody.
    """
    states = rows.cards[child]
    xs = rows.codes[child]
    for c in range(start, stop):
        added = candidates[c]
        card = 1 if added < 0 else rows.cards[added]
        counts = np.zeros((card, states))
        sums = np.zeros(card)
        total = 0.0
        alpha = term.alpha / (n_configurations * states * card) if term.spread else term.alpha
        for g in range(group_first.size - 1):
            for i in range(group_first[g], group_first[g + 1]):
                r = order[i]
                y = 0 if added < 0 else rows.codes[added, r]
                weight = rows.weights[r] if rows.weights.size > 0 else 1.0
                counts[y, xs[r]] += weight
                sums[y] += weight
            for i in range(group_first[g], group_first[g + 1]):
                r = order[i]
                y = 0 if added < 0 else rows.codes[added, r]
                if counts[y, xs[r]] > 0.0:
                    total += _cell_term(counts[y, xs[r]], alpha, term.mode)
                    counts[y, xs[r]] = 0.0
                if sums[y] > 0.0:
                    total -= _row_term(sums[y], alpha, states, term.mode)
                    sums[y] = 0.0
        out[c] = total


@compiled
def _cell_term(count: float, alpha: float, mode: int) -> float:
    """What a cell adds to the data term."""
    if mode == DIRICHLET:
        return math.lgamma(alpha + count) - math.lgamma(alpha)
    return count * math.log(count)


@compiled
def _row_term(count: float, alpha: float, n_states: int, mode: int) -> float:
    """What a row of the table, a configuration of the parents, takes from the data term."""
    if mode == DIRICHLET:
        return math.lgamma(alpha * n_states + count) - math.lgamma(alpha * n_states)
    total = count * math.log(count)
    if mode == FACTORISED_NML:
        total += log_complexity(count, float(n_states))
    return total
