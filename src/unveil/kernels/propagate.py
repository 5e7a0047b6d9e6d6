"""Message passing in a tree of cliques, several rows at a time (Lauritzen and Spiegelhalter 1988).

Every clique has a table with a row of `lanes` numbers per cell, one lane per row of data, so that
each step is a vector instruction over the lanes. Messages towards the root are scaled to sum to
one and their scales kept as logs; products are scaled by their largest entry before the next
factor comes in. So the probability of evidence may be as small as it likes. A state can still
vanish that is 1e-300 times less probable than another, and be missed when evidence that comes in
later speaks against the other. A bound on what vanished is kept. Where it might matter,
log P(evidence) is NaN, and the row is left to `propagate_logs`.

Letters: C is a clique, P the clique above it, S = C & P their separator (entries s), K the cliques
below C; psi_C is the potential of C, the product of the tables that live there, with the evidence
entered; m_C(s) is the message from C to P. `table` holds psi_C, `message` m_C.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.numbers import truth

__all__ = ["TreePlan", "calibrate", "explain"]

Array = npt.NDArray[Any]

TINY, LIFT = 1e-250, 1e250
"""Sums below TINY are multiplied by LIFT before anything is divided by them."""
LEAST = 1e-300
"""Products below this count as vanished: they have lost digits, or all of them."""
MOST_LOST = 1e-12
"""As long as no more than this share of the probability vanished, an answer is as good as exact."""


class TreePlan(NamedTuple):
    """A tree of cliques as flat arrays.

    Clique c has cells `first[c]` to `first[c + 1]`, with potentials in `potential`, none of them
    above zero and below `floor[c]` (those that vanished when multiplied included). Its separator
    with its parent `parent[c]` (before c in order; -1 for a root) has entries `sep_first[c]` to
    `sep_first[c + 1]`; `up[cell]` is the entry a cell of c belongs to, and `down[down_first[c] +
    i]` the entry that cell i of the parent belongs to. Variable v enters evidence at clique
    `home[v]`, where it has `stride[v]` and `n_states[v]`. The separator of c is over the variables
    `sep_var[sep_var_first[c] : sep_var_first[c + 1]]` with strides `sep_stride`, the clique itself
    over those of `member`, likewise. Positions of cells and entries are unsigned, which spares the
    compiled loops a check for negative indices. Unless `guarded`, no product of potentials can be
    so small that it vanishes (with soft evidence it still can).
    """

    first: Array
    parent: Array
    potential: Array
    sep_first: Array
    up: Array
    down_first: Array
    down: Array
    home: Array
    stride: Array
    n_states: Array
    sep_var_first: Array
    sep_var: Array
    sep_stride: Array
    member_first: Array
    member: Array
    member_stride: Array
    floor: Array
    guarded: bool


@compiled(error_model="numpy")
def _start(plan: TreePlan, lanes: Any, table: Array, floor: Array, log_z: Array) -> None:
    """Fill the tables with the potentials."""
    for cell in range(np.uint64(plan.potential.size)):
        value = plan.potential[cell]
        for b in range(len(lanes)):
            table[cell, b] = value
    for c in range(plan.parent.size):
        for b in range(len(lanes)):
            floor[c, b] = plan.floor[c]
    log_z[:] = 0.0


@compiled(error_model="numpy")
def _enter(
    plan: TreePlan,
    lanes: Any,
    table: Array,
    codes: Array,
    missing: int,
    rows: Array,
    soft: Array,
    soft_first: Array,
    factor: Array,
    floor: Array,
    log_z: Array,
) -> None:
    """Multiply what each row says about each variable into the variable's home clique.

    Row r observes state codes[v, r], or nothing if that is `missing`; where `soft_first[v]` >= 0,
    its likelihoods are soft[soft_first[v] + s, r].
    """
    for v in range(codes.shape[0]):
        k, c = plan.n_states[v], plan.home[v]
        seen = soft_first[v] >= 0
        for r in rows:
            if codes[v, r] != missing:
                seen = True
        if not seen:
            continue
        for s in range(k):
            for b in range(len(lanes)):
                factor[s, b] = 1.0
        for b, r in enumerate(rows):
            if soft_first[v] >= 0:
                log_z[b] += _likelihoods(
                    soft, soft_first[v], k, r, factor[:, b], floor[c : c + 1, b]
                )
            if codes[v, r] != missing:
                for s in range(k):
                    if s != codes[v, r]:
                        factor[s, b] = 0.0
        step = plan.stride[v]
        cell = plan.first[c]
        while cell < plan.first[c + 1]:
            for s in range(k):
                for _ in range(step):
                    for b in range(len(lanes)):
                        table[cell, b] *= factor[s, b]
                    cell += np.uint64(1)


@compiled(error_model="numpy")
def _likelihoods(soft: Array, first: int, k: int, r: int, factor: Array, floor: Array) -> float:
    """The log of the largest likelihood of row r; the others are given relative to it."""
    most = 0.0
    for s in range(k):
        most = max(most, soft[first + s, r])
    least = 1.0
    for s in range(k):
        factor[s] = soft[first + s, r] / most if most > 0.0 else 0.0
        if factor[s] > 0.0:
            least = min(least, factor[s])
    floor[0] *= least
    return math.log(most) if most > 0.0 else 0.0


@compiled(error_model="numpy")
def _rule_out(
    plan: TreePlan, message: Array, codes: Array, missing: int, rows: Array, c: int
) -> None:
    """Strike the entries of clique c's message that contradict what is observed.

    The evidence enters at one clique only. Were other states left in the messages until then, they
    could crowd the observed one out: it might underflow before it is known to be the only one.
    """
    first, last = plan.sep_first[c], plan.sep_first[c + 1]
    for i in range(plan.sep_var_first[c], plan.sep_var_first[c + 1]):
        v = plan.sep_var[i]
        for b, r in enumerate(rows):
            if codes[v, r] == missing:
                continue
            entry = first
            while entry < last:
                for s in range(plan.n_states[v]):
                    if s == codes[v, r]:
                        entry += np.uint64(plan.sep_stride[i])
                        continue
                    for _ in range(plan.sep_stride[i]):
                        message[entry, b] = 0.0
                        entry += np.uint64(1)


@compiled(error_model="numpy")
def _collect(
    plan: TreePlan,
    lanes: Any,
    codes: Array,
    missing: int,
    rows: Array,
    table: Array,
    message: Array,
    biggest: Array,
    sums: Array,
    floor: Array,
    gone: Array,
    guarded: bool,
    log_z: Array,
    top: bool,
) -> None:
    """Pass messages to the roots; adds log P(evidence) of every lane to `log_z`.

    -inf stands for evidence that is impossible, NaN for evidence that too much may have vanished
    of. With `top`, sums become maxima (for the most probable explanation). If `guarded`, no entry
    of clique c above zero is below `floor[c]`, and no entry lost more than `gone[c]`, as c is
    scaled now; once its message is made, the same is true of that.
    """
    n = plan.parent.size
    scale = np.empty(len(lanes))
    for c in range(n):
        for b in range(len(lanes)):
            biggest[c, b] = 1.0
            gone[c, b] = LEAST if guarded and floor[c, b] < LEAST else 0.0
    for c in range(n - 1, -1, -1):
        first, last = plan.sep_first[c], plan.sep_first[c + 1]
        message[first:last] = 0.0
        # m_C(s) = sum over C \ S of psi_C(x) prod over K of m_K(x)
        if top:
            for cell in range(plan.first[c], plan.first[c + 1]):
                entry = first + plan.up[cell]
                for b in range(len(lanes)):
                    message[entry, b] = max(message[entry, b], table[cell, b])
        else:
            for cell in range(plan.first[c], plan.first[c + 1]):
                entry = first + plan.up[cell]
                for b in range(len(lanes)):
                    message[entry, b] += table[cell, b]
        _rule_out(plan, message, codes, missing, rows, c)
        for b in range(len(lanes)):
            scale[b] = 0.0
        for entry in range(first, last):
            for b in range(len(lanes)):
                value = message[entry, b]
                scale[b] = max(scale[b], value) if top else scale[b] + value
        # log P(e) = sum over all cliques of log sum_s m_C(s), m_C being scaled to sum to one
        for b in range(len(lanes)):
            sums[c, b] = scale[b]
            log_z[b] += _log(scale[b], gone[c, b])
            scale[b] = 1.0 / scale[b] if scale[b] >= LEAST else 1.0
        if guarded:
            _bound(plan, lanes, message, scale, floor, gone, c)
        for entry in range(first, last):
            for b in range(len(lanes)):
                message[entry, b] *= scale[b]
        p = plan.parent[c]
        if p >= 0:
            _absorb(plan, lanes, table, message, biggest, floor, gone, guarded, log_z, c, p)
            continue
        for b in range(len(lanes)):
            if gone[c, b] > MOST_LOST:
                log_z[b] = np.nan


@compiled(error_model="numpy")
def _bound(
    plan: TreePlan, lanes: Any, message: Array, scale: Array, floor: Array, gone: Array, c: int
) -> None:
    """Carry the bounds of clique c over to its message, which is about to be scaled by `scale`."""
    first, last = plan.sep_first[c], plan.sep_first[c + 1]
    least = np.ones(len(lanes))
    for entry in range(first, last):
        for b in range(len(lanes)):
            value = message[entry, b]
            least[b] = min(least[b], value if value > 0.0 else 1.0)
    share = (plan.first[c + 1] - plan.first[c]) / (last - first)
    for b in range(len(lanes)):
        floor[c, b] = least[b] * scale[b]
        gone[c, b] *= share * scale[b]


@compiled(error_model="numpy")
def _log(total: float, gone: float) -> float:
    """The log of what a clique sums to; NaN for a sum from which anything may have vanished."""
    if total >= LEAST:
        return math.log(total)
    return -np.inf if total == 0.0 and gone == 0.0 else np.nan


@compiled(error_model="numpy")
def _absorb(
    plan: TreePlan,
    lanes: Any,
    table: Array,
    message: Array,
    biggest: Array,
    floor: Array,
    gone: Array,
    guarded: bool,
    log_z: Array,
    c: int,
    p: int,
) -> None:
    """Multiply clique c's message into its parent p, which is first scaled by its largest entry."""
    inverse = np.empty(len(lanes))
    most = np.zeros(len(lanes))
    for b in range(len(lanes)):
        log_z[b] += _log(biggest[p, b], gone[p, b])
        inverse[b] = 1.0 / biggest[p, b] if biggest[p, b] >= LEAST else 1.0
    if guarded:
        for b in range(len(lanes)):
            # Both factors are at most one, so what each of them lost is at worst lost once more.
            gone[p, b] = gone[p, b] * inverse[b] + gone[c, b]
            floor[p, b] *= inverse[b] * floor[c, b]
            if floor[p, b] < LEAST:
                floor[p, b] = LEAST
                gone[p, b] += LEAST
    first = plan.sep_first[c]
    shift = plan.down_first[c] - plan.first[p]
    for cell in range(plan.first[p], plan.first[p + 1]):
        entry = first + plan.down[shift + cell]
        # psi_P(x) <- psi_P(x) m_C(s) / (its largest entry so far)
        for b in range(len(lanes)):
            value = table[cell, b] * (message[entry, b] * inverse[b])
            table[cell, b] = value
            most[b] = max(most[b], value)
    for b in range(len(lanes)):
        biggest[p, b] = most[b]


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
    n_entries = plan.sep_first[-1]
    table = np.empty((plan.potential.size, width))
    message = np.empty((n_entries, width))
    fresh = np.empty((n_entries, width))
    biggest = np.empty((plan.parent.size, width))
    sums = np.empty((plan.parent.size, width))
    floor = np.empty((plan.parent.size, width))
    gone = np.empty((plan.parent.size, width))
    factor = np.empty((max(plan.n_states), width))
    logs = np.empty(width)
    lane_weight = np.empty(width)
    guarded = plan.guarded or max(soft_first) >= 0
    for begin in range(0, rows.size, width):
        batch = rows[begin : begin + width]
        _start(plan, lanes, table, floor, logs)
        _enter(plan, lanes, table, codes, missing, batch, soft, soft_first, factor, floor, logs)
        _collect(
            plan, lanes, codes, missing, batch, table, message, biggest, sums, floor, gone,
            guarded, logs, truth(False),
        )  # fmt: skip
        for b, r in enumerate(batch):
            log_z[r] = logs[b]
        if targets.size == 0 and expected.size == 0:
            continue
        _distribute(plan, lanes, table, message, sums, fresh)
        for i in range(targets.size):
            _marginal(plan, lanes, table, targets[i], batch, target_first[i], marginals, factor)
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
    table = np.empty((plan.potential.size, width))
    message = np.empty((plan.sep_first[-1], width))
    biggest = np.empty((plan.parent.size, width))
    sums = np.empty((plan.parent.size, width))
    floor = np.empty((plan.parent.size, width))
    gone = np.empty((plan.parent.size, width))
    factor = np.empty((max(plan.n_states), width))
    logs = np.empty(width)
    cells = np.empty(plan.parent.size, np.uint64)
    guarded = plan.guarded or max(soft_first) >= 0
    for begin in range(0, rows.size, width):
        batch = rows[begin : begin + width]
        _start(plan, lanes, table, floor, logs)
        _enter(plan, lanes, table, codes, missing, batch, soft, soft_first, factor, floor, logs)
        _collect(
            plan, lanes, codes, missing, batch, table, message, biggest, sums, floor, gone,
            guarded, logs, top,
        )  # fmt: skip
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
