"""Message passing in logs, in plain NumPy: the twin of `propagate` and `slices`.

Nothing underflows here, so this is also where rows go whose probabilities were too small for the
compiled kernels (three findings of probability 1e-160 in one clique, say). It takes some twenty
times as long for a cell, which does not matter for rows so rare.

Letters: C is a clique, P the clique above it, S = C & P their separator, psi_C the potential of C
(the product of the tables that live there) with the evidence entered, m_C(s) the message from C to
P. Arrays hold their logs, one row per row of data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.collect import TreePlan

__all__ = ["calibrate_logs", "explain_logs"]

Array = npt.NDArray[Any]

BATCH_CELLS = 4_000_000
"""So many cells are worked on at a time, whatever the number of rows."""


def calibrate_logs(
    plan: TreePlan,
    codes: Array,
    missing: int,
    soft: Array,
    soft_first: Array,
    weights: Array,
    rows: Array,
    log_z: Array,
    targets: Array,
    target_first: Array,
    marginals: Array,
    expected: Array,
) -> None:
    """What `propagate.calibrate` does for the rows listed; `plan.potential` holds logs."""
    for batch in _batches(plan, rows):
        table = _entered(plan, codes, missing, soft, soft_first, batch)
        messages = _collect(plan, table, top=False)
        log_z[batch] = _at_roots(plan, messages)
        if targets.size == 0 and expected.size == 0:
            continue
        possible = log_z[batch] > -np.inf
        marginals[batch[~possible]] = 0.0
        batch, table = batch[possible], table[possible]
        _distribute(plan, table, [m[possible] for m in messages])
        for v, first in zip(targets, target_first, strict=False):
            inside = _cells(plan, plan.home[v])
            logs = _grouped(table[:, inside], _state(plan, v), plan.n_states[v], top=False)
            marginals[batch, first : first + plan.n_states[v]] = np.exp(logs)
        if expected.size > 0:
            expected += weights[batch] @ np.exp(table)


def explain_logs(
    plan: TreePlan,
    codes: Array,
    missing: int,
    soft: Array,
    soft_first: Array,
    rows: Array,
    uniform: Array,
    top: bool,
    log_z: Array,
    out: Array,
) -> None:
    """What `propagate.explain` does for the rows listed; `plan.potential` holds logs."""
    for batch in _batches(plan, rows):
        table = _entered(plan, codes, missing, soft, soft_first, batch)
        log_z[batch] = _at_roots(plan, _collect(plan, table, top))
        possible = log_z[batch] > -np.inf
        batch, table = batch[possible], table[possible]
        cells: list[Array] = []
        for c in range(plan.parent.size):
            logs = table[:, _cells(plan, c)]
            if plan.parent[c] >= 0:
                entry = _down(plan, c)[cells[plan.parent[c]]]
                logs = np.where(_up(plan, c) == entry[:, None], logs, -np.inf)
            cells.append(logs.argmax(axis=1) if top else _drawn(logs, uniform[batch, c]))
        for v in range(out.shape[0]):
            out[v, batch] = _state(plan, v)[cells[plan.home[v]]]


def _batches(plan: TreePlan, rows: Array) -> Iterator[Array]:
    size = max(1, BATCH_CELLS // plan.potential.size)
    for begin in range(0, rows.size, size):
        yield rows[begin : begin + size]


def _entered(
    plan: TreePlan, codes: Array, missing: int, soft: Array, soft_first: Array, rows: Array
) -> Array:
    """log psi_C(x) for every row and cell, with what the row says: -inf where x contradicts it."""
    table = np.tile(plan.potential, (rows.size, 1))
    for v, k in enumerate(plan.n_states):
        likelihood = np.ones((rows.size, k))
        if soft_first[v] >= 0:
            likelihood = soft[soft_first[v] : soft_first[v] + k, rows].T.copy()
        observed = codes[v, rows][:, None]
        likelihood[(observed != missing) & (observed != np.arange(k))] = 0.0
        table[:, _cells(plan, plan.home[v])] += _log(likelihood)[:, _state(plan, v)]
    return table


def _collect(plan: TreePlan, table: Array, top: bool) -> list[Array]:
    """The messages of all cliques towards their roots; with `top`, sums become maxima."""
    messages: list[Array] = [np.zeros(0)] * plan.parent.size
    for c in range(plan.parent.size - 1, -1, -1):
        # m_C(s) = sum over C \ S of psi_C(x) prod over children K of m_K(x)
        inside, n_entries = table[:, _cells(plan, c)], plan.sep_first[c + 1] - plan.sep_first[c]
        messages[c] = _grouped(inside, _up(plan, c), int(n_entries), top)
        if plan.parent[c] >= 0:
            # psi_P(x) <- psi_P(x) m_C(s)
            table[:, _cells(plan, plan.parent[c])] += messages[c][:, _down(plan, c)]
    return messages


def _at_roots(plan: TreePlan, messages: list[Array]) -> Array:
    """log P(evidence): the sum over the roots of the logs of their messages, a number each."""
    return np.sum([messages[c][:, 0] for c in np.flatnonzero(plan.parent < 0)], axis=0)


def _distribute(plan: TreePlan, table: Array, messages: list[Array]) -> None:
    """Turn psi_C times the messages from below into P(C | evidence), from the roots down."""
    for c in range(plan.parent.size):
        old = messages[c]
        fresh = np.zeros(old.shape)
        if plan.parent[c] >= 0:
            # P(s | e) = sum over P \ S of P(x_P | e)
            above = table[:, _cells(plan, plan.parent[c])]
            fresh = _grouped(above, _down(plan, c), old.shape[1], top=False)
        # P(x_C | e) = psi_C(x) prod m_K(x) P(s | e) / m_C(s), where 0 / 0 is 0
        ratio = np.where(old > -np.inf, fresh - np.where(old > -np.inf, old, 0.0), -np.inf)
        table[:, _cells(plan, c)] += ratio[:, _up(plan, c)]


def _grouped(logs: Array, group: Array, n_groups: int, top: bool) -> Array:
    """The log of the sum of exp(logs), or the largest of them, over the columns of each group."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_groups))
    most = np.maximum.reduceat(logs[:, order], starts, axis=1)
    if top:
        return np.asarray(most)
    shift = np.where(most > -np.inf, most, 0.0)
    scaled = np.exp(logs - shift[:, group])
    return np.asarray(shift + _log(np.add.reduceat(scaled[:, order], starts, axis=1)))


def _drawn(logs: Array, uniform: Array) -> Array:
    """A column per row, drawn in proportion to exp(logs)."""
    cumulative = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
    return np.asarray((cumulative <= (uniform * cumulative[:, -1])[:, None]).sum(axis=1))


def _cells(plan: TreePlan, c: int) -> slice:
    return slice(int(plan.first[c]), int(plan.first[c + 1]))


def _up(plan: TreePlan, c: int) -> Array:
    """The entry of the separator that each cell of C belongs to."""
    return np.asarray(plan.up[_cells(plan, c)])


def _down(plan: TreePlan, c: int) -> Array:
    """The entry of the separator that each cell of P belongs to."""
    return np.asarray(plan.down[int(plan.down_first[c]) : int(plan.down_first[c + 1])])


def _state(plan: TreePlan, v: int) -> Array:
    """The state of variable v in each cell of its home clique."""
    inside = _cells(plan, plan.home[v])
    places = np.arange(inside.stop - inside.start)
    return np.asarray(places // plan.stride[v] % plan.n_states[v])


def _log(values: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
