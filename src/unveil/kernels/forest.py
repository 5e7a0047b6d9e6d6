"""Passing messages up and down a forest of hidden variables with observed leaves.

Every hidden variable has at most one parent, also hidden, and every observed column hangs below one
hidden variable. A block of rows is taken through the forest together: what goes over an arc is a
product of a matrix (rows by states) with the arc's table, done by BLAS. For hidden c below z, with
e the evidence below:

    up     U_c(r, c) = P(leaves of c | c) prod over children k of M_k(r, c)
           M_c(r, z) = sum over c of P(c | z) U_c(r, c)
    down   Q_c(r, c) = U_c(r, c) sum over z of P(c | z) Q_z(r, z) / M_c(r, z)
    counts N(z, c)   = P(c | z) sum over r of Q_z(r, z) / M_c(r, z) U_c(r, c)

(Pearl 1988, Ch. 4.) Q_c is the posterior of c times the row's weight. The U of a row are scaled to
sum to one, what was taken out adds up to the row's log-probability.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.exponential import exp_below
from unveil.kernels.numbers import unsigned
from unveil.kernels.reduced import _sum

__all__ = ["ForestPlan", "forest_pass"]

Array = npt.NDArray[Any]

SMALL = 1e-100
"""Products below this are scaled up before they go on."""
AT_A_TIME = 4
"""So many leaves are multiplied before the product is looked at."""


class ForestPlan(NamedTuple):
    """The forest as flat arrays; hidden variables are numbered with parents before children.

    Hidden h has `n_states[h]` states and the parent `parent[h]` (-1 for a root); its table, the
    parent's states by its own, begins at `link[h]` of all of these. Its leaves are
    `leaf_first[h]` to `leaf_first[h + 1]`. Leaf l is row `column[l]` of the codes and has
    `leaf_states[l]` states; its table, its states by those of h and then a row of ones for what is
    missing, begins at `leaf[l]` of all of these. `place[h]` is the sum of the numbers of states
    before h.
    """

    n_states: Array
    parent: Array
    link: Array
    leaf_first: Array
    column: Array
    leaf_states: Array
    leaf: Array
    place: Array


@compiled(error_model="numpy")
def forest_pass(
    plan: ForestPlan,
    links: Array,
    leaves: Array,
    codes: Array,
    weights: Array,
    start: int,
    stop: int,
    size: int,
    log_z: Array,
    link_counts: Array,
    leaf_counts: Array,
    posterior: Array,
) -> None:
    """Sum over the hidden variables in rows `start` to `stop`, `size` rows at a time.

    `links` and `leaves` are the tables. `log_z` gets the log-probability of every row. Unless
    empty, `link_counts` and `leaf_counts` get the expected counts, laid out like the tables (those
    of links without the factor P(c | z), so that it is multiplied once), and `posterior`
    (n_rows, n) the weights times the posteriors of all hidden variables, at their `place`.
    """
    n_hidden = plan.n_states.size
    width = plan.place[n_hidden - 1] + plan.n_states[n_hidden - 1]
    most = plan.n_states.max()
    up, message = np.empty(size * width), np.empty(size * _message_width(plan))
    spare, square = np.empty(size * most), np.empty(most * most)
    scale = np.empty(size)
    counting = link_counts.size > 0
    for block in range(start, stop, size):
        n = min(size, stop - block)
        scale[:n] = 0.0
        for h in range(n_hidden - 1, -1, -1):
            at = plan.place[h] * size
            _leaf_evidence(plan, h, leaves, codes, block, n, up, at, scale)
        at_message = 0
        for h in range(n_hidden - 1, -1, -1):
            k, at = plan.n_states[h], plan.place[h] * size
            own = up[at : at + n * k].reshape(n, k)
            p = plan.parent[h]
            if p < 0:
                prior = links[plan.link[h] : plan.link[h] + k]
                _finish_root(own, prior, scale, weights, block)
                continue
            _scaled(own, scale)
            above = plan.n_states[p]
            table = links[plan.link[h] : plan.link[h] + above * k].reshape(above, k)
            sent = message[at_message : at_message + n * above].reshape(n, above)
            np.dot(own, table.T, out=sent)
            at_message += size * above
            at = plan.place[p] * size
            _multiply(up[at : at + n * above].reshape(n, above), sent, scale)
        log_z[block : block + n] = scale[:n]
        if not counting and posterior.size == 0:
            continue
        for h in range(n_hidden):
            k, at = plan.n_states[h], plan.place[h] * size
            own = up[at : at + n * k].reshape(n, k)
            p = plan.parent[h]
            if p < 0:
                if counting:
                    _add_columns(own, link_counts[plan.link[h] : plan.link[h] + k])
            else:
                above = plan.n_states[p]
                at_message -= size * above
                sent = message[at_message : at_message + n * above].reshape(n, above)
                at = plan.place[p] * size
                _divide(up[at : at + n * above].reshape(n, above), sent)
                table = links[plan.link[h] : plan.link[h] + above * k].reshape(above, k)
                if counting:
                    joint = square[: above * k].reshape(above, k)
                    np.dot(sent.T, own, out=joint)
                    first = plan.link[h]
                    for i in range(above * k):
                        link_counts[first + i] += square[i]
                down = spare[: n * k].reshape(n, k)
                np.dot(sent, table, out=down)
                own *= down
            if counting:
                _count_leaves(plan, h, codes, block, own, leaf_counts)
            if posterior.size > 0:
                for r in range(n):
                    for s in range(k):
                        posterior[block + r, plan.place[h] + s] = own[r, s]


@compiled
def _message_width(plan: ForestPlan) -> int:
    """The numbers of states of all parents, once for each child."""
    total = 0
    for p in plan.parent:
        if p >= 0:
            total += plan.n_states[p]
    return total


@compiled(error_model="numpy")
def _leaf_evidence(
    plan: ForestPlan, h: int, leaves: Array, codes: Array, block: int, n: int, up: Array, at: int,
    scale: Array,
) -> None:  # fmt: skip
    """U_h starts as the product over the leaves of h of P(x | h); a missing x has factors one."""
    k = unsigned(plan.n_states[h])
    first, last = unsigned(plan.leaf_first[h]), unsigned(plan.leaf_first[h + 1])
    for r in range(unsigned(n)):
        own = unsigned(at) + r * k
        row = unsigned(block) + r
        for s in range(k):
            up[own + s] = 1.0
        for leaf in range(first, last):
            x = min(unsigned(codes[plan.column[leaf], row]), unsigned(plan.leaf_states[leaf]))
            entry = unsigned(plan.leaf[leaf]) + x * k
            for s in range(k):
                up[own + s] *= leaves[entry + s]
            if (leaf - first) % unsigned(AT_A_TIME) == unsigned(AT_A_TIME - 1):
                scale[r] += _scaled_up(up, own, k)
        if _largest(up, own, k) == 0.0:
            scale[r] += _evidence_in_logs(plan, h, leaves, codes, row, up, own)


@compiled(error_model="numpy")
def _evidence_in_logs(
    plan: ForestPlan, h: int, leaves: Array, codes: Array, row: int, up: Array, own: int
) -> float:
    """The same for one row where the product vanished: by a sum of logs, if it is possible."""
    k = unsigned(plan.n_states[h])
    for s in range(k):
        up[own + s] = 0.0
    for leaf in range(plan.leaf_first[h], plan.leaf_first[h + 1]):
        x = min(unsigned(codes[plan.column[leaf], row]), unsigned(plan.leaf_states[leaf]))
        entry = unsigned(plan.leaf[leaf]) + x * k
        for s in range(k):
            up[own + s] += math.log(leaves[entry + s]) if leaves[entry + s] > 0.0 else -np.inf
    most = up[own]
    for s in range(k):
        most = max(most, up[own + s])
    for s in range(k):
        up[own + s] = exp_below(up[own + s] - most) if most > -np.inf else 0.0
    return most if most > -np.inf else 0.0  # what is impossible stays zero


@compiled(error_model="numpy")
def _largest(value: Array, own: int, k: int) -> float:
    most = 0.0
    for s in range(k):
        most = max(most, value[own + s])
    return most


@compiled(error_model="numpy")
def _scaled_up(value: Array, own: int, k: int) -> float:
    """Divide what has become small by its largest entry; gives the log of that."""
    most = _largest(value, own, k)
    if most > SMALL or most == 0.0:
        return 0.0
    for s in range(k):
        value[own + s] /= most
    return math.log(most)


@compiled(error_model="numpy")
def _scaled(own: Array, scale: Array) -> None:
    """Let every row sum to one, unless it is impossible; `scale` keeps what was taken out."""
    k = unsigned(own.shape[1])
    for r in range(unsigned(own.shape[0])):
        total = _sum(own, r, k)
        if total > 0.0:
            scale[r] += math.log(total)
            factor = 1.0 / total
            for s in range(k):
                own[r, s] *= factor
        else:
            scale[r] = -np.inf


@compiled(error_model="numpy")
def _multiply(own: Array, sent: Array, scale: Array) -> None:
    """The message times what is known above; products that become small are scaled up."""
    k = unsigned(own.shape[1])
    for r in range(unsigned(own.shape[0])):
        for s in range(k):
            own[r, s] *= sent[r, s]
        total = _sum(own, r, k)
        if SMALL > total > 0.0:
            scale[r] += math.log(total)
            for s in range(k):
                own[r, s] /= total


@compiled(error_model="numpy")
def _finish_root(own: Array, prior: Array, scale: Array, weights: Array, block: int) -> None:
    """At a root: Q(r, h) = w_r P(h) U(r, h) / P(row), and log P(row) is complete."""
    k = unsigned(own.shape[1])
    for r in range(unsigned(own.shape[0])):
        for s in range(k):
            own[r, s] *= prior[s]
        total = _sum(own, r, k)
        possible = total > 0.0
        scale[r] += math.log(total) if possible else -np.inf
        factor = weights[unsigned(block) + r] / total if possible else 0.0
        for s in range(k):
            own[r, s] *= factor


@compiled(error_model="numpy")
def _divide(own: Array, sent: Array) -> None:
    """Q_z / M_c in the place of M_c; where M_c is zero, so is Q_z."""
    k = unsigned(own.shape[1])
    for r in range(unsigned(own.shape[0])):
        for s in range(k):
            sent[r, s] = own[r, s] / sent[r, s] if sent[r, s] > 0.0 else 0.0


@compiled
def _add_columns(own: Array, out: Array) -> None:
    k = unsigned(own.shape[1])
    for r in range(unsigned(own.shape[0])):
        for s in range(k):
            out[s] += own[r, s]


@compiled(error_model="numpy")
def _count_leaves(
    plan: ForestPlan, h: int, codes: Array, block: int, own: Array, leaf_counts: Array
) -> None:
    """Q_h is added to the counts of what each leaf of h shows; beyond its states if nothing."""
    k = unsigned(own.shape[1])
    for leaf in range(unsigned(plan.leaf_first[h]), unsigned(plan.leaf_first[h + 1])):
        column = unsigned(plan.column[leaf])
        for r in range(unsigned(own.shape[0])):
            x = codes[column, unsigned(block) + r]
            entry = min(unsigned(x), unsigned(plan.leaf_states[leaf])) * k
            entry += unsigned(plan.leaf[leaf])
            for s in range(k):
                leaf_counts[entry + s] += own[r, s]
