"""Many steps of EM in one go, for rows that all lack the same few variables.

A short run of EM on a few hundred rows that differ takes some ten microseconds a step; whoever
calls a kernel for every step from Python pays several times that. Here the E-step of
`unveil.kernels.reduced`, the M-step and the rule when to stop are one loop.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled
from unveil.kernels.reduced import ReducedPlan, add_rows, hand_out_rows, reduced_pass

__all__ = ["GOES_ON", "IMPOSSIBLE", "SETTLED", "em_steps"]

Array = npt.NDArray[Any]

GOES_ON, SETTLED, IMPOSSIBLE = 0, 1, 2


@compiled(error_model="numpy")
def em_steps(
    plan: ReducedPlan,
    entries: Array,
    first: Array,
    row: Array,
    codes: Array,
    weights: Array,
    shown: Array,
    alpha: Array,
    row_first: Array,
    judged: Array,
    better: Array,
    objective: float,
    n_done: int,
    n_most: int,
    tolerance: float,
    constant: float,
) -> tuple[int, float, float, int]:
    """Steps of EM from the tables `better` until `n_most` in all are done, or nothing is gained.

    `entries` (n, K) are places in the tables, a row for every configuration of what is seen of a
    relevant family; row i of what the plan reads is the sum of the rows `row[first[i] : first[i +
    1]]` of their logs. `shown` are counts of the other families, `alpha` pseudo-counts,
    `row_first` where each distribution of the tables begins, and where the last one ends.

    The objective is that of `unveil.em.steps`: log P(rows) + sum alpha log theta + `constant`.
    `judged` is left with the tables it belongs to and `better` with those after one more step.
    Gives the number of steps, the objective, by how much it rose last, and `GOES_ON`, `SETTLED`
    (nothing more is gained) or `IMPOSSIBLE` (some row has probability zero).
    """
    n_own, k = entries.shape
    n_tables, n_places = better.size, len(first) - 1
    plain = row.size == n_own and n_own == n_places
    own = np.full((n_own, plan.n_configurations), -np.inf)
    own_counts = np.empty((n_own, plan.n_configurations))
    logs = np.empty((n_places, plan.n_configurations))
    given = np.empty((n_places, plan.n_configurations))
    log_z, no_posterior = np.empty(codes.shape[1]), np.empty((0, 0))
    log_tables, counts = np.empty(n_tables), np.empty(n_tables)
    change = np.inf
    while n_done < n_most:
        for i in range(n_tables):
            log_tables[i] = math.log(better[i]) if better[i] > 0.0 else -np.inf
        for i in range(n_own):
            for u in range(k):
                own[i, u] = log_tables[entries[i, u]]
        if not plain:
            add_rows(first, row, own, logs)
        read = own if plain else logs
        given[:] = 0.0
        reduced_pass(
            plan, read.reshape(-1), codes, weights, int(np.int64(0)), codes.shape[1], log_z,
            no_posterior, given.reshape(-1),
        )  # fmt: skip
        # log P(rows) + sum alpha log theta, each part where it counts
        likelihood, before = 0.0, 0.0
        for r in range(log_z.size):
            likelihood += weights[r] * log_z[r]
        for i in range(n_tables):
            if shown[i] > 0.0:
                likelihood += shown[i] * log_tables[i]
            if alpha[i] > 0.0:
                before += alpha[i] * log_tables[i]
        if likelihood == -np.inf:
            return n_done, objective, change, IMPOSSIBLE
        reached = likelihood + before + constant
        change = reached - objective if n_done > 0 else np.inf
        judged[:] = better
        objective, n_done = reached, n_done + 1
        # theta = (E[N] + alpha) / sum over the child's states, uniform where nothing was counted
        counts[:] = shown
        if plain:
            own_counts[:] = given
        else:
            own_counts[:] = 0.0
            hand_out_rows(first, row, given, own_counts)
        for i in range(n_own):
            for u in range(k):
                counts[entries[i, u]] += own_counts[i, u]
        for j in range(row_first.size - 1):
            start, stop = row_first[j], row_first[j + 1]
            total = 0.0
            for i in range(start, stop):
                total += counts[i] + alpha[i]
            for i in range(start, stop):
                better[i] = (counts[i] + alpha[i]) / total if total > 0.0 else 1.0 / (stop - start)
        if n_done > 1 and not change > tolerance * (1.0 + abs(objective)):
            return n_done, objective, change, SETTLED
    return n_done, objective, change, GOES_ON
