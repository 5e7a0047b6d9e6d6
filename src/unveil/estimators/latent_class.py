"""`LatentClassModel`: a mixture over discrete columns, with classes as features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unveil.em.mixture import SCORES, MixtureResult, latent_classes
from unveil.estimators.door import Matrix, TableEstimator, seed_of
from unveil.estimators.settings import SHARED, at_least_zero, one_of, positive, whole_from
from unveil.table.options import Unknown
from unveil.table.places import free_name

__all__ = ["LatentClassModel"]


class LatentClassModel(TransformerMixin, TableEstimator):
    """A latent class model: rows fall into classes, given which the columns are independent.

    Parameters
    ----------
    n_classes
        A number, or several to choose from by `criterion`; 1 to 6 if not given.
    criterion
        `bic`, `aic`, `cheeseman-stutz` or `held-out`.
    n_starts
        How many times EM starts; the best counts.
    equivalent_sample_size
        The equivalent sample size of the prior; `None` for maximum likelihood, which may call rows
        unlike any seen impossible.
    max_iterations, tolerance
        When EM stops; see `unveil.em.fit_em`.
    discretize, n_bins
        How to cut continuous columns, and into how many bins; `None` refuses them.
    unknown
        What a label is that `fit` has not seen: `missing` for an empty cell, with a warning (the
        model then says nothing about it), or `error`.
    random_state
        Repeats a fit exactly.

    Attributes
    ----------
    n_classes_, classes_
        The number of classes chosen, and their labels 1, 2, ... from the largest class down.
    network_, result_
        The network with the hidden root `class`, and everything `latent_classes` found.
    cuts_, n_features_in_, feature_names_in_
        The cuts of continuous columns, the number of columns and, if they had any, their names.

    >>> from unveil import datasets
    >>> plans = datasets.table("college_plans")
    >>> model = LatentClassModel(n_classes=2, n_starts=2, random_state=1).fit(plans)
    >>> model.transform(plans).shape, model.get_feature_names_out().tolist()
    ((128, 2), ['class_1', 'class_2'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED,
        "n_classes": [whole_from(1), Iterable, None],
        "criterion": [one_of(SCORES)],
        "n_starts": [whole_from(1)],
        "equivalent_sample_size": [positive, None],
        "max_iterations": [whole_from(1)],
        "tolerance": [at_least_zero],
    }

    def __init__(
        self,
        n_classes: int | Iterable[int] | None = None,
        *,
        criterion: str = "bic",
        n_starts: int = 10,
        equivalent_sample_size: float | None = 1.0,
        max_iterations: int = 2000,
        tolerance: float = 1e-9,
        discretize: str | None = None,
        n_bins: int = 3,
        unknown: Unknown = "missing",
        random_state: Any = None,
    ) -> None:
        self.n_classes = n_classes
        self.criterion = criterion
        self.n_starts = n_starts
        self.equivalent_sample_size = equivalent_sample_size
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.discretize = discretize
        self.n_bins = n_bins
        self.unknown = unknown
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the classes; `y` is ignored."""
        table = self._fit_table(X, sample_weight)
        self._root = free_name("class", table.names)
        self.result_: MixtureResult = latent_classes(
            table, self.n_classes, self.criterion, self.n_starts, name=self._root,  # type: ignore[arg-type]
            equivalent_sample_size=self.equivalent_sample_size,
            max_iterations=self.max_iterations, tolerance=self.tolerance,
            seed=seed_of(self.random_state),
        )  # fmt: skip
        self.network_ = self.result_.network
        self.n_classes_ = self.result_.n_classes
        self.classes_ = np.arange(1, self.n_classes_ + 1)
        return self

    def predict_proba(self, X: Any) -> Matrix:
        """P(class | row) of every row, shape (n_rows, n_classes_)."""
        table = self._table(X)
        return self.network_.posterior(table, of=self._root)[self._root]

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> npt.NDArray[np.int64]:
        """The most probable class of every row of the table learned from; `y` is ignored."""
        return self.fit(X, y, sample_weight).predict(X)

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """The most probable class of every row, one of `classes_`."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def transform(self, X: Any) -> Matrix:
        """The same as `predict_proba`: the posterior of the classes as features."""
        return self.predict_proba(X)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the features that `transform` makes; `input_features` is ignored."""
        check_is_fitted(self, "network_")
        return np.array([f"{self._root}_{label}" for label in self.classes_], dtype=object)
