"""Clusters of ideal profiles and two-layer networks: closed forms, laws, known structures."""

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis

from unveil.ideal import Leaves, cluster_gain, cluster_profiles, find_layers, luck
from unveil.ideal.find_layers import tails
from unveil.kernels.layers import choose_parents, em_layers, expect_layers
from unveil.statistics.moments import GaussianMoments


def two_layers(n=20, k=3, rows=400, seed=1, strong=(0.6, 1.3)):
    """Rows of a network in which every leaf has one root, some two; and who has whom."""
    generator = np.random.default_rng(seed)
    arcs = generator.random((n, k)) < 0.15
    arcs[np.arange(n), np.arange(n) % k] = True
    weights = arcs * generator.uniform(*strong, (n, k)) * generator.choice([-1, 1], (n, k))
    x = generator.normal(size=(rows, k)) @ weights.T + 0.7 * generator.normal(size=(rows, n))
    return x, arcs


def leaves_of(x, **options):
    return Leaves(GaussianMoments.of_rows(x, np.ones(len(x))), **options)


def test_the_e_step_by_the_joint_normal():
    generator = np.random.default_rng(2)
    weights, variances = generator.normal(size=(6, 2)), generator.random(6) + 0.3
    x = generator.normal(size=(50, 6))
    covariance = x.T @ x / 50
    cross, second = np.empty((2, 6)), np.empty((2, 2))
    found = expect_layers(covariance, weights, variances, cross, second)
    whole = weights @ weights.T + np.diag(variances)
    inverse = np.linalg.inv(whole)
    b = weights.T @ inverse
    np.testing.assert_allclose(cross, b @ covariance, rtol=1e-10)
    np.testing.assert_allclose(
        second, np.eye(2) - b @ weights + b @ covariance @ b.T, rtol=1e-9, atol=1e-12
    )
    expected = -0.5 * (
        6 * np.log(2 * np.pi) + np.linalg.slogdet(whole)[1] + np.trace(inverse @ covariance)
    )
    assert found == pytest.approx(expected)


def test_em_is_factor_analysis_and_never_falls():
    x, _ = two_layers()
    own = leaves_of(x, floor=1e-8)
    found = own.dense(3)
    found = own.fitted(found.arcs, found.weights, found.variances, 5000, 1e-13)
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    peer = FactorAnalysis(3, tol=1e-9, max_iter=5000, svd_method="lapack").fit(standard)
    assert found.log_likelihood == pytest.approx(peer.score(standard) * len(x), rel=1e-6)
    weights, variances = np.full((20, 1), 0.3), np.ones(20)
    before = -np.inf
    for _ in range(20):
        arcs = np.ones((20, 1), np.uint8)
        now = em_layers(own.correlation, arcs, own.floor, weights, variances, 1, 0.0)
        assert now >= before - 1e-10
        before = now


def test_choosing_parents_is_the_best_single_change_again_and_again():
    x, arcs = two_layers(n=9, k=3)
    own = leaves_of(x)
    truth = own.fitted(arcs.astype(np.uint8), 0.5 * arcs, np.ones(9))
    cross, second = own._expected(truth)

    def score(i, parents):
        j = np.flatnonzero(parents)
        left = own.correlation[i, i]
        if j.size:
            left -= cross[j, i] @ np.linalg.solve(second[np.ix_(j, j)], cross[j, i])
        return -0.5 * own.rows * np.log(max(left, own.floor[i])) - own.cost * j.size

    chosen = np.zeros((9, 3), np.uint8)
    choose_parents(own.correlation, cross, second, own.floor, own.rows, own.cost, 3, chosen)
    for i in range(9):
        for j in range(3):
            other = chosen[i].copy()
            other[j] = 1 - other[j]
            assert score(i, other) <= score(i, chosen[i]) + 1e-6
    few = np.zeros((9, 3), np.uint8)
    choose_parents(own.correlation, cross, second, own.floor, own.rows, own.cost, 1, few)
    assert few.sum(axis=1).max() <= 1


def test_the_gain_of_two_profiles_is_exact_and_the_eigenvalue_is_c1():
    generator = np.random.default_rng(3)
    y = generator.normal(size=(2, 100))
    y /= np.sqrt(np.square(y).sum(axis=1, keepdims=True) / 100)
    a = y @ y.T
    r = a[0, 1] / 100
    top = float(np.linalg.eigvalsh(a)[-1])
    assert cluster_gain(top, 2, 100, 0.0) == pytest.approx(-50 * np.log(1 - r**2))
    v = np.linalg.eigh(a)[1][:, -1]
    z = v @ y  # Eq. 7.12
    summed = sum((z @ one) ** 2 / (z @ z) / 2 for one in y)  # sigma = 1
    assert summed == pytest.approx(top / 2)  # Eq. 7.10


def test_clusters_are_found_one_after_the_other():
    generator = np.random.default_rng(4)
    h = generator.normal(size=(2, 500))
    y = generator.normal(size=(9, 500))
    y[:4] += 1.2 * h[0]
    y[4:7] -= 1.2 * h[1]
    found = cluster_profiles(y @ y.T, 500.0, 3.0)
    assert {c.members for c in found[:2]} == {(0, 1, 2, 3), (4, 5, 6)}
    assert all(c.gain > 0 for c in found)
    assert cluster_profiles(np.eye(5) * 500, 500.0, 3.0) == []


@pytest.mark.parametrize("seed", range(4))
def test_the_number_of_roots_and_most_children_are_found(seed):
    x, arcs = two_layers(seed=seed)
    found = find_layers(leaves_of(x)).layers
    assert found.n_hidden == 3
    share = [max((t & f).sum() / (t | f).sum() for f in found.arcs.T > 0) for t in arcs.T]
    assert np.mean(share) > 0.85


@pytest.mark.parametrize("way", ["ideal", "turned", "all"])
def test_every_way_of_introducing_ends_and_gains(way):
    x, _ = two_layers()
    own = leaves_of(x)
    found = find_layers(own, 5, way)
    assert found.layers.score > own.alone().score
    assert 1 <= found.layers.n_hidden <= 5
    assert found.stages[0].kept


def test_nothing_is_found_where_nothing_is():
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=(200, 15))
        assert find_layers(leaves_of(x)).layers.n_hidden == 0


def test_order_of_columns_and_units_do_not_matter():
    x, _ = two_layers()
    order = np.random.default_rng(1).permutation(20)
    plain = find_layers(leaves_of(x)).layers
    moved = find_layers(leaves_of(x[:, order] * 1000 + 5)).layers
    assert moved.score == pytest.approx(plain.score, abs=1e-3)
    assert sorted(moved.arcs.sum(axis=0)) == sorted(plain.arcs.sum(axis=0))


def test_far_rows_are_not_taken_for_roots_where_rows_are_few():
    """One root and rows with heavy tails: the score asks for more roots, rows left out do not."""
    more = []
    for seed in range(3):
        generator = np.random.default_rng([8, seed])
        weights = 1.2 * generator.normal(size=(60, 1))
        x = generator.normal(size=(20, 1)) @ weights.T + 0.8 * generator.normal(size=(20, 60))
        x /= np.sqrt(generator.chisquare(3, size=(20, 1)) / 3)
        by_score, asked = find_layers(leaves_of(x)), find_layers(leaves_of(x), rows=x)
        assert tails(x) > 0.3
        more.append(by_score.layers.n_hidden)
        assert asked.layers.n_hidden == (asked.left_out or 1) == 1
        assert by_score.left_out is None
    assert max(more) > 1


def test_rows_left_out_are_asked_only_where_they_are_few_and_far():
    x, _ = two_layers()
    assert find_layers(leaves_of(x), rows=x).left_out is None
    generator = np.random.default_rng(3)
    few = generator.normal(size=(20, 4)) @ generator.normal(size=(4, 60))
    few += generator.normal(size=few.shape)
    assert find_layers(leaves_of(few)).layers.n_hidden > 1
    assert tails(few) < 0.3
    assert find_layers(leaves_of(few), rows=few).left_out is None


def test_fewer_rows_than_columns_and_copies_give_numbers():
    x, _ = two_layers(rows=12)
    found = find_layers(leaves_of(np.hstack([x, x[:, :2]])), 4).layers
    assert np.isfinite(found.score)
    assert not np.isnan(found.weights).any()


def test_luck_counts_sets():
    assert luck(5, 2) == pytest.approx(np.log(10))
    assert luck(5, 9) == pytest.approx(0.0)
