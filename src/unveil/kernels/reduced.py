"""Summing over a few unseen variables, row by row, when many rows lack the same ones.

For rows in which the same variables U are unseen, only the families that contain some of U matter:

    P(seen) is in proportion to sum over u of prod over families f of P(f's members at u and row),

u running over the joint configurations of U; the other families are the same for every u.
Family f is laid out as rows of K numbers, one per joint configuration of U: entry
`first[f] + position * K + u`, where `position` is the mixed-radix number of its observed members.
Then a row's posterior over U is a sum of such rows of logs, and expected counts are sums of
posteriors. A "family" may be several families put together (see `unveil.infer.reduced`): the fewer
there are, the fewer rows of numbers are read and written.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = ["ReducedPlan", "reduced_pass"]

Array = npt.NDArray[Any]

BLOCK = 256
"""Rows whose places are found together, column by column: few enough to stay in the cache."""


class ReducedPlan(NamedTuple):
    """The families that matter, as flat arrays.

    Family f's observed members are `member[member_first[f] : member_first[f + 1]]`, each with the
    number of entries (K times its place value) one step of its code is worth in `step`.
    Places are 32-bit numbers, so a layout may have at most 2^32 entries.
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
    `posterior` (n_rows, K), unless empty, the posterior of every configuration; `counts`, laid out
    like `logs` unless empty, the posteriors times the rows' weights, added up.
    """
    k = plan.n_configurations
    n_families = plan.first.size
    total = np.empty(k)
    place = np.empty((n_families, BLOCK), np.uint32)
    for block in range(start, stop, BLOCK):
        n_rows = min(BLOCK, stop - block)
        _find_places(plan, codes, block, n_rows, place)
        for b in range(n_rows):
            r = block + b
            total[:] = 0.0
            for f in range(n_families):
                at = np.uint64(place[f, b])
                # log P(u, seen) = sum over f of log f(u, seen)
                for u in range(np.uint64(k)):
                    total[u] += logs[at + u]
            most = total[0]
            for u in range(1, k):
                most = max(most, total[u])
            if most == -np.inf:
                log_z[r] = -np.inf
                if posterior.size > 0:
                    posterior[r] = 0.0
                continue
            # log sum over u of P(u, seen), the largest taken out before exp
            summed = 0.0
            for u in range(k):
                total[u] = math.exp(total[u] - most)
                summed += total[u]
            log_z[r] = most + math.log(summed)
            if posterior.size > 0:
                # P(u | seen) = P(u, seen) / sum over u of P(u, seen)
                for u in range(k):
                    posterior[r, u] = total[u] / summed
            if counts.size > 0:
                # E[N(u, members of f)] = sum over rows r of w_r P(u | row r) (thesis Eq. 2.16)
                scale = weights[r] / summed
                for u in range(k):
                    total[u] *= scale
                for f in range(n_families):
                    at = np.uint64(place[f, b])
                    for u in range(np.uint64(k)):
                        counts[at + u] += total[u]


@compiled(error_model="numpy")
def _find_places(plan: ReducedPlan, codes: Array, block: int, n_rows: int, place: Array) -> None:
    """Where each family's row of K numbers begins, for a block of rows: column by column."""
    for f in range(plan.first.size):
        out = place[f]
        out[:n_rows] = plan.first[f]
        for i in range(plan.member_first[f], plan.member_first[f + 1]):
            column, step = codes[plan.member[i]], plan.step[i]
            for b in range(n_rows):
                out[b] += np.uint32(column[block + b]) * step
