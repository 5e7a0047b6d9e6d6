"""`WeightAnnealing` around other people's learners: escapes, errors, scikit-learn manners."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.cluster import DBSCAN, KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor

from unveil.anneal import Adversary, Annealing, Geometric, WeightAnnealing
from unveil.errors import DataError


def blobs(seed, k=15, each=30):
    draw = np.random.default_rng(seed)
    return np.repeat(draw.uniform(0, 40, (k, 2)), each, axis=0) + draw.normal(size=(k * each, 2))


@pytest.mark.parametrize("seed", range(3))
def test_bad_centres_escape(seed):
    """All centres in one cluster: k-means stays far off, annealed it comes most of the way."""
    X = blobs(seed)
    bad = KMeans(15, init=X[:15], n_init=1)
    found = WeightAnnealing(bad, random_state=1).fit(X)
    good = KMeans(15, n_init=20, random_state=0).fit(X).inertia_
    lost = bad.fit(X).inertia_ - good
    assert found.estimator_.inertia_ - good < 0.3 * lost
    assert -found.score_ == pytest.approx(found.estimator_.inertia_)
    assert found.labels_.shape == (len(X),)
    assert found.transform(X).shape == (len(X), 15)


def test_networks_for_exclusive_or_gain_and_never_lose():
    """Two hidden units can say exclusive or, but some starts end at a local maximum.

    Which ones do, and which get out, hangs on the last digits of the machine's arithmetic.
    """
    draw = np.random.default_rng(0)
    X = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]] * 10) + 0.2 * draw.normal(size=(40, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    hot = Annealing(Adversary(), Geometric(4.0, 0.7, 0.1))
    gains = []
    for seed in range(8):
        net = MLPClassifier((2,), activation="tanh", solver="lbfgs", alpha=1e-3, max_iter=100,
                            random_state=seed)  # fmt: skip
        alone = float(net.fit(X, y).predict_log_proba(X)[np.arange(40), y].sum())
        found = WeightAnnealing(net, anneal=hot, random_state=0).fit(X, y)
        assert found.score_ == pytest.approx(
            found.estimator_.predict_log_proba(X)[np.arange(40), y].sum(), rel=1e-9
        )
        gains.append(found.score_ - alone)
    assert min(gains) > -1e-6
    assert max(gains) > 1.0


def test_rows_weigh_as_often_as_they_come():
    """The adversary's course is the same for a row of weight two and the row twice."""
    X = blobs(3, 4, 6)
    weights = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(X, weights.astype(int), axis=0)
    start = X[:4]
    learner = KMeans(4, init=start, n_init=1)
    folded = WeightAnnealing(learner, random_state=1).fit(X, sample_weight=weights)
    single = WeightAnnealing(learner, random_state=1).fit(twice)
    for one, other in zip(folded.annealed_.course, single.annealed_.course, strict=True):
        assert one.divergence == pytest.approx(other.divergence, abs=1e-9)
        assert one.score == pytest.approx(other.score)


def test_never_worse_than_alone():
    X = blobs(5)
    for word in ("adversary", "random"):
        alone = KMeans(15, n_init=1, random_state=2)
        found = WeightAnnealing(alone, anneal=word, random_state=0).fit(X)
        assert found.score_ >= -alone.fit(X).inertia_ * (1 + 1e-9)


def test_manners():
    X, y = blobs(1, 2), np.repeat([0.0, 1.0], 30)
    model = WeightAnnealing(
        MLPRegressor(hidden_layer_sizes=(2,), solver="lbfgs", max_iter=20), max_iter=3,
        random_state=1, anneal=Annealing(Adversary(), Geometric(1.0, 0.5, 0.1)),
    )  # fmt: skip
    one, other = clone(model).fit(X, y), clone(model).fit(X, y)
    assert (one.predict(X) == other.predict(X)).all()
    assert is_regressor(one)
    assert not hasattr(model, "predict_proba")
    assert model.get_params()["estimator__max_iter"] == 20
    classes = WeightAnnealing(LogisticRegression(warm_start=True), random_state=0).fit(X, y)
    assert classes.predict_proba(X).shape == (60, 2)
    assert classes.classes_.tolist() == [0.0, 1.0]
    stopped = WeightAnnealing(KMeans(2, n_init=1), time_limit=0.0, random_state=0).fit(X)
    assert stopped.annealed_.stopped == "time limit"


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (GaussianNB(), "GaussianNB cannot go on from its last solution"),
        (DBSCAN(), "DBSCAN cannot go on"),
        (None, "takes no sample_weight"),
    ],
)
def test_estimators_that_cannot(estimator, words):
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(DataError, match=words):
        WeightAnnealing(estimator or KNeighborsClassifier()).fit(blobs(1, 2), np.repeat([0, 1], 30))


def test_what_a_row_scores_is_one_number():
    X = blobs(1, 2)
    with pytest.raises(DataError, match="one number for each of the 60 rows"):
        WeightAnnealing(KMeans(2, n_init=1), row_score=lambda e, X, y: [1.0]).fit(X)
    with pytest.raises(DataError, match="adversary or random, not 'hot'"):
        WeightAnnealing(KMeans(2), anneal="hot").fit(X)
    with pytest.raises(DataError, match="nothing was given"):
        WeightAnnealing(KMeans(2), anneal=None).fit(X)


def test_forests_only_grow():
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    X, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    for grows in (RandomForestClassifier(n_estimators=2), HistGradientBoostingClassifier()):
        with pytest.raises(DataError, match="adds members to those it has"):
            WeightAnnealing(grows, random_state=0).fit(X, y)
