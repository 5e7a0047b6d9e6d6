"""Messages towards the roots of a tree of cliques, several rows at a time.

Every clique has a table with a row of `lanes` numbers per cell, one lane per row of data, so that
each step is a vector instruction over the lanes. Messages are scaled to sum to one and their scales
kept as logs; products are scaled by their largest entry before the next factor comes in. So the
probability of evidence may be as small as it likes. A state can still vanish that is 1e-300 times
less probable than another, and be missed when evidence that comes in later speaks against the
other. Where the tables allow of that, a bound on what vanished is kept. Where it might matter,
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

__all__ = ["LEAST", "MOST_LOST", "Lanes", "TreePlan", "collected", "lanes_for"]

Array = npt.NDArray[Any]

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


class Lanes(NamedTuple):
    """What a batch of rows is worked on in, a lane per row.

    `table` has a row per cell, `message` one per entry of a separator; `biggest` (the largest entry
    of a clique), `sums` (what its message summed to), `floor` and `gone` (see `collected`) one per
    clique; `factor` one per state; `log_z` is log P(evidence).
    """

    table: Array
    message: Array
    biggest: Array
    sums: Array
    floor: Array
    gone: Array
    factor: Array
    log_z: Array


@compiled(error_model="numpy")
def lanes_for(plan: TreePlan, lanes: Any) -> Lanes:
    """Room for as many rows as there are lanes."""
    n, width = plan.parent.size, len(lanes)
    return Lanes(
        np.empty((plan.potential.size, width)),
        np.empty((plan.sep_first[-1], width)),
        np.empty((n, width)),
        np.empty((n, width)),
        np.empty((n, width)),
        np.empty((n, width)),
        np.empty((max(plan.n_states), width)),
        np.empty(width),
    )


@compiled(error_model="numpy")
def collected(
    plan: TreePlan,
    lanes: Any,
    codes: Array,
    missing: int,
    soft: Array,
    soft_first: Array,
    rows: Array,
    top: bool,
    work: Lanes,
) -> None:
    """Enter what the rows say and pass messages to the roots.

    Row r observes state codes[v, r], or nothing if that is `missing`; where `soft_first[v]` >= 0,
    its likelihoods are soft[soft_first[v] + s, r].
    """
    guarded = plan.guarded or max(soft_first) >= 0
    _start(plan, lanes, work.table, work.floor, work.log_z)
    _enter(
        plan, lanes, work.table, codes, missing, rows, soft, soft_first, work.factor, work.floor,
        work.log_z,
    )  # fmt: skip
    _collect(plan, lanes, codes, missing, rows, work, guarded, top)


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
    """Multiply what each row says about each variable into the variable's home clique."""
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
    work: Lanes,
    guarded: bool,
    top: bool,
) -> None:
    """Pass messages to the roots; adds log P(evidence) of every lane to `log_z`.

    -inf stands for evidence that is impossible, NaN for evidence that too much may have vanished
    of. With `top`, sums become maxima (for the most probable explanation). If `guarded`, no entry
    of clique c above zero is below `floor[c]`, and no entry lost more than `gone[c]`, as c is
    scaled now; once its message is made, the same is true of that.
    """
    n = plan.parent.size
    table, message, biggest, sums = work.table, work.message, work.biggest, work.sums
    floor, gone, log_z = work.floor, work.gone, work.log_z
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
            _absorb(plan, lanes, work, guarded, c, p)
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
    work: Lanes,
    guarded: bool,
    c: int,
    p: int,
) -> None:
    """Multiply clique c's message into its parent p, which is first scaled by its largest entry."""
    table, message, biggest = work.table, work.message, work.biggest
    floor, gone, log_z = work.floor, work.gone, work.log_z
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
