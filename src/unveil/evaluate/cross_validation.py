"""The one cross-validation: every case is predicted by what was learned without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unveil.evaluate.folds import deal_cases, parted
from unveil.evaluate.log_loss import LogLoss, Predictor, log_loss
from unveil.progress import Progress, StopReason, Ticker
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table

__all__ = ["CrossValidation", "cross_validate"]


@dataclass(frozen=True)
class CrossValidation(LogLoss):
    """The log-loss of rows left out, over all folds that were done.

    Entries of `per_row`, `weights`, `rows` and `fold` belong together and follow the order of the
    table: row `rows[i]` counted `weights[i]` times in fold `fold[i]`. A row of weight one has one
    entry; a heavier one has an entry for every fold that left some of its cases out. `folds` has
    each fold's own log-loss, `n_folds` how many there were to be; `stopped` is "converged" if all
    were done, or says why not all were, or the last not with all the time it wanted.
    """

    rows: npt.NDArray[np.intp] = field(compare=False, repr=False)
    fold: npt.NDArray[np.intp] = field(compare=False, repr=False)
    folds: tuple[LogLoss, ...] = field(repr=False)
    n_folds: int
    stopped: StopReason

    @property
    def is_whole(self) -> bool:
        """Whether every fold was done, and none in a hurry."""
        return self.stopped == "converged"

    def __str__(self) -> str:
        words = super().__str__()
        if self.is_whole:
            return words
        return f"{words}, {len(self.folds)} of {self.n_folds} folds ({self.stopped})"


def cross_validate(
    data: Data,
    learner: Callable[[Table], Predictor],
    folds: int = 5,
    seed: int | np.random.Generator | None = None,
    progress: Progress | None = None,
    held_out: float | None = None,
    time_limit: float | None = None,
    blocks: bool = False,
    *,
    weights: Weights = None,
) -> CrossValidation:
    """The log-loss of `learner` by cross-validation: every case is predicted by the other folds.

    `data` is a table, a frame, an array or a path, `weights` say how often each row counts.
    `learner` is any function from a table to something that has `row_log_likelihoods`. A fraction
    as `held_out` makes a single split instead of `folds`. With `blocks`, neighbouring rows are left
    out together, for rows that follow one another in time. Asked to stop, it reports the folds done
    so far, at least one; a later fold in which time ran out is not counted, since its learner may
    have been cut short. `seed` repeats the dealing of rows, `progress` listens, `time_limit` is in
    seconds.

    >>> from unveil import datasets, learn
    >>> table = datasets.network("asia").sample(500, seed=1)
    >>> cross_validate(table, lambda rows: learn(rows).network, folds=5, seed=1).bits < 4
    True
    """
    table = as_table(data, weights)
    ticker = Ticker.of(progress, time_limit)
    dealt = deal_cases(table, folds, held_out, seed, blocks)
    n_folds = dealt.shape[1]
    done: list[LogLoss] = []
    stopped: StopReason | None = None
    for share in dealt.T:
        training, left_out = parted(table, share)
        learned = learner(training)
        stopped = None if ticker.keep_going() else ticker.reason
        if stopped and done:
            break
        done.append(log_loss(learned, left_out))
        words = f"fold {len(done)} of {n_folds}: {done[-1].bits:.4f} bits per row"
        if not ticker.offer("cross-validation", len(done), float("nan"), detail=words):
            stopped = ticker.reason if len(done) < n_folds else stopped
            break
    return _together(done, dealt, stopped or "converged")


def _together(
    done: list[LogLoss], dealt: npt.NDArray[np.float64], stopped: StopReason
) -> CrossValidation:
    """The folds' entries as one record, in the order of the table's rows."""
    rows = [np.flatnonzero(share > 0) for share in dealt.T[: len(done)]]
    row = np.concatenate(rows)
    fold = np.repeat(np.arange(len(done)), [len(r) for r in rows])
    order = np.lexsort([fold, row])
    bits = np.concatenate([loss.per_row for loss in done])[order]
    weights = np.concatenate([loss.weights for loss in done])[order]
    whole = LogLoss.of(bits, weights)
    return CrossValidation(
        whole.bits, whole.standard_error, bits, weights, row[order], fold[order], tuple(done),
        dealt.shape[1], stopped,
    )  # fmt: skip
