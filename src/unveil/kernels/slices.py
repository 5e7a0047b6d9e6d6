"""Message passing through the cells that a row agrees with, one row at a time.

A row that shows most variables agrees with few cells of the tree of cliques: all others have
probability zero under its evidence. `unveil.kernels.propagate` multiplies and adds these zeros,
many rows at a time; here they are left out. The results are the same up to rounding, and so are the
letters: m_C(s) is the message from clique C to P, the one above it, over their separator S; K are
the cliques below C; psi_C(x), the potential of C, is in `value` for the cells x that agree.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.collect import LEAST, MOST_LOST, TreePlan
from unveil.kernels.compiled import compiled
from unveil.kernels.numbers import truth
from unveil.kernels.propagate import LIFT, TINY

__all__ = ["agreeing_cells", "calibrate_slices", "explain_slices"]

Array = npt.NDArray[Any]


class Slice(NamedTuple):
    """The cells and entries that one row agrees with, clique after clique, and what they hold.

    `value` is by place among the `cells`, `message` by entry of a separator, `sums` by clique.
    """

    cells: Array
    cell_first: Array
    entries: Array
    entry_first: Array
    value: Array
    message: Array
    sums: Array


@compiled(error_model="numpy")
def _slice_of(plan: TreePlan, n_agreeing: int) -> Slice:
    """Room for a row that agrees with no more cells than said."""
    n = plan.parent.size
    return Slice(
        np.empty(n_agreeing, np.uint64),
        np.empty(n + 1, np.int64),
        np.empty(n_agreeing, np.uint64),
        np.empty(n + 1, np.int64),
        np.empty(n_agreeing),
        np.empty(plan.sep_first[-1]),
        np.empty(n),
    )


@compiled(error_model="numpy")
def _collected(plan: TreePlan, codes: Array, missing: int, r: int, top: bool, own: Slice) -> float:
    """Find what row r agrees with and pass messages to the roots; see `_collect`."""
    _slice(plan, codes, missing, r, own.cells, own.cell_first, own.entries, own.entry_first)
    for i in range(own.cell_first[plan.parent.size]):
        own.value[i] = plan.potential[own.cells[i]]
    return _collect(plan, own, top)


@compiled(error_model="numpy")
def agreeing_cells(plan: TreePlan, codes: Array, missing: int, most: int, out: Array) -> None:
    """How many cells each row agrees with, or some number above `most` if more than that."""
    for r in range(codes.shape[1]):
        total = 0
        for c in range(plan.parent.size):
            size = 1
            for i in range(plan.member_first[c], plan.member_first[c + 1]):
                v = plan.member[i]
                if codes[v, r] == missing:
                    size *= plan.n_states[v]
            total += size
            if total > most:
                break
        out[r] = total


@compiled(error_model="numpy")
def _agreeing(
    plan: TreePlan,
    variable: Array,
    stride: Array,
    start: int,
    stop: int,
    codes: Array,
    missing: int,
    r: int,
    out: Array,
    n: int,
    base: int,
) -> int:
    """Append to `out`, from place n on, the positions that agree with row r; where they end.

    A table over the variables `variable[start:stop]` with these strides begins at `base`. Positions
    come in ascending order: the last variable, which turns fastest, is taken first.
    """
    out[n] = base
    count = 1
    for i in range(stop - 1, start - 1, -1):
        v, step = variable[i], np.uint64(stride[i])
        if codes[v, r] != missing:
            shift = np.uint64(codes[v, r]) * step
            for j in range(n, n + count):
                out[j] += shift
        else:
            for s in range(1, plan.n_states[v]):
                for j in range(count):
                    out[n + s * count + j] = out[n + j] + np.uint64(s) * step
            count *= plan.n_states[v]
    return n + count


@compiled(error_model="numpy")
def _slice(
    plan: TreePlan, codes: Array, missing: int, r: int, cells: Array, cell_first: Array,
    entries: Array, entry_first: Array,
) -> None:  # fmt: skip
    """The cells of every clique, and the entries of every separator, that agree with row r."""
    cell_first[0] = entry_first[0] = 0
    for c in range(plan.parent.size):
        cell_first[c + 1] = _agreeing(
            plan, plan.member, plan.member_stride, plan.member_first[c], plan.member_first[c + 1],
            codes, missing, r, cells, cell_first[c], plan.first[c],
        )  # fmt: skip
        entry_first[c + 1] = _agreeing(
            plan, plan.sep_var, plan.sep_stride, plan.sep_var_first[c], plan.sep_var_first[c + 1],
            codes, missing, r, entries, entry_first[c], plan.sep_first[c],
        )  # fmt: skip


@compiled(error_model="numpy")
def _collect(plan: TreePlan, own: Slice, top: bool) -> float:
    """Pass messages to the roots; log P(evidence), or with `top` of the best explanation.

    -inf stands for evidence that is impossible, NaN for evidence that too much may have vanished
    of: `floor` and `gone` are as in `propagate`.
    """
    cells, cell_first, value = own.cells, own.cell_first, own.value
    entries, entry_first, message, sums = own.entries, own.entry_first, own.message, own.sums
    n, guarded = plan.parent.size, plan.guarded
    biggest, floor, gone = np.ones(n), plan.floor.copy(), np.zeros(n)
    for c in range(n):
        if guarded and floor[c] < LEAST:
            gone[c] = LEAST
    log_z = 0.0
    for c in range(n - 1, -1, -1):
        for e in range(entry_first[c], entry_first[c + 1]):
            message[entries[e]] = 0.0
        # m_C(s) = sum over C \ S of psi_C(x) prod over K of m_K(x)
        for i in range(cell_first[c], cell_first[c + 1]):
            entry = plan.sep_first[c] + plan.up[cells[i]]
            if top:
                message[entry] = max(message[entry], value[i])
            else:
                message[entry] += value[i]
        scale, least = 0.0, 1.0
        for e in range(entry_first[c], entry_first[c + 1]):
            m = message[entries[e]]
            scale = max(scale, m) if top else scale + m
            if guarded and m > 0.0:
                least = min(least, m)
        if scale < LEAST:
            return -np.inf if scale == 0.0 and gone[c] == 0.0 else np.nan
        # log P(e) = sum over all cliques of log sum_s m_C(s), m_C being scaled to sum to one
        log_z += math.log(scale)
        inverse = 1.0 / scale
        gone[c] *= inverse * (cell_first[c + 1] - cell_first[c])
        p = plan.parent[c]
        if p < 0:
            if gone[c] > MOST_LOST:
                return np.nan
            continue
        sums[c] = scale
        for e in range(entry_first[c], entry_first[c + 1]):
            message[entries[e]] *= inverse
        if biggest[p] < LEAST:
            return -np.inf if biggest[p] == 0.0 and gone[p] == 0.0 else np.nan
        log_z += math.log(biggest[p])
        if guarded:
            floor[p] *= least * inverse / biggest[p]
            gone[p] = gone[p] / biggest[p] + gone[c]
            if floor[p] < LEAST:
                floor[p] = LEAST
                gone[p] += LEAST
        inverse = 1.0 / biggest[p]
        most = 0.0
        # psi_P(x) <- psi_P(x) m_C(s) / (its largest entry so far)
        shift = plan.down_first[c] - plan.first[p]
        for i in range(cell_first[p], cell_first[p + 1]):
            entry = plan.sep_first[c] + plan.down[shift + cells[i]]
            value[i] *= message[entry] * inverse
            most = max(most, value[i])
        biggest[p] = most
    return log_z


@compiled(error_model="numpy")
def _distribute(plan: TreePlan, own: Slice, fresh: Array) -> None:
    """Pass messages back from the roots; afterwards every clique holds its posterior."""
    cells, cell_first, value = own.cells, own.cell_first, own.value
    entries, entry_first, message, sums = own.entries, own.entry_first, own.message, own.sums
    for c in range(plan.parent.size):
        p = plan.parent[c]
        for e in range(entry_first[c], entry_first[c + 1]):
            fresh[entries[e]] = 0.0
        if p < 0:
            root = plan.sep_first[c]
            message[root] = 0.0
            fresh[root] = 1.0
            for i in range(cell_first[c], cell_first[c + 1]):
                message[root] += value[i]
        else:
            # P(s | e) = sum over P \ S of P(x_P | e)
            shift = plan.down_first[c] - plan.first[p]
            for i in range(cell_first[p], cell_first[p + 1]):
                fresh[plan.sep_first[c] + plan.down[shift + cells[i]]] += value[i]
            for e in range(entry_first[c], entry_first[c + 1]):
                message[entries[e]] *= sums[c]
        # P(x_C | e) = psi_C(x) prod m_K(x) P(s | e) / m_C(s), where 0 / 0 is 0
        for e in range(entry_first[c], entry_first[c + 1]):
            entry = entries[e]
            old = message[entry]
            if old >= TINY:
                fresh[entry] /= old
            elif old > 0.0:
                fresh[entry] /= old * LIFT
            else:
                fresh[entry] = 0.0
        for i in range(cell_first[c], cell_first[c + 1]):
            entry = plan.sep_first[c] + plan.up[cells[i]]
            if 0.0 < message[entry] < TINY:
                value[i] *= LIFT
            value[i] *= fresh[entry]


@compiled(error_model="numpy")
def calibrate_slices(
    plan: TreePlan,
    codes: Array,
    missing: int,
    weights: Array,
    rows: Array,
    n_agreeing: int,
    log_z: Array,
    targets: Array,
    target_first: Array,
    marginals: Array,
    expected: Array,
) -> None:
    """What `calibrate` does, for the rows listed, none of which agrees with more cells than said.

    There can be no soft evidence.
    """
    n = plan.parent.size
    own = _slice_of(plan, n_agreeing)
    cells, cell_first, value = own.cells, own.cell_first, own.value
    fresh = np.empty(own.message.size)
    for r in rows:
        log_z[r] = _collected(plan, codes, missing, r, truth(False), own)
        if targets.size == 0 and expected.size == 0:
            continue
        if not log_z[r] > -np.inf:
            marginals[r] = 0.0
            continue
        _distribute(plan, own, fresh)
        for t in range(targets.size):
            v = targets[t]
            c = plan.home[v]
            for s in range(plan.n_states[v]):
                marginals[r, target_first[t] + s] = 0.0
            for i in range(cell_first[c], cell_first[c + 1]):
                s = np.int64(cells[i] - plan.first[c]) // plan.stride[v] % plan.n_states[v]
                marginals[r, target_first[t] + s] += value[i]
        if expected.size > 0:
            # E[N(x_C)] = sum over rows r of w_r P(x_C | e_r) (thesis Eq. 2.16)
            for i in range(cell_first[n]):
                expected[cells[i]] += value[i] * weights[r]


@compiled(error_model="numpy")
def explain_slices(
    plan: TreePlan,
    codes: Array,
    missing: int,
    rows: Array,
    n_agreeing: int,
    uniform: Array,
    top: bool,
    log_z: Array,
    out: Array,
) -> None:
    """What `explain` does, for the rows listed; `out` is left alone where a row is impossible."""
    n = plan.parent.size
    own = _slice_of(plan, n_agreeing)
    chosen = np.empty(n, np.uint64)
    for r in rows:
        log_z[r] = _collected(plan, codes, missing, r, top, own)
        if not log_z[r] > -np.inf:
            continue
        for c in range(n):
            chosen[c] = _choose(
                plan,
                c,
                chosen,
                own.cells,
                own.cell_first,
                own.value,
                uniform[0 if top else r, c],
                top,
            )
        for v in range(out.shape[0]):
            c = plan.home[v]
            out[v, r] = np.int64(chosen[c] - plan.first[c]) // plan.stride[v] % plan.n_states[v]


@compiled(error_model="numpy")
def _choose(
    plan: TreePlan, c: int, chosen: Array, cells: Array, cell_first: Array, value: Array,
    uniform: float, top: bool,
) -> int:  # fmt: skip
    """A cell of clique c that agrees with the one chosen above it: the best, or one drawn.

    By psi_C(x) prod over K of m_K(x), which `value` holds.
    """
    p = plan.parent[c]
    entry = np.uint64(0)
    if p >= 0:
        entry += plan.down[plan.down_first[c] + chosen[p] - plan.first[p]]
    total = 0.0
    for i in range(cell_first[c], cell_first[c + 1]):
        if plan.up[cells[i]] == entry:
            total = max(total, value[i]) if top else total + value[i]
    left = uniform * total
    best = cells[cell_first[c]]
    for i in range(cell_first[c], cell_first[c + 1]):
        if plan.up[cells[i]] != entry or value[i] <= 0.0:
            continue
        best = cells[i]
        if top and value[i] == total:
            break
        left -= value[i]
        if not top and left < 0.0:
            break
    return best
