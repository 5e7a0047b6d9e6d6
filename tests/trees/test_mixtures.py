"""Mixtures whose components have structures of their own."""

import json

import numpy as np
import pytest
from scipy.special import logsumexp

from unveil import Network, Table, TableCPD, Variable, datasets, fit, trees
from unveil.errors import FormatError, ModelError
from unveil.trees import NetworkMixture, em_shares, weighted_networks

from .cases import rows, two_groups


@pytest.fixture(scope="module")
def asia_pair():
    asia = datasets.network("asia")
    return NetworkMixture((0.3, 0.7), (asia, fit(asia.dag, asia.sample(50, seed=1))))


def test_the_mixture_is_the_sum_of_its_parts(asia_pair):
    table = asia_pair.sample(200, seed=2)
    parts = np.array([n.row_log_likelihoods(table) for n in asia_pair.components]).T
    expected = logsumexp(parts + np.log([0.3, 0.7]), axis=1)
    np.testing.assert_allclose(asia_pair.row_log_likelihoods(table), expected)
    weights = np.arange(200.0)
    assert asia_pair.log_likelihood(table.with_weights(weights)) == pytest.approx(
        expected @ weights
    )
    np.testing.assert_allclose(asia_pair.posterior(table).sum(axis=1), 1.0)
    gaps = table.knock_out(0.3, seed=1)
    assert (asia_pair.row_log_likelihoods(gaps) >= expected - 1e-9).all()


def test_draws_are_of_the_mixture():
    coin = Variable("coin", ["heads", "tails"])
    coins = tuple(Network([TableCPD(coin, [], [p, 1 - p])]) for p in (0.1, 0.9))
    drawn = NetworkMixture((0.3, 0.7), coins).sample(20_000, seed=3)
    assert np.mean(drawn.column("coin") == 0) == pytest.approx(0.3 * 0.1 + 0.7 * 0.9, abs=0.02)


def test_saved_and_read_again(asia_pair, tmp_path):
    path = tmp_path / "mixture.json"
    asia_pair.save(path)
    again = NetworkMixture.load(path)
    assert again.shares == asia_pair.shares
    assert again.components == asia_pair.components
    assert str(again) == str(asia_pair)
    written = json.loads(path.read_text())
    for change, said in (
        ({"format": "x"}, "this is no mixture"),
        ({"version": 9}, "version 9 is not known"),
        ({"shares": "half"}, "have to be lists"),
    ):
        path.write_text(json.dumps({**written, **change}))
        with pytest.raises(FormatError, match=said):
            NetworkMixture.load(path)
    path.write_text("{")
    with pytest.raises(FormatError, match="cannot be read"):
        NetworkMixture.load(path)
    with pytest.raises(FormatError, match="cannot be read"):
        NetworkMixture.load(tmp_path / "none.json")


def test_shares_and_columns_are_checked(asia_pair):
    asia = asia_pair.components[0]
    for shares, networks, said in (
        ((1.0,), (asia, asia), "a share for every network"),
        ((0.5, 0.6), (asia, asia), "sum to one"),
        ((0.5, 0.5), (asia, datasets.network("alarm")), "the same columns"),
    ):
        with pytest.raises(ModelError, match=said):
            NetworkMixture(shares, networks)


def test_shares_by_em_are_the_best():
    random = np.random.default_rng(1)
    logs, weights = random.normal(size=(50, 2)), random.random(50)
    shares, likelihood = em_shares(logs, weights)
    grid = [
        logsumexp(logs + np.log([s, 1 - s]), axis=1) @ weights
        for s in np.linspace(0.001, 0.999, 999)
    ]
    assert likelihood == pytest.approx(max(grid), abs=1e-4)
    assert shares.sum() == pytest.approx(1.0)
    asia = datasets.network("asia")
    found = weighted_networks(
        [asia, fit(asia.dag, asia.sample(5, seed=1))], asia.sample(1000, seed=2)
    )
    assert found.shares[0] > 0.9


@pytest.mark.parametrize("max_parents", [1, None])
def test_components_of_their_own(max_parents):
    """Two networks with other arcs, half of the rows each, are told apart and predicted better."""
    generator = np.random.default_rng(4)
    x = generator.integers(2, size=(1200, 8))
    half = np.arange(1200) < 600
    noise = generator.random((1200, 8)) < 0.05
    x[:, 1] = np.where(half, x[:, 0], x[:, 3]) ^ noise[:, 1]
    x[:, 2] = np.where(half, x[:, 1], 1 - x[:, 4]) ^ noise[:, 2]
    x[:, 5:] = half[:, None] ^ noise[:, 5:]
    table = Table.from_frame({f"x{i}": x[:, i] for i in range(8)})
    found = trees.mixture_of_networks(table, 2, seed=1, max_parents=max_parents)
    graphs = [n.dag for n in found.mixture.components]
    assert graphs[0] != graphs[1]
    if max_parents == 1:
        assert all(len(g.parents(n)) <= 1 for g in graphs for n in g.nodes)
    assert found.log_likelihood == pytest.approx(found.mixture.log_likelihood(table))
    sure = found.mixture.posterior(table)[half].mean(axis=0).max()
    assert sure > 0.8
    alone = trees.naive_bayes(table, 2, seed=1)
    assert found.log_likelihood > alone.log_likelihood + 100
    assert "2 networks" in str(found)


def test_a_mixture_of_networks_can_be_stopped_and_validated():
    kept = two_groups().sample(100, seed=8).without(["top", "a", "b"])
    found = trees.mixture_of_networks(rows(), 2, seed=1, rounds=2, validation=kept)
    assert found.validation == pytest.approx(found.mixture.log_likelihood(kept) / 100)
    limited = trees.mixture_of_networks(rows(), 2, seed=1, time_limit=0.0)
    assert limited.stopped == "time limit"
