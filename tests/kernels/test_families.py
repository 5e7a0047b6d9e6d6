"""Walking over the rows of a family: each kernel against its plain twin, at the edges too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.kernels import families

from . import twins

DTYPES = [np.uint8, np.uint16, np.uint32]
sizes = st.sampled_from([0, 1, 7, 1000])
seeds = st.integers(0, 10**6)


@given(seeds, sizes, st.lists(st.sampled_from([1, 2, 5, 200]), min_size=1, max_size=4))
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=20, deadline=None)
def test_digits_make_the_position_of_a_cell(dtype, seed, n_rows, cards):
    generator = np.random.default_rng(seed)
    columns = [generator.integers(card, size=n_rows).astype(dtype) for card in cards]
    fast, plain = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)
    for column, card in zip(columns, cards, strict=True):
        families.push_digit(fast, column, card)
        twins.push_digit(plain, column, card)
    np.testing.assert_array_equal(fast, plain)
    np.testing.assert_array_equal(fast, np.ravel_multi_index(columns, cards) if n_rows else fast)


def test_positions_do_not_overflow_the_type_of_a_column():
    position = np.array([2**40])
    families.push_digit(position, np.array([3], np.uint8), 200)
    assert position.tolist() == [2**40 * 200 + 3]


@given(seeds, sizes, st.integers(1, 50))
@settings(max_examples=30, deadline=None)
def test_tallies_add_to_what_is_there(seed, n_rows, cells):
    generator = np.random.default_rng(seed)
    position, weights = generator.integers(cells, size=n_rows), generator.gamma(1.0, size=n_rows)
    start = generator.random(cells)
    fast, plain = start.copy(), start.copy()
    families.tally(position, weights, fast)
    twins.tally(position, weights, plain)
    np.testing.assert_allclose(fast, plain, rtol=1e-12)
    assert fast.sum() == pytest.approx(start.sum() + weights.sum(), rel=1e-12)


@given(seeds, sizes, st.integers(1, 50))
@settings(max_examples=30, deadline=None)
def test_looked_up_values_add_to_what_is_there(seed, n_rows, cells):
    generator = np.random.default_rng(seed)
    values, position = generator.normal(size=cells), generator.integers(cells, size=n_rows)
    values[0] = -np.inf
    start = generator.normal(size=n_rows)
    fast, plain = start.copy(), start.copy()
    families.add_looked_up(fast, values, position)
    twins.add_looked_up(plain, values, position)
    np.testing.assert_array_equal(fast, plain)
    np.testing.assert_array_equal(fast, [s + values[p] for s, p in zip(start, position)])  # noqa: B905


@given(seeds, sizes, st.integers(1, 6), st.integers(1, 5))
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=20, deadline=None)
def test_draws_invert_the_cumulative_distribution(dtype, seed, n_rows, n_states, n_parent_rows):
    generator = np.random.default_rng(seed)
    rows = generator.dirichlet(np.ones(n_states), size=n_parent_rows)
    rows[generator.random(rows.shape) < 0.3] = 0.0
    cumulative = np.cumsum(rows, axis=1)
    row, uniform = generator.integers(n_parent_rows, size=n_rows), generator.random(n_rows)
    uniform[: n_rows // 3] = 0.0
    # Exactly on a boundary: the state that ends there is not drawn, the next one is.
    on_edge = np.arange(n_rows // 3, n_rows // 2)
    uniform[on_edge] = cumulative[row[on_edge], 0]
    fast, plain = np.full((2, n_rows), 99, dtype)
    families.draw_states(cumulative, row, uniform, fast)
    twins.draw_states(cumulative, row, uniform, plain)
    np.testing.assert_array_equal(fast, plain)
    for i in range(min(n_rows, 50)):
        later = [s for s in range(n_states) if uniform[i] < cumulative[row[i], s]]
        assert fast[i] == (later[0] if later else n_states - 1)
