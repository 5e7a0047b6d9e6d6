"""Log-loss on rows a network has not seen, in bits per row; lower is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["LogLoss", "cross_validate", "fold_tables", "log_loss", "paired_gain"]


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

    @classmethod
    def of(cls, bits: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> LogLoss:
        """The weighted mean of bits per row and its standard error."""
        total = weights.sum()
        if not total > 0:
            raise DataError("the log-loss is a mean over rows, and no row has any weight")
        # A row of no weight may be impossible: 0 times infinity would spoil the mean.
        counted, shares = bits[weights > 0], weights[weights > 0]
        mean = float(counted @ shares / total)
        if not math.isfinite(mean):
            return cls(mean, math.inf, bits, weights)
        variance = float(((counted - mean) ** 2) @ shares / max(total - 1, 1))
        return cls(mean, math.sqrt(variance / total), bits, weights)


def log_loss(network: Network, table: Table) -> LogLoss:
    """The log-loss of a network on the rows of a table.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> print(log_loss(asia, asia.sample(1000, seed=1)))
    3.1753 bits per row (standard error 0.0579)
    """
    return LogLoss.of(-network.row_log_likelihoods(table) / math.log(2), table.row_weights)


def paired_gain(better: LogLoss, worse: LogLoss) -> LogLoss:
    """The bits per row that `better` saves over `worse`, compared row by row on the same rows."""
    if len(better.per_row) != len(worse.per_row):
        raise DataError(
            f"the two log-losses are of different rows: {len(better.per_row)} and "
            f"{len(worse.per_row)}"
        )
    return LogLoss.of(worse.per_row - better.per_row, better.weights)


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
    bits, weights = [], []
    for training, held_out in fold_tables(table, folds, seed):
        bits.append(log_loss(learner(training), held_out).per_row)
        weights.append(held_out.row_weights)
    return LogLoss.of(np.concatenate(bits), np.concatenate(weights))


def fold_tables(
    table: Table, folds: int, seed: int | np.random.Generator | None = None
) -> Iterator[tuple[Table, Table]]:
    """For each fold, the cases to learn from and the cases left out.

    A row of whole weight w stands for w cases, which are dealt to the folds one by one; rows of
    fractional weight are dealt whole, rows of weight zero not at all.
    """
    table = table.take(table.row_weights > 0)
    weights = table.row_weights
    cases = n_cases(table)
    if not 2 <= folds <= cases:
        raise DataError(f"folds must be between 2 and the {cases} cases, got {folds}")
    dealt = _deal(weights, folds, np.random.default_rng(seed))
    for share in dealt.T:
        rest = weights - share
        yield (
            table.take(rest > 0).with_weights(rest[rest > 0]),
            table.take(share > 0).with_weights(share[share > 0]),
        )


def n_cases(table: Table) -> int:
    """How many cases there are to deal: the whole weights added up, or the rows that have any."""
    weights = table.row_weights
    return int(weights.sum()) if _whole(weights) else int((weights > 0).sum())


def _whole(weights: npt.NDArray[np.float64]) -> bool:
    return bool((weights == np.round(weights)).all()) and weights.sum() < 2**31


def _deal(
    weights: npt.NDArray[np.float64], folds: int, generator: np.random.Generator
) -> npt.NDArray[np.float64]:
    """The weight of every row in every fold, shape (n_rows, folds)."""
    dealt = np.zeros((len(weights), folds))
    if not _whole(weights):
        place = generator.permutation(len(weights)) % folds
        dealt[np.arange(len(weights)), place] = weights
        return dealt
    owners = np.repeat(np.arange(len(weights)), weights.astype(np.int64))
    place = generator.permutation(len(owners)) % folds
    np.add.at(dealt, (owners, place), 1.0)
    return dealt
