"""The bottleneck's posterior, row by row: heated, and weighed by how common each state is.

Rows are laid out as `unveil.kernels.reduced` has them: entry `first[f] + position * K + u` of
family f, u running over the joint configurations of what is not seen. Here u is a pair (t, m), t
the configuration of the hidden variables and m that of other cells the row lacks, m fastest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.numbers import unsigned
from unveil.kernels.reduced import (
    BLOCK,
    ReducedPlan,
    _add_logs,
    _count,
    _find_places,
    _normalise,
)

__all__ = ["bottleneck_pass", "collected_rows", "counted_rows", "merged_entropies"]

Array = npt.NDArray[Any]


@compiled(error_model="numpy")
def bottleneck_pass(
    plan: ReducedPlan,
    logs: Array,
    common: Array,
    gamma: float,
    codes: Array,
    weights: Array,
    start: int,
    stop: int,
    log_z: Array,
    posterior: Array,
    counts: Array,
) -> None:
    """Q(t | y) = Q(t)^(1 - gamma) P(x[y], t)^gamma / Z(y, gamma) in rows `start` to `stop`.

    Thesis Eq. (6.4); `common` is log Q(t). Cells m that a row lacks are summed over exactly:
    P(x, t) = sum over m of P(x, m, t), and Q(t, m | y) = Q(t | y) P(m | x, t). `log_z` gets log Z;
    `posterior` (n_rows, K), unless empty, Q(t, m | y); `counts`, laid out like `logs` unless empty,
    these times the rows' weights, added up. At gamma = 1 this is `reduced_pass`, to rounding.
    """
    k, n_hidden = unsigned(plan.n_configurations), common.size
    n_lacking = plan.n_configurations // n_hidden
    share = np.empty((BLOCK, k))
    place = np.empty((plan.first.size, BLOCK), np.uint32)
    for block in range(start, stop, BLOCK):
        n_rows = min(BLOCK, stop - block)
        _find_places(plan, codes, block, n_rows, place)
        for b in range(unsigned(n_rows)):
            _add_logs(logs, place, share, b, k)
            if gamma < 1.0 and n_lacking == 1:
                for t in range(k):  # gamma log P(x, t) + (1 - gamma) log Q(t)
                    share[b, t] = gamma * share[b, t] + (1.0 - gamma) * common[t]
            elif gamma < 1.0:
                for t in range(n_hidden):
                    _heat(share[b], t * n_lacking, n_lacking, gamma, (1.0 - gamma) * common[t])
        _normalise(share, n_rows, k, log_z[block : block + n_rows])
        if posterior.size > 0:
            posterior[block : block + n_rows] = share[:n_rows]
        if counts.size > 0:
            for b in range(unsigned(n_rows)):
                _count(place, share, b, k, weights[unsigned(block) + b], counts)


@compiled(error_model="numpy")
def _heat(total: Array, first: int, n: int, gamma: float, more: float) -> None:
    """log P(x, m, t) becomes log [e^more P(x, t)^gamma P(m | x, t)], for all n values of m."""
    most = total[first]
    for m in range(1, n):
        most = max(most, total[first + m])
    if most == -np.inf or more == -np.inf:
        for m in range(n):
            total[first + m] = -np.inf
        return
    whole = most
    if n > 1:
        summed = 0.0
        for m in range(n):
            summed += math.exp(total[first + m] - most)
        whole += math.log(summed)
    for m in range(n):
        # gamma log P(x, t) + log P(m | x, t)
        total[first + m] += (gamma - 1.0) * whole + more


def collected_rows(
    plan: ReducedPlan, values: Array, codes: Array, start: int, stop: int, out: Array
) -> None:
    """out[r, u] = sum over families f of values[f's entry at row r and u]."""
    _visit(plan, values, codes, start, stop, out, False)


def counted_rows(
    plan: ReducedPlan, mass: Array, codes: Array, start: int, stop: int, counts: Array
) -> None:
    """Add mass[r, u] to every family's entry at row r and u: `collected_rows` turned round."""
    _visit(plan, counts, codes, start, stop, mass, True)


@compiled(error_model="numpy")
def _visit(
    plan: ReducedPlan,
    entries: Array,
    codes: Array,
    start: int,
    stop: int,
    rows: Array,
    counting: bool,
) -> None:
    """Rows and entries meet: rows become sums of entries or, if `counting`, are added to them."""
    k, n_families = unsigned(plan.n_configurations), plan.first.size
    place = np.empty((n_families, BLOCK), np.uint32)
    for block in range(start, stop, BLOCK):
        n_rows = min(BLOCK, stop - block)
        _find_places(plan, codes, block, n_rows, place)
        own = rows[block : block + n_rows]
        for b in range(unsigned(n_rows)):
            if not counting:
                _add_logs(entries, place, own, b, k)
                continue
            for f in range(n_families):
                at = unsigned(place[f, b])
                for u in range(k):
                    entries[at + u] += own[b, u]


@compiled(error_model="numpy")
def merged_entropies(posterior: Array, weights: Array, out: Array) -> None:
    """out[i, j] gets the sum over rows y of w_y h(Q(i | y) + Q(j | y)), h(q) = -q log q, for i < j.

    The diagonal gets w_y h(Q(i | y)).
    """
    n_rows, k = posterior.shape
    for r in range(n_rows):
        w = weights[r]
        for i in range(k):
            for j in range(i, k):
                q = posterior[r, i] + posterior[r, j] if j > i else posterior[r, i]
                if q > 0.0:
                    out[i, j] -= w * q * math.log(q)
