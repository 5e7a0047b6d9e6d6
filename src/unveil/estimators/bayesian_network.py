"""`BayesianNetwork`: structure and parameters from a table, scikit-learn style."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from unveil.errors import DataError
from unveil.estimators.door import Matrix, TableEstimator, seed_of
from unveil.estimators.settings import SHARED, one_of, whole_from
from unveil.graph.dag import DAG
from unveil.learning import learn, score_named
from unveil.score import SCORES
from unveil.search.constraints import Constraints
from unveil.search.learn import SEARCHES
from unveil.table.core import Table
from unveil.table.options import Unknown

__all__ = ["BayesianNetwork"]


class BayesianNetwork(TableEstimator):
    """A Bayesian network learned from a table: by search, or structural EM where cells are missing.

    Parameters
    ----------
    criterion
        The score of a structure: `bdeu`, `bic`, `mdl`, `aic`, `k2`, `fnml`, `qnml` or `likelihood`.
    search
        For complete tables: `combined`, `hill-climbing`, `tabu`, `equivalence`, `exact`,
        `chow-liu` or `annealing`.
    max_parents
        At most so many parents for any variable.
    equivalent_sample_size
        The equivalent sample size of the BDeu score and of the prior of the parameters.
    target
        The column that `predict` and `predict_proba` are about, unless they are told.
    discretize, n_bins
        How to cut continuous columns, and into how many bins; `None` refuses them.
    unknown
        What a label is that `fit` has not seen: `error`, or `missing` for an empty cell.
    random_state
        Repeats a fit exactly.

    Attributes
    ----------
    network_, dag_, score_
        The network, its graph, and its score in nats.
    discretizer_, n_features_in_, feature_names_in_
        The cuts of continuous columns, the number of columns and, if they had any, their names.

    >>> from unveil import datasets
    >>> rows = datasets.network("asia").sample(2000, seed=1)
    >>> model = BayesianNetwork(target="lung", random_state=1).fit(rows)
    >>> model.predict(rows.without("lung"))[:3].tolist()
    ['no', 'no', 'no']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED,
        "criterion": [one_of(SCORES)],
        "search": [one_of(SEARCHES)],
        "max_parents": [whole_from(0), None],
        "target": [str, None],
    }

    def __init__(
        self,
        *,
        criterion: str = "bdeu",
        search: str = "combined",
        max_parents: int | None = None,
        equivalent_sample_size: float = 1.0,
        target: str | None = None,
        discretize: str | None = None,
        n_bins: int = 3,
        unknown: Unknown = "error",
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.search = search
        self.max_parents = max_parents
        self.equivalent_sample_size = equivalent_sample_size
        self.target = target
        self.discretize = discretize
        self.n_bins = n_bins
        self.unknown = unknown
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn structure and parameters; `y` is ignored."""
        table = self._fit_table(X, sample_weight)
        limits = Constraints(max_parents=self.max_parents)
        score = score_named(self.criterion, self.equivalent_sample_size)
        seed = seed_of(self.random_state)
        learned = learn(
            table, score, self.search, constraints=limits, prior=self._prior(), seed=seed
        )
        self.network_, self.score_ = learned.network, learned.score
        return self

    @property
    def dag_(self) -> DAG:
        """The graph."""
        return self.network_.dag

    def predict_proba(self, X: Any, target: str | None = None) -> Matrix:
        """P(target | the row's other cells), shape (n_rows, states of the target).

        The columns follow the states of `network_.variable(target)`.
        """
        name, table = self._question(X, target)
        return self.network_.posterior(table, of=name)[name]

    def predict(self, X: Any, target: str | None = None) -> npt.NDArray[Any]:
        """The most probable label of the target in every row, given the row's other cells."""
        name, table = self._question(X, target)
        labels = self.network_.posterior(table, of=name).best(name)
        return np.array(labels, dtype=object if isinstance(labels[0], str) else None)

    def _question(self, X: Any, target: str | None) -> tuple[str, Table]:
        """The target and the rows without it."""
        check_is_fitted(self, "network_")
        name = self.target if target is None else target
        if name is None:
            raise DataError("say which column to predict: predict(X, target=...) or target=...")
        self.network_.variable(name)
        table = self._table(X, optional=name)
        if name not in table:
            return name, table
        return name, table.without(name) if table.n_columns > 1 else table.hide(name)
