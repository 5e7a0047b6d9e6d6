"""Cut points in cases that can be worked out by hand, and on new data."""

import json

import numpy as np
import pytest

from unveil.errors import DataError, UnveilWarning
from unveil.table import Discretizer, Table


def column(values, weights=None):
    return Table.from_frame({"x": np.asarray(values, float)}, kinds="continuous").with_weights(
        weights
    )


def cuts(values, method, n_states, weights=None):
    return Discretizer.fit(column(values, weights), method=method, n_bins=n_states).cuts["x"]


def test_equal_width():
    assert cuts([0, 3, 10], "equal_width", 5) == (2, 4, 6, 8)


def test_equal_frequency():
    assert cuts([1, 2, 3, 4, 5, 6], "equal_frequency", 3) == (2.5, 4.5)
    assert cuts([1, 2, 3], "equal_frequency", 2, [1, 1, 2]) == (2.5,)
    assert cuts([1, 2, 3, 4], "equal_frequency", 2, [5, 1, 1, 1]) == (1.5,)


def test_ties_leave_fewer_states_with_a_warning():
    with pytest.warns(UnveilWarning, match="column 'x': only 2 of the 4 bins asked for"):
        assert cuts([0] * 9 + [1], "equal_frequency", 4) == (0.5,)


def test_kmeans():
    assert cuts([0, 1, 10, 11, 20, 21], "kmeans", 3) == (5.5, 15.5)
    # Sums of squares by hand: 1/2 + 100/101 when cut at 1.5, and 2 when cut at 2.5.
    assert cuts([0, 1, 2, 3], "kmeans", 2, [1, 1, 1, 100]) == (1.5,)
    assert cuts([0, 1, 2, 9], "kmeans", 2) == (5.5,)


def test_deviation():
    table = column([-3, 0, 0, 0, 3])
    found = Discretizer.fit(table, method="deviation")
    assert found.cuts["x"] == pytest.approx((-np.sqrt(18 / 5), np.sqrt(18 / 5)))
    assert column([-3, 0, 0, 0, 3]) == table
    wide = column([-4, 0, 0, 0, 4])
    assert Discretizer.fit(wide, method="deviation").apply(wide).labels("x") == [
        "down",
        "same",
        "same",
        "same",
        "up",
    ]


@pytest.mark.parametrize("method", ["equal_width", "equal_frequency", "kmeans", "deviation"])
def test_a_weight_of_two_is_the_row_twice(method):
    values = np.random.default_rng(0).normal(size=40)
    weights = np.arange(40) % 3 + 1
    once = cuts(values, method, 3, weights)
    assert once == pytest.approx(cuts(np.repeat(values, weights), method, 3))


def test_closedness_new_data_and_missing():
    found = Discretizer("kmeans", {"x": (3.5, 7.25)})
    table = found.apply(column([-99, 3.5, 7.2, 7.25, 1e9, np.nan]))
    assert table.variable("x").states == ("< 3.5", "3.5 to 7.25", ">= 7.25")
    assert table.column("x").tolist() == [0, 1, 1, 2, 2, 255]


def test_labels_stay_apart():
    states = Discretizer("kmeans", {"x": (1.000001, 1.000002)}).variable("x").states
    assert states == ("< 1.000001", "1.000001 to 1.000002", ">= 1.000002")


def test_constant_columns_have_one_state():
    for method in ("equal_width", "equal_frequency", "kmeans", "deviation"):
        table = column([2, 2, 2])
        done = Discretizer.fit(table, method=method).apply(table)
        assert done.column("x").tolist() == [0, 0, 0]
        assert done.variable("x").n_states == 1


def test_only_the_named_columns_and_only_continuous_ones():
    table = Table.from_frame({"x": [0.5, 1.5], "y": [0.5, 1.5], "z": ["a", "b"]})
    found = Discretizer.fit(table, "x", method="equal_width", n_bins=2)
    assert [v.is_discrete for v in found.apply(table).variables] == [True, False, True]
    assert list(Discretizer.fit(table, method="equal_width").cuts) == ["x", "y"]
    with pytest.raises(DataError, match=r"column 'z' is discrete already \(2 states\)"):
        Discretizer.fit(table, ["z"])
    with pytest.raises(DataError, match="column 'x' is discrete already"):
        found.apply(found.apply(table))


def test_refusals():
    with pytest.raises(DataError, match=r"unknown method 'magic'.*'equal_width'"):
        cuts([1, 2], "magic", 3)
    with pytest.raises(DataError, match="at least 2 bins, got n_bins=1"):
        cuts([1, 2], "kmeans", 1)
    with pytest.raises(DataError, match="exactly 3 bins"):
        cuts([1, 2], "deviation", 4)
    with pytest.raises(DataError, match="'x' has no values"):
        Discretizer.fit(column([1.5, 2]).knock_out(1))


def test_through_json():
    found = Discretizer.fit(column(np.random.default_rng(1).normal(size=50)), method="kmeans")
    assert Discretizer.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    with pytest.raises(DataError, match=r"'x' must ascend, got \[2\.0, 1\.0\]"):
        Discretizer.from_dict({"method": "kmeans", "cuts": {"x": [2, 1]}})
    with pytest.raises(DataError, match="written as"):
        Discretizer.from_dict({"cuts": {}})
