"""Judgements against scikit-learn's; evidence that adds up; importance that is what it says."""

import math

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, roc_auc_score

from unveil import Table, datasets
from unveil.classify import Classifier, judged, learn_classifier
from unveil.classify.importance import importance


@pytest.fixture(scope="module")
def said():
    random = np.random.default_rng(1)
    return random.dirichlet(np.ones(3), 200).round(2) + 1e-3, random.integers(3, size=200)


def test_the_figures_are_those_of_scikit_learn(said):
    shares = said[0] / said[0].sum(axis=1, keepdims=True)
    weights = np.random.default_rng(2).uniform(0.5, 2, 200)
    found = judged(shares, said[1], ("a", "b", "c"), weights)
    best = shares.argmax(axis=1)
    assert found.accuracy == pytest.approx(accuracy_score(said[1], best, sample_weight=weights))
    assert found.log_loss == pytest.approx(log_loss(said[1], shares, sample_weight=weights))
    np.testing.assert_allclose(
        found.confusion, confusion_matrix(said[1], best, sample_weight=weights)
    )
    for c, curve in enumerate(found.roc):
        area = roc_auc_score(said[1] == c, shares[:, c], sample_weight=weights)
        assert curve.area == pytest.approx(area)
        assert (curve.false_alarms[0], curve.hits[-1]) == (0.0, pytest.approx(1.0))
    shares_of = np.bincount(said[1], weights) / weights.sum()
    assert found.default_rate == pytest.approx(shares_of.max())
    assert found.bits == pytest.approx(found.log_loss / math.log(2))


def test_what_is_said_truly_is_calibrated():
    random = np.random.default_rng(3)
    p = random.random(20_000)
    truth = (random.random(20_000) < p).astype(int)
    found = judged(np.column_stack([1 - p, p]), truth, (0, 1))
    assert found.calibration_error < 0.02
    assert sum(b.weight for b in found.calibration) == pytest.approx(20_000)
    bold = np.clip(np.where(p > 0.5, 0.99, 0.01), 0, 1)
    assert judged(np.column_stack([1 - bold, bold]), truth, (0, 1)).calibration_error > 0.1


@pytest.mark.parametrize("target", ["dysp", "either", "smoke"])
def test_weights_of_evidence_add_up(target):
    asia = datasets.network("asia")
    rows = asia.sample(5, seed=1).knock_out(0.2, seed=2)
    model = Classifier(asia, target)
    shares = model.probabilities(rows)
    for found, share in zip(model.explanations(rows), shares, strict=True):
        total = found.before + sum(w.bits for w in found.weights)
        assert total == pytest.approx(found.after)
        odds = share.max() / (1 - share.max())
        if odds < 1e6:
            assert found.after == pytest.approx(math.log2(odds), abs=1e-6)
        assert all(w.bits == 0 for w in found.weights if w.value is None)


def test_weights_of_naive_bayes_are_log_ratios():
    random = np.random.default_rng(1)
    y = random.integers(2, size=300)
    frame = {"a": y ^ (random.random(300) < 0.2), "b": y ^ (random.random(300) < 0.4), "y": y}
    found = learn_classifier(
        Table.from_frame(frame), "y", "naive", parameters="generative", judge=False
    )
    why = found.classifier.explain({"a": [1], "b": [0]}, label=1)
    for weight, state in zip(sorted(why.weights, key=lambda w: w.predictor), (1, 0), strict=True):
        table = found.network.cpd(weight.predictor).values
        assert weight.bits == pytest.approx(math.log2(table[1, state] / table[0, state]))
    assert "beforehand" in str(why)


def test_importance_of_what_tells_and_of_what_does_not():
    random = np.random.default_rng(4)
    y = random.integers(2, size=500)
    frame = {"good": y ^ (random.random(500) < 0.1), "noise": random.integers(2, size=500), "y": y}
    for model, way in (("naive", "generative"), ("naive", "discriminative"), ("network", "auto")):
        found = learn_classifier(Table.from_frame(frame), "y", model, parameters=way, seed=1)
        worth = {i.predictor: i for i in found.importances}
        assert found.importances[0].predictor == "good"
        assert worth["good"].bits_interval[0] > 0.2
        assert worth["good"].accuracy > 0.3
        if "noise" in worth:
            assert abs(worth["noise"].bits) < 0.05


def test_importance_by_hand():
    whole, less = np.array([[0.8, 0.2], [0.8, 0.2]]), np.array([[0.4, 0.6], [0.8, 0.2]])
    found = importance("x", whole, less, np.array([0, 0]), np.array([1.0, 3.0]))
    assert (found.bits, found.accuracy) == (pytest.approx(0.25), 0.25)
