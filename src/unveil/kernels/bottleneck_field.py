"""The bottleneck with a posterior that is a product, one factor per variable (mean field).

Every row has its own numbers q(v = s), for all variables v that it does not show, side by side in
one row of `q` (variable v from `at[v]` on). A family is a table whose cell is `first[f]` plus codes
times `stride`; what a row shows of it is fixed, over the rest the product of q is summed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.numbers import whole

__all__ = ["SILENT", "UNSEEN", "FieldPlan", "field_collected", "field_counted", "field_pass"]

Array = npt.NDArray[Any]

UNSEEN = 65535
"""The code of a cell that is summed over."""
SILENT = 65534
"""The code of a cell that is not seen and has no children: its family's factor is one."""
LEAST = -700.0
"""Logs below this count as this: a product of probabilities that is as good as nothing."""


class FieldPlan(NamedTuple):
    """Families and variables as flat arrays.

    Family f has members `member[member_first[f] : member_first[f + 1]]`, the child last, each worth
    `stride` cells. Variable v is in the families `touch[touch_first[v] : touch_first[v + 1]]`.
    `heated[v]` is 1 for hidden variables and 0 for columns with gaps.
    """

    first: Array
    member_first: Array
    member: Array
    stride: Array
    touch_first: Array
    touch: Array
    n_states: Array
    at: Array
    heated: Array


@compiled(error_model="numpy")
def _gather(
    plan: FieldPlan, f: int, v: int, codes: Array, r: int, free: Array, step: Array
) -> tuple[int, int, int]:
    """The first cell of family f at row r, how many unseen members but v it has, v's stride.

    `free` and `step` get these members and their strides. The number is -1 if its child is silent.
    """
    cell = plan.first[f]
    n = 0
    own = 0
    last = plan.member_first[f + 1] - 1
    if codes[plan.member[last], r] == SILENT:
        return 0, -1, 0
    for i in range(plan.member_first[f], last + 1):
        m = plan.member[i]
        code = codes[m, r]
        if m == v:
            own = plan.stride[i]
        elif code == UNSEEN:
            free[n] = m
            step[n] = plan.stride[i]
            n += 1
        else:
            cell += code * plan.stride[i]
    return cell, n, own


@compiled(error_model="numpy")
def _turn(plan: FieldPlan, n: int, free: Array, step: Array, digit: Array, cell: int) -> int:
    """The next configuration of the free members: the cell it is at, or -1 after the last."""
    for j in range(n):
        digit[j] += 1
        cell += step[j]
        if digit[j] < plan.n_states[free[j]]:
            return cell
        cell -= digit[j] * step[j]
        digit[j] = 0
    return -1


@compiled(error_model="numpy")
def _share(plan: FieldPlan, n: int, free: Array, digit: Array, q: Array) -> float:
    """The product of q over the free members."""
    share = 1.0
    for j in range(n):
        share *= q[plan.at[free[j]] + digit[j]]
    return share


@compiled(error_model="numpy")
def _add_expected(
    plan: FieldPlan,
    f: int,
    values: Array,
    v: int,
    codes: Array,
    r: int,
    q: Array,
    free: Array,
    step: Array,
    digit: Array,
    out: Array,
) -> None:
    """Add E[values of f | v = s] to out[s]."""
    cell, n, own = _gather(plan, f, v, codes, r, free, step)
    if n < 0:
        return
    digit[:n] = 0
    while cell >= 0:
        share = _share(plan, n, free, digit, q)
        if share > 0.0:
            for s in range(plan.n_states[v]):
                out[s] += share * max(values[cell + s * own], LEAST)
        cell = _turn(plan, n, free, step, digit, cell)


@compiled(error_model="numpy")
def _expected(
    plan: FieldPlan,
    values: Array,
    v: int,
    codes: Array,
    r: int,
    q: Array,
    free: Array,
    step: Array,
    digit: Array,
    out: Array,
) -> None:
    """out[s] = sum over families f of v of E[values of f | v = s] under the other factors."""
    out[: plan.n_states[v]] = 0.0
    for i in range(plan.touch_first[v], plan.touch_first[v + 1]):
        _add_expected(plan, plan.touch[i], values, v, codes, r, q, free, step, digit, out)


@compiled(error_model="numpy")
def _room(plan: FieldPlan) -> tuple[Array, Array, Array]:
    """Room for the free members of the largest family: which, their strides, their states."""
    most = 1
    for f in range(plan.first.size):
        most = max(most, plan.member_first[f + 1] - plan.member_first[f])
    return np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)


@compiled(error_model="numpy")
def field_pass(
    plan: FieldPlan,
    logs: Array,
    tables: Array,
    common: Array,
    gamma: float,
    codes: Array,
    weights: Array,
    unseen: Array,
    sweeps: int,
    q: Array,
    counts: Array,
) -> float:
    """Renew q of every row `sweeps` times (Proposition 6.4.1), add expected counts; -L in nats.

    Q(t_i | y) is proportional to Q(t_i)^(1 - gamma) exp(gamma E[log P(x[y], T) | t_i]) for hidden
    variables; gaps are summed over at gamma = 1. `common` is log Q(t_i), laid out like a row of q.
    `unseen` are the variables that rows may lack, in the order in which they are renewed. What
    comes back is the sum over rows of gamma (E[log P] + entropy of gaps) + the entropy of what is
    hidden + (1 - gamma) E[log Q(t_i)].
    """
    free, step, digit = _room(plan)
    score = np.empty(np.max(plan.n_states))
    total = 0.0
    for r in range(weights.size):
        row = q[r]
        for _ in range(sweeps):
            for v in unseen:
                if codes[v, r] == UNSEEN:
                    _expected(plan, logs, v, codes, r, row, free, step, digit, score)
                    _renew(plan, v, common, gamma, score, row)
        value = 0.0
        for v in unseen:
            if codes[v, r] == UNSEEN:
                value += _own_terms(plan, v, common, gamma, row)
        for f in range(plan.first.size):
            value += gamma * _count(
                plan, f, logs, tables, codes, r, weights[r], row, free, step, digit, counts
            )
        total += weights[r] * value
    return total


@compiled(error_model="numpy")
def _renew(plan: FieldPlan, v: int, common: Array, gamma: float, score: Array, row: Array) -> None:
    """q of one variable from the expected logs of its states."""
    a, k = plan.at[v], plan.n_states[v]
    best = -np.inf
    for s in range(k):
        if plan.heated[v]:
            score[s] = gamma * score[s] + (1.0 - gamma) * max(common[a + s], LEAST)
        best = max(best, score[s])
    summed = 0.0
    for s in range(k):
        score[s] = math.exp(score[s] - best)
        summed += score[s]
    for s in range(k):
        row[a + s] = score[s] / summed


@compiled(error_model="numpy")
def _own_terms(plan: FieldPlan, v: int, common: Array, gamma: float, row: Array) -> float:
    """The entropy of one factor, and for hidden variables (1 - gamma) E[log Q(t)]."""
    value = 0.0
    for s in range(plan.n_states[v]):
        p = row[plan.at[v] + s]
        if p > 0.0:
            if plan.heated[v]:
                value += p * ((1.0 - gamma) * max(common[plan.at[v] + s], LEAST) - math.log(p))
            else:
                value -= gamma * p * math.log(p)
    return value


@compiled(error_model="numpy")
def _count(
    plan: FieldPlan,
    f: int,
    logs: Array,
    tables: Array,
    codes: Array,
    r: int,
    weight: float,
    row: Array,
    free: Array,
    step: Array,
    digit: Array,
    counts: Array,
) -> float:
    """Add the expected counts of one family at one row; E[log theta] of it."""
    value = 0.0
    cell, n, _ = _gather(plan, f, whole(-1), codes, r, free, step)
    silent = n < 0
    last = plan.member_first[f + 1] - 1
    if silent:  # all members but the child
        cell, n = plan.first[f], 0
        for i in range(plan.member_first[f], last):
            m = plan.member[i]
            if codes[m, r] == UNSEEN:
                free[n] = m
                step[n] = plan.stride[i]
                n += 1
            else:
                cell += codes[m, r] * plan.stride[i]
    digit[:n] = 0
    while cell >= 0:
        share = _share(plan, n, free, digit, row)
        if share > 0.0:
            if silent:
                for s in range(plan.n_states[plan.member[last]]):
                    counts[cell + s] += weight * share * tables[cell + s]
            else:
                counts[cell] += weight * share
                value += share * max(logs[cell], LEAST)
        cell = _turn(plan, n, free, step, digit, cell)
    return value


@compiled(error_model="numpy")
def _couple(plan: FieldPlan, f: int, v: int) -> tuple[int, int, int]:
    """The other member of a family of two, its stride and v's; the first is -1 for other families.

    Most families of a hidden variable are of this kind, and rows go through them fastest one
    family at a time.
    """
    a = plan.member_first[f]
    if plan.member_first[f + 1] - a != 2:
        return -1, 0, 0
    if plan.member[a] == v:
        return plan.member[a + 1], plan.stride[a + 1], plan.stride[a]
    return plan.member[a], plan.stride[a], plan.stride[a + 1]


@compiled(error_model="numpy")
def _collect_couple(
    plan: FieldPlan, f: int, v: int, values: Array, codes: Array, q: Array, out: Array
) -> bool:
    """Add E[values of f | v = s] of a family of two to every row; False if f is none."""
    other, step, own = _couple(plan, f, v)
    if other < 0:
        return False
    first, k, a = plan.first[f], plan.n_states[v], plan.at[other]
    for r in range(out.shape[0]):
        code = codes[other, r]
        if code == UNSEEN:
            for c in range(plan.n_states[other]):
                share = q[r, a + c]
                if share > 0.0:
                    for s in range(k):
                        out[r, s] += share * max(values[first + c * step + s * own], LEAST)
        elif code != SILENT:
            cell = first + code * step
            for s in range(k):
                out[r, s] += max(values[cell + s * own], LEAST)
    return True


@compiled(error_model="numpy")
def _count_couple(
    plan: FieldPlan, f: int, v: int, mass: Array, codes: Array, q: Array, counts: Array
) -> bool:
    """Add mass[r, s] to a family of two; False if f is none."""
    other, step, own = _couple(plan, f, v)
    if other < 0:
        return False
    first, k, a = plan.first[f], plan.n_states[v], plan.at[other]
    for r in range(mass.shape[0]):
        code = codes[other, r]
        if code == UNSEEN:
            for c in range(plan.n_states[other]):
                share = q[r, a + c]
                for s in range(k):
                    counts[first + c * step + s * own] += share * mass[r, s]
        elif code != SILENT:
            cell = first + code * step
            for s in range(k):
                counts[cell + s * own] += mass[r, s]
    return True


@compiled(error_model="numpy")
def field_collected(
    plan: FieldPlan, values: Array, v: int, codes: Array, q: Array, out: Array
) -> None:
    """out[r, s] = sum over families f of v of E[values of f | v = s] in row r."""
    free, step, digit = _room(plan)
    out[:] = 0.0
    for i in range(plan.touch_first[v], plan.touch_first[v + 1]):
        if not _collect_couple(plan, plan.touch[i], v, values, codes, q, out):
            for r in range(out.shape[0]):
                _add_expected(
                    plan, plan.touch[i], values, v, codes, r, q[r], free, step, digit, out[r]
                )


@compiled(error_model="numpy")
def field_counted(
    plan: FieldPlan, mass: Array, v: int, codes: Array, q: Array, counts: Array
) -> None:
    """Add mass[r, s], spread over the other factors, to the families of v: the transpose."""
    free, step, digit = _room(plan)
    for i in range(plan.touch_first[v], plan.touch_first[v + 1]):
        if _count_couple(plan, plan.touch[i], v, mass, codes, q, counts):
            continue
        for r in range(mass.shape[0]):
            cell, n, own = _gather(plan, plan.touch[i], v, codes, r, free, step)
            if n < 0:
                continue
            digit[:n] = 0
            while cell >= 0:
                share = _share(plan, n, free, digit, q[r])
                if share > 0.0:
                    for s in range(plan.n_states[v]):
                        counts[cell + s * own] += share * mass[r, s]
                cell = _turn(plan, n, free, step, digit, cell)
