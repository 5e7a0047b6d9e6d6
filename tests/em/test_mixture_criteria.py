"""Probabilistic K-means and further criteria for the number of classes, against enumeration."""

import itertools
import math

import numpy as np
import pytest

from unveil import BDe, EquivalentSampleSize, Network, Table, TableCPD, Variable, latent_classes
from unveil.em import effective_dimension
from unveil.em.mixture.criteria import criterion, mixture_dimension
from unveil.em.mixture.k_means import _counts, _log_marginal, completed_by, k_means
from unveil.errors import DataError
from unveil.score import FamilyScores

PRIOR = EquivalentSampleSize(1.0)
H = Variable("h", [0, 1], hidden=True)


def mixture(n_rows, seed=1, columns=4):
    h = Variable("h", [0, 1])
    strong = [[0.9, 0.1], [0.15, 0.85]]
    xs = [TableCPD(Variable(f"x{i}", [0, 1]), [h], strong) for i in range(columns)]
    return Network([TableCPD(h, [], [0.6, 0.4]), *xs]).sample(n_rows, seed=seed).without("h")


def test_what_a_completion_is_worth_is_bde_of_the_completed_rows(random_seed):
    rows = mixture(30, random_seed)
    labels = np.random.default_rng(random_seed).integers(2, size=30)
    worth = _log_marginal(rows, H, _counts(rows, H, labels), PRIOR)
    completed = rows.with_column(Variable("h", [0, 1]), labels)
    found = k_means(rows, H, PRIOR, seed=1).network
    assert worth == pytest.approx(FamilyScores(completed, BDe(PRIOR)).total(found.dag))


def test_no_completion_is_better_than_the_best_of_all():
    rows = mixture(9, 3)
    worth = [
        _log_marginal(rows, H, _counts(rows, H, np.array(labels)), PRIOR)
        for labels in itertools.product(range(2), repeat=9)
    ]
    found = max(k_means(rows, H, PRIOR, seed=s).log_probability for s in range(12))
    assert found == pytest.approx(max(worth), abs=1e-9)


def test_k_means_tells_classes_apart_and_gaps_do_no_harm():
    rows = mixture(400, 1, columns=8)
    found = max((k_means(rows.knock_out(0.1, seed=1), H, PRIOR, seed=s) for s in range(5)),
                key=lambda c: c.log_probability)  # fmt: skip
    by_em = latent_classes(rows, 2, n_starts=2, seed=1)
    same = found.labels == by_em.network.posterior(rows, of="class")["class"].argmax(axis=1)
    assert max(same.mean(), 1 - same.mean()) > 0.9


@pytest.mark.parametrize("start", ["k-means", "cluster", "random", "both"])
def test_every_way_to_start_finds_the_classes(start):
    rows = mixture(500, 2, columns=6)
    found = latent_classes(rows, 2, n_starts=3, seed=1, start=start)
    best = latent_classes(rows, 2, n_starts=8, seed=2)
    assert found.best.log_likelihood == pytest.approx(best.best.log_likelihood, abs=0.01)
    kinds = {s.kind for s in found.best.starts}
    assert kinds == ({"cluster", "random"} if start == "both" else {start})


@pytest.mark.parametrize("score", ["completion", "laplace", "effective-bic"])
def test_criteria_choose_the_classes_that_are_there(score):
    rows = mixture(800, 5, columns=7)
    found = latent_classes(rows, [1, 2, 3], score, n_starts=3, seed=1)
    assert found.n_classes == 2
    assert all(math.isfinite(m.criterion) or m.n_classes == 3 for m in found.mixtures)
    assert found.score_name == score


def test_completion_is_never_above_the_marginal_likelihood():
    """log P(X, C) <= log P(X): summed over all completions of a few rows."""
    rows = mixture(8, 3)
    worth = [
        _log_marginal(rows, H, _counts(rows, H, np.array(labels)), PRIOR)
        for labels in itertools.product(range(2), repeat=8)
    ]
    exact = np.logaddexp.reduce(worth)
    found = latent_classes(rows, 2, n_starts=2, seed=1, prior=PRIOR, name="h")
    completed = completed_by(found.network, "h", rows, PRIOR)
    assert completed.log_probability <= exact
    at = criterion("laplace", 0.0, found.network, "h", rows, PRIOR)
    assert at == -math.inf or abs(at - exact) < 5


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("cards", [(2, 2), (2, 2, 2), (2, 2, 2, 2), (3, 3, 2)])
def test_dimensions_by_listing_all_cells(k, cards):
    """Three classes of four binary columns have 14 parameters and dimension 13 (Goodman 1974)."""
    h = Variable("h", range(k), hidden=True)
    xs = [TableCPD.uniform(Variable(f"x{i}", range(c)), [h]) for i, c in enumerate(cards)]
    network = Network([TableCPD.uniform(h), *xs])
    assert mixture_dimension(network, "h") == effective_dimension(network)
    if (k, cards) == (3, (2, 2, 2, 2)):
        assert (network.n_parameters, mixture_dimension(network, "h")) == (14, 13)


def test_many_columns_are_drawn_from():
    h = Variable("h", range(3), hidden=True)
    xs = [TableCPD.uniform(Variable(f"x{i}", [0, 1]), [h]) for i in range(20)]
    network = Network([TableCPD.uniform(h), *xs])
    assert mixture_dimension(network, "h") == network.n_parameters


def test_an_unknown_start_is_refused():
    with pytest.raises(DataError, match=r"starts from one of.*Did you mean 'k-means'"):
        latent_classes(Table.from_frame({"x": ["a", "b"]}), 2, start="kmeans")
