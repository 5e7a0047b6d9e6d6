"""What the estimators make of `X`: a table of discrete columns, the same way every time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from unveil.errors import DataError
from unveil.estimators.settings import check_settings
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.table.core import Table
from unveil.table.discretize import Discretizer
from unveil.table.options import Unknown
from unveil.table.prepare import prepare

__all__ = ["TableEstimator", "seed_of"]

Matrix = npt.NDArray[np.float64]


class TableEstimator(DensityMixin, BaseEstimator):
    """What estimators over tables of labels share: their door, likelihood and samples.

    `X` may be a pandas, polars or Arrow frame, a dict of columns, an `unveil.Table`, or an array
    or list of rows. Missing cells (`None`, NaN) are welcome. The columns of a frame must have the
    names and order that `fit` saw (as everywhere in scikit-learn), those of a dict or table are
    matched by name, those of an array by position; labels are matched by their text or number, and
    one that `fit` has not seen is an error or, with `unknown="missing"`, an empty cell. A category
    or a state that a frame or table declares counts as seen.
    Continuous columns are refused unless `discretize` names a way to cut them
    (`equal_frequency`, `equal_width`, `kmeans`, `deviation`) into `n_bins` bins.
    """

    unknown: Unknown
    network_: Network
    discretizer_: Discretizer | None

    def score_samples(self, X: Any) -> Matrix:
        """log P(what the row shows) of every row, in nats, shape (n_rows,)."""
        table = self._table(X)
        return self.network_.row_log_likelihoods(table)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean log-likelihood of the rows, in nats per row; higher is better."""
        table = self._table(X, sample_weight)
        return float(np.average(self.network_.row_log_likelihoods(table), weights=table.weights))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Table:
        """A table of rows drawn from the network, hidden variables left out."""
        check_is_fitted(self, "network_")
        rows = self.network_.sample(n_samples, seed_of(random_state))
        return rows.without(self.network_.hidden) if self.network_.hidden else rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _fit_table(self, X: Any, sample_weight: Any) -> Table:
        """The table to learn from; notes the columns and, if asked to, learns the cuts.

        The settings are checked first, all of them, before anything is read.
        """
        check_settings(self)
        table = _weighted(_read(self, X, None), sample_weight)
        self._columns = table.variables
        ready = prepare(table, discretize=self.discretize, n_bins=self.n_bins, keep=table.names)
        self.discretizer_ = ready.discretizer
        return ready.table

    def _table(self, X: Any, sample_weight: Any = None, optional: str | None = None) -> Table:
        """New rows, read as those that `fit` saw; the column `optional` may be absent."""
        check_is_fitted(self, "network_")
        known = {v.name: v for v in self._columns}
        if optional is not None and optional not in _names(X, known):
            known.pop(optional)
        table = _weighted(_read(self, X, known), sample_weight)
        cuts = self.discretizer_
        if cuts is None:
            return table
        inside = {name: c for name, c in cuts.cuts.items() if name in table}
        return Discretizer(cuts.method, inside).apply(table)

    def _prior(self) -> EquivalentSampleSize | None:
        size = self.equivalent_sample_size
        return None if size is None else EquivalentSampleSize(size)


def _read(estimator: TableEstimator, X: Any, known: Mapping[str, Any] | None) -> Table:
    """The raw table behind `X`, its columns checked against those of `fit` unless it is fitting."""
    fitting = known is None
    variables = None if known is None else list(known.values())
    unknown: Unknown = "error" if known is None else estimator.unknown
    if isinstance(X, (Table, Mapping)):
        if known is None:
            table = X if isinstance(X, Table) else Table.from_frame(X)
            estimator.n_features_in_ = table.n_columns
            estimator.feature_names_in_ = np.array(table.names, dtype=object)
            return table
        if isinstance(X, Table):
            return X.conform(list(known.values()), unknown=unknown)
        inside = {str(name): column for name, column in X.items() if str(name) in known}
        return Table.from_frame(inside, variables=variables, unknown=unknown)
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        if fitting or len(known or ()) == estimator.n_features_in_:
            validate_data(estimator, X, reset=fitting, skip_check_array=True)
        return Table.from_frame(_named(X), variables=variables, unknown=unknown)
    array = validate_data(estimator, X, reset=fitting, dtype=None, ensure_all_finite="allow-nan")
    if known is None:
        return Table.from_frame(array)
    columns = {name: array[:, i] for i, name in enumerate(known)}
    return Table.from_frame(columns, variables=variables, unknown=unknown)


def _named(frame: Any) -> Any:
    """The frame with text for the names of its columns: pandas also takes numbers."""
    names = list(getattr(frame, "columns", ()))
    if all(isinstance(name, str) for name in names) or not hasattr(frame, "set_axis"):
        return frame
    return frame.set_axis([str(name) for name in names], axis=1)


def _names(X: Any, known: Mapping[str, Any]) -> list[str]:
    if isinstance(X, Table):
        return list(X.names)
    if isinstance(X, Mapping):
        return [str(name) for name in X]
    if hasattr(X, "column_names"):
        return list(X.column_names)
    return [str(name) for name in X.columns] if hasattr(X, "columns") else list(known)


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
        if random_state < 0:
            raise DataError(f"a seed is zero or more, got random_state={random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
