"""What the estimators make of `X`: a table, the same way every time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from os import PathLike
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from unveil.errors import DataError
from unveil.estimators.settings import check_settings
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.seeds import checked_seed
from unveil.table.core import Table
from unveil.table.door import as_table
from unveil.table.options import Unknown
from unveil.table.prepare import prepare
from unveil.table.variable import Variable

__all__ = ["TableEstimator", "TableReader", "names_of", "seed_of", "shaped_like"]

Matrix = npt.NDArray[np.float64]


class TableReader(BaseEstimator):
    """What everything that reads tables shares: the same door every time."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _read(
        self,
        X: Any,
        known: Mapping[str, Variable | None] | None,
        sample_weight: Any = None,
        unknown: Unknown = "error",
    ) -> Table:
        """The table behind `X`; its columns are noted when `known` is `None`, else checked.

        `known` has the names of the columns that `fit` saw and the variables by which to code them,
        or `None` for columns that are to be read anew.
        """
        coding: dict[str, Any] = {}
        if known is not None and None not in known.values():
            coding = {"variables": list(known.values()), "unknown": unknown}
        if isinstance(X, (str, PathLike)):
            # Labels are read as `fit` saw them: the text of a file tells less than a frame does.
            X = as_table(X, like=coding.get("variables"), unknown=unknown)
        return _weighted(self._columns(X, known, coding), sample_weight)

    def _columns(
        self, X: Any, known: Mapping[str, Variable | None] | None, coding: dict[str, Any]
    ) -> Table:
        if isinstance(X, (Table, Mapping)):
            if known is None:
                table = X if isinstance(X, Table) else Table.from_frame(X)
                self.n_features_in_ = table.n_columns
                self.feature_names_in_ = np.array(table.names, dtype=object)
                return table
            if isinstance(X, Table):
                return X.conform(**coding) if coding else X.select(known)
            inside = {str(name): column for name, column in X.items() if str(name) in known}
            return Table.from_frame(inside, **coding)
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            if known is None or len(known) == self.n_features_in_:
                validate_data(self, X, reset=known is None, skip_check_array=True)
            return Table.from_frame(_named(X), **coding)
        array = validate_data(
            self, X, reset=known is None, dtype=None, ensure_all_finite="allow-nan"
        )
        if known is None:
            return Table.from_frame(array)
        columns = {name: array[:, i] for i, name in enumerate(known)}
        return Table.from_frame(columns, **coding)


class TableEstimator(DensityMixin, TableReader):
    """What estimators over tables of labels share: their likelihood and samples.

    `X` may be a pandas, polars or Arrow frame, a dict of columns, an `unveil.Table`, the path of a
    file, or an array or list of rows. Missing cells (`None`, NaN) are welcome. The columns of a
    frame must have the names and order that `fit` saw (as everywhere in scikit-learn), those of a
    dict, table or file are matched by name, those of an array by position; labels are matched by
    their text or number, and one that `fit` has not seen is an empty cell, with a warning, or an
    error (`unknown="error"`). A category or a state that a frame or table declares counts as seen.
    `discretize` names a way to cut continuous columns (`equal_frequency`, `equal_width`, `kmeans`,
    `deviation`) into `n_bins` bins; the cuts are then part of the network. Without it they are
    refused by estimators of labels, and stay as they are in a `BayesianNetwork`.
    """

    _keeps_numbers: ClassVar[bool] = False
    unknown: Unknown
    network_: Network

    @property
    def cuts_(self) -> dict[str, tuple[float, ...]]:
        """The cuts of the columns that were continuous, by name."""
        check_is_fitted(self, "network_")
        return {v.name: v.cuts for v in self.network_.variables if v.cuts is not None}

    def score_samples(self, X: Any) -> Matrix:
        """log P(what the row shows) of every row, in nats, shape (n_rows,)."""
        table = self._table(X)
        return self.network_.row_log_likelihoods(table)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean log-likelihood of the rows, in nats per row; higher is better."""
        table = self._table(X, sample_weight)
        return float(np.average(self.network_.row_log_likelihoods(table), weights=table.weights))

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """-2 log-likelihood + (free parameters) log(rows), as scikit-learn has it: lower is better.

        Reports of unveil say minus half of this, in nats, where higher is better.
        """
        table = self._table(X, sample_weight)
        return self._deviance(table) + self.network_.n_parameters * math.log(table.total_weight)

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """-2 log-likelihood + 2 (free parameters), as scikit-learn has it: lower is better."""
        return self._deviance(self._table(X, sample_weight)) + 2 * self.network_.n_parameters

    def _deviance(self, table: Table) -> float:
        return -2 * self.network_.log_likelihood(table)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Table:
        """A table of rows drawn from the network, hidden variables left out."""
        check_is_fitted(self, "network_")
        rows = self.network_.sample(n_samples, seed_of(random_state))
        return rows.without(self.network_.hidden) if self.network_.hidden else rows

    def _fit_table(
        self, X: Any, sample_weight: Any, target: tuple[str, Any] | None = None
    ) -> Table:
        """The table to learn from, the column of the target last; the columns are noted.

        The settings are checked first, all of them, before anything is read.
        """
        check_settings(self)
        table = self._read(X, None, sample_weight)
        names = table.names
        if target is not None:
            table = _joined(table, *target)
        ready = prepare(
            table, discretize=self.discretize, n_bins=self.n_bins, keep=table.names,
            numbers=self._keeps_numbers,
        ).table  # fmt: skip
        self._variables: dict[str, Variable | None] = {n: ready.variable(n) for n in names}
        return ready

    def _table(self, X: Any, sample_weight: Any = None, optional: str | None = None) -> Table:
        """New rows, read as those that `fit` saw; the column `optional` may be absent."""
        check_is_fitted(self, "network_")
        known = dict(self._variables)
        if isinstance(X, (str, PathLike)):
            X = as_table(X, like=list(known.values()), unknown=self.unknown)
        named = names_of(X)
        if optional in known and named and optional not in named:
            known.pop(optional)
        return self._read(X, known, sample_weight, self.unknown)

    def _prior(self) -> EquivalentSampleSize | None:
        size = self.equivalent_sample_size
        return None if size is None else EquivalentSampleSize(size)


def shaped_like(X: Any, table: Table) -> Any:
    """The table as a table (of a file, too), frame, dict of columns or array, whichever `X` is.

    In an array of numbers, columns that were cut hold the positions 0, 1, ... of their states.
    """
    if isinstance(X, (Table, str, PathLike)):
        return table
    if isinstance(X, Mapping):
        return table.to_dict()
    if hasattr(X, "iloc"):
        return table.to_pandas().set_axis(X.index, axis=0)
    if hasattr(X, "column_names"):
        return table.to_arrow()
    if hasattr(X, "columns"):
        return table.to_polars()
    array = np.asarray(X)
    if array.dtype.kind not in "fiub":
        return np.array([table.labels(name) for name in table.names], dtype=object).T
    numbers = array.astype(np.float64)
    for i, variable in enumerate(table.variables):
        if variable.cuts is not None:
            codes = table.column(variable.name).astype(np.float64)
            numbers[:, i] = np.where(table.missing(variable.name), np.nan, codes)
    return numbers


def _joined(table: Table, name: str, y: Any) -> Table:
    """The table with the column that `y` holds."""
    # A series keeps the categories it declares.
    cells = y if hasattr(y, "name") else column_or_1d(y, warn=True)
    column = Table.from_frame({name: cells})
    if name in table:
        raise DataError(
            f"X has a column {name!r}, the target, and y is given as well; leave one of them out"
        )
    if column.n_rows != table.n_rows:
        raise DataError(f"y has {column.n_rows} entries and X has {table.n_rows} rows")
    return table.with_column(column.variables[0], column.column(name))


def _named(frame: Any) -> Any:
    """The frame with text for the names of its columns: pandas also takes numbers."""
    names = list(getattr(frame, "columns", ()))
    if all(isinstance(name, str) for name in names) or not hasattr(frame, "set_axis"):
        return frame
    return frame.set_axis([str(name) for name in names], axis=1)


def names_of(X: Any) -> list[str]:
    """The names of the columns of a table, dict or frame; none for an array."""
    if isinstance(X, Table):
        return list(X.names)
    if isinstance(X, Mapping):
        return [str(name) for name in X]
    if hasattr(X, "column_names"):
        return list(X.column_names)
    return [str(name) for name in getattr(X, "columns", ())]


def _weighted(table: Table, sample_weight: Any) -> Table:
    """The table with `sample_weight`, if given, in place of its own weights."""
    if sample_weight is None:
        return table
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(table.n_rows, float(weights))
    if weights.shape != (table.n_rows,):
        raise DataError(
            f"sample_weight has shape {weights.shape}; expected one weight for each of the "
            f"{table.n_rows} rows"
        )
    return table.with_weights(weights)


def seed_of(random_state: Any) -> int | None:
    """A seed from what scikit-learn takes for `random_state`; `None` stays `None`."""
    if random_state is None:
        return None
    if isinstance(random_state, (int, np.integer)):
        return checked_seed(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
