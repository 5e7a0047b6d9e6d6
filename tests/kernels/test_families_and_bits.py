"""Compiled kernels against their plain twins: walking over rows, bitmaps, data terms."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.kernels import bits, families, scoring
from unveil.kernels.scoring import DIRICHLET, FACTORISED_NML, LIKELIHOOD, DataTerm, Rows

from . import twins

TERMS = [
    DataTerm(LIKELIHOOD, 0.0, False),
    DataTerm(DIRICHLET, 1.0, False),
    DataTerm(DIRICHLET, 2.5, True),
    DataTerm(FACTORISED_NML, 0.0, False),
]
N_ROWS = [1, 3, 4, 63, 64, 65, 130, 257]


def codes_of(seed, cards, n_rows, dtype=np.uint8):
    random = np.random.default_rng(seed)
    return np.array([random.integers(c, size=n_rows) for c in cards]).astype(dtype)


def rows_of(seed, cards, n_rows, dtype=np.uint8, weighted=False):
    """The record the kernels see, made here by hand."""
    codes, cards = codes_of(seed, cards, n_rows, dtype), np.array(cards, np.int64)
    weights = np.random.default_rng(seed).gamma(1.0, size=n_rows) if weighted else np.zeros(0)
    first = np.concatenate([[0], np.cumsum(cards)[:-1]]).astype(np.int64)
    out = np.zeros((cards.sum(), 0 if weighted else -(-n_rows // 64)), np.uint64)
    if not weighted:
        twins.state_bitmaps(codes, first, out)
    return Rows(codes, weights, cards, out, first)


def counts_by_hand(rows, members):
    counts = np.zeros([rows.cards[m] for m in members])
    weights = rows.weights if rows.weights.size else np.ones(rows.codes.shape[1])
    np.add.at(counts, tuple(rows.codes[m].astype(int) for m in members), weights)
    return counts


@given(st.integers(0, 10**6), st.sampled_from(N_ROWS), st.sampled_from([np.uint8, np.uint16]))
@settings(max_examples=30, deadline=None)
def test_walking_over_rows(seed, n_rows, dtype):
    random = np.random.default_rng(seed)
    card = 7 if dtype == np.uint8 else 300
    column = random.integers(card, size=n_rows).astype(dtype)
    position = random.integers(4, size=n_rows)
    weights = random.gamma(1.0, size=n_rows)
    fast, plain = position.copy(), position.copy()
    families.push_digit(fast, column, card)
    twins.push_digit(plain, column, card)
    assert fast.tolist() == plain.tolist() == (position * card + column).tolist()
    totals = np.ones((2, 4 * card))
    families.tally(fast, weights, totals[0])
    twins.tally(fast, weights, totals[1])
    np.testing.assert_allclose(*totals)
    sums = np.ones((2, n_rows))
    families.add_looked_up(sums[0], totals[0], fast)
    twins.add_looked_up(sums[1], totals[0], fast)
    assert sums[0].tolist() == sums[1].tolist()


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from(N_ROWS))
@settings(max_examples=30, deadline=None)
def test_drawing_states(seed, n_states, n_rows):
    random = np.random.default_rng(seed)
    cumulative = np.cumsum(random.dirichlet(np.ones(n_states), size=3), axis=1)
    row = random.integers(3, size=n_rows)
    # Some draws hit a boundary exactly: that state is full, the next one is drawn.
    uniform = np.where(random.random(n_rows) < 0.3, cumulative[row, 0], random.random(n_rows))
    out = np.zeros((2, n_rows), np.uint8)
    families.draw_states(cumulative, row, uniform, out[0])
    twins.draw_states(cumulative, row, uniform, out[1])
    assert out[0].tolist() == out[1].tolist()


@given(st.integers(0, 10**6), st.sampled_from(N_ROWS), st.sampled_from([np.uint8, np.uint16]))
@settings(max_examples=30, deadline=None)
def test_bitmaps(seed, n_rows, dtype):
    cards = np.array([2, 1, 5])
    codes = codes_of(seed, cards, n_rows, dtype)
    first = np.array([0, 2, 3])
    fast, plain = np.zeros((2, 8, -(-n_rows // 64)), np.uint64)
    bits.state_bitmaps(codes, first, fast)
    twins.state_bitmaps(codes, first, plain)
    assert fast.tolist() == plain.tolist()
    for a in fast:
        for b in fast:
            assert bits.count_common(a, b) == twins.count_common(a, b)
    assert bits.count_common(fast[2], fast[2]) == n_rows


@given(
    st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3),
    st.sampled_from(TERMS), st.booleans(),
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_data_term(seed, n_u, n_states, n_added, term, fractional):
    random = np.random.default_rng(seed)
    size = n_u * n_states * n_added
    counts = random.poisson(1.0, size) * (random.random(size) if fractional else 1.0)
    padded = np.concatenate([counts, [99.0, 99.0]])
    shape = n_u, n_states, n_added, 3.0 * size, term
    fast = scoring.data_term(padded, *shape, scoring.NO_MEMO)
    if not fractional:
        memo = np.zeros((200, 2, 3))
        for _ in range(2):
            assert scoring.data_term(padded, *shape, memo) == fast
            assert not memo[np.arange(200) != 3 * size].any()
        assert term.mode == DIRICHLET or not memo.any()
    plain = scoring.data_term_plain(padded, n_u, n_states, n_added, 3.0 * size, term)
    assert fast == pytest.approx(plain, rel=1e-10, abs=1e-10)


@given(st.integers(0, 10**6), st.sampled_from(N_ROWS), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_base_positions(seed, n_rows, size):
    rows = rows_of(seed, (2, 3, 1, 300), n_rows, np.uint16)
    members = np.random.default_rng(seed).permutation(4)[:size]
    out = np.full(n_rows, -7)
    scoring.base_positions(rows.codes, rows.cards, members, out)
    expected = np.ravel_multi_index([rows.codes[m] for m in members], rows.cards[members])
    assert out.tolist() == expected.tolist()


def test_base_positions_of_nobody():
    out = np.full(5, -7)
    scoring.base_positions(np.zeros((1, 5), np.uint8), np.array([2]), np.zeros(0, np.int64), out)
    assert out.tolist() == [0] * 5


@given(
    st.integers(0, 10**6), st.sampled_from(N_ROWS), st.integers(1, 4), st.sampled_from([1, 6, 50])
)
@settings(max_examples=60, deadline=None)
def test_family_bitmaps_by_enumeration(seed, n_rows, size, room):
    rows = rows_of(seed, (2, 3, 1, 4), n_rows)
    members = np.random.default_rng(seed).permutation(4)[:size]
    maps = np.zeros((room, rows.bits.shape[1]), np.uint64)
    index, sizes = np.zeros(room, np.int64), np.zeros(room, np.int64)
    n = scoring.family_bitmaps(rows, members, maps, index, sizes)
    position = np.ravel_multi_index([rows.codes[m] for m in members], rows.cards[members])
    occurring = np.unique(position)
    if n < 0:
        assert occurring.size > room
        return
    assert sorted(index[:n].tolist()) == occurring.tolist()
    unpacked = np.unpackbits(maps[:n].view(np.uint8), axis=1, bitorder="little")
    for i in range(n):
        assert np.flatnonzero(unpacked[i]).tolist() == np.flatnonzero(position == index[i]).tolist()
        assert sizes[i] == (position == index[i]).sum()


def test_family_bitmaps_have_just_enough_room():
    rows = rows_of(1, (2, 3), 200)
    for room in range(1, 8):
        maps = np.zeros((room, rows.bits.shape[1]), np.uint64)
        index, sizes = np.zeros(room, np.int64), np.zeros(room, np.int64)
        n = scoring.family_bitmaps(rows, np.array([0, 1]), maps, index, sizes)
        assert n == (6 if room >= 6 else -1)


SHAPES = [((2, 3, 1, 4), np.uint8), ((2, 3, 1, 260), np.uint16)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("cards", "dtype"), SHAPES)
@pytest.mark.parametrize("n_rows", N_ROWS)
def test_scores_of_families_from_counts_by_hand(cards, dtype, n_rows, weighted):
    rows = rows_of(n_rows, cards, n_rows, dtype, weighted)
    families = [(3, 0, -1, -1), (0, -1, -1, -1), (0, 1, 2, -1), (3, 1, 0, 2), (2, 1, -1, -1)]
    array = np.array(families)
    for term in TERMS:
        for room in (0, 320) if not weighted else (0,):
            out = np.zeros(len(families))
            scoring.score_families(rows, array, term, room, 0, 2, out)
            scoring.score_families(rows, array, term, room, 2, 5, out)
            for value, family in zip(out, families, strict=True):
                counts = counts_by_hand(rows, [m for m in family if m >= 0])
                r = counts.shape[-1]
                expected = scoring.data_term_plain(
                    counts.ravel(), counts.size // r, r, 1, float(counts.size), term
                )
                assert value == pytest.approx(expected, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("cards", "dtype"), SHAPES)
@pytest.mark.parametrize("n_rows", N_ROWS)
def test_scores_of_toggles_from_counts_by_hand(cards, dtype, n_rows, weighted):
    rows = rows_of(n_rows, cards, n_rows, dtype, weighted)
    n = len(cards)
    for parents in ([], [1], [3, 1]):
        members = np.array([*parents, 0])
        base = np.zeros(n_rows, np.int64)
        scoring.base_positions(rows.codes, rows.cards, members, base)
        maps = np.zeros((60, rows.bits.shape[1]), np.uint64)
        index, sizes = np.zeros(60, np.int64), np.zeros(60, np.int64)
        by_maps = -1 if weighted else scoring.family_bitmaps(rows, members, maps, index, sizes)
        cells = int(np.prod(rows.cards[members]))
        for term, n_maps, largest in product(TERMS, {-1, by_maps}, (10**6, 3 * cells)):
            out, memo = np.zeros(n), np.zeros((0 if weighted else 50, 2, 50))
            scoring.score_toggles(
                rows, members, largest, base, n_maps, maps, index, sizes, term, memo, 0, n, out
            )
            for v, value in enumerate(out):
                toggled = sorted({*parents} ^ ({v} - {0}))
                counts = counts_by_hand(rows, [*toggled, 0])
                r = counts.shape[-1]
                expected = scoring.data_term_plain(
                    counts.ravel(), counts.size // r, r, 1, float(counts.size), term
                )
                if v not in members and counts.size > largest:
                    expected = -np.inf
                assert value == pytest.approx(expected, rel=1e-10, abs=1e-9)
