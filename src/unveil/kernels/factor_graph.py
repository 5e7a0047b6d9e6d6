"""A network as a factor graph, as the approximate methods walk over it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.evidence import Seen

__all__ = ["FactorGraph", "first_cell", "next_cell", "read_row", "row_buffers"]

Array = npt.NDArray[Any]


class FactorGraph(NamedTuple):
    """A network as flat arrays: one factor per family, one edge per variable of a family.

    Variables are numbered parents before children; factor f is the table of variable f given its
    parents, at `table[first[f]:first[f + 1]]`. Its edges are `edge_first[f]` up to
    `edge_first[f + 1]`, parents first: edge e leads to the variable `member[e]`, which has
    `stride[e]` in the table.
    Variable v is touched by the edges `touch[touch_first[v]:touch_first[v + 1]]`; edge e belongs to
    the factor `factor[e]`. Numbers per state of every variable stand from `state_first[v]` on,
    messages along edge e from `message_first[e]` on.
    """

    n_states: Array
    state_first: Array
    table: Array
    first: Array
    edge_first: Array
    member: Array
    stride: Array
    factor: Array
    touch: Array
    touch_first: Array
    message_first: Array


@compiled(error_model="numpy")
def row_buffers(graph: FactorGraph) -> tuple[Array, Array, Array]:
    """Room for what `read_row` writes: `local`, `low` and `high`."""
    n = graph.n_states.size
    return np.zeros(graph.state_first[-1]), np.zeros(n, np.int64), np.zeros(n, np.int64)


@compiled(error_model="numpy")
def read_row(
    graph: FactorGraph,
    seen: Seen,
    r: int,
    local: Array,
    low: Array,
    high: Array,
) -> None:
    """Write what row r says: `local`, the likelihood of every state, and the range low to high.

    Of an observed variable the range holds the one observed state, of others all states.
    """
    for v in range(graph.n_states.size):
        a, k = graph.state_first[v], graph.n_states[v]
        first = seen.soft_first[v]
        low[v], high[v] = 0, k
        for s in range(k):
            local[a + s] = seen.soft[first + s, r] if first >= 0 else 1.0
        if seen.codes[v, r] != seen.missing:
            low[v] = seen.codes[v, r]
            high[v] = low[v] + 1
            for s in range(k):
                if s != low[v]:
                    local[a + s] = 0.0


@compiled(error_model="numpy")
def first_cell(graph: FactorGraph, f: int, low: Array, digit: Array) -> int:
    """The first cell of factor f that the evidence permits; `digit` gets its members' states."""
    e0 = graph.edge_first[f]
    cell = graph.first[f]
    for e in range(e0, graph.edge_first[f + 1]):
        digit[e - e0] = low[graph.member[e]]
        cell += digit[e - e0] * graph.stride[e]
    return cell


@compiled(error_model="numpy")
def next_cell(graph: FactorGraph, f: int, low: Array, high: Array, digit: Array, cell: int) -> int:
    """The cell after `cell` with members between low and high, or -1; `digit` follows."""
    e0 = graph.edge_first[f]
    for e in range(graph.edge_first[f + 1] - 1, e0 - 1, -1):
        v = graph.member[e]
        digit[e - e0] += 1
        cell += graph.stride[e]
        if digit[e - e0] < high[v]:
            return cell
        cell -= (high[v] - low[v]) * graph.stride[e]
        digit[e - e0] = low[v]
    return -1
