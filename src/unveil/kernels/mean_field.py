"""Mean field: the best product of independent distributions, one variable at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.evidence import Seen, Wanted
from unveil.kernels.factor_graph import FactorGraph, first_cell, next_cell, read_row, row_buffers
from unveil.kernels.gibbs import FOUND
from unveil.kernels.numbers import whole

__all__ = ["ascend"]

NEGLIGIBLE = 1e-60
"""Less probability than this counts as none, so that products of several stay above zero."""

Array = npt.NDArray[Any]


@compiled(error_model="numpy")
def _add_expected_log(
    graph: FactorGraph,
    logs: Array,
    f: int,
    slot: int,
    low: Array,
    high: Array,
    q: Array,
    digit: Array,
    out: Array,
) -> None:
    """Add E[log table of f | member `slot` = s] over the other members to out[s].

    Cells that have no probability do not count, even if their log is -inf. With `slot` -1 the
    whole expectation goes to out[0].
    """
    e0 = graph.edge_first[f]
    m = graph.edge_first[f + 1] - e0
    cell = first_cell(graph, f, low, digit)
    while cell >= 0:
        share = 1.0
        for j in range(m):
            if j != slot:
                share *= q[graph.state_first[graph.member[e0 + j]] + digit[j]]
        if share > 0.0:
            out[digit[slot] if slot >= 0 else 0] += share * logs[cell]
        cell = next_cell(graph, f, low, high, digit, cell)


@compiled(error_model="numpy")
def _renew(
    graph: FactorGraph,
    logs: Array,
    v: int,
    low: Array,
    high: Array,
    local: Array,
    q: Array,
    digit: Array,
    score: Array,
) -> float:
    """Set q_v to its best value given the others; the largest change of a probability.

    q_v(s) is proportional to local(s) exp(sum over families f of v of E[log f | v = s]).
    """
    a, k = graph.state_first[v], graph.n_states[v]
    for s in range(k):
        score[s] = math.log(local[a + s]) if local[a + s] > 0.0 else -np.inf
    for i in range(graph.touch_first[v], graph.touch_first[v + 1]):
        e = graph.touch[i]
        f = graph.factor[e]
        slot = e - graph.edge_first[f]
        _add_expected_log(graph, logs, f, slot, low, high, q, digit, score)
    best = np.max(score[:k])
    total = 0.0
    for s in range(k):
        score[s] = math.exp(score[s] - best)
        if score[s] < NEGLIGIBLE:
            score[s] = 0.0
        total += score[s]
    change = 0.0
    for s in range(k):
        change = max(change, abs(score[s] / total - q[a + s]))
        q[a + s] = score[s] / total
    return change


@compiled(error_model="numpy")
def _lower_bound(
    graph: FactorGraph,
    logs: Array,
    low: Array,
    high: Array,
    local: Array,
    q: Array,
    digit: Array,
    score: Array,
) -> float:
    """E_q[log P(x, evidence)] plus the entropy of q."""
    score[0] = 0.0
    for f in range(graph.n_states.size):
        _add_expected_log(graph, logs, f, whole(-1), low, high, q, digit, score)
    bound = score[0]
    for i in range(q.size):
        if q[i] > 0.0:
            bound += q[i] * (math.log(local[i]) - math.log(q[i]))
    return bound


@compiled(error_model="numpy")
def ascend(
    graph: FactorGraph,
    logs: Array,
    seen: Seen,
    start: int,
    stop: int,
    states: Array,
    status: Array,
    max_iterations: int,
    tolerance: float,
    wanted: Wanted,
    marginals: Array,
    bound: Array,
    change: Array,
) -> None:
    """Climb from every start in rows `start` to `stop`; keep the one with the highest bound.

    `logs` are the logs of `graph.table`. A start is a single state of all variables that the
    evidence permits, states[r - start, i]: there the bound is finite even when tables have zeros.
    """
    n = graph.n_states.size
    local, low, high = row_buffers(graph)
    q = np.empty(graph.state_first[-1])
    digit = np.empty(np.max(np.diff(graph.edge_first)), np.int64)
    score = np.empty(np.max(graph.n_states))
    for r in range(start, stop):
        bound[r] = -np.inf
        change[r] = 0.0
        if status[r] != FOUND:
            continue
        read_row(graph, seen, r, local, low, high)
        for i in range(states.shape[1]):
            q[:] = 0.0
            for v in range(n):
                q[graph.state_first[v] + states[r - start, i, v]] = 1.0
            worst = np.inf
            for _ in range(max_iterations):
                worst = 0.0
                for v in range(n):
                    if high[v] - low[v] > 1:
                        step = _renew(graph, logs, v, low, high, local, q, digit, score)
                        worst = max(worst, step)
                if worst <= tolerance:
                    break
            reached = _lower_bound(graph, logs, low, high, local, q, digit, score)
            if reached <= bound[r]:
                continue
            bound[r] = reached
            change[r] = worst
            for j in range(wanted.targets.size):
                v = wanted.targets[j]
                for s in range(graph.n_states[v]):
                    marginals[r, wanted.first[j] + s] = q[graph.state_first[v] + s]
