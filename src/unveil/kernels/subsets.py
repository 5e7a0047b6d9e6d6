"""Work over all subsets of up to some 25 variables, the core of exact structure search.

A set of variables is an integer, bit v for variable v. What concerns one child is kept over the
subsets of the *other* variables: `squeeze` closes the gap that the child leaves in the bits.

Every data term of `unveil.kernels.scoring` is a difference of two sums, one over the cells of the
family (child and parents) and one over the cells of the parents: A(U + {c}) - B(U). So instead of
n 2^(n-1) families it is enough to look at 2^n sets, and each set's cells are found by splitting
those of a smaller set.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.bits import _popcount
from unveil.kernels.compiled import compiled
from unveil.kernels.numbers import whole
from unveil.kernels.scoring import DIRICHLET, FACTORISED_NML, DataTerm, log_complexity

__all__ = [
    "best_networks",
    "best_over_subsets",
    "family_terms",
    "fold_rows",
    "set_terms",
    "squeeze",
    "widen",
]

Array = npt.NDArray[Any]

SMALL = 64
"""Whole counts below this are tallied first, so that each logarithm is taken once."""


@compiled
def squeeze(subset: int, child: int) -> int:
    """The subset (without `child`) with the child's bit taken out."""
    low = (1 << child) - 1
    return (subset & low) | ((subset >> 1) & ~low)


@compiled
def widen(squeezed: int, child: int) -> int:
    """The inverse of `squeeze`."""
    low = (1 << child) - 1
    return (squeezed & low) | ((squeezed & ~low) << 1)


@compiled
def _size(subset: int) -> int:
    return np.int64(_popcount(np.uint64(subset)))  # type: ignore[call-arg, return-value]


# Terms of sets ---------------------------------------------------------------------------------


@compiled
def _split(
    cell: Array, n_cells: int, column: Array, card: int, weights: Array,
    place: Array, keys: Array, new_cell: Array, sums: Array,
) -> int:  # fmt: skip
    """Split cells by a column: each row's new cell, each cell's weight; returns how many there are.

    `place` has room for n_cells * card entries, all -1, and is left so.
    """
    n = 0
    for i in range(cell.size):
        key = cell[i] * np.int64(card) + column[i]
        at = place[key]
        if at < 0:
            at = n
            place[key] = at
            keys[at] = key
            sums[at] = 0.0
            n += 1
        new_cell[i] = at
        sums[at] += weights[i]
    for at in range(n):
        place[keys[at]] = -1
    return n


@compiled
def _cell_term(count: float, alpha: float, log_gamma_alpha: float, mode: int, r: float) -> float:
    """What a cell adds to the sum over the cells of a set."""
    if count <= 0.0:
        return 0.0
    if mode == DIRICHLET:
        return math.lgamma(alpha + count) - log_gamma_alpha
    term = count * math.log(count)
    return term + log_complexity(count, r) if mode == FACTORISED_NML else term


@compiled
def _sum_of_terms(
    sums: Array, n: int, cells: float, term: DataTerm, r: float, tally: Array
) -> float:
    alpha = term.alpha / cells if term.spread else term.alpha
    log_gamma_alpha = math.lgamma(alpha) if term.mode == DIRICHLET else 0.0
    tally[:] = 0
    total = 0.0
    for i in range(n):
        count = sums[i]
        whole = int(count) if count < SMALL else SMALL
        if whole < SMALL and count == whole:
            tally[whole] += 1
        else:
            total += _cell_term(count, alpha, log_gamma_alpha, term.mode, r)
    for whole in range(1, SMALL):
        if tally[whole]:
            total += tally[whole] * _cell_term(float(whole), alpha, log_gamma_alpha, term.mode, r)
    return total


@compiled
def set_terms(
    codes: Array, weights: Array, cards: Array, prefix: int, first: int, most: int,
    term: DataTerm, r: float, out: Array,
) -> None:  # fmt: skip
    """The sum of cell terms of every set: `prefix` with up to `most` variables from `first` on.

    The prefix lies below `first`, its size counts among the `most`. A cell of count S gives
    log Gamma(alpha + S) - log Gamma(alpha) (`DIRICHLET`), S log S (`LIKELIHOOD`), or
    S log S + log C(S, r) (`FACTORISED_NML`). Depth first: each set splits the cells of the set
    without its last variable.
    """
    n_variables, n_rows = codes.shape
    depth = most + 1
    cell = np.zeros((depth + 1, n_rows), np.int32)
    n_cells = np.ones(depth + 1, np.int64)
    size = np.ones(depth + 1, np.float64)
    subset = np.zeros(depth + 1, np.int64)
    following = np.zeros(depth + 1, np.int64)
    place = np.full(n_rows * cards.max(), -1, np.int32)
    keys = np.empty(n_rows, np.int64)
    sums = np.empty(n_rows, np.float64)
    tally = np.empty(SMALL, np.int64)
    sums[0] = weights.sum()
    level = 0
    for v in range(first):
        if prefix >> v & 1:
            if level == most:
                return
            n_cells[level + 1] = _split(
                cell[level], n_cells[level], codes[v], cards[v], weights,
                place, keys, cell[level + 1], sums,
            )  # fmt: skip
            size[level + 1] = size[level] * cards[v]
            level += 1
    base = level
    subset[level] = prefix
    following[level] = first
    out[prefix] = _sum_of_terms(sums, n_cells[level], size[level], term, r, tally)
    while level >= base:
        v = following[level]
        if v == n_variables or level == most:
            level -= 1
            continue
        following[level] += 1
        n_cells[level + 1] = _split(
            cell[level], n_cells[level], codes[v], cards[v], weights,
            place, keys, cell[level + 1], sums,
        )  # fmt: skip
        size[level + 1] = size[level] * cards[v]
        subset[level + 1] = subset[level] | 1 << v
        level += 1
        following[level] = v + 1
        out[subset[level]] = _sum_of_terms(sums, n_cells[level], size[level], term, r, tally)


@compiled
def fold_rows(codes: Array, weights: Array, cards: Array) -> tuple[Array, Array]:
    """The first of every group of equal rows, and the weight of each group."""
    n_variables, n_rows = codes.shape
    cell = np.zeros(n_rows, np.int32)
    split = np.zeros(n_rows, np.int32)
    keys = np.empty(n_rows, np.int64)
    sums = np.empty(n_rows, np.float64)
    n = whole(1)
    for v in range(n_variables):
        place = np.full(n * cards[v], -1, np.int32)
        n = _split(cell, n, codes[v], cards[v], weights, place, keys, split, sums)
        cell, split = split, cell
    first = np.full(n, -1, np.int64)
    for i in range(n_rows):
        if first[cell[i]] < 0:
            first[cell[i]] = i
    return first, sums[:n].copy()


# The dynamic programme -------------------------------------------------------------------------


@compiled
def family_terms(
    child: int, joint: Array, rows: Array, kinds: Array, strides: Array, penalty: Array,
    allowed: int, required: int, most: int, out: Array,
) -> None:  # fmt: skip
    """The scores of a child with every (squeezed) set of parents; -inf where not permitted.

    `joint[W]` is A(W), `rows[U]` is B(U). The penalty depends on how many parents there are of each
    number of states: `penalty[sum of strides[k] * |U & kinds[k]|]`.
    """
    for squeezed in range(out.size):
        parents = widen(squeezed, child)
        if parents & ~allowed or required & ~parents or _size(parents) > most:
            out[squeezed] = -np.inf
            continue
        shape = 0
        for k in range(kinds.size):
            shape += strides[k] * _size(parents & kinds[k])
        out[squeezed] = joint[parents | 1 << child] - rows[parents] - penalty[shape]


@compiled
def best_over_subsets(values: Array) -> None:
    """Replace the value of every set by the largest value of its subsets, in place.

    Small blocks are finished while they are in the cache, then the blocks are combined.
    """
    block = min(values.size, 1 << 12)
    for start in range(0, values.size, block):
        _maximise(values[start : start + block], whole(1))
    if block < values.size:
        _maximise(values, block)


@compiled
def _maximise(values: Array, step: int) -> None:
    while step < values.size:
        for start in range(0, values.size, 2 * step):
            for i in range(start, start + step):
                values[i + step] = max(values[i + step], values[i])
        step *= 2


@compiled
def best_networks(families: Array, start: int, stop: int, best: Array) -> None:
    """The score of the best network over every set of variables from `start` up to `stop`.

    best(W) = max over c in W of best(W - c) + families[c, W - c] (Silander, Myllymaki 2006, Eq. 6):
    some variable has no child in W, and it takes the best parents among the others.
    """
    for subset in range(start, stop):
        top = -np.inf
        for child in range(families.shape[0]):
            if subset >> child & 1:
                rest = subset ^ (1 << child)
                top = max(top, best[rest] + families[child, squeeze(rest, child)])
        best[subset] = top
