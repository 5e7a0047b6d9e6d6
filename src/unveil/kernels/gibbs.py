"""Drawing the unseen variables of a row: one at a time given the rest, or forward with weights.

Both count variables parents before children, as `FactorGraph` does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.evidence import Seen, Wanted
from unveil.kernels.factor_graph import FactorGraph, read_row, row_buffers
from unveil.kernels.numbers import whole

__all__ = [
    "FOUND",
    "GAVE_UP",
    "IMPOSSIBLE",
    "find_state",
    "find_states",
    "sample_forward",
    "sample_gibbs",
]

FOUND, IMPOSSIBLE, GAVE_UP = 0, 1, 2
"""What became of the search for a state that agrees with the evidence."""
N_RESTARTS = 12
"""Every restart searches twice as long as the one before: in all 4096 times the first."""
TINY = 1e-100
"""A product of probabilities below this is scaled up before the next factor comes in."""

Array = npt.NDArray[Any]


@compiled(error_model="numpy")
def _given_parents(graph: FactorGraph, v: int, local: Array, state: Array, weight: Array) -> float:
    """Write P(v = s | parents) local(s) for every state s to `weight`; their sum."""
    last = graph.edge_first[v + 1] - 1
    cell = graph.first[v]
    for e in range(graph.edge_first[v], last):
        cell += state[graph.member[e]] * graph.stride[e]
    total = 0.0
    for s in range(graph.n_states[v]):
        weight[s] = graph.table[cell + s] * local[graph.state_first[v] + s]
        total += weight[s]
    return total


@compiled(error_model="numpy")
def _draw(weight: Array, k: int, total: float, uniform: float) -> int:
    """A state drawn by its weight; never one of weight zero."""
    left = uniform * total
    chosen = 0
    for s in range(k):
        if weight[s] > 0.0:
            chosen = s
            left -= weight[s]
            if left < 0.0:
                break
    return chosen


@compiled(error_model="numpy")
def _draw_forward(
    graph: FactorGraph, local: Array, generator: np.random.Generator, state: Array, weight: Array
) -> float:
    """Draw all variables, parents first, into `state`; the log weight of the draw.

    Each is drawn in proportion to P(s | parents) local(s); the weight is the product of the sums.
    """
    w, log_w = 1.0, 0.0
    for v in range(graph.n_states.size):
        share = _given_parents(graph, v, local, state, weight)
        if share <= 0.0:
            return -np.inf
        state[v] = _draw(weight, graph.n_states[v], share, generator.random())
        w *= share
        if w < TINY:
            log_w += math.log(w)
            w = 1.0
    return log_w + math.log(w)


@compiled(error_model="numpy")
def find_state(
    graph: FactorGraph,
    local: Array,
    generator: np.random.Generator,
    state: Array,
    tried: Array,
    weight: Array,
) -> int:
    """Write a random state of all variables that the evidence permits; whether there was one.

    Draws forward, steps back where the evidence has probability zero, and begins anew when that
    takes long. Having stepped back through everything proves that the evidence is impossible.
    """
    n = graph.n_states.size
    for attempt in range(N_RESTARTS):
        tried[:] = False
        v = whole(0)
        for _ in range(16 * n << attempt):
            if v == n:
                return FOUND
            a, k = graph.state_first[v], graph.n_states[v]
            total = _given_parents(graph, v, local, state, weight)
            for s in range(k):
                if tried[a + s]:
                    weight[s] = 0.0
            total = np.sum(weight[:k])
            if total > 0.0:
                state[v] = _draw(weight, k, total, generator.random())
                tried[a + state[v]] = True
                v += 1
            else:
                tried[a : a + k] = False
                v -= 1
                if v < 0:
                    return IMPOSSIBLE
        if v == n:
            return FOUND
    return GAVE_UP


@compiled(error_model="numpy")
def find_states(
    graph: FactorGraph,
    seen: Seen,
    start: int,
    stop: int,
    generator: np.random.Generator,
    states: Array,
    status: Array,
) -> None:
    """Run `find_state` `n_starts` times for rows `start` to `stop`.

    `states` has shape (stop - start, n_starts, n_variables).
    """
    local, low, high = row_buffers(graph)
    tried = np.empty(graph.state_first[-1], np.bool_)
    weight = np.empty(np.max(graph.n_states))
    for r in range(start, stop):
        read_row(graph, seen, r, local, low, high)
        for i in range(states.shape[1]):
            status[r] = find_state(graph, local, generator, states[r - start, i], tried, weight)
            if status[r] != FOUND:
                break


@compiled(error_model="numpy")
def _start_chain(
    graph: FactorGraph,
    local: Array,
    generator: np.random.Generator,
    n_draws: int,
    state: Array,
    drawn: Array,
    tried: Array,
    weight: Array,
) -> int:
    """Write the state a chain starts from: one of `n_draws` forward draws, taken by its weight.

    That is nearly a draw from the posterior, so chains need not find the way themselves (Rubin
    1988, sampling and resampling). Where all weights are zero, any state that is permitted.
    """
    total, scale = 0.0, -np.inf
    for _ in range(n_draws):
        log_w = _draw_forward(graph, local, generator, drawn, weight)
        if log_w == -np.inf:
            continue
        if log_w > scale:
            total *= math.exp(scale - log_w)
            scale = log_w
        w = math.exp(log_w - scale)
        total += w
        if generator.random() * total < w:
            for v in range(state.size):
                state[v] = drawn[v]
    if total > 0.0:
        return FOUND
    return find_state(graph, local, generator, state, tried, weight)


@compiled(error_model="numpy")
def _blanket(
    graph: FactorGraph, v: int, local: Array, state: Array, cell: Array, weight: Array
) -> None:
    """Write P(v = s | all other variables) to `weight`: the product of the families v is in.

    `cell[f]` is the cell of factor f at the current state.
    """
    a, k = graph.state_first[v], graph.n_states[v]
    for s in range(k):
        weight[s] = local[a + s]
    for i in range(graph.touch_first[v], graph.touch_first[v + 1]):
        e = graph.touch[i]
        step = graph.stride[e]
        at = cell[graph.factor[e]] - state[v] * step
        most = 0.0
        for s in range(k):
            weight[s] *= graph.table[at + s * step]
            most = max(most, weight[s])
        if 0.0 < most < TINY:
            for s in range(k):
                weight[s] /= most
    total = np.sum(weight[:k])
    if total > 0.0:
        for s in range(k):
            weight[s] /= total
    else:  # the numbers are too small to tell: stay
        for s in range(k):
            weight[s] = 1.0 if s == state[v] else 0.0


@compiled(error_model="numpy")
def _run_chain(
    graph: FactorGraph,
    local: Array,
    free: Array,
    generator: np.random.Generator,
    burn_in: int,
    n_kept: int,
    state: Array,
    cell: Array,
    weight: Array,
    mean: Array,
    spread: Array,
) -> None:
    """Sweep over the variables `free`, starting from `state`.

    Writes the mean and the sum of squared deviations of every conditional probability over the
    last `n_kept` sweeps (Rao-Blackwell: less noisy than counting states).
    """
    for f in range(graph.n_states.size):
        cell[f] = graph.first[f]
        for e in range(graph.edge_first[f], graph.edge_first[f + 1]):
            cell[f] += state[graph.member[e]] * graph.stride[e]
    mean[:] = 0.0
    spread[:] = 0.0
    for sweep in range(-burn_in, n_kept):
        for v in free:
            a, k = graph.state_first[v], graph.n_states[v]
            _blanket(graph, v, local, state, cell, weight)
            if sweep >= 0:
                for s in range(k):
                    off = weight[s] - mean[a + s]
                    mean[a + s] += off / (sweep + 1)
                    spread[a + s] += off * (weight[s] - mean[a + s])
            drawn = _draw(weight, k, 1.0, generator.random())
            if drawn != state[v]:
                for i in range(graph.touch_first[v], graph.touch_first[v + 1]):
                    e = graph.touch[i]
                    cell[graph.factor[e]] += (drawn - state[v]) * graph.stride[e]
                state[v] = drawn


@compiled(error_model="numpy")
def sample_gibbs(
    graph: FactorGraph,
    seen: Seen,
    start: int,
    stop: int,
    generator: np.random.Generator,
    n_chains: int,
    burn_in: int,
    n_kept: int,
    wanted: Wanted,
    marginals: Array,
    between: Array,
    within: Array,
    status: Array,
) -> None:
    """Run independent chains for rows `start` to `stop`, each with `burn_in` draws and sweeps.

    For every state of the targets, writes the mean over chains to `marginals`, the variance of the
    chains' means to `between`, and the mean variance inside a chain to `within`.
    """
    n = graph.n_states.size
    n_flat = graph.state_first[-1]
    local, low, high = row_buffers(graph)
    mean, spread = np.empty(n_flat), np.empty(n_flat)
    state, drawn, cell = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    tried = np.empty(n_flat, np.bool_)
    weight = np.empty(np.max(graph.n_states))
    marginals[start:stop] = 0.0
    between[start:stop] = 0.0
    within[start:stop] = 0.0
    for r in range(start, stop):
        read_row(graph, seen, r, local, low, high)
        free = np.flatnonzero(high - low > 1)
        for c in range(n_chains):
            status[r] = _start_chain(graph, local, generator, burn_in, state, drawn, tried, weight)
            if status[r] != FOUND:
                break
            _run_chain(
                graph, local, free, generator, burn_in, n_kept, state, cell, weight, mean, spread
            )
            for i in range(wanted.targets.size):
                v = wanted.targets[i]
                for s in range(graph.n_states[v]):
                    at = wanted.first[i] + s
                    value = mean[graph.state_first[v] + s]
                    if high[v] - low[v] == 1:
                        value = 1.0 if s == low[v] else 0.0
                    off = value - marginals[r, at]
                    marginals[r, at] += off / (c + 1)
                    between[r, at] += off * (value - marginals[r, at]) / (n_chains - 1)
                    within[r, at] += spread[graph.state_first[v] + s] / ((n_kept - 1) * n_chains)


@compiled(error_model="numpy")
def sample_forward(
    graph: FactorGraph,
    seen: Seen,
    start: int,
    stop: int,
    generator: np.random.Generator,
    n_samples: int,
    wanted: Wanted,
    sums: Array,
    squares: Array,
    totals: Array,
) -> None:
    """Draw weighted samples for rows `start` to `stop` (Fung and Chang 1990).

    Observed variables keep their state, soft evidence guides the draw. Writes the sums of the
    weights w and of w^2 over samples that show a target's state to `sums` and `squares`, and (sum
    of w, sum of w^2, log of the scale) to `totals`; in that scale the largest weight is one.
    """
    n = graph.n_states.size
    local, low, high = row_buffers(graph)
    state = np.empty(n, np.int64)
    weight = np.empty(np.max(graph.n_states))
    sums[start:stop] = 0.0
    squares[start:stop] = 0.0
    for r in range(start, stop):
        read_row(graph, seen, r, local, low, high)
        total, total_squares, scale = 0.0, 0.0, -np.inf
        for _ in range(n_samples):
            log_w = _draw_forward(graph, local, generator, state, weight)
            if log_w == -np.inf:
                continue
            if log_w > scale:
                shrink = math.exp(scale - log_w)
                total *= shrink
                total_squares *= shrink * shrink
                sums[r] *= shrink
                squares[r] *= shrink * shrink
                scale = log_w
            w = math.exp(log_w - scale)
            total += w
            total_squares += w * w
            for i in range(wanted.targets.size):
                at = wanted.first[i] + state[wanted.targets[i]]
                sums[r, at] += w
                squares[r, at] += w * w
        totals[r, 0], totals[r, 1], totals[r, 2] = total, total_squares, scale
