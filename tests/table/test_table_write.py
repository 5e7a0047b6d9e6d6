"""What is written is read back."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import DataError, UnveilWarning
from unveil.files import atomic_write
from unveil.table import Table, Variable, read_table, write_table

ODD = [
    "a,b",
    'say "x"',
    "two\nlines",
    "ü €",
    "007",
    "None",
    "tab\there",
    "x;y|z",
    "'",
    "\\",
    "1e5x",
]
words = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1),
)
labels = st.one_of(
    st.lists(words, min_size=1, max_size=5, unique=True),
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=5, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5, unique=True),
    st.just([False, True]),
)


@st.composite
def tables(draw, states=labels):
    """Tables of a few odd columns with missing cells and perhaps weights."""
    n_rows = draw(st.integers(1, 6))
    variables, columns = [], []
    for i in range(draw(st.integers(1, 3))):
        variable = Variable(f"c{i}", draw(st.one_of(states, st.none())))
        if variable.is_discrete:
            cell = st.one_of(st.just(255), st.integers(0, variable.n_states - 1))
            columns.append(
                np.array(draw(st.lists(cell, min_size=n_rows, max_size=n_rows)), np.uint8)
            )
        else:
            cell = st.floats(allow_infinity=False)
            columns.append(np.array(draw(st.lists(cell, min_size=n_rows, max_size=n_rows))))
        variables.append(variable)
    weights = st.lists(st.floats(0, 1e6), min_size=n_rows, max_size=n_rows)
    return Table(variables, columns, draw(st.one_of(st.none(), weights)))


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@settings(max_examples=40, deadline=None)
@given(table=tables())
def test_binary_files_come_back_equal(tmp_path_factory, ending, table):
    path = tmp_path_factory.mktemp("round") / f"t.{ending}"
    write_table(table, path)
    assert read_table(path) == table


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
@settings(max_examples=60, deadline=None)
@given(table=tables())
def test_text_files_come_back_equal_by_the_variables(tmp_path_factory, ending, table):
    path = tmp_path_factory.mktemp("round") / f"t.{ending}"
    write_table(table, path)
    weights = None if table.weights is None else "weight"
    assert read_table(path, variables=table.variables, weights=weights) == table


def test_text_files_come_back_equal_by_themselves(tmp_path):
    table = Table.from_frame(
        {
            "odd": ODD,
            "int": [3, 1, 2, None, *range(7)],
            "flag": [True, False, None] + [True] * 8,
            "real": [0.1, 1 / 3, None, 1e300, -2.5, 5e-324, 0, 1, 2, 3, 4],
        }
    )
    write_table(table, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv") == table


def test_labels_that_look_like_something_else_need_the_variables(tmp_path):
    table = Table.from_frame({"x": ["1", "2", "NA", None], "y": ["true", "a", " b", "?"]})
    write_table(table, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").labels("x") == [1, 2, None, None]
    assert read_table(tmp_path / "t.csv", variables=table.variables) == table


def test_a_missing_cell_alone_in_its_row_is_no_empty_line(tmp_path):
    write_table(Table.from_frame({"x": ["a", None]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'x\na\n""\n'


def test_hidden_variables_and_unused_states_are_kept(tmp_path):
    states = Table([Variable("x", ["c", "b", "a"])], [np.array([1, 0], np.uint8)])
    table = states.with_column(Variable("h", [0, 1], hidden=True), np.array([255, 255], np.uint8))
    write_table(table, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet") == table


def test_an_empty_label_is_written_with_a_warning(tmp_path):
    with pytest.warns(UnveilWarning, match="column 'x': the empty string is one of the states"):
        write_table(Table.from_frame({"x": ["", "a"]}), tmp_path / "t.csv")


def test_mixed_labels(tmp_path):
    table = Table.from_frame({"x": [1, "a", True, None]})
    for name in ("t.parquet", "t.csv"):
        write_table(table, tmp_path / name)
        assert read_table(tmp_path / name, variables=table.variables) == table
    alike = Table.from_frame({"x": [1, "1"]})
    with pytest.raises(DataError, match="column 'x' has different states that look alike"):
        write_table(alike, tmp_path / "alike.parquet")


def test_weights_and_their_name(tmp_path):
    table = Table.from_frame({"weight": ["a", "b"]}).with_weights([1.5, 2])
    with pytest.raises(DataError, match="written as 'weight'"):
        write_table(table, tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []
    write_table(table, tmp_path / "t.csv", weights="n")
    assert read_table(tmp_path / "t.csv", weights="n") == table


def test_some_columns_of_a_file_that_unveil_wrote(tmp_path):
    table = Table.from_frame({"x": ["a", "b"], "y": [1, 2]}).with_weights([1, 2])
    write_table(table, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet", columns=["y"]) == table.select(["y"])
    assert read_table(tmp_path / "t.parquet", kinds={"y": "text"}).variable("y").states == (
        "1",
        "2",
    )


def test_zipped_files_are_the_same_bytes_each_time(tmp_path):
    table = Table.from_frame({"x": ["a", "b"]})
    for name in ("one.csv.gz", "two.csv.gz"):
        write_table(table, tmp_path / name)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.csv.gz").read_bytes()) == b"x\na\nb\n"


@pytest.mark.parametrize("name", ["t", "t.xlsx", "t.gz", "t.parquet.gz"])
def test_unknown_endings(tmp_path, name):
    with pytest.raises(DataError, match=r"use \.csv"):
        write_table(Table.from_frame({"x": [1]}), tmp_path / name)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="no folder"):
        write_table(Table.from_frame({"x": [1]}), tmp_path / "none" / "t.csv")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("old")

    def fail():
        with atomic_write(path) as file:
            file.write("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["note.txt"]


def test_an_atomic_write_keeps_the_permissions(tmp_path):
    path = tmp_path / "note.bin"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with atomic_write(path, "wb") as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
