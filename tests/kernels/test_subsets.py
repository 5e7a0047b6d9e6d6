"""Work over all subsets, against the definitions."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.kernels import subsets
from unveil.kernels.scoring import DIRICHLET, FACTORISED_NML, LIKELIHOOD, DataTerm

from . import twins

TERMS = [
    DataTerm(LIKELIHOOD, 0.0, False),
    DataTerm(DIRICHLET, 2.0, False),
    DataTerm(DIRICHLET, 2.0, True),
    DataTerm(FACTORISED_NML, 0.0, False),
]


def test_squeeze_and_widen_are_inverse():
    for child in range(6):
        for squeezed in range(32):
            wide = subsets.widen(squeezed, child)
            assert wide >> child & 1 == 0
            assert subsets.squeeze(wide, child) == squeezed
    assert subsets.squeeze(0b1011, 2) == 0b111


@given(
    st.integers(0, 10**6), st.sampled_from(TERMS), st.integers(0, 5), st.integers(0, 3),
    st.booleans(), st.sampled_from([1, 7, 120]),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_terms_of_sets(seed, term, most, first, fractional, n_rows):
    random = np.random.default_rng(seed)
    cards = np.array([2, 3, 1, 4, 2])
    codes = np.array([random.integers(c, size=n_rows) for c in cards]).astype(np.uint8)
    weights = random.gamma(1.0, size=n_rows) if fractional else random.poisson(9.0, n_rows) * 1.0
    for prefix in range(1 << first):
        fast, plain = np.full((2, 32), np.nan)
        if prefix.bit_count() <= most:
            subsets.set_terms(codes, weights, cards, prefix, first, most, term, 3.0, fast)
            twins.set_terms(codes, weights, cards, prefix, first, most, term, 3.0, plain)
        np.testing.assert_allclose(fast, plain, rtol=1e-10, atol=1e-9)


@given(st.integers(0, 10**6), st.sampled_from([1, 5, 60]))
@settings(max_examples=20, deadline=None)
def test_folded_rows(seed, n_rows):
    random = np.random.default_rng(seed)
    cards = np.array([2, 1, 3])
    codes = np.array([random.integers(c, size=n_rows) for c in cards]).astype(np.uint8)
    weights = random.gamma(1.0, size=n_rows)
    first, sums = subsets.fold_rows(codes, weights, cards)
    expected = {}
    for row, weight in zip(codes.T.tolist(), weights, strict=True):
        expected[tuple(row)] = expected.get(tuple(row), 0.0) + weight
    folded = dict(zip(map(tuple, codes[:, first].T.tolist()), sums, strict=True))
    assert folded == pytest.approx(expected)


@pytest.mark.parametrize("n", [0, 1, 3, 8])
def test_best_over_subsets(n):
    values = np.random.default_rng(n).normal(size=1 << n)
    fast, plain = values.copy(), values.copy()
    subsets.best_over_subsets(fast)
    twins.best_over_subsets(plain)
    assert fast.tolist() == plain.tolist()


def test_best_over_subsets_beyond_one_block():
    values = np.random.default_rng(0).normal(size=1 << 14)
    best = values.copy()
    subsets.best_over_subsets(best)
    for subset in (0, 1, 0b10000000000001, (1 << 14) - 1):
        inside = [s for s in range(1 << 14) if s & ~subset == 0]
        assert best[subset] == values[inside].max()


def test_family_terms_and_limits():
    random = np.random.default_rng(1)
    joint, rows = random.normal(size=(2, 16))
    kinds, strides = np.array([0b0101, 0b1010]), np.array([3, 1])
    penalty = random.normal(size=9)
    out = np.zeros(8)
    subsets.family_terms(1, joint, rows, kinds, strides, penalty, 0b1101, 0b0001, 2, out)
    for squeezed in range(8):
        parents = subsets.widen(squeezed, 1)
        if not parents & 1 or parents.bit_count() > 2:
            assert out[squeezed] == -np.inf
            continue
        shape = 3 * (parents & 0b0101).bit_count() + (parents & 0b1010).bit_count()
        assert out[squeezed] == joint[parents | 2] - rows[parents] - penalty[shape]


def test_best_networks_over_all_orders():
    """Best over every order of the variables, each with its best parents among those before it."""
    n = 4
    families = np.random.default_rng(2).normal(size=(n, 1 << n - 1))
    for row in families:
        subsets.best_over_subsets(row)
    best = np.zeros(1 << n)
    subsets.best_networks(families, 1, 5, best)
    subsets.best_networks(families, 5, 1 << n, best)
    for subset in range(1, 1 << n):
        members = [v for v in range(n) if subset >> v & 1]
        expected = max(
            sum(
                families[c, subsets.squeeze(sum(1 << v for v in order[:i]), c)]
                for i, c in enumerate(order)
            )
            for order in permutations(members)
        )
        assert best[subset] == pytest.approx(expected)
