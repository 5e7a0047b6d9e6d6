"""Kullback-Leibler divergence between two networks over the same variables."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unveil.errors import ModelError, SizeError
from unveil.model.marginal import marginal
from unveil.model.network import Network
from unveil.model.table_cpd import table_of
from unveil.records import Record

__all__ = ["Divergence", "divergence"]


@dataclass(frozen=True)
class Divergence(Record):
    """KL(true || other) in nats; `standard_error` is 0 when it was computed exactly."""

    nats: float
    standard_error: float
    exact: bool

    @property
    def bits(self) -> float:
        """The divergence in bits."""
        return self.nats / math.log(2)

    def __str__(self) -> str:
        how = "exact" if self.exact else f"sampled, standard error {self.standard_error:.2g}"
        return f"{self.nats:.6g} nats ({how})"


def divergence(
    true: Network, other: Network, n_samples: int = 100_000, seed: int | None = None
) -> Divergence:
    """KL(true || other) = sum over rows of P(row) log(P(row) / Q(row)).

    Exact where the families' marginals in `true` can be summed exactly, since both logarithms
    are sums over families; otherwise the mean over `n_samples` rows drawn from `true`.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> print(divergence(asia, asia))
    0 nats (exact)
    """
    if set(true.names) != set(other.names):
        odd = sorted(set(true.names) ^ set(other.names))[:8]
        raise ModelError(f"the networks have different variables: {odd} are in one only")
    try:
        nats = _expected_log(true, true) - _expected_log(true, other)
        return Divergence(max(nats, 0.0), 0.0, True)
    except SizeError:
        rows = true.sample(n_samples, seed)
        gaps = true.row_log_likelihoods(rows) - other.row_log_likelihoods(rows)
        error = float(gaps.std(ddof=1) / math.sqrt(n_samples))
        return Divergence(float(gaps.mean()), error, False)


def _expected_log(true: Network, other: Network) -> float:
    """The expectation under `true` of the log-probability of a row under `other`."""
    total = 0.0
    for cpd in other.cpds.values():
        values = table_of(cpd, "a divergence").values
        family = [*cpd.parents, cpd.variable]
        weight = marginal(true, [v.name for v in family])
        for axis, v in enumerate(family):
            order = [true.variable(v.name).code_of(label) for label in v.labels]
            weight = np.take(weight, order, axis=axis)
        with np.errstate(divide="ignore"):
            logs = np.log(values)
        total += float(np.sum(np.where(weight > 0, weight * np.where(weight > 0, logs, 0.0), 0.0)))
    return total
