"""What every call of this room checks first: table, columns, numbers of states, validation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from unveil.errors import DataError, Hint
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.progress import Progress, Ticker
from unveil.seeds import seed_or_fresh
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table, read_and_ready

__all__ = ["Work", "checked_states", "checked_work"]


@dataclass(frozen=True)
class Work:
    """The rows to learn from and to validate with, the prior, the seed and the ticker."""

    table: Table
    validation: Table | None
    prior: DirichletPrior | None
    seed: int
    ticker: Ticker

    @property
    def generator(self) -> np.random.Generator:
        """Randomness for what is not a start of EM."""
        return np.random.default_rng([self.seed, 1])


def checked_work(
    data: Data,
    validation: Data | float | None,
    prior: DirichletPrior | None,
    equivalent_sample_size: float | None,
    seed: int | None,
    progress: Progress | None,
    time_limit: float | None,
    weights: Weights,
    drop: Sequence[str] | str,
    discretize: str | None,
    n_bins: int,
    keep: Collection[str],
) -> Work:
    """Everything ready, or a sentence about what cannot be used.

    `validation` is another table, or the part of the rows that is kept for it.
    """
    ticker = Ticker.of(progress, time_limit)
    seed = seed_or_fresh(seed)
    if prior is not None and equivalent_sample_size is not None:
        raise DataError("an equivalent sample size is a prior; give it or another, not both")
    if prior is None:
        prior = EquivalentSampleSize(
            1.0 if equivalent_sample_size is None else equivalent_sample_size
        )
    table = _checked(read_and_ready(data, weights, drop, discretize, n_bins, keep)[1])
    kept: Table | None = None
    if isinstance(validation, (float, int)) and not isinstance(validation, bool):
        table, kept = _divided(table, float(validation), seed)
    elif validation is not None:
        kept = as_table(validation, like=table).select(table.names)
        if not kept.total_weight > 0:
            raise DataError("the weights of all rows for validation are zero")
    return Work(table, kept, prior, seed, ticker)


def checked_states(n_states: int, table: Table, what: str = "states") -> int:
    """The number of states, after making sure that it is one and that there are as many rows."""
    if not (isinstance(n_states, Integral) and n_states >= 1):
        raise DataError(f"the number of {what} is a whole number, got {n_states!r}")
    if n_states == 1:
        raise DataError(
            f"a hidden variable with one of its {what} says nothing about the columns; take at "
            "least 2"
        )
    if n_states > table.n_rows:
        raise DataError(
            f"{n_states:,} {what} are more than there are rows ({table.n_rows:,}); no row would be "
            "left to learn from. Take fewer"
        )
    return int(n_states)


def _checked(table: Table) -> Table:
    if not table.total_weight > 0:
        raise DataError("the weights of all rows are zero; there is nothing to learn from")
    for variable in table.variables:
        if not variable.is_discrete:
            raise DataError(
                f"column {variable.name!r} is continuous; these models need discrete columns. "
                "Leave it out or discretise it first, with",
                hint=Hint("discretize=", "--discretize"),
            )
        if table.missing(variable.name)[table.row_weights > 0].all():
            raise DataError(f"column {variable.name!r} has no values at all; leave it out")
    return table


def _divided(table: Table, part: float, seed: int) -> tuple[Table, Table]:
    if not 0 < part < 1:
        raise DataError(f"the part of the rows for validation is between 0 and 1, got {part}")
    n = round(part * table.n_rows)
    if n < 1 or n >= table.n_rows:
        raise DataError(
            f"{part} of {table.n_rows} rows leaves no row to learn from, or none for validation"
        )
    order = np.random.default_rng([seed, 2]).permutation(table.n_rows)
    return table.take(np.sort(order[n:])), table.take(np.sort(order[:n]))
