"""Parquet and Feather: damage is refused, and what others changed in a file of ours is read."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from unveil.errors import DataError, UnveilError, UnveilWarning
from unveil.table import Table, Variable, read_table

OURS = Table.from_frame(
    {"sick": ["no", "yes", None, "no"], "dose": [1, 2, 1, 2], "n": [2, 1, 1, 5]},
    weights="n",
    states={"sick": ["yes", "no", "perhaps"]},
)


@pytest.fixture(params=["feather", "parquet"])
def again(request, tmp_path):
    """A function that writes an Arrow table to a file, reads it, and gives what came of it."""

    def again(arrow, **options):
        path = tmp_path / f"t.{request.param}"
        write = feather.write_feather if request.param == "feather" else parquet.write_table
        write(arrow, path)
        return read_table(path, **options)

    return again


@pytest.fixture
def arrow(tmp_path):
    """Our table as an Arrow table with our note."""
    OURS.write(tmp_path / "ours.feather")
    return feather.read_table(tmp_path / "ours.feather")


# Damage ----------------------------------------------------------------------------------------


def test_codes_that_point_nowhere_are_refused(tmp_path):
    """Arrow reads them and follows them out of its memory."""
    path = tmp_path / "t.feather"
    codes = pa.array(np.full(50, 77, np.int8))
    wild = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b"]), safe=False)
    feather.write_feather(pa.table({"x": wild}), path, compression="uncompressed")
    with pytest.raises(DataError, match=r"t\.feather: the file starts well and cannot be read on"):
        read_table(path)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "t.feather"
    feather.write_feather(pa.table({"x": ["aaaa", "bbbb"]}), path, compression="uncompressed")
    path.write_bytes(path.read_bytes().replace(b"bbbb", b"b\xff\xffb"))
    with pytest.raises(DataError, match="cannot be read on"):
        read_table(path)


def test_sizes_beyond_memory_are_refused(tmp_path):
    path = tmp_path / "t.feather"
    feather.write_feather(pa.table({"x": list(range(1000))}), path, compression="zstd")
    data = path.read_bytes()
    size = (8000).to_bytes(8, "little")  # how long the column is when it is unpacked
    assert data.count(size) == 1
    at = data.index(size)
    path.write_bytes(data[:at] + (2**62).to_bytes(8, "little") + data[at + 8 :])
    with pytest.raises(UnveilError, match=r"t\.feather: the table takes more than"):
        read_table(path)


def test_feather_of_the_first_version_is_refused(tmp_path):
    path = tmp_path / "old.feather"
    path.write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(DataError, match=r"version 1.*Write it again as version 2"):
        read_table(path)


# The note --------------------------------------------------------------------------------------


def test_a_file_of_ours_comes_back_packed_once_more(tmp_path, arrow):
    with pa.CompressedOutputStream(str(tmp_path / "t.feather.gz"), "gzip") as out:
        feather.write_feather(arrow, out)
    assert read_table(tmp_path / "t.feather.gz") == OURS


def test_a_column_that_was_added_is_read(again, arrow):
    table = again(arrow.append_column("new", [["x", "y", "x", "y"]]))
    assert table.select(["sick", "dose"]) == OURS
    assert table.labels("new") == ["x", "y", "x", "y"]


def test_a_column_that_is_gone_is_not_missed(again, arrow):
    assert again(arrow.drop_columns(["sick"])) == OURS.select(["dose"])


def test_weights_that_are_gone_are_told(again, arrow):
    with pytest.warns(UnveilWarning, match="the column 'weight', which held the weights"):
        table = again(arrow.drop_columns(["weight"]))
    assert table == OURS.with_weights(None)


@pytest.mark.parametrize("values", [["a", "b", "c", "d"], [1.0, -1.0, 1.0, 1.0], [1.0, None, 1, 1]])
def test_weights_that_are_none_any_more_are_a_column(again, arrow, values):
    changed = arrow.set_column(arrow.column_names.index("weight"), "weight", [values])
    with pytest.warns(UnveilWarning, match="the column 'weight', which held the weights"):
        assert "weight" in again(changed)


def test_rows_with_new_states_are_read(again, arrow):
    changed = arrow.set_column(0, "sick", [["no", "yes", "maybe", "no"]])
    with pytest.warns(UnveilWarning, match=r"the columns 'sick' have changed since unveil wrote"):
        table = again(changed)
    assert table.labels("sick") == ["no", "yes", "maybe", "no"]
    assert table.variable("dose") == OURS.variable("dose")


@pytest.mark.parametrize(
    "note",
    [
        "{ half", "null", "[]", "7", "\xff", "[" * 100_000, "{}", '{"variables": 3, "weights": 1}',
        json.dumps({"variables": [{"name": "dose", "states": [1, 1], "hidden": 0}], "weights": ""}),
    ],
)  # fmt: skip
def test_a_damaged_note_is_ignored(again, arrow, note):
    with pytest.warns(UnveilWarning, match="unveil's note about the columns is damaged"):
        table = again(arrow.replace_schema_metadata({"unveil": note.encode("latin-1")}))
    assert table.names == ("sick", "dose", "weight")


def test_the_column_of_weights_can_be_asked_for(again, arrow):
    table = again(arrow, columns=["dose", "weight"])
    assert table.names == ("dose", "weight")
    assert table.weights is None
    assert table.variable("weight") == Variable("weight", [1.0, 2.0, 5.0])
