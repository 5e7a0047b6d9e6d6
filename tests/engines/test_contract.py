"""Fixed trees of sums, few sets that hold many, ceilings: what every engine stands on."""

from itertools import combinations

import numpy as np
import pytest

from unveil import open_rows
from unveil.engines import Ceiling, ThreadRunner, engines, tree_sum
from unveil.engines.ceiling import bytes_of
from unveil.engines.covering import covering, summed_to
from unveil.errors import DataError, SizeError


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 100])
def test_a_tree_of_sums_has_every_item_once_and_is_flat(n):
    found = tree_sum(iter([(i, 0) for i in range(n)]), lambda a, b: ((a[0], b[0]), max(a, b, key=lambda x: x[1])[1] + 1))  # fmt: skip # noqa: E501
    assert found[1] <= np.ceil(np.log2(n)) + 1

    def leaves(tree):
        return [tree] if isinstance(tree, int) else leaves(tree[0]) + leaves(tree[1])

    assert leaves(found[0]) == list(range(n))


def test_sums_do_not_depend_on_the_number_of_workers():
    numbers = np.random.default_rng(0).normal(size=1000) * 1e10
    sums = {
        ThreadRunner(k).sum(lambda x: x, numbers.tolist(), add=lambda a, b: a + b)
        for k in (1, 2, 8)
    }
    assert len(sums) == 1


def test_an_error_in_a_part_comes_out():
    with pytest.raises(ZeroDivisionError):
        list(ThreadRunner(3).each(lambda x: 1 // x, [2, 1, 0, 5, 6, 7, 8]))


def test_few_sets_hold_many():
    cards = {m: 2 + m % 3 for m in range(12)}
    sets = [*combinations(range(12), 3), (0,), ()]
    covers = covering(sets, cards)
    assert len(set(covers)) < 40
    assert all(set(c) >= set(s) for c, s in zip(covers, sets, strict=True))
    assert all(np.prod([cards[m] for m in c]) <= 4096 for c in covers)
    large = covering([(0, 1), (1, 2)], {0: 5000, 1: 2, 2: 2})
    assert large == [(0, 1), (1, 2)]
    counts = np.arange(24.0).reshape(2, 3, 4)
    found = summed_to(counts, (1, 4, 7), (7, 1))
    np.testing.assert_array_equal(found, counts.sum(axis=1).T)


def test_sizes_in_words():
    assert bytes_of("1 GiB") == 1 << 30
    assert bytes_of("1GB") == 10**9
    assert bytes_of("1g") == 1 << 30
    assert bytes_of("12") == 12
    for nonsense in ("much", "", "1..2GB", "-1GB", "3 apples"):
        with pytest.raises(DataError):
            bytes_of(nonsense)
    with pytest.raises(DataError, match="more than nothing"):
        bytes_of(0)


def test_a_ceiling_says_what_is_needed():
    with pytest.raises(SizeError, match=r"Give at least 580\.0 MiB"):
        Ceiling.of("100MB")
    with pytest.raises(SizeError, match=r"a part of 4,096 rows of 100,000 columns needs about"):
        Ceiling.of("1GiB").n_workers(100_000, None)
    assert Ceiling.of("1GiB").n_workers(20, 64) < Ceiling.of("4GiB").n_workers(20, 64) <= 64
    assert Ceiling.of("1GiB").part_rows(20) == Ceiling.of("64GiB").part_rows(20)


def test_engines_are_found_by_entry_point(monkeypatch, folder):
    from unveil.engines import installed

    class Point:
        name = "mine"

        def load(self):
            return lambda data, *_: (
                engines_before["parquet"](folder, *_) if data == "here" else None
            )

    engines_before = dict(engines())
    monkeypatch.setattr(installed, "entry_points", lambda group: [Point()])
    engines.cache_clear()
    try:
        assert open_rows("here", engine="mine").total_weight == 3000
        with pytest.raises(DataError, match=r"there is no engine 'mime'.*Did you mean 'mine'"):
            open_rows("here", engine="mime")
        with pytest.raises(DataError, match="the engine 'mine' cannot read there"):
            open_rows("there", engine="mine")
    finally:
        monkeypatch.undo()
        engines.cache_clear()
