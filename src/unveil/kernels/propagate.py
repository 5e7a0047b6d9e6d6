"""Message passing in a tree of cliques, several rows at a time (Lauritzen and Spiegelhalter 1988).

Messages towards the roots are in `collect`, which also says what the letters stand for; here are
the way back, to posteriors of all cliques, and the choice of a cell in each, to explanations and
draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.collect import TreePlan, collected, lanes_for
from unveil.kernels.compiled import compiled
from unveil.kernels.numbers import truth

__all__ = ["LIFT", "TINY", "calibrate", "explain"]

Array = npt.NDArray[Any]

TINY, LIFT = 1e-250, 1e250
"""Sums below TINY are multiplied by LIFT before anything is divided by them."""


@compiled(error_model="numpy")
def _distribute(
    plan: TreePlan, lanes: Any, table: Array, message: Array, sums: Array, fresh: Array
) -> None:
    """Pass messages back from the roots; afterwards every clique holds its posterior.

    `message` holds each clique's sums over its separator divided by their total, `sums`.
    """
    for c in range(plan.parent.size):
        first, last = plan.sep_first[c], plan.sep_first[c + 1]
        p = plan.parent[c]
        fresh[first:last] = 0.0
        if p < 0:
            # What a root should sum to is one.
            message[first] = 0.0
            fresh[first] = 1.0
            for cell in range(plan.first[c], plan.first[c + 1]):
                for b in range(len(lanes)):
                    message[first, b] += table[cell, b]
        else:
            # P(s | e) = sum over P \ S of P(x_P | e)
            shift = plan.down_first[c] - plan.first[p]
            for cell in range(plan.first[p], plan.first[p + 1]):
                entry = first + plan.down[shift + cell]
                for b in range(len(lanes)):
                    fresh[entry, b] += table[cell, b]
            for entry in range(first, last):
                for b in range(len(lanes)):
                    message[entry, b] *= sums[c, b]
        # P(x_C | e) = psi_C(x) prod m_K(x) P(s | e) / m_C(s), where 0 / 0 is 0
        tiny = False
        for entry in range(first, last):
            for b in range(len(lanes)):
                old = message[entry, b]
                if old >= TINY:
                    fresh[entry, b] /= old
                elif old > 0.0:
                    tiny = True
                    fresh[entry, b] /= old * LIFT
                else:
                    fresh[entry, b] = 0.0
        if tiny:
            _lift(plan, lanes, table, message, c)
        for cell in range(plan.first[c], plan.first[c + 1]):
            entry = first + plan.up[cell]
            for b in range(len(lanes)):
                table[cell, b] *= fresh[entry, b]


@compiled(error_model="numpy")
def _lift(plan: TreePlan, lanes: Any, table: Array, old: Array, c: int) -> None:
    """Scale up the cells whose separator sum is so small that dividing by it would overflow."""
    for cell in range(plan.first[c], plan.first[c + 1]):
        entry = plan.sep_first[c] + plan.up[cell]
        for b in range(len(lanes)):
            if 0.0 < old[entry, b] < TINY:
                table[cell, b] *= LIFT


@compiled(error_model="numpy")
def calibrate(
    plan: TreePlan,
    lanes: Any,
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
    """Run the rows listed through the tree, `len(lanes)` at a time.

    Writes log P(row's evidence) to `log_z`; the marginals of the variables `targets` to
    marginals[r, target_first[i] + s]; and, if `expected` is not empty, adds every clique cell's
    posterior times the row's weight to it (nothing for impossible rows). Without targets and
    `expected`, only the likelihood is computed.
    """
    width = len(lanes)
    work = lanes_for(plan, lanes)
    table, logs = work.table, work.log_z
    fresh = np.empty(work.message.shape)
    lane_weight = np.empty(width)
    for begin in range(0, rows.size, width):
        batch = rows[begin : begin + width]
        collected(plan, lanes, codes, missing, soft, soft_first, batch, truth(False), work)
        for b, r in enumerate(batch):
            log_z[r] = logs[b]
        if targets.size == 0 and expected.size == 0:
            continue
        _distribute(plan, lanes, table, work.message, work.sums, fresh)
        for i in range(targets.size):
            column = target_first[i]
            _marginal(plan, lanes, table, targets[i], batch, column, marginals, work.factor)
        if expected.size > 0:
            for b in range(width):
                # An impossible row counts for nothing, also in parts of a forest it does not touch.
                counts = b < batch.size and logs[b] > -np.inf
                lane_weight[b] = weights[batch[b]] if counts else 0.0
            for cell in range(np.uint64(expected.size)):
                total = 0.0
                # E[N(x_C)] = sum over rows r of w_r P(x_C | e_r) (thesis Eq. 2.16)
                for b in range(width):
                    total += table[cell, b] * lane_weight[b]
                expected[cell] += total


@compiled(error_model="numpy")
def _marginal(
    plan: TreePlan,
    lanes: Any,
    table: Array,
    v: int,
    rows: Array,
    column: int,
    marginals: Array,
    total: Array,
) -> None:
    """Write the marginal of one variable for the rows listed."""
    # P(v = s | e) = sum over the cells of its home clique with v = s of P(x_C | e)
    k = plan.n_states[v]
    total[:k] = 0.0
    c = plan.home[v]
    cell = plan.first[c]
    while cell < plan.first[c + 1]:
        for s in range(k):
            for _ in range(plan.stride[v]):
                for b in range(len(lanes)):
                    total[s, b] += table[cell, b]
                cell += np.uint64(1)
    for b, r in enumerate(rows):
        for s in range(k):
            marginals[r, column + s] = total[s, b]


@compiled(error_model="numpy")
def _fill_in(
    plan: TreePlan,
    table: Array,
    b: int,
    by_entry: Array,
    entry_first: Array,
    uniform: Array,
    top: bool,
    cells: Array,
) -> None:
    """Choose a cell in every clique from the root down: the best one, or one drawn at random.

    Given the cell of P, C has max (or probability in proportion to) psi_C(x) prod m_K(x) over the
    cells x that agree with it.
    """
    for c in range(plan.parent.size):
        p = plan.parent[c]
        entry = plan.sep_first[c]
        if p >= 0:
            entry += plan.down[plan.down_first[c] + cells[p] - plan.first[p]]
        after = entry + np.uint64(1)
        chosen = by_entry[entry_first[entry]]
        if top:
            for i in range(entry_first[entry], entry_first[after]):
                if table[by_entry[i], b] > table[chosen, b]:
                    chosen = by_entry[i]
        else:
            total = 0.0
            for i in range(entry_first[entry], entry_first[after]):
                total += table[by_entry[i], b]
            left = uniform[c] * total
            for i in range(entry_first[entry], entry_first[after]):
                value = table[by_entry[i], b]
                if value > 0.0:
                    chosen = by_entry[i]
                    left -= value
                    if left < 0.0:
                        break
        cells[c] = chosen


@compiled(error_model="numpy")
def explain(
    plan: TreePlan,
    lanes: Any,
    codes: Array,
    missing: int,
    soft: Array,
    soft_first: Array,
    rows: Array,
    by_entry: Array,
    entry_first: Array,
    uniform: Array,
    top: bool,
    log_z: Array,
    out: Array,
) -> None:
    """Complete the rows listed: by the most probable explanation (`top`), or by a draw.

    `by_entry` lists each clique's cells grouped by separator entry, from `entry_first` on;
    `uniform` has shape (n_rows, n_cliques) and is read only when drawing. `log_z` gets the log
    probability of the explanation, or of the evidence.
    """
    width = len(lanes)
    work = lanes_for(plan, lanes)
    table, logs = work.table, work.log_z
    cells = np.empty(plan.parent.size, np.uint64)
    for begin in range(0, rows.size, width):
        batch = rows[begin : begin + width]
        collected(plan, lanes, codes, missing, soft, soft_first, batch, top, work)
        for b, r in enumerate(batch):
            log_z[r] = logs[b]
            if not logs[b] > -np.inf:
                continue
            _fill_in(
                plan, table, b, by_entry, entry_first, uniform[r if not top else 0], top, cells
            )
            for v in range(out.shape[0]):
                c = plan.home[v]
                out[v, r] = np.int64(cells[c] - plan.first[c]) // plan.stride[v] % plan.n_states[v]
