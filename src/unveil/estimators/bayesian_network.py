"""`BayesianNetwork`: structure and parameters from a table, scikit-learn style."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from unveil.estimators.door import TableEstimator, seed_of
from unveil.estimators.settings import SHARED, one_of, whole_from
from unveil.graph.dag import DAG
from unveil.learning import learn, score_named
from unveil.score import SCORES
from unveil.search.constraints import Constraints
from unveil.search.learn import SEARCHES
from unveil.table.options import Unknown

__all__ = ["BayesianNetwork"]


class BayesianNetwork(TableEstimator):
    """A Bayesian network learned from a table: by search, or structural EM where cells are missing.

    It models all columns together: `network_` answers questions about any of them. To predict one
    column as well as possible, use `BayesianNetworkClassifier`.

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
    discretize, n_bins
        How to cut continuous columns, and into how many bins; `None` refuses them.
    unknown
        What a label is that `fit` has not seen: `missing` for an empty cell, with a warning (the
        model then says nothing about it), or `error`.
    random_state
        Repeats a fit exactly.

    Attributes
    ----------
    network_, dag_, score_
        The network, its graph, and its score in nats.
    cuts_, n_features_in_, feature_names_in_
        The cuts of continuous columns, the number of columns and, if they had any, their names.

    >>> from unveil import datasets
    >>> rows = datasets.network("asia").sample(2000, seed=1)
    >>> model = BayesianNetwork(random_state=1).fit(rows)
    >>> model.network_.predict(rows.without("lung"), "lung")[:3]
    ['no', 'no', 'no']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED,
        "criterion": [one_of(SCORES)],
        "search": [one_of(SEARCHES)],
        "max_parents": [whole_from(0), None],
    }

    def __init__(
        self,
        *,
        criterion: str = "bdeu",
        search: str = "combined",
        max_parents: int | None = None,
        equivalent_sample_size: float = 1.0,
        discretize: str | None = None,
        n_bins: int = 3,
        unknown: Unknown = "missing",
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.search = search
        self.max_parents = max_parents
        self.equivalent_sample_size = equivalent_sample_size
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
