"""Discriminative parameters: gradients, logistic regression, and weights that become networks."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from unveil.classify.classifier import Classifier
from unveil.classify.discriminative import Design, climb
from unveil.classify.families import shares
from unveil.classify.networks import weighted_network
from unveil.classify.structure import k_dependence, naive, tree_augmented
from unveil.kernels.left_out import conditional_loss

from .test_left_out import random_columns


def test_supervised_naive_bayes_is_logistic_regression():
    """The course, "Optimizing the conditional likelihood": the same function, the same maximum."""
    columns = random_columns(1, n=200, numbers=False)
    weights = climb(columns, naive(columns), 0.5, tolerance=1e-13)
    network = weighted_network(columns, naive(columns), weights)
    said = Classifier(network, "y").probabilities(columns.table)
    X = np.array([columns.codes(name) for name in columns.names]).T
    hot = OneHotEncoder(sparse_output=False).fit_transform(X)
    peer = LogisticRegression(C=1 / 0.5, tol=1e-10, max_iter=5000).fit(hot, columns.classes)
    np.testing.assert_allclose(said, peer.predict_proba(hot), atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_exact(seed):
    columns = random_columns(seed, n=25, weights=True)
    design = Design.of(columns, tree_augmented(columns))
    random = np.random.default_rng(seed)
    k, n_tables = columns.n_classes, design.n_weights * columns.n_classes
    flat = random.normal(size=n_tables + design.numbers.shape[1] * k)

    def loss(values, gradient=None):
        parts = [np.ascontiguousarray(p).reshape(-1, k) for p in np.split(values, [n_tables])]
        grads = [np.empty_like(p) for p in parts]
        found = conditional_loss(
            *parts, design.places, design.numbers, columns.classes, columns.weights, *grads
        )
        if gradient is not None:
            gradient[:] = np.concatenate([g.ravel() for g in grads])
        return found

    exact = np.empty_like(flat)
    loss(flat, exact)
    np.testing.assert_allclose(exact, approx_fprime(flat, loss, 1e-6), atol=1e-3)


MODELS = {
    "naive": naive,
    "tan": tree_augmented,
    "kdb": lambda c: k_dependence(c, 2, perfect=True),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_network_has_the_posterior_of_the_weights(name, n_classes):
    columns = random_columns(5, n=80, k=n_classes)
    structure = MODELS[name](columns)
    weights = climb(columns, structure, 0.1)
    design = Design.of(columns, structure)
    tables, slopes = np.split(weights.flat, [design.n_weights * n_classes])
    scores = tables.reshape(-1, n_classes)[design.places].sum(axis=1)
    scores += design.numbers @ slopes.reshape(-1, n_classes)
    network = weighted_network(columns, structure, weights)
    said = Classifier(network, "y").probabilities(columns.table)
    seen = ~np.isnan(columns.values("x"))  # a missing number is summed over, not taken as zero
    np.testing.assert_allclose(said[seen], shares(scores)[seen], atol=1e-9)
    share = (np.bincount(columns.classes) + 0.5) / (columns.n_rows + 0.5 * n_classes)
    np.testing.assert_allclose(network.cpd("y").values, share, atol=1e-4)


def test_it_beats_counting_on_the_rows_it_was_climbed_on():
    from unveil.classify.families import left_out_scores, log_share
    from unveil.classify.networks import counted_network

    columns = random_columns(6, n=150, numbers=False)
    for structure in (naive(columns), tree_augmented(columns)):
        counted = counted_network(columns, structure, 1.0)
        climbed = weighted_network(columns, structure, climb(columns, structure, 1e-3))
        losses = [
            -np.log(Classifier(n, "y").probabilities(columns.table)[range(150), columns.classes])
            for n in (counted, climbed)
        ]
        assert losses[1].mean() < losses[0].mean()
    assert log_share(columns, left_out_scores(columns, naive(columns), 1.0)) < 0


def test_a_predictor_that_says_it_all_does_not_run_off():
    columns = random_columns(7, n=60, k=2, numbers=False)
    table = columns.table.with_column(columns.table.variable("c"), columns.classes)
    columns = columns.take(table)
    weights = climb(columns, naive(columns), 0.1)
    assert np.abs(weights.tables["c"]).max() < 10
    network = weighted_network(columns, naive(columns), weights)
    said = Classifier(network, "y").probabilities(columns.table)
    assert (said.argmax(axis=1) == columns.classes).all()
