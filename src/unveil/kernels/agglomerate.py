"""Merging the states of a hidden variable two by two, best merge first (thesis 5.1, Algorithm 7).

State h has a row of counts: a cell per configuration of its parents, then the cells of every
child's family. `row_first` splits the children's cells into rows (one per configuration of the
child's other parents); the cells before row_first[0] belong to H's own family and have no row
term. A state made of m initial states has m times the pseudo-counts of one. Then the state's part
of the BDe score is

    T(h) = sum over cells of log G(S + a) / G(a)
           - sum over child rows of log G(S_row + a_row) / G(a_row),

and a merge of i and j changes the score by T(i.j) - T(i) - T(j). Cells without counts add nothing.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["agglomerate", "state_term", "state_term_plain"]

Array = npt.NDArray[Any]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def state_term(first: Array, second: Array, size: float, alpha: Array, row_first: Array) -> float:
    """T of the state with counts `first + second` and `size` times the pseudo-counts `alpha`."""
    total = 0.0
    for cell in range(row_first[0]):
        count = first[cell] + second[cell]
        if count > 0.0:
            a = size * alpha[cell]
            total += math.lgamma(a + count) - math.lgamma(a)
    for row in range(row_first.size - 1):
        start, stop = row_first[row], row_first[row + 1]
        summed = 0.0
        for cell in range(start, stop):
            count = first[cell] + second[cell]
            if count > 0.0:
                summed += count
                a = size * alpha[cell]
                total += math.lgamma(a + count) - math.lgamma(a)
        if summed > 0.0:
            a = size * alpha[start] * (stop - start)
            total -= math.lgamma(a + summed) - math.lgamma(a)
    return total


def state_term_plain(
    first: Array, second: Array, size: float, alpha: Array, row_first: Array
) -> float:
    """The twin of `state_term`."""
    from scipy.special import gammaln

    counts, a = first + second, size * alpha
    total = (gammaln(counts + a) - gammaln(a)).sum()
    for start, stop in pairwise(row_first):
        n, b = counts[start:stop].sum(), a[start:stop].sum()
        total -= gammaln(n + b) - gammaln(b)
    return float(total)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def agglomerate(
    counts: Array, sizes: Array, alpha: Array, row_first: Array, merges: Array, changes: Array
) -> None:
    """Merge states until one is left; works on `counts` and `sizes` in place.

    Step t writes the two merged states to `merges[t]` (the first one stays) and the change in
    score to `changes[t]`. Only pairs with the new state are computed anew.
    """
    n = counts.shape[0]
    none = np.zeros(counts.shape[1])
    term = np.empty(n)
    alive = np.ones(n, np.bool_)
    delta = np.full((n, n), -np.inf)
    best = np.full(n, -1, np.int64)
    for i in range(n):
        term[i] = state_term(counts[i], none, sizes[i], alpha, row_first)
    for i in range(n):
        for j in range(i + 1, n):
            both = state_term(counts[i], counts[j], sizes[i] + sizes[j], alpha, row_first)
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
        counts[i] += counts[j]
        sizes[i] += sizes[j]
        alive[j] = False
        term[i] = state_term(counts[i], none, sizes[i], alpha, row_first)
        for k in range(n):
            if not alive[k] or k == i:
                continue
            both = state_term(counts[i], counts[k], sizes[i] + sizes[k], alpha, row_first)
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
