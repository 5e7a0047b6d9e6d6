"""`BayesianNetwork`: structure and parameters from a table, scikit-learn style."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.validation import check_is_fitted

from unveil.errors import DataError
from unveil.estimators.door import Matrix, TableEstimator, names_of, seed_of
from unveil.estimators.settings import SHARED, one_of, whole_from
from unveil.graph.dag import DAG
from unveil.learning import learn, score_named
from unveil.score import GAUSSIAN_SCORES, SCORES
from unveil.score.local import LOCAL
from unveil.search.constraints import Constraints
from unveil.search.learn import SEARCHES, default_score
from unveil.table.core import Table
from unveil.table.options import Unknown
from unveil.table.places import free_name
from unveil.table.variable import Label, label_finder

__all__ = ["BayesianNetwork"]


class BayesianNetwork(TableEstimator):
    """A Bayesian network learned from a table: by search, or structural EM where cells are missing.

    Parameters
    ----------
    criterion
        The score of a structure: `bdeu`, `bic`, `mdl`, `aic`, `k2`, `fnml`, `qnml` or `likelihood`;
        for continuous columns `bic`, `mdl`, `aic`, `likelihood` or `bge`. `None` is `bdeu`, or
        `bic` where columns are continuous.
    search
        For complete tables: `combined`, `hill-climbing`, `tabu`, `equivalence`, `exact`,
        `chow-liu`, `order` or `annealing`.
    local
        What families of discrete columns may be made of: `table`, `tree`, `default`, `noisy-or` or
        `auto`, the best of all.
    max_parents
        At most so many parents for any variable.
    equivalent_sample_size
        The equivalent sample size of the BDeu and BGe scores and of the prior of the tables.
    target
        The column that `predict`, `predict_proba` and `score` are about, unless they are told. With
        `fit(X, y)` it is the name of the column that `y` becomes: by default the name that `y` has,
        or `y`.
    discretize, n_bins
        How to cut continuous columns, and into how many bins; with `None` they stay as they are and
        get linear Gaussian distributions.
    unknown
        What a label is that `fit` has not seen: `missing` for an empty cell, with a warning (the
        model then says nothing about it), or `error`.
    random_state
        Repeats a fit exactly.

    Attributes
    ----------
    network_, dag_, score_
        The network, its graph, and its score in nats.
    target_, classes_
        The target, or `None`, and, if it is discrete, its labels in the order of `predict_proba`.
    cuts_, n_features_in_, feature_names_in_
        The cuts of continuous columns, the number of columns and, if they had any, their names.

    >>> from unveil import datasets
    >>> rows = datasets.network("asia").sample(2000, seed=1)
    >>> model = BayesianNetwork(target="lung", random_state=1).fit(rows)
    >>> model.predict(rows.without("lung"))[:3].tolist()
    ['no', 'no', 'no']
    >>> frame = rows.to_pandas()
    >>> X, y = frame.drop(columns="dysp"), frame["dysp"]
    >>> round(BayesianNetwork(random_state=1).fit(X, y).score(X, y), 3)
    0.868
    """

    _keeps_numbers: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED,
        "criterion": [one_of(SCORES | GAUSSIAN_SCORES), None],
        "search": [one_of(SEARCHES)],
        "local": [one_of(LOCAL)],
        "max_parents": [whole_from(0), None],
        "target": [str, None],
    }

    def __init__(
        self,
        *,
        criterion: str | None = None,
        search: str = "combined",
        local: str = "table",
        max_parents: int | None = None,
        equivalent_sample_size: float = 1.0,
        target: str | None = None,
        discretize: str | None = None,
        n_bins: int = 3,
        unknown: Unknown = "missing",
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.search = search
        self.local = local
        self.max_parents = max_parents
        self.equivalent_sample_size = equivalent_sample_size
        self.target = target
        self.discretize = discretize
        self.n_bins = n_bins
        self.unknown = unknown
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn structure and parameters; `y`, if given, is one more column, and the target."""
        target = None if y is None else (self._name_of(X, y), y)
        table = self._fit_table(X, sample_weight, target)
        self.target_ = self.target if target is None else target[0]
        limits = Constraints(max_parents=self.max_parents)
        name = self.criterion or default_score(table).name
        score = score_named(name, self.equivalent_sample_size)
        seed = seed_of(self.random_state)
        learned = learn(
            table,
            score,
            self.search,
            constraints=limits,
            prior=self._prior(),
            seed=seed,
            local=self.local,
        )
        self.network_, self.score_ = learned.network, learned.score
        if self.target_ is not None and self.network_.variable(self.target_).is_discrete:
            self.classes_ = _as_array(self.network_.variable(self.target_).labels)
        return self

    def _name_of(self, X: Any, y: Any) -> str:
        """What the column of `y` is called."""
        if self.target is not None:
            return self.target
        return free_name(str(getattr(y, "name", None) or "y"), names_of(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._predicts_numbers:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        elif getattr(self, "target_", self.target) is not None:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        return tags

    @property
    def _predicts_numbers(self) -> bool:
        """Whether the network is there, and its target is continuous."""
        target, network = getattr(self, "target_", None), getattr(self, "network_", None)
        return (
            network is not None and target is not None and not network.variable(target).is_discrete
        )

    @property
    def dag_(self) -> DAG:
        """The graph."""
        return self.network_.dag

    def predict_proba(self, X: Any, target: str | None = None) -> Matrix:
        """P(target | the row's other cells), shape (n_rows, states of the target).

        `X` may have a column of that name; it is not used. The columns of the answer follow
        `classes_`, or the states of `network_.variable(target)`.
        """
        name, table = self._question(X, target)
        if not self.network_.variable(name).is_discrete:
            raise DataError(f"{name!r} is continuous and has no states; predict gives its mean")
        return self.network_.posterior(table, of=name)[name]

    def predict(self, X: Any, target: str | None = None) -> npt.NDArray[Any]:
        """The most probable label of the target in every row, given the row's other cells.

        For a continuous target, its mean.
        """
        name, table = self._question(X, target)
        return _as_array(self.network_.posterior(table, of=name).best(name))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """With a target, the share of rows whose label is predicted; else the log-likelihood.

        For a continuous target it is R^2, the share of its variance that is predicted. The truth is
        `y`, or the target's column in `X`. Without a target it is the mean log-likelihood of the
        rows, in nats per row (for any model: `score_samples`).
        """
        check_is_fitted(self, "network_")
        if self.target_ is None:
            return super().score(X, y, sample_weight)
        if self._predicts_numbers:
            numbers = self._table(X).column(self.target_) if y is None else np.asarray(y, float)
            return float(r2_score(numbers, self.predict(X), sample_weight=sample_weight))
        truth = self._truth(X, y)
        said = self.network_.variable(self.target_)
        predicted = [said.code_of(label) for label in self.predict(X)]
        right = truth == np.array(predicted)
        return float(np.average(right, weights=sample_weight))

    def _truth(self, X: Any, y: Any) -> npt.NDArray[np.int64]:
        """The true states of the target; -1 for a label that `fit` has not seen."""
        assert self.target_ is not None
        variable = self.network_.variable(self.target_)
        if y is None:
            table = self._table(X, optional=self.target_)
            if self.target_ not in table:
                raise DataError(
                    f"score needs the true labels of {self.target_!r}: as y, or as a column of X"
                )
            labels = table.labels(self.target_)
        else:
            labels = Table.from_frame({"y": np.asarray(y).ravel()}).labels("y")
        find = label_finder(variable)
        codes = [None if label is None else find(label) for label in labels]
        return np.array([-1 if code is None else code for code in codes])

    def _question(self, X: Any, target: str | None) -> tuple[str, Table]:
        """The target and the rows without it."""
        check_is_fitted(self, "network_")
        name = self.target_ if target is None else target
        if name is None:
            raise DataError("say which column to predict: predict(X, target=...) or target=...")
        self.network_.variable(name)
        table = self._table(X, optional=name)
        if name not in table:
            return name, table
        return name, table.without(name) if table.n_columns > 1 else table.hide(name)


def _as_array(labels: Sequence[Label | None]) -> npt.NDArray[Any]:
    return np.array(labels, dtype=object if isinstance(labels[0], str) else None)
