"""Loopy belief propagation on the factor graph of a network (Kschischang, Frey, Loeliger 2001)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.evidence import Seen, Wanted
from unveil.kernels.factor_graph import FactorGraph, first_cell, next_cell, read_row, row_buffers
from unveil.kernels.numbers import whole

__all__ = ["propagate_loopy"]

Array = npt.NDArray[Any]


@compiled(error_model="numpy")
def _gather(
    graph: FactorGraph, v: int, without: int, local: Array, message: Array, out: Array, at: int
) -> float:
    """Multiply `local` and all messages to v, but that along the edge `without`.

    Writes the product, scaled to sum to one, to out[at:] and returns the log of its sum (`-inf` if
    everything is zero). Scaling after every factor keeps a variable with a thousand children from
    underflowing.
    """
    k = graph.n_states[v]
    for s in range(k):
        out[at + s] = local[graph.state_first[v] + s]
    log_sum = _normalise(out, at, k)
    for i in range(graph.touch_first[v], graph.touch_first[v + 1]):
        e = graph.touch[i]
        if e != without:
            for s in range(k):
                out[at + s] *= message[graph.message_first[e] + s]
            log_sum += _normalise(out, at, k)
    return log_sum


@compiled(error_model="numpy")
def _normalise(values: Array, at: int, k: int) -> float:
    """Scale values[at:at + k] to sum to one; the log of the sum, -inf if it is zero."""
    total = 0.0
    for i in range(at, at + k):
        total += values[i]
    if total <= 0.0:
        return -np.inf
    for i in range(at, at + k):
        values[i] /= total
    return math.log(total) if total != 1.0 else 0.0


@compiled(error_model="numpy")
def _send(
    graph: FactorGraph,
    f: int,
    low: Array,
    high: Array,
    incoming: Array,
    fresh: Array,
    digit: Array,
    left: Array,
) -> float:
    """Compute all messages of factor f into `fresh`; the sum of the factor times `incoming`.

    The message to member j is the sum over cells of the table times the incoming messages of all
    other members: products from the left times products from the right, so nothing is divided.
    """
    e0 = graph.edge_first[f]
    m = graph.edge_first[f + 1] - e0
    fresh[graph.message_first[e0] : graph.message_first[e0 + m]] = 0.0
    total = 0.0
    cell = first_cell(graph, f, low, digit)
    while cell >= 0:
        if graph.table[cell] > 0.0:
            left[0] = graph.table[cell]
            for j in range(m):
                left[j + 1] = left[j] * incoming[graph.message_first[e0 + j] + digit[j]]
            total += left[m]
            right = 1.0
            for j in range(m - 1, -1, -1):
                place = graph.message_first[e0 + j] + digit[j]
                fresh[place] += left[j] * right
                right *= incoming[place]
        cell = next_cell(graph, f, low, high, digit, cell)
    return total


@compiled(error_model="numpy")
def _update(
    graph: FactorGraph,
    f: int,
    low: Array,
    high: Array,
    local: Array,
    message: Array,
    incoming: Array,
    fresh: Array,
    digit: Array,
    left: Array,
    damping: float,
) -> float:
    """Renew the messages of factor f; the largest change, or -1 if they contradict each other.

    The new message is (1 - damping) new + damping old, but what is impossible stays impossible.
    """
    for e in range(graph.edge_first[f], graph.edge_first[f + 1]):
        at = graph.message_first[e]
        if _gather(graph, graph.member[e], e, local, message, incoming, at) == -np.inf:
            return -1.0
    if _send(graph, f, low, high, incoming, fresh, digit, left) <= 0.0:
        return -1.0
    change = 0.0
    for e in range(graph.edge_first[f], graph.edge_first[f + 1]):
        v = graph.member[e]
        if high[v] - low[v] < 2:
            continue
        a, k = graph.message_first[e], graph.n_states[v]
        if _normalise(fresh, a, k) == -np.inf:
            return -1.0
        for i in range(a, a + k):
            change = max(change, abs(fresh[i] - message[i]))
            keep = damping if fresh[i] > 0.0 else 0.0
            message[i] = (1.0 - damping) * fresh[i] + keep * message[i]
        _normalise(message, a, k)
    return change


@compiled(error_model="numpy")
def _bethe(
    graph: FactorGraph,
    low: Array,
    high: Array,
    local: Array,
    message: Array,
    incoming: Array,
    fresh: Array,
    digit: Array,
    left: Array,
    belief: Array,
) -> float:
    """Write the beliefs of all variables; the Bethe estimate of log P(evidence).

    With n the messages to and m those from the factors, it is sum over f of log sum_x f(x) prod n
    + sum over v of log sum_s local(s) prod m - sum over edges of log sum_s n(s) m(s) (Yedidia,
    Freeman and Weiss 2005, at a fixed point), whatever the messages are scaled to.
    """
    log_z = 0.0
    for v in range(graph.n_states.size):
        log_z += _gather(graph, v, whole(-1), local, message, belief, graph.state_first[v])
    for f in range(graph.n_states.size):
        for e in range(graph.edge_first[f], graph.edge_first[f + 1]):
            at = graph.message_first[e]
            _gather(graph, graph.member[e], e, local, message, incoming, at)
        total = _send(graph, f, low, high, incoming, fresh, digit, left)
        log_z += math.log(total) if total > 0.0 else -np.inf
        for e in range(graph.edge_first[f], graph.edge_first[f + 1]):
            overlap = 0.0
            a = graph.message_first[e]
            for i in range(a, a + graph.n_states[graph.member[e]]):
                overlap += incoming[i] * message[i]
            log_z -= math.log(overlap) if overlap > 0.0 else 0.0
    return log_z


@compiled(error_model="numpy")
def propagate_loopy(
    graph: FactorGraph,
    seen: Seen,
    start: int,
    stop: int,
    damping: float,
    max_iterations: int,
    tolerance: float,
    wanted: Wanted,
    marginals: Array,
    log_z: Array,
    change: Array,
) -> None:
    """Send messages in rows `start` to `stop` until none changes by more than `tolerance`.

    One iteration renews the messages of all factors twice, parents first and children first. Rows
    whose messages contradict each other get `log_z` of -inf; `change` keeps the last change.
    """
    n = graph.n_states.size
    local, low, high = row_buffers(graph)
    belief = np.empty(graph.state_first[-1])
    message = np.empty(graph.message_first[-1])
    incoming = np.empty(graph.message_first[-1])
    fresh = np.empty(graph.message_first[-1])
    widest = np.max(np.diff(graph.edge_first))
    digit, left = np.empty(widest, np.int64), np.empty(widest + 1)
    for r in range(start, stop):
        read_row(graph, seen, r, local, low, high)
        message[:] = 1.0
        possible = True
        for _ in range(max_iterations):
            worst = 0.0
            for i in range(2 * n):
                f = i if i < n else 2 * n - 1 - i
                step = _update(
                    graph, f, low, high, local, message, incoming, fresh, digit, left, damping
                )
                if step < 0.0:
                    possible = False
                    break
                worst = max(worst, step)
            change[r] = worst
            if not possible or worst <= tolerance:
                break
        if not possible:
            log_z[r] = -np.inf
            change[r] = 0.0
            continue
        log_z[r] = _bethe(graph, low, high, local, message, incoming, fresh, digit, left, belief)
        for i in range(wanted.targets.size):
            v = wanted.targets[i]
            for s in range(graph.n_states[v]):
                marginals[r, wanted.first[i] + s] = belief[graph.state_first[v] + s]
