"""Log-loss on rows a model has not seen, in bits per row; lower is better."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from unveil.engines.rows import PartedRows
from unveil.errors import DataError
from unveil.evaluate.folds import fold_tables, n_cases
from unveil.infer.parted import bits_over
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table
from unveil.table.options import Unknown

__all__ = ["LogLoss", "Predictor", "fold_tables", "log_loss", "n_cases", "paired_gain"]


class Predictor(Protocol):
    """Anything that gives log P(row) in nats for every row of a table: a network, for one."""

    def row_log_likelihoods(self, table: Table, /) -> npt.NDArray[np.float64]:
        """Log P(row) of every row, shape (n_rows,)."""
        ...


@dataclass(frozen=True)
class LogLoss(Record):
    """The mean of -log2 P(row) over rows, with its standard error.

    `per_row` has shape (n_rows,); `weights` say how often each row counts. Two are equal when
    their figures are.
    """

    bits: float
    standard_error: float
    per_row: npt.NDArray[np.float64] = field(compare=False, repr=False)
    weights: npt.NDArray[np.float64] = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.bits:.4f} bits per row (standard error {self.standard_error:.4f})"

    @property
    def log_likelihood(self) -> float:
        """Log P of all rows together, in nats."""
        return -math.log(2) * self.bits * float(self.weights.sum())

    @property
    def total_error(self) -> float:
        """The standard error of `log_likelihood`, in nats."""
        return math.log(2) * self.standard_error * float(self.weights.sum())

    @staticmethod
    def of(bits: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> LogLoss:
        """The weighted mean of bits per row and its standard error."""
        total = weights.sum()
        if not total > 0:
            raise DataError("the log-loss is a mean over rows, and no row has any weight")
        # A row of no weight may be impossible: 0 times infinity would spoil the mean.
        counted, shares = bits[weights > 0], weights[weights > 0]
        mean = float(counted @ shares / total)
        if not math.isfinite(mean):
            return LogLoss(mean, math.inf, bits, weights)
        variance = float(((counted - mean) ** 2) @ shares / max(total - 1, 1))
        return LogLoss(mean, math.sqrt(variance / total), bits, weights)


def log_loss(
    network: Predictor, data: Data, *, weights: Weights = None, unknown: Unknown = "error"
) -> LogLoss:
    """The log-loss of `network` on the rows of `data`: a table, a frame, an array, a path.

    `weights` say how often each row counts, as a column's name or as numbers. A label that the
    network does not know is an error or, with `unknown="missing"`, a missing cell, about which the
    network then says nothing: this flatters it. Of rows in parts (`unveil.open_rows`) there is the
    mean, not that of every row.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> print(log_loss(asia, asia.sample(1000, seed=1)))
    3.1753 bits per row (standard error 0.0579)
    """
    if isinstance(data, PartedRows):
        weight, bits, error = bits_over(network, data)
        return LogLoss(bits, error, np.array([bits]), np.array([weight]))
    coded = hasattr(network, "variables") and not (isinstance(data, Table) and unknown == "error")
    table = as_table(data, weights, like=network if coded else None, unknown=unknown)
    return LogLoss.of(-network.row_log_likelihoods(table) / math.log(2), table.row_weights)


def paired_gain(better: LogLoss, worse: LogLoss) -> LogLoss:
    """The bits per row that `better` saves over `worse`, compared row by row on the same rows."""
    if len(better.per_row) != len(worse.per_row):
        raise DataError(
            f"the two log-losses are of different rows: {len(better.per_row)} and "
            f"{len(worse.per_row)}"
        )
    if not np.array_equal(better.weights, worse.weights):
        raise DataError(
            "the two log-losses are of different rows, or of rows that were dealt to other folds: "
            "their weights differ. Give both the same table, folds and seed."
        )
    return LogLoss.of(worse.per_row - better.per_row, better.weights)
