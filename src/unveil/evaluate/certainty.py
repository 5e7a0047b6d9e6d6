"""How surely rows are told apart by the states of a hidden variable: entropy, errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.infer.posterior import posterior
from unveil.model.network import Network
from unveil.records import Record
from unveil.table.core import Table

__all__ = ["Certainty", "certainty_of"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Certainty(Record):
    """How surely the rows' states are known; all but `classification_error` are 1 at best.

    `relative_entropy` is 1 - (mean entropy of the rows' posteriors) / log k (Ramaswamy et al.
    1993; many programs call it entropy). `entropy_r2` divides by the entropy of the states'
    shares instead: the part of it that the rows explain (Vermunt and Magidson 2016).
    `classification_error` is the share of cases that are expected to be in another state than
    the most probable one. All three are NaN for a single state.

    `assigned[c, d]` is the expected number of cases that are in state c and whose most probable
    state is d, shape (k, k).
    """

    told: ClassVar = ("assigned", "mean_posteriors")

    relative_entropy: float
    entropy_r2: float
    classification_error: float
    assigned: Matrix = field(compare=False, repr=False)

    @property
    def mean_posteriors(self) -> Matrix:
        """The mean probability of each state among the rows assigned to it; NaN without any."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.assigned.diagonal() / self.assigned.sum(axis=0))


def certainty_of(network: Network, name: str, table: Table) -> Certainty:
    """How surely the rows of a table tell the state of the hidden variable `name`.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(1000, seed=1)
    >>> round(certainty_of(asia, "smoke", rows.without("smoke")).classification_error, 2)
    0.33
    """
    observed = [n for n in network.names if n in table and n != name]
    rows = table.select(observed).conform([network.variable(n) for n in observed]).folded()
    states = posterior(network, rows, of=name)[name]
    weights = rows.row_weights
    n, k = float(weights.sum()), states.shape[1]
    assigned = np.zeros((k, k))
    np.add.at(assigned.T, states.argmax(axis=1), states * weights[:, None])
    if k == 1:
        return Certainty(math.nan, math.nan, math.nan, assigned)
    left = float(weights @ _entropy(states)) / n
    shares = weights @ states / n
    spread = float(_entropy(shares))
    return Certainty(
        1 - left / math.log(k),
        1 - left / spread if spread > 0 else math.nan,
        max(0.0, 1 - float(assigned.diagonal().sum()) / n),
        assigned,
    )


def _entropy(p: Matrix) -> Matrix:
    """- sum of p log p over the last axis, in nats."""
    return np.asarray(-np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0).sum(axis=-1))
