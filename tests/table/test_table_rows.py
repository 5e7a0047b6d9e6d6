"""Laws of folding, splitting, hiding, knocking out and conforming."""

import copy
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import DataError
from unveil.table import Table, Variable
from unveil.table import fold as fold_module


@st.composite
def small_tables(draw):
    n = draw(st.integers(1, 30))
    codes = st.lists(st.sampled_from([0, 1, 255]), min_size=n, max_size=n)
    reals = st.lists(st.sampled_from([0.0, -0.0, 1.5, float("nan")]), min_size=n, max_size=n)
    weights = st.one_of(st.none(), st.lists(st.integers(0, 3), min_size=n, max_size=n))
    columns = [
        np.array(draw(codes), np.uint8),
        np.array(draw(codes), np.uint8),
        np.array(draw(reals)),
    ]
    return Table(
        [Variable("a", "pq"), Variable("b", [0, 1]), Variable("c")], columns, draw(weights)
    )


def multiset(table):
    """How much weight each different row has, rows of no weight included."""
    counts = Counter()
    for i, weight in enumerate(table.row_weights):
        counts[tuple(table.row(i).values())] += weight
    return dict(counts)


@settings(max_examples=60, deadline=None)
@given(small_tables())
def test_folding(table):
    folded = table.folded()
    assert folded.total_weight == table.total_weight
    assert multiset(folded) == multiset(table)
    assert folded.n_rows == len(multiset(table))
    assert folded.folded() == folded
    first_seen = list(multiset(table))
    assert [tuple(folded.row(i).values()) for i in range(folded.n_rows)] == first_seen


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))]
)
def test_copies_and_pickles_leave_the_cache_behind(again):
    table = Table.from_frame({"x": ["a", "b", None], "y": [1.5, 2.5, 3.5], "n": [1, 2, 3]})
    table = table.select(["x", "y"]).with_weights([1.0, 2.0, 0.5])
    assert table.folded() is table.folded()
    other = again(table)
    assert other == table
    assert table._cache
    assert not other._cache
    assert not other.column("x").flags.writeable
    assert not other.weights.flags.writeable
    assert other.labels("x") == ["a", "b", None]


def test_a_new_table_starts_with_nothing_kept():
    table = Table.from_frame({"x": ["a", "b", "a"], "y": ["a", "b", "c"]})
    table.folded()
    for other in (table.take([0]), table.select(["y"]), table.with_weights([1, 2, 3])):
        assert not other._cache


def test_joblib_carries_a_table():
    joblib = pytest.importorskip("joblib")
    table = Table([Variable("x", "ab")], [np.zeros(3000, np.uint8)])
    table.folded()
    (sizes,) = joblib.Parallel(2, max_nbytes=1000)([joblib.delayed(_looked_at)(table)])
    assert sizes == (3000, 0)


def _looked_at(table):
    return table.n_rows, len(table._cache)


def test_folding_takes_every_nan_for_missing():
    other = np.array([0x7FF8000000000001], np.uint64).view(np.float64)
    table = Table([Variable("x")], [np.concatenate([other, [np.nan, 1.0]])])
    assert table.folded().weights.tolist() == [2.0, 1.0]


def test_folding_survives_colliding_keys(monkeypatch):
    honest = fold_module._keys

    def colliding(columns, salt):
        return np.zeros(len(columns[0]), np.uint64) if salt == 0 else honest(columns, salt)

    monkeypatch.setattr(fold_module, "_keys", colliding)
    assert Table.from_frame({"x": ["a", "b", "a"]}).folded().weights.tolist() == [2.0, 1.0]


def test_a_split_shares_every_row_out_once():
    table = Table.from_frame({"x": np.arange(100) / 4})
    train, test = table.split(0.8, seed=3)
    assert (train.n_rows, test.n_rows) == (80, 20)
    both = np.concatenate([train.column("x"), test.column("x")])
    assert np.array_equal(np.sort(both), table.column("x"))
    assert table.split(0.8, seed=3) == (train, test)
    assert table.split(0.8, seed=np.random.default_rng(3)) == (train, test)
    assert table.split(0.8, seed=4) != (train, test)
    assert [part.n_rows for part in table.split([50, 30, 20], seed=0)] == [50, 30, 20]
    assert [part.n_rows for part in table.take(range(2)).split(0.99)] == [1, 1]


def test_a_split_that_cannot_be():
    table = Table.from_frame({"x": [1, 2, 3]})
    with pytest.raises(DataError, match=r"got 1.5"):
        table.split(1.5)
    with pytest.raises(DataError, match=r"\[1, 1\].*3 rows, they add up to 2"):
        table.split([1, 1])


def test_knocking_out_cells():
    table = Table.from_frame({"x": [0, 1] * 2000, "y": np.arange(4000) / 3})
    gone = table.knock_out(0.25, seed=1)
    assert gone == table.knock_out(0.25, seed=1)
    assert abs(gone.n_missing - 2000) < 5 * np.sqrt(8000 * 0.25 * 0.75)
    kept = ~gone.missing("y")
    assert np.array_equal(gone.column("y")[kept], table.column("y")[kept])
    assert gone.variables == table.variables
    assert table.knock_out(0.5, seed=1, names=["x"]).missing("y").sum() == 0
    assert table.knock_out(0, seed=1) == table
    assert table.knock_out(1, seed=1).n_missing == 8000
    with pytest.raises(DataError, match=r"from 0 to 1, got 1\.5"):
        table.knock_out(1.5)


def test_hiding_columns():
    table = Table.from_frame({"x": ["a", "b"], "y": [0.5, 1.5], "z": [0, 1]}).hide(["x", "y"])
    assert table.variables[:2] == (
        Variable("x", ["a", "b"], hidden=True),
        Variable("y", hidden=True),
    )
    assert table.n_missing == 4
    with pytest.raises(DataError, match="no column 'w'"):
        table.hide("w")


def test_conforming():
    table = Table.from_frame({"x": ["b", "a", None], "y": [1, 2, 1], "z": [1.5, 2.5, 1.5]})
    assert table.conform(table.variables) is table
    x, y = Variable("x", ["z", "a", "b"]), Variable("y", ["2", "1"])
    there = table.conform([y, x, Variable("h", [0, 1], hidden=True)])
    assert there.variables == (y, x)
    assert there.to_dict() == {"y": ["1", "2", "1"], "x": ["b", "a", None]}
    assert table.conform([Variable("y")]).column("y").tolist() == [1.0, 2.0, 1.0]
    assert table.conform([Variable("z", [2.5, 1.5])]).column("z").tolist() == [1, 0, 1]
    unused = Table([Variable("x", ["a", "b"])], [np.array([0], np.uint8)])
    assert unused.conform([Variable("x", ["a"])]).column("x").tolist() == [0]


def test_conforming_refuses_what_the_model_does_not_know():
    table = Table.from_frame({"x": ["a", "b"], "z": [1.5, 2.5]})
    with pytest.raises(
        DataError, match="row 2, column 'x': 'b' is not one of the known states 'a'"
    ):
        table.conform([Variable("x", ["a"])])
    with pytest.raises(DataError, match=r"row 2, column 'z': 2.5 is not one"):
        table.conform([Variable("z", [1.5])])
    with pytest.raises(DataError, match="row 1, column 'x': the label 'a' is not a number"):
        table.conform([Variable("x")])
    with pytest.raises(DataError, match="variables 'y' have no column; the columns are 'x', 'z'"):
        table.conform([Variable("y", [0, 1])])


def test_parts_of_a_table_share_its_columns_and_are_checked_where_they_can_be_wrong():
    table = Table.from_frame({"x": ["a", "b", "a"], "y": [1, 2, 2]})
    assert table.select(["x", "y"]) is table
    assert table.folded() is table.folded()
    part = table.take([2, 0]).select(["y"])
    assert part.labels("y") == [2, 1]
    with pytest.raises(ValueError, match="read-only"):
        part.column("y")[0] = 0
    with pytest.raises(DataError, match="two columns are called 'x'"):
        table.select(["x", "x"])
    with pytest.raises(DataError, match="at least one column"):
        table.select([])


@pytest.mark.parametrize("rows", [[0, 4], [True, False]])
def test_rows_that_are_not_there_are_told(rows):
    table = Table.from_frame({"x": ["a", "b", "c"]})
    with pytest.raises(DataError, match="by position or by a mask; there are 3 of them: "):
        table.take(rows)
    with pytest.raises(DataError, match="3 of them, each with the weight of its equals: "):
        table.with_weights([1.0, 2.0, 3.0]).take(rows)
