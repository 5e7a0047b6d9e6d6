"""Cut points in cases that can be worked out by hand, and on new data."""

import numpy as np
import pytest

from unveil.errors import DataError, UnveilWarning
from unveil.table import Table, Variable, cut_variables, interval_variable, missing_as_state


def column(values, weights=None):
    return Table.from_frame({"x": np.asarray(values, float)}, kinds="continuous").with_weights(
        weights
    )


def cuts(values, method, n_states, weights=None):
    return cut_variables(column(values, weights), method=method, n_bins=n_states)[0].cuts


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
    found = cut_variables(table, method="deviation")
    assert found[0].cuts == pytest.approx((-np.sqrt(18 / 5), np.sqrt(18 / 5)))
    assert column([-3, 0, 0, 0, 3]) == table
    wide = column([-4, 0, 0, 0, 4])
    assert wide.like(cut_variables(wide, method="deviation")).labels("x") == [
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
    found = interval_variable("x", (3.5, 7.25))
    table = column([-99, 3.5, 7.2, 7.25, 1e9, np.nan]).like([found])
    assert table.variable("x").states == ("< 3.5", "3.5 to 7.25", ">= 7.25")
    assert table.column("x").tolist() == [0, 1, 1, 2, 2, 255]


def test_labels_stay_apart():
    states = interval_variable("x", (1.000001, 1.000002)).states
    assert states == ("< 1.000001", "1.000001 to 1.000002", ">= 1.000002")


def test_constant_columns_have_one_state():
    for method in ("equal_width", "equal_frequency", "kmeans", "deviation"):
        table = column([2, 2, 2])
        done = table.like(cut_variables(table, method=method))
        assert done.column("x").tolist() == [0, 0, 0]
        assert done.variable("x").n_states == 1


def test_only_the_named_columns_and_only_continuous_ones():
    table = Table.from_frame({"x": [0.5, 1.5], "y": [0.5, 1.5], "z": ["a", "b"]})
    found = cut_variables(table, "x", method="equal_width", n_bins=2)
    assert [v.is_discrete for v in table.like(found).variables] == [True, False, True]
    assert [v.name for v in cut_variables(table, method="equal_width")] == ["x", "y"]
    with pytest.raises(DataError, match=r"column 'z' is discrete already \(2 states\)"):
        cut_variables(table, ["z"])
    assert table.like(found).like(found) == table.like(found)


def test_refusals():
    with pytest.raises(DataError, match=r"unknown method 'magic'.*'equal_width'"):
        cuts([1, 2], "magic", 3)
    with pytest.raises(DataError, match="at least 2 bins, got 1"):
        cuts([1, 2], "kmeans", 1)
    with pytest.raises(DataError, match="exactly 3 bins"):
        cuts([1, 2], "deviation", 4)
    with pytest.raises(DataError, match="'x' has no values"):
        cut_variables(column([1.5, 2]).knock_out(1))


def test_numbers_with_few_values_can_be_cut_when_named():
    few = Table.from_frame({"age": [20, 30, 40, 50] * 3})
    assert few.variable("age").is_discrete
    found = cut_variables(few, "age", method="equal_width", n_bins=2)
    assert found[0].cuts == (35.0,)
    assert few.like(found).labels("age")[:4] == ["< 35", "< 35", ">= 35", ">= 35"]


def test_however_a_number_is_written_it_falls_between_the_cuts(tmp_path):
    age = interval_variable("age", (30.5, 60.0))
    wanted = [0, 1, 2, 255]
    floats = Table.from_frame({"age": [7.25, 30.5, 60.0, None]}, kinds="continuous")
    labels = Table.from_frame({"age": [7, 31, 99, None]})
    read = tmp_path / "age.csv"
    read.write_text("age\n 7.0\n31\n6e1\n\n", encoding="utf-8")
    for table in (
        floats.like([age]),
        labels.like([age]),
        Table.from_frame({"age": [7, 31, 99, None]}, like=[age]),
        Table.from_frame({"age": ["7", "31.5", ">= 60", None]}, like=[age]),
        Table.read(read, like=[age], missing=("",)),
    ):
        assert table.variable("age") == age
        assert table.column("age").tolist()[: len(wanted)] == wanted[: table.n_rows]
    with pytest.raises(DataError, match="no state 'old'"):
        age.code_of("old")


def test_cuts_stay_with_the_variable(tmp_path):
    age = interval_variable("age", (30.5, 60.0))
    table = Table.from_frame({"age": [7.25, 30.5, 60.0, None]}).like([age])
    for ending in ("parquet", "feather"):
        table.write(tmp_path / f"t.{ending}")
        assert Table.read(tmp_path / f"t.{ending}") == table
    assert age.renamed("years").as_hidden().cuts == (30.5, 60.0)
    wider = missing_as_state(table).variable("age")
    assert (wider.code_of(45), wider.n_states) == (1, 4)


@pytest.mark.parametrize("cuts", [[2, 1], [1, 2, 3], [float("nan"), 1], ["a", 2], [10**400, 1]])
def test_cuts_that_cannot_be(cuts):
    with pytest.raises(DataError, match="cuts"):
        Variable("x", ["a", "b", "c"], cuts=cuts)
