"""Log-loss on rows a network has not seen, in bits per row; lower is better."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["LogLoss", "cross_validate", "log_loss"]


@dataclass(frozen=True)
class LogLoss:
    """The mean of -log2 P(row) over rows, with its standard error.

    `per_row` has shape (n_rows,); `weights` say how often each row counts.
    """

    bits: float
    standard_error: float
    per_row: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]

    def __str__(self) -> str:
        return f"{self.bits:.4f} bits per row (standard error {self.standard_error:.4f})"

    def less_than(self, other: LogLoss) -> LogLoss:
        """The gain over `other` on the same rows: their difference row by row."""
        if len(self.per_row) != len(other.per_row):
            raise DataError(
                f"the two log-losses are of different rows: {len(self.per_row)} and "
                f"{len(other.per_row)}"
            )
        return _summary(other.per_row - self.per_row, self.weights)


def log_loss(network: Network, table: Table) -> LogLoss:
    """The log-loss of a network on the rows of a table.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> print(log_loss(asia, asia.sample(1000, seed=1)))
    3.1753 bits per row (standard error 0.0579)
    """
    return _summary(-network.row_log_likelihoods(table) / math.log(2), table.row_weights)


def cross_validate(
    table: Table,
    learner: Callable[[Table], Network],
    folds: int = 5,
    seed: int | np.random.Generator | None = None,
) -> LogLoss:
    """The log-loss of `learner` by cross-validation: every row is predicted by the other folds.

    >>> from unveil import datasets, learn
    >>> table = datasets.network("asia").sample(500, seed=1)
    >>> cross_validate(table, lambda rows: learn(rows).network, folds=5, seed=1).bits < 4
    True
    """
    if not 2 <= folds <= table.n_rows:
        raise DataError(f"folds must be between 2 and the {table.n_rows} rows, got {folds}")
    order = np.random.default_rng(seed).permutation(table.n_rows)
    bits = np.empty(table.n_rows)
    for held_out in np.array_split(order, folds):
        training = np.setdiff1d(order, held_out)
        network = learner(table.take(training))
        bits[held_out] = log_loss(network, table.take(held_out)).per_row
    return _summary(bits, table.row_weights)


def _summary(bits: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> LogLoss:
    total = weights.sum()
    mean = float(bits @ weights / total)
    if not math.isfinite(mean):
        return LogLoss(mean, math.inf, bits, weights)
    variance = float(((bits - mean) ** 2) @ weights / max(total - 1, 1))
    return LogLoss(mean, math.sqrt(variance / total), bits, weights)
