"""What the estimators' settings may be, so that a wrong value is told when `fit` is called.

The constraints are written as scikit-learn writes its own, in a dict `_parameter_constraints`.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

from unveil.errors import DataError
from unveil.table.cuts import CUTTERS

__all__ = ["SHARED", "at_least_zero", "check_settings", "one_of", "positive", "whole_from"]


def whole_from(least: int) -> Interval:
    """A whole number, `least` or more."""
    return Interval(Integral, least, None, closed="left")


def one_of(names: Any) -> StrOptions:
    """One of the names, told in their own order (a set would shuffle them)."""
    return StrOptions(dict.fromkeys(names).keys())


positive = Interval(Real, 0, None, closed="neither")
"""A number greater than zero."""

at_least_zero = Interval(Real, 0, None, closed="left")
"""Zero or more."""

SHARED: dict[str, Any] = {
    "equivalent_sample_size": [positive],
    "discretize": [one_of(CUTTERS), None],
    "n_bins": [whole_from(2)],
    "unknown": [one_of(["error", "missing"])],
    "random_state": ["random_state"],
}
"""The settings that all estimators have."""


def check_settings(estimator: Any) -> None:
    """Refuse a value that `_parameter_constraints` does not allow; names the setting.

    >>> from unveil import LatentClassModel
    >>> check_settings(LatentClassModel(n_starts=0))
    Traceback (most recent call last):
    unveil.errors.DataError: The 'n_starts' parameter of LatentClassModel must be an int in the range [1, inf). Got 0 instead.
    """  # noqa: E501
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise DataError(str(error)) from None
