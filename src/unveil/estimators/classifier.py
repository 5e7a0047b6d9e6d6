"""`BayesianNetworkClassifier`: one column predicted by a Bayesian network, scikit-learn style."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from unveil.classify import MODELS, Classifier, LearnedClassifier, Weighing, learn_classifier
from unveil.classify.recipes import NUMBERS, PARAMETERS
from unveil.errors import DataError
from unveil.estimators.door import Matrix, TableReader, names_of, seed_of
from unveil.estimators.settings import (
    at_least_zero,
    check_settings,
    one_of,
    positive,
    whole_from,
)
from unveil.model.network import Network
from unveil.table.core import Table
from unveil.table.options import Unknown
from unveil.table.places import free_name
from unveil.table.variable import Variable

__all__ = ["BayesianNetworkClassifier"]


class BayesianNetworkClassifier(ClassifierMixin, TableReader):
    """A classifier that is a Bayesian network: naive Bayes, TAN, k-dependence, a searched network.

    `X` may be a pandas, polars or Arrow frame, a dict of columns, an `unveil.Table`, the path of a
    file, or an array or list of rows, with labels, numbers and missing cells as they are: nothing
    has to be encoded, scaled or filled in. Rows whose class in `y` is missing are left aside. By
    default the model is chosen by cross-validation, for the least log-loss.

    Parameters
    ----------
    model
        `naive`, `tan`, `kdb`, `network`, `hidden` or `discover`; `auto` chooses among all but the
        last.
    parameters
        `generative` (counted), `discriminative` (conditional likelihood), or `auto`.
    numbers
        What becomes of continuous columns: `cut` where the class changes, `gaussian`, or `auto`.
    selective
        Whether predictors that do harm are dropped.
    k
        At most so many parents beside the class, for `kdb` and `network`.
    n_states
        The number of hidden states within every class, for `hidden`.
    strength
        The strength of the prior: rows it counts for, or the precision of discriminative weights.
        Chosen if not given.
    folds
        How many folds the choice is made by.
    unknown
        What a label is that `fit` has not seen: `missing` for an empty cell, with a warning, or
        `error`.
    time_limit
        Stop after so many seconds with the best so far.
    random_state
        Repeats a fit exactly.

    Attributes
    ----------
    classes_
        The classes, in the order of `predict_proba`.
    network_, classifier_
        The network, and the network as a `Classifier`.
    learned_
        Everything `unveil.learn_classifier` says but a judgement: the recipe, all trials.
    n_features_in_, feature_names_in_
        The number of columns and, if they had any, their names.

    >>> from unveil import datasets
    >>> frame = datasets.network("asia").sample(800, seed=1).to_pandas()
    >>> X, y = frame.drop(columns="dysp"), frame["dysp"]
    >>> model = BayesianNetworkClassifier(random_state=1).fit(X, y)
    >>> model.score(X, y) > 0.8, model.predict_proba(X).shape
    (True, (800, 2))
    >>> model.explain(X, row=0).strongest[0].predictor
    'bronc'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "model": [one_of(["auto", *MODELS])],
        "parameters": [one_of(["auto", *PARAMETERS])],
        "numbers": [one_of(["auto", *NUMBERS])],
        "selective": ["boolean"],
        "k": [whole_from(1)],
        "n_states": [whole_from(2)],
        "strength": [positive, None],
        "folds": [whole_from(2)],
        "unknown": [one_of(["error", "missing"])],
        "time_limit": [at_least_zero, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        model: str = "auto",
        parameters: str = "auto",
        numbers: str = "auto",
        selective: bool = False,
        k: int = 2,
        n_states: int = 2,
        strength: float | None = None,
        folds: int = 5,
        unknown: Unknown = "missing",
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.parameters = parameters
        self.numbers = numbers
        self.selective = selective
        self.k = k
        self.n_states = n_states
        self.strength = strength
        self.folds = folds
        self.unknown = unknown
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn to predict `y`; `sample_weight` says how often each row counts."""
        check_settings(self)
        if y is None:
            raise DataError(
                "requires y to be passed, but the target y is None: the class of every row"
            )
        table = self._read(X, None, sample_weight)
        name = free_name(str(getattr(y, "name", None) or "class"), [*names_of(X), *table.names])
        self.classes_, codes = _classes(y)
        if len(codes) != table.n_rows:
            raise DataError(f"y has {len(codes)} entries and X has {table.n_rows} rows")
        self._variables: dict[str, Variable | None] = {v.name: v for v in table.variables}
        labels = [label.item() if hasattr(label, "item") else label for label in self.classes_]
        self.learned_: LearnedClassifier = learn_classifier(
            table.with_column(Variable(name, labels), codes), name, self.model,
            parameters=self.parameters, numbers=self.numbers, selective=self.selective, k=self.k,
            n_states=self.n_states, strength=self.strength, folds=self.folds, judge=False,
            keep=table.names, seed=seed_of(self.random_state), time_limit=self.time_limit,
        )  # fmt: skip
        return self

    @property
    def classifier_(self) -> Classifier:
        """The network and what it predicts."""
        check_is_fitted(self, "learned_")
        return self.learned_.classifier

    @property
    def network_(self) -> Network:
        """The network."""
        return self.classifier_.network

    def predict_proba(self, X: Any) -> Matrix:
        """P(class | row), shape (n_rows, n_classes); the columns follow `classes_`."""
        return self.classifier_.probabilities(self._rows(X), self.unknown)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of every row."""
        shares = self.predict_proba(X)
        found: npt.NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return found

    def predict_log_proba(self, X: Any) -> Matrix:
        """log P(class | row), shape (n_rows, n_classes)."""
        with np.errstate(divide="ignore"):
            result: Matrix = np.log(self.predict_proba(X))
        return result

    def explain(self, X: Any, row: int = 0, label: Any = None) -> Weighing:
        """Why a row gets its class, or how the class `label` stands in it: bits for each cell."""
        classifier = self.classifier_
        return classifier.explain(self._rows(X), row, label, self.unknown)

    def _rows(self, X: Any) -> Table:
        check_is_fitted(self, "learned_")
        return self._read(X, self._variables, None, self.unknown)


def _classes(y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The sorted classes and the code of every row, -1 where the class is missing."""
    values = column_or_1d(y, warn=True)
    missing = np.array([value is None or value != value for value in values.tolist()], dtype=bool)
    known = values[~missing]
    if len(known) == 0:
        raise DataError("y has no class in any row: there is nothing to learn")
    if len({isinstance(value, str) for value in known.tolist()}) > 1:
        raise DataError(
            "the classes in y are of several kinds, text and numbers; make them of one kind"
        )
    check_classification_targets(known)
    classes, places = np.unique(known, return_inverse=True)
    codes = np.full(len(values), -1, np.int64)
    codes[~missing] = places
    return classes, codes
