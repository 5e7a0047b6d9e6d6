"""`Discretizer`: continuous columns into labels of intervals, scikit-learn style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unveil.errors import DataError
from unveil.estimators.door import TableReader, shaped_like
from unveil.estimators.settings import check_settings, one_of, whole_from
from unveil.table.cuts import CUTTERS
from unveil.table.discretize import cut_variables
from unveil.table.variable import Variable

__all__ = ["Discretizer"]


class Discretizer(TransformerMixin, TableReader):
    """Cuts numbers into states; the cuts are learned once and applied to any table.

    A frame comes back as a frame of the same kind, with categories in the order of the intervals;
    a `Table` comes back as a table whose variables know their cuts, so that a network learned from
    it takes numbers wherever it takes labels; an array of numbers comes back as one, with the
    positions 0, 1, ... of the states (NaN where missing). Columns that are not cut stay as they
    are.

    Parameters
    ----------
    method
        `equal_frequency`, `equal_width`, `kmeans`, or `deviation` (one standard deviation below
        and above the mean; always three bins).
    n_bins
        Into how many bins a column is cut; each becomes a state.
    columns
        The columns to cut; all continuous ones when not given.

    Attributes
    ----------
    variables_
        The discrete variables that the columns become, with their cuts.
    cuts_
        The cuts by the name of the column.
    n_features_in_, feature_names_in_
        The number of columns and, if they had any, their names.

    >>> import pandas
    >>> frame = pandas.DataFrame({"x": [0.5, 1.0, 2.0, 9.5], "y": ["a", "b", "b", "a"]})
    >>> coarse = Discretizer(method="equal_width").fit(frame)
    >>> coarse.cuts_
    {'x': (3.5, 6.5)}
    >>> coarse.transform(frame)["x"].tolist()
    ['< 3.5', '< 3.5', '< 3.5', '>= 6.5']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "method": [one_of(CUTTERS)],
        "n_bins": [whole_from(2)],
        "columns": [str, Iterable, None],
    }

    def __init__(
        self,
        *,
        method: str = "equal_frequency",
        n_bins: int = 3,
        columns: Sequence[str] | str | None = None,
    ) -> None:
        self.method = method
        self.n_bins = n_bins
        self.columns = columns

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the cuts; `y` is ignored, `sample_weight` says how often each row counts."""
        check_settings(self)
        table = self._read(X, None, sample_weight)
        if table.total_weight <= 0:
            raise DataError("the weights of all rows are zero; there is nothing to learn from")
        self._names = table.names
        self.variables_: list[Variable] = cut_variables(
            table, self.columns, method=self.method, n_bins=self.n_bins
        )
        return self

    @property
    def cuts_(self) -> dict[str, tuple[float, ...]]:
        """The cuts by the name of the column."""
        return {v.name: v.cuts for v in self.variables_ if v.cuts is not None}

    def transform(self, X: Any) -> Any:
        """The rows of `X` with labels of intervals in place of numbers; missing stays missing."""
        check_is_fitted(self, "variables_")
        table = self._read(X, dict.fromkeys(self._names))
        return shaped_like(X, table.like(self.variables_))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the columns; `input_features` is ignored."""
        check_is_fitted(self, "variables_")
        return np.array(self._names, dtype=object)
