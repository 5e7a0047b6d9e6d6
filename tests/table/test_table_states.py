"""States that a column has and the rows do not show: declared, or taken from elsewhere."""

import shlex

import numpy as np
import pandas as pd
import pytest

from unveil import Table, Variable, datasets
from unveil.errors import DataError, UnveilWarning

ROWS = {"sick": [0, 0, None], "ward": ["a", "b", "b"]}
WAYS = ["frame", "objects", "csv", "parquet", "own parquet", "arff"]


@pytest.fixture(params=WAYS)
def read(request, tmp_path):
    """A way to make a table of ROWS with options, through one of the doors."""
    path = tmp_path / f"rows.{request.param.split()[-1]}"

    def made(**options):
        if request.param == "frame":
            return Table.from_frame(ROWS, **options)
        if request.param == "objects":
            mixed = {"sick": np.array([0, "0", None], object), "ward": ROWS["ward"]}
            return Table.from_frame(mixed, **options)
        if request.param == "csv":
            path.write_text("sick,ward\n0,a\n0,b\n,b\n")
        elif request.param == "parquet":
            frame = pd.DataFrame({"sick": pd.array([0, 0, None], "Int64"), "ward": ROWS["ward"]})
            frame.to_parquet(path)
        elif request.param == "own parquet":
            Table.from_frame(ROWS).write(path)
        else:
            head = "@relation r\n@attribute sick {0}\n@attribute ward {a,b}\n@data\n"
            path.write_text(head + "0,a\n0,b\n?,b\n")
        return Table.read(path, **options)

    return made


def test_declared_states_stand_in_their_order_at_every_door(read):
    table = read(states={"sick": [1, 0]})
    assert table.variable("sick") == Variable("sick", [1, 0])
    assert table.labels("sick") == [0, 0, None]
    assert table.variable("ward") == Variable("ward", ["a", "b"])


def test_states_like_another_table(read):
    other = Table.from_frame({"sick": [0, 1], "age": [1.5, 2.5]})
    table = read(like=other)
    assert table.variable("sick") == Variable("sick", [0, 1])
    assert table.names == ("sick", "ward")
    assert table.labels("sick") == [0, 0, None]


def test_a_label_outside_the_declared_states_names_place_and_ways_out(read):
    with pytest.raises(DataError) as caught:
        read(states={"ward": ["a", "c"]})
    said = str(caught.value)
    assert "row 2, column 'ward': 'b' is not one of the known states 'a', 'c'." in said
    assert 'unknown="missing"' in said
    assert "states={'ward': ['a', 'c', 'b']}" in said
    command = caught.value.said("command")
    assert "--unknown missing" in command
    assert "--states ward=a,c,b" in command
    assert "states=" not in command


def test_unknown_labels_become_missing_with_a_warning(read):
    with pytest.warns(UnveilWarning, match=r"column 'ward': 2 cells taken as missing; 'b' not"):
        table = read(states={"ward": ["a", "c"]}, unknown="missing")
    assert table.labels("ward") == ["a", None, None]


def test_the_first_row_with_an_unknown_label_is_named():
    # "z" comes first in the table of distinct values here, and later in the rows.
    frame = pd.DataFrame({"x": pd.Categorical(["a", "y", "z"], categories=["z", "y", "a"])})
    with pytest.raises(DataError, match="row 2, column 'x': 'y'"):
        Table.from_frame(frame, states={"x": ["a"]})


def test_like_takes_a_network_and_a_list_of_variables():
    asia = datasets.network("asia")
    given = {"smoke": ["no", "no"], "note": ["x", "y"]}
    for like in (asia, list(asia.variables)):
        table = Table.from_frame(given, like=like)
        assert table.variable("smoke") == asia.variable("smoke")
        assert table.names == ("smoke", "note")


def test_like_a_continuous_column_is_continuous():
    assert not Table.from_frame({"x": [1, 2]}, like=[Variable("x")]).variable("x").is_discrete


def test_kinds_and_states_by_name_outdo_the_likeness():
    like = Table.from_frame({"x": [1, 2], "y": [1, 2], "z": [1, 2]})
    frame = {"x": [1, 1], "y": [1, 1], "z": [1, 1]}
    table = Table.from_frame(frame, like=like, kinds={"x": "text"}, states={"y": [1, 5]})
    assert [v.states for v in table.variables] == [("1",), (1, 5), (1, 2)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"states": {"nobody": [0]}}, "no column 'nobody'.*named in states"),
        ({"states": {"x": "ab"}}, "are a list of labels"),
        ({"states": {"x": 3}}, "are a list of labels"),
        ({"states": {"x": []}}, "at least one state"),
        ({"states": {"x": [0, 1]}, "kinds": {"x": "continuous"}}, "cannot be continuous and have"),
        ({"states": {"x": [0]}, "variables": [Variable("x", [0])]}, "leave out states and like"),
        ({"like": [Variable("x", [0])], "variables": [Variable("x", [0])]}, "leave out states"),
        ({"like": ["x"]}, "expected a table, a network or a list of"),
        ({"like": 3}, "whose states to take; got 3"),
        ({"unknown": "ignore"}, 'unknown must be "error" or "missing", got \'ignore\''),
    ],
)
def test_contradictions_are_told(options, said):
    with pytest.raises(DataError, match=said):
        Table.from_frame({"x": [0, 0]}, **options)


def test_a_column_without_values_may_declare_states():
    table = Table.from_frame({"x": [None, None], "y": [1, 2]}, states={"x": ["a", "b"]})
    assert table.variable("x").n_states == 2
    assert table.missing("x").all()


def test_a_table_like_another_keeps_its_columns_and_weights():
    table = Table.from_frame({"y": [5, 6], "x": ["b", "b"], "n": [2, 3]}, weights="n")
    other = Table.from_frame({"x": ["a", "b"], "z": [0, 1]})
    made = table.like(other)
    assert made.names == ("y", "x")
    assert made.column("x").tolist() == [1, 1]
    assert made.weights.tolist() == [2, 3]
    assert made.like(other) is made


def test_unknown_labels_when_a_table_is_made_like_a_model():
    table = Table.from_frame({"x": ["a", "z", "z", None]})
    known = [Variable("x", ["a", "b"])]
    for recode in (table.like, table.conform):
        with pytest.raises(DataError, match=r"row 2, column 'x': 'z' is not one of the known"):
            recode(known)
        with pytest.warns(UnveilWarning, match="2 cells taken as missing; 'z' not among"):
            made = recode(known, unknown="missing")
        assert made.labels("x") == ["a", None, None, None]
        with pytest.raises(DataError, match="unknown must be"):
            recode(known, unknown="drop")


def test_unknown_numbers_when_a_model_has_states():
    table = Table.from_frame({"x": [1.0, 2.0, 2.5, np.nan]}, kinds="continuous")
    with pytest.warns(UnveilWarning, match=r"1 cell taken as missing; 2\.5 not among"):
        made = table.like([Variable("x", [1, 2])], unknown="missing")
    assert made.labels("x") == [1, 2, None, None]


def test_the_option_that_is_hinted_at_can_be_typed():
    table = Table.from_frame({"the ward": ["c, d"]})
    with pytest.raises(DataError) as caught:
        table.like([Variable("the ward", ["a,b", "it's"])])
    words = caught.value.said("command").partition("(--states ")[2].rpartition(").")[0]
    assert shlex.split(words) == ['the ward="a,b",it\'s,"c, d"']


def test_many_states_are_not_all_listed():
    table = Table.from_frame({"x": ["new"]})
    with pytest.raises(DataError) as caught:
        table.like([Variable("x", [f"s{i}" for i in range(40)])])
    assert "(40 in all)" in str(caught.value)
    assert "states={'x': [...]}" in str(caught.value)
    assert "--states x=..." in caught.value.said("command")
