"""States that are wanted elsewhere: merge two that are alike, split one that asks for it.

The thesis perturbs the solution at every gamma and keeps what gains (6.3). A perturbation that
knows where to go does more: the pair of states whose merge costs least gives up a state, the state
that gains most by a split takes it. What a split gains is found within the state: its twins, begun
along the eigenvector of `splits.py`, go through some rounds of EM on the state's rows alone, all
states at once. The exchange is kept only if -L is higher after EM has settled again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.derivative import Tangent
from unveil.bottleneck.splits import Growth, Pair, Twins

__all__ = ["split_gains"]

Vector = npt.NDArray[np.float64]


def split_gains(
    tangent: Tangent, twins: Twins, growth: Growth, rounds: int = 10, kick: float = 0.5
) -> tuple[Vector, Pair]:
    """What -L gains by every state's split, nats for all cases, and the twins.

    EM goes between the twins of each state, while its rows' shares of it stay as they are.
    """
    rows, completed, gamma = tangent.problem.rows, tangent.completed, tangent.gamma
    k, state = twins.n_states, twins.state_of_joint
    pair = twins.pair(growth.vectors, kick)
    gains = np.zeros(k)
    for _ in range(rounds):
        counts = np.zeros(rows.size)
        gains = np.zeros(k)
        one, other = rows.longer(pair.one), rows.longer(pair.other)
        shares = (np.log(pair.share)[state], np.log1p(-pair.share)[state])
        for part, q in zip(rows.parts, completed.posteriors, strict=True):
            ahead = [np.repeat((1 - gamma) * s, q.shape[1] // rows.n_hidden) for s in shares]
            a = gamma * part.collected(one) + ahead[0]
            b = gamma * part.collected(other) + ahead[1]
            mass = q * part.weights[:, None]
            each = (mass * np.logaddexp(a, b)).sum(axis=0).reshape(rows.n_hidden, -1).sum(axis=1)
            gains += np.bincount(state, each, k)
            counts += part.counted(mass / (1.0 + np.exp(np.clip(b - a, -500.0, 500.0))))
        pair = twins.estimated_pair(tangent, rows.spread(counts, tangent.parameters.tables))
    return gains, pair
