"""Merging the states of a hidden variable two by two, best merge first (thesis 5.1, Algorithm 7).

State h has a row of counts: a cell per configuration of its parents, then the cells of every
child's family, split into rows (one per configuration of the child's other parents). A state made
of m initial states has m times the pseudo-counts of one. Then the state's part of the BDe score is

    T(h) = sum over cells of log G(S + a) / G(a)
           - sum over child rows of log G(S_row + a_row) / G(a_row),

and a merge of i and j changes the score by T(i.j) - T(i) - T(j). Without pseudo-counts (a = 0) it
is the state's part of the maximised log-likelihood instead, sum S log S - sum S_row log S_row, the
data term of MDL and BIC, which decompose as well. Cells without counts add nothing,
and most are without: an initial state has counts in one cell of every family. So each state
carries the list of its cells with counts, and a pair visits the union of two lists.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = ["Cells", "agglomerate", "log_rising", "score_curve", "state_term"]

Array = npt.NDArray[Any]


class Cells(NamedTuple):
    """What is known of every cell of a state.

    `row` is the child row it lies in, ascending, and -1 for the cells of the variable's own
    family, which come first and have no row term; `alpha` and `row_alpha` are the pseudo-counts of
    the cell and of its row.
    """

    row: Array
    alpha: Array
    row_alpha: Array


@compiled(error_model="numpy")
def log_rising(alpha: float, count: float) -> float:
    """log G(alpha + count) / G(alpha); count log count where there is no pseudo-count."""
    if alpha == 0.0:
        return count * math.log(count)
    return math.lgamma(alpha + count) - math.lgamma(alpha)


@compiled(error_model="numpy")
def state_term(
    first: Array, listed: Array, second: Array, also: Array, size: float, cells: Cells
) -> float:
    """T of the state with counts `first + second` and `size` times the pseudo-counts.

    `listed` and `also` are the cells in which `first` and `second` have counts, ascending.
    """
    total = summed = row_alpha = last_alpha = log_gamma_alpha = 0.0
    row = -1
    i = j = 0
    while i < listed.size or j < also.size:
        if j == also.size or (i < listed.size and listed[i] < also[j]):
            cell = listed[i]
            count = first[cell]
            i += 1
        elif i == listed.size or also[j] < listed[i]:
            cell = also[j]
            count = second[cell]
            j += 1
        else:
            cell = listed[i]
            count = first[cell] + second[cell]
            i += 1
            j += 1
        if cells.row[cell] != row:
            if row >= 0:
                total -= log_rising(row_alpha, summed)
            row, row_alpha, summed = cells.row[cell], size * cells.row_alpha[cell], 0.0
        alpha = size * cells.alpha[cell]
        if alpha == 0.0:
            total += count * math.log(count)
        else:
            if alpha != last_alpha:
                last_alpha, log_gamma_alpha = alpha, math.lgamma(alpha)
            total += math.lgamma(alpha + count) - log_gamma_alpha
        summed += count
    if row >= 0:
        total -= log_rising(row_alpha, summed)
    return total


@compiled(error_model="numpy")
def agglomerate(counts: Array, sizes: Array, cells: Cells, merges: Array, changes: Array) -> None:
    """Merge states until one is left; works on `counts` and `sizes` in place.

    Step t writes the two merged states to `merges[t]` (the first one stays) and the change in
    score to `changes[t]`. Only pairs with the new state are computed anew.
    """
    n = counts.shape[0]
    listed = [np.flatnonzero(counts[i]) for i in range(n)]
    none = np.empty(0, np.int64)
    term = np.empty(n)
    alive = np.ones(n, np.bool_)
    delta = np.full((n, n), -np.inf)
    best = np.full(n, -1, np.int64)
    for i in range(n):
        term[i] = state_term(counts[i], listed[i], counts[i], none, sizes[i], cells)
    for i in range(n):
        for j in range(i + 1, n):
            size = sizes[i] + sizes[j]
            both = state_term(counts[i], listed[i], counts[j], listed[j], size, cells)
            delta[i, j] = both - term[i] - term[j]
            if best[i] < 0 or delta[i, j] > delta[i, best[i]]:
                best[i] = j
    for t in range(n - 1):
        i = -1
        for k in range(n):
            if alive[k] and best[k] >= 0 and (i < 0 or delta[k, best[k]] > delta[i, best[i]]):
                i = k
        j = best[i]
        merges[t, 0], merges[t, 1] = i, j
        changes[t] = delta[i, j]
        for cell in range(counts.shape[1]):
            counts[i, cell] += counts[j, cell]
        sizes[i] += sizes[j]
        listed[i] = np.flatnonzero(counts[i])
        alive[j] = False
        term[i] = state_term(counts[i], listed[i], counts[i], none, sizes[i], cells)
        for k in range(n):
            if not alive[k] or k == i:
                continue
            size = sizes[i] + sizes[k]
            both = state_term(counts[i], listed[i], counts[k], listed[k], size, cells)
            low, high = min(i, k), max(i, k)
            delta[low, high] = both - term[i] - term[k]
        for k in range(n):
            if not alive[k]:
                continue
            if k == i or k < i or best[k] == j or best[k] == i:
                best[k] = -1
                for m in range(k + 1, n):
                    if alive[m] and (best[k] < 0 or delta[k, m] > delta[k, best[k]]):
                        best[k] = m


@compiled(error_model="numpy")
def score_curve(counts: Array, merges: Array, cells: Cells, scores: Array) -> None:
    """The BDeu score of the completed data with k states into `scores[k - 1]`, up to a constant.

    `cells` hold the pseudo-counts of a variable with a single state: each of k has 1/k of them.
    Works on `counts` in place.
    """
    n = counts.shape[0]
    none = np.empty(0, np.int64)
    alive = np.ones(n, np.bool_)
    for k in range(n, 0, -1):
        if k <= scores.size:
            scores[k - 1] = 0.0
            for i in np.flatnonzero(alive):
                listed = np.flatnonzero(counts[i])
                scores[k - 1] += state_term(counts[i], listed, counts[i], none, 1.0 / k, cells)
        if k > 1:
            kept, gone = merges[n - k]
            for cell in range(counts.shape[1]):
                counts[kept, cell] += counts[gone, cell]
            alive[gone] = False
