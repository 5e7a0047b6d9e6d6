"""Frames in and out: types, category order and missing cells survive."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from unveil.errors import DataError, UnveilWarning
from unveil.table import Table, Variable, from_frame

COLUMNS = {
    "word": ["b", "a", None],
    "int": [2, 1, 2],
    "flag": [True, False, True],
    "real": [0.5, 1.25, -3.0],
}
STATES = {"word": ("a", "b"), "int": (1, 2), "flag": (False, True), "real": None}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table, pl.LazyFrame])
def test_types_are_kept(make):
    table = from_frame(make(COLUMNS))
    for variable in table.variables:
        assert variable == Variable(variable.name, STATES[variable.name])
    assert table.to_dict() == COLUMNS
    assert Table.from_frame(make(COLUMNS)) == table


def test_text_in_a_frame_is_taken_as_it_stands():
    frame = pd.DataFrame({"x": ["NA", "1", ""]})
    assert from_frame(frame).variable("x").states == ("", "1", "NA")
    assert from_frame(frame, missing=["NA", ""]).labels("x") == [None, "1", None]


def test_the_order_of_categories_is_kept_and_unused_ones_too():
    order = ["c", "b", "a"]
    frames = [
        pd.DataFrame({"x": pd.Categorical(["a", "b", None], categories=order)}),
        pl.DataFrame({"x": pl.Series(["a", "b", None], dtype=pl.Enum(order))}),
        pa.table({"x": pa.DictionaryArray.from_arrays(pa.array([2, 1, None]), pa.array(order))}),
    ]
    for frame in frames:
        table = from_frame(frame)
        assert table.variable("x").states == ("c", "b", "a")
        assert table.column("x").tolist() == [2, 1, 255]
    numbers = from_frame({"x": pd.Categorical([2, 3], categories=[3, 2, 1])})
    assert numbers.variable("x").states == (3, 2, 1)


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_objects(gap):
    table = from_frame(pd.DataFrame({"x": pd.Series(["a", gap, "b"], dtype=object)}))
    assert table.labels("x") == ["a", None, "b"]


def test_nullable_integers_and_integers_with_gaps():
    nullable = from_frame({"x": pd.array([1, None, 2], dtype="Int64")})
    assert nullable.variable("x").states == (1, 2)
    floats = from_frame(pd.DataFrame({"x": [1, None, 2]}))
    assert floats.variable("x") == Variable("x", [1.0, 2.0])
    assert floats.conform([Variable("x", [1, 2])]).labels("x") == [1, None, 2]


def test_mixed_labels_keep_their_own_types():
    for column in ([1, "1", True, None, 1.5], np.array([1, "1", True, None, 1.5], object)):
        table = from_frame({"x": column})
        assert table.variable("x") == Variable("x", [True, 1, 1.5, "1"])
        assert table.column("x").tolist() == [1, 3, 0, 255, 2]
    table = from_frame(pd.DataFrame({"x": pd.Series([1, "a", None], dtype=object)}))
    assert table.variable("x") == Variable("x", [1, "a"])


def test_integers_many_and_few():
    assert from_frame({"x": range(20)}).variable("x").n_states == 20
    assert not from_frame({"x": np.arange(21)}).variable("x").is_discrete
    assert from_frame({"x": np.arange(21)}, kinds="discrete").variable("x").n_states == 21
    assert from_frame({"x": [1, 2]}, kinds="text").variable("x").states == ("1", "2")
    assert from_frame({"x": [1, 2]}, kinds={"x": "continuous"}).column("x").tolist() == [1.0, 2.0]
    assert from_frame({"x": ["1.5", "2"]}, kinds="continuous").column("x").tolist() == [1.5, 2.0]


def test_dates_become_text():
    day = datetime.date(2020, 2, 1)
    assert from_frame({"x": [day, None]}).labels("x") == ["2020-02-01", None]
    stamps = pd.DataFrame({"x": pd.to_datetime(["2020-02-01", None])})
    assert from_frame(stamps).labels("x") == ["2020-02-01", None]


def test_arrays():
    table = from_frame(np.array([[0, 1], [1, 1], [0, 0]]))
    assert table.names == ("x1", "x2")
    assert from_frame(np.array([[0.5, 1.5]]), names=["a", "b"]).names == ("a", "b")
    structured = np.array([("a", 1.5), ("b", 2.5)], dtype=[("s", "U1"), ("r", float)])
    assert from_frame(structured).to_dict() == {"s": ["a", "b"], "r": [1.5, 2.5]}


def test_weights_columns_and_known_variables():
    frame = {"x": ["a", "b"], "y": [1, 2], "n": [3, 4]}
    table = from_frame(frame, weights="n", columns=["y"])
    assert (table.names, table.total_weight) == (("y",), 7.0)
    known = from_frame(frame, variables=[Variable("x", ["b", "a"])])
    assert known.column("x").tolist() == [1, 0]
    with pytest.raises(
        DataError, match="row 2, column 'x': 'b' is not one of the known states 'a'"
    ):
        from_frame(frame, variables=[Variable("x", ["a"])])


def test_a_column_of_nothing_is_kept_with_a_warning():
    with pytest.warns(UnveilWarning, match="column 'x': the column has no values"):
        assert from_frame({"x": [None, None]}).n_missing == 2


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ({}, "0 rows and 0 columns"),
        ({"x": []}, "0 rows and 1 columns"),
        (pd.DataFrame({"x": []}), "0 rows"),
        ({"x": [[1], [2]]}, r"row 1, column 'x': the cell holds \[1\]"),
        (pl.DataFrame({"x": [[1], [2]]}), "column 'x': the column holds"),
        ({"x": [1, 2], "y": [1]}, "'y' has 1 rows and column 'x' has 2"),
        ({"x": "text"}, "must be a list"),
        ({"x": [1.5, np.inf]}, "row 2, column 'x': the value is infinite"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns 1 and 2 are both called 'a'"),
        ({1: [1], "1": [2]}, "both called '1'"),
        (np.zeros(3), r"shape \(3,\)"),
        ([[1, 2]], "no column names"),
        (7, "cannot read a table from int"),
        ({"x": [object(), 1]}, "row 1, column 'x'"),
        ({"x": ["a", 1, [2]]}, r"row 3, column 'x': the cell holds \[2\]"),
    ],
)
def test_refusals(frame, words):
    with pytest.raises(DataError, match=words):
        from_frame(frame)


def test_an_impossible_kind_names_the_cell():
    with pytest.raises(DataError, match="row 2, column 'x': 'low' is not a number"):
        from_frame({"x": ["1", "low"]}, kinds="continuous")


@pytest.mark.parametrize("way", ["to_pandas", "to_polars", "to_arrow", "to_dict"])
def test_out_and_in_again(way):
    variables = [
        Variable("word", ["b", "a"]),
        Variable("int", [1, 2]),
        Variable("flag", [False, True]),
        Variable("real"),
    ]
    columns = [[0, 255, 1], [1, 0, 255], [0, 1, 255], [0.5, np.nan, 1.5]]
    typed = [np.array(c, np.uint8 if i < 3 else float) for i, c in enumerate(columns)]
    table = Table(variables, typed, [1.0, 2.5, 1.0])
    back = from_frame(getattr(table, way)(), weights="weight")
    if way == "to_dict":
        back = back.conform(variables)
    assert back == table
    with pytest.raises(DataError, match="written as 'real', a column is called so"):
        getattr(table, way)(weights="real")
