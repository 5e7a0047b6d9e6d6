"""Summing over a few unseen variables, row by row, when many rows lack the same ones.

For rows in which the same variables U are unseen, only the families that contain some of U matter:

    P(seen) is in proportion to sum over u of prod over families f of P(f's members at u and row),

u running over the joint configurations of U; the other families are the same for every u.
Family f is laid out as rows of K numbers, one per joint configuration of U: entry
`first[f] + position * K + u`, where `position` is the mixed-radix number of its observed members.
Then a row's posterior over U is a sum of such rows of logs, and expected counts are sums of
posteriors. A "family" may be several families put together (see `unveil.infer.reduced`): the fewer
there are, the fewer rows of numbers are read and written.

For a latent class model of binary columns this is a product of matrices, rows by states times
states by classes, done by looking up sums of six entries at a time: the whole step takes less than
the two products alone would, in double precision (`benchmarks/latent_classes.py`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.exponential import exp_below
from unveil.kernels.numbers import unsigned

__all__ = ["ReducedPlan", "add_rows", "hand_out_rows", "reduced_pass"]

Array = npt.NDArray[Any]

BLOCK = 256
"""Rows that go through each part of a pass together: few enough to stay in the cache."""


class ReducedPlan(NamedTuple):
    """The families that matter, as flat arrays.

    Family f's observed members are `member[member_first[f] : member_first[f + 1]]`, each with the
    number of entries (K times its place value) one step of its code is worth in `step`.
    Places are 32-bit numbers, so a layout may have at most 2^32 entries. The configurations may be
    padded with ones that are impossible in every family.
    """

    first: Array
    member_first: Array
    member: Array
    step: Array
    n_configurations: int


@compiled(error_model="numpy")
def reduced_pass(
    plan: ReducedPlan,
    logs: Array,
    codes: Array,
    weights: Array,
    start: int,
    stop: int,
    log_z: Array,
    posterior: Array,
    counts: Array,
) -> None:
    """Sum over U in rows `start` to `stop`.

    `logs` holds the families' log-probabilities. `log_z` gets the log of the summed product;
    `posterior` (n_rows, K), unless empty, the posterior of every configuration, those that pad
    left out; `counts`, laid out like `logs` unless empty, the posteriors times the rows' weights,
    added up.
    """
    k, n_families = unsigned(plan.n_configurations), plan.first.size
    share = np.empty((BLOCK, k))
    place = np.empty((n_families, BLOCK), np.uint32)
    for block in range(start, stop, BLOCK):
        n_rows = min(BLOCK, stop - block)
        _find_places(plan, codes, block, n_rows, place)
        for b in range(unsigned(n_rows)):
            _add_logs(logs, place, share, b, k)
        _normalise(share, n_rows, k, log_z[block : block + n_rows])
        if posterior.size > 0:
            posterior[block : block + n_rows] = share[:n_rows, : posterior.shape[1]]
        if counts.size > 0:
            for b in range(unsigned(n_rows)):
                _count(place, share, b, k, weights[unsigned(block) + b], counts)


@compiled(error_model="numpy")
def _add_logs(logs: Array, place: Array, share: Array, b: int, k: int) -> None:
    """log P(u, seen) = sum over f of log f(u, seen); four f at a time, to touch `share` less."""
    n = place.shape[0]
    for u in range(k):
        share[b, u] = 0.0
    for f in range(0, n - 3, 4):
        at0, at1 = unsigned(place[f, b]), unsigned(place[f + 1, b])
        at2, at3 = unsigned(place[f + 2, b]), unsigned(place[f + 3, b])
        for u in range(k):
            share[b, u] += (logs[at0 + u] + logs[at1 + u]) + (logs[at2 + u] + logs[at3 + u])
    for f in range(n - n % 4, n):
        at = unsigned(place[f, b])
        for u in range(k):
            share[b, u] += logs[at + u]


@compiled(error_model="numpy")
def _normalise(share: Array, n_rows: int, k: int, log_z: Array) -> None:
    """Turn logs of P(u, seen) into P(u | seen), zeros if all are impossible; gives log P(seen).

    The rows of a block are taken through it together: what one row has to wait for, others fill.
    Four maxima side by side, for the same reason.
    """
    n, four = unsigned(n_rows), k - k % unsigned(4)
    for b in range(n):
        m0 = m1 = m2 = m3 = -np.inf
        for u in range(unsigned(0), four, unsigned(4)):
            m0, m1 = max(m0, share[b, u]), max(m1, share[b, u + unsigned(1)])
            m2, m3 = max(m2, share[b, u + unsigned(2)]), max(m3, share[b, u + unsigned(3)])
        most = max(max(m0, m1), max(m2, m3))
        for u in range(four, k):
            most = max(most, share[b, u])
        log_z[b] = most
        # log sum over u of P(u, seen), the largest taken out before exp
        taken = most if most > -np.inf else 0.0
        for u in range(k):
            share[b, u] -= taken
    flat = share.reshape(-1)
    for i in range(n * k):
        flat[i] = exp_below(flat[i])
    for b in range(n):
        summed = _sum(share, b, k)
        # P(u | seen) = P(u, seen) / sum over u of P(u, seen)
        scale = 1.0 / summed if summed > 0.0 else 0.0
        for u in range(k):
            share[b, u] *= scale
        if summed > 0.0:
            log_z[b] += math.log(summed)


@compiled(error_model="numpy")
def _sum(value: Array, r: int, k: int) -> float:
    """The sum of a row, four sums side by side: one alone has to wait for itself."""
    four = k - k % unsigned(4)
    s0 = s1 = s2 = s3 = 0.0
    for s in range(unsigned(0), four, unsigned(4)):
        s0, s1 = s0 + value[r, s], s1 + value[r, s + unsigned(1)]
        s2, s3 = s2 + value[r, s + unsigned(2)], s3 + value[r, s + unsigned(3)]
    total = (s0 + s1) + (s2 + s3)
    for s in range(four, k):
        total += value[r, s]
    return total


@compiled(error_model="numpy")
def _count(place: Array, share: Array, b: int, k: int, weight: float, counts: Array) -> None:
    """E[N(u, members of f)] = sum over rows r of w_r P(u | row r) (thesis Eq. 2.16)."""
    for u in range(k):
        share[b, u] *= weight
    for f in range(place.shape[0]):
        at = unsigned(place[f, b])
        for u in range(k):
            counts[at + u] += share[b, u]


@compiled
def add_rows(first: Array, row: Array, given: Array, out: Array) -> None:
    """Row i of `out` becomes the sum of the rows `row[first[i] : first[i + 1]]` of `given`."""
    for i in range(out.shape[0]):
        out[i] = 0.0
        for j in range(first[i], first[i + 1]):
            source = given[row[j]]
            for u in range(out.shape[1]):
                out[i, u] += source[u]


@compiled
def hand_out_rows(first: Array, row: Array, given: Array, out: Array) -> None:
    """Row i of `given` is added to the rows `row[first[i] : first[i + 1]]` of `out`."""
    for i in range(given.shape[0]):
        for j in range(first[i], first[i + 1]):
            target = out[row[j]]
            for u in range(out.shape[1]):
                target[u] += given[i, u]


@compiled(error_model="numpy")
def _find_places(plan: ReducedPlan, codes: Array, block: int, n_rows: int, place: Array) -> None:
    """Where each family's row of K numbers begins, for a block of rows: column by column."""
    start, n = unsigned(block), unsigned(n_rows)  # see `numbers`
    for f in range(unsigned(plan.first.size)):
        for b in range(n):
            place[f, b] = plan.first[f]
        for i in range(plan.member_first[f], plan.member_first[f + unsigned(1)]):
            m, step = unsigned(plan.member[i]), plan.step[i]
            for b in range(n):
                place[f, b] += np.uint32(codes[m, start + b]) * step
