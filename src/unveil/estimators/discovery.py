"""`HiddenVariableDiscovery`: hidden variables as features."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unveil.discovery import DiscoveryReport, Settings, discover
from unveil.estimators.door import Matrix, TableEstimator, seed_of
from unveil.estimators.settings import SHARED, at_least_zero, one_of, positive, whole_from
from unveil.table.options import Unknown

__all__ = ["HiddenVariableDiscovery"]


class HiddenVariableDiscovery(TransformerMixin, TableEstimator):
    """Finds hidden variables; `transform` gives the posterior of their states as features.

    Parameters
    ----------
    max_hidden
        At most so many hidden variables.
    n_states
        A fixed number of states instead of agglomeration.
    adapt
        `em`, `blanket` or `full`: how far the structure is adapted around a candidate.
    equivalent_sample_size
        The equivalent sample size of the scores and the prior.
    discretize, n_bins
        How to cut continuous columns, and into how many bins; `None` refuses them.
    unknown
        What a label is that `fit` has not seen: `missing` for an empty cell, with a warning (the
        model then says nothing about it), or `error`.
    max_luck
        How often luck alone may gain as much as a hidden variable has to.
    evidence
        Whether to collect evidence too (cross-validation, resampling); slower.
    time_limit
        Stop after so many seconds with the best so far.
    n_jobs
        How many processes to use; all cores if not given.
    random_state
        Repeats a fit exactly.

    Attributes
    ----------
    network_, hidden_
        The network found, and the names of its hidden variables (perhaps none).
    report_
        Everything `unveil.discover` says: evidence, meaning, every candidate.
    cuts_, n_features_in_, feature_names_in_
        The cuts of continuous columns, the number of columns and, if they had any, their names.

    >>> from unveil import datasets
    >>> plans = datasets.table("college_plans")
    >>> model = HiddenVariableDiscovery(max_hidden=1, random_state=1)
    >>> model.fit(plans).hidden_, model.transform(plans).shape[0]
    (('H1',), 128)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED,
        "max_hidden": [whole_from(1)],
        "n_states": [whole_from(2), None],
        "adapt": [one_of(["em", "blanket", "full"])],
        "max_luck": [positive],
        "evidence": ["boolean"],
        "time_limit": [at_least_zero, None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        max_hidden: int = 3,
        n_states: int | None = None,
        adapt: str = "full",
        equivalent_sample_size: float = 1.0,
        discretize: str | None = None,
        n_bins: int = 3,
        unknown: Unknown = "missing",
        max_luck: float = 0.05,
        evidence: bool = False,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.max_hidden = max_hidden
        self.n_states = n_states
        self.adapt = adapt
        self.equivalent_sample_size = equivalent_sample_size
        self.discretize = discretize
        self.n_bins = n_bins
        self.unknown = unknown
        self.max_luck = max_luck
        self.evidence = evidence
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Look for hidden variables; `y` is ignored."""
        table = self._fit_table(X, sample_weight)
        settings = Settings(
            equivalent_sample_size=self.equivalent_sample_size,
            adapt=self.adapt,  # type: ignore[arg-type]
            max_hidden=self.max_hidden,
            n_states=self.n_states,
            max_luck=self.max_luck,
        )
        report = discover(
            table,
            settings=settings,
            evidence=self.evidence,
            straw_men=self.evidence,
            seed=seed_of(self.random_state),
            time_limit=self.time_limit,
            n_jobs=self.n_jobs,
        )
        assert isinstance(report, DiscoveryReport)
        self.report_ = report
        self.network_ = self.report_.network
        self.hidden_ = self.report_.hidden
        return self

    def transform(self, X: Any) -> Matrix:
        """The posteriors of all hidden states side by side, shape (n_rows, n_features_out)."""
        table = self._table(X)
        if not self.hidden_:
            return np.zeros((table.n_rows, 0))
        found = self.network_.posterior(table, of=list(self.hidden_))
        return np.concatenate([found[name] for name in self.hidden_], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the features that `transform` makes; `input_features` is ignored."""
        check_is_fitted(self, "network_")
        names = [
            f"{name}_{label}"
            for name in self.hidden_
            for label in self.network_.variable(name).labels
        ]
        return np.array(names, dtype=object)
