"""`WeightAnnealing`: weight annealing around any scikit-learn estimator.

The estimator must take `sample_weight` and be able to go on from its last solution; nothing else is
asked of it, and its code stays as it is.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter

from unveil.anneal.choice import Annealing, annealing_named
from unveil.anneal.loop import anneal
from unveil.errors import DataError
from unveil.progress import Listener, Ticker

__all__ = ["WeightAnnealing"]

Vector = npt.NDArray[np.float64]
RowScore = Callable[[Any, Any, Any], npt.ArrayLike]


def _has(name: str) -> Callable[[Any], bool]:
    """Whether the estimator inside has a method."""

    def check(self: WeightAnnealing) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return check


class WeightAnnealing(MetaEstimatorMixin, BaseEstimator):
    """An estimator whose rows' weights are annealed while it learns, to get out of local maxima.

    It is fitted once as it is, and then again and again under perturbed weights, each time from its
    last solution, while they cool down to the rows' own (thesis Ch. 3). The best fit of all counts.

    Parameters
    ----------
    estimator
        What learns. It takes `sample_weight`, and `warm_start` or, as k-means, an array `init`.
    anneal
        `adversary`, `random` or an `unveil.anneal.Annealing`.
    row_score
        A function of (fitted estimator, X, y) that says what each row adds to the score, more being
        better. By default the log-probability of the row's class, the negative squared error, the
        negative squared distance from the nearest centre, or `score_samples`.
    max_iter
        At most so many iterations of the estimator under every reweighting; as many as it has by
        itself if `None`. Few are often better: the weights change again anyhow.
    polish
        Whether to go on with the rows' own weights from every solution on the way, too.
    progress
        A listener; see `unveil.progress`.
    time_limit
        Seconds after which it ends with the best so far.
    random_state
        Repeats a fit exactly; also that of the estimator, unless it has its own.

    Attributes
    ----------
    estimator_, score_, annealed_
        The best fit, its weighted sum of row scores, and the whole course.

    >>> from sklearn.cluster import KMeans
    >>> draw = np.random.default_rng(0)
    >>> X = np.repeat(draw.uniform(0, 40, (15, 2)), 30, axis=0) + draw.normal(size=(450, 2))
    >>> bad = KMeans(15, init=X[:15], n_init=1)  # all centres in one of fifteen clusters
    >>> found = WeightAnnealing(bad, random_state=1).fit(X)
    >>> round(bad.fit(X).inertia_), round(found.estimator_.inertia_)
    (9161, 1114)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        anneal: Annealing | str = "adversary",
        row_score: RowScore | None = None,
        max_iter: int | None = None,
        polish: bool = True,
        progress: Listener | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.anneal = anneal
        self.row_score = row_score
        self.max_iter = max_iter
        self.polish = polish
        self.progress = progress
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn, anneal, and keep the best; `y` is for estimators that predict."""
        annealing = annealing_named(self.anneal)
        if annealing is None:
            raise DataError("anneal is 'adversary', 'random' or an Annealing; nothing was given")
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        learner = _Fits(self, X, y, weights, seed)
        found = anneal(
            learner, learner.first(), annealing.reweighting, annealing.cooling, self.polish,
            annealing.cycles, seed, self.progress, self.time_limit,
        )  # fmt: skip
        self.estimator_, self.score_, self.annealed_ = found.hypothesis, found.score, found
        return self

    @available_if(_has("predict"))
    def predict(self, X: Any) -> Any:
        """What the best fit predicts."""
        return self._best("predict")(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the classes by the best fit."""
        return self._best("predict_proba")(X)

    @available_if(_has("transform"))
    def transform(self, X: Any) -> Any:
        """What the best fit makes of X."""
        return self._best("transform")(X)

    @available_if(_has("score"))
    def score(self, X: Any, y: Any = None) -> float:
        """The score of the best fit, as its estimator has it."""
        return float(self._best("score")(X, y))

    def _best(self, name: str) -> Any:
        check_is_fitted(self, "estimator_")
        return getattr(self.estimator_, name)

    @property
    def classes_(self) -> Any:
        """The classes of the best fit."""
        return self._best("classes_")

    @property
    def labels_(self) -> Any:
        """The clusters of the rows by the best fit."""
        return self._best("labels_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags, tags.input_tags = inner.target_tags, inner.input_tags
        return tags


class _Fits:
    """The estimator as annealing sees it: hypotheses are fitted estimators, never changed."""

    def __init__(self, of: WeightAnnealing, X: Any, y: Any, weights: Vector, seed: int) -> None:
        self.weights, self._X, self._y = weights, X, y
        self._few, self._row_score = of.max_iter, of.row_score
        fresh = clone(of.estimator)
        _check(fresh)
        if "random_state" in fresh.get_params() and fresh.get_params()["random_state"] is None:
            fresh.set_params(random_state=seed)
        self._plain = fresh

    def first(self) -> Any:
        """The estimator fitted as it is."""
        return self._fitted(clone(self._plain), self.weights)

    def optimise(self, hypothesis: Any, weights: Vector, ticker: Ticker) -> Any:
        """The next fit under these weights, from the last one."""
        ready = _resumed(hypothesis)
        few = {} if self._few is None else {"max_iter": self._few}
        return self._fitted(ready.set_params(**few), weights)

    def finish(self, hypothesis: Any, ticker: Ticker) -> Any:
        """The fit under the rows' own weights, from the last one."""
        ready = _resumed(hypothesis)
        whole = {} if self._few is None else {"max_iter": self._plain.get_params()["max_iter"]}
        return self._fitted(ready.set_params(**whole), self.weights)

    def score(self, hypothesis: Any, weights: Vector) -> float:
        """The weighted sum of what the rows score."""
        return float(weights @ self.slopes(hypothesis))

    def slopes(self, hypothesis: Any, weights: Vector | None = None) -> Vector:
        """What every row scores: the sum is additive (Eq. 3.1)."""
        how = self._row_score or _usual_row_score(hypothesis)
        found = np.asarray(how(hypothesis, self._X, self._y), np.float64)
        if found.shape != self.weights.shape:
            raise DataError(
                f"row_score must give one number for each of the {len(self.weights):,} rows, got "
                f"shape {found.shape}"
            )
        return found

    def _fitted(self, estimator: Any, weights: Vector) -> Any:
        given = (self._X,) if self._y is None else (self._X, self._y)
        with warnings.catch_warnings():
            # Few iterations are meant to end before they converge.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return estimator.fit(*given, sample_weight=weights)


def _check(estimator: Any) -> None:
    name = type(estimator).__name__
    if not has_fit_parameter(estimator, "sample_weight"):
        raise DataError(
            f"{name}.fit takes no sample_weight, and without weights there is nothing to anneal. "
            "Take an estimator that does, such as KMeans or MLPClassifier."
        )
    settings = estimator.get_params()
    if "warm_start" not in settings and not _takes_centres(estimator):
        raise DataError(
            f"{name} cannot go on from its last solution: it has neither warm_start nor, with "
            "cluster centres, an init that takes an array. Weight annealing needs one of them."
        )
    if GROWS & set(settings):
        raise DataError(
            f"{name} cannot go on from its last solution: with warm_start it adds members to those "
            "it has and never changes these, so perturbed weights would change nothing. Anneal "
            "what it is made of, or another estimator."
        )


GROWS = {"n_estimators", "max_leaf_nodes"}
"""Settings of estimators that grow by members (forests, boosted trees) when they start warm."""


def _takes_centres(estimator: Any) -> bool:
    """Whether it starts from cluster centres, as k-means and its kin do."""
    return {"init", "n_init", "n_clusters"} <= set(estimator.get_params())


def _resumed(fitted: Any) -> Any:
    """An estimator that will go on from where the fitted one ended."""
    if "warm_start" in fitted.get_params():
        return copy.deepcopy(fitted).set_params(warm_start=True)
    return clone(fitted).set_params(init=fitted.cluster_centers_.copy(), n_init=1)


def _usual_row_score(estimator: Any) -> RowScore:
    """What a row scores when nothing else is said."""
    known: list[tuple[bool, RowScore]] = [
        (is_classifier(estimator) and hasattr(estimator, "predict_proba"), _log_probability),
        (is_regressor(estimator), lambda e, X, y: -((np.asarray(y) - e.predict(X)) ** 2)),
        (
            hasattr(estimator, "cluster_centers_"),
            lambda e, X, y: -(e.transform(X).min(axis=1) ** 2),
        ),
        (hasattr(estimator, "score_samples"), lambda e, X, y: e.score_samples(X)),
    ]
    for fits, how in known:
        if fits:
            return how
    raise DataError(
        f"what is a row worth to {type(estimator).__name__}? Say so with row_score, a function of "
        "(fitted estimator, X, y) that gives one number for every row, more being better."
    )


def _log_probability(estimator: Any, X: Any, y: Any) -> Vector:
    probability = estimator.predict_proba(X)
    place = np.searchsorted(estimator.classes_, y)
    own = probability[np.arange(len(probability)), place]
    return np.asarray(np.log(np.maximum(own, np.finfo(float).tiny)))
