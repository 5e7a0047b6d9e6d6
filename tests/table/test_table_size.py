"""Tables that are too large are refused before they are read, whatever hides them."""

import bz2
import contextlib
import gzip

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from unveil.cli import main
from unveil.errors import DataError, SizeError, UnveilError
from unveil.table import read_table
from unveil.table.io.feather_size import asked_for

TEXT = b"a,b\n" + b"x,y\n" * 50_000


def written(folder, kind):
    path = folder / f"t.{kind}"
    if kind == "csv":
        path.write_bytes(TEXT)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(TEXT))
    elif kind == "csv.bz2":
        path.write_bytes(bz2.compress(TEXT))
    elif kind == "csv.zst":
        path.write_bytes(pa.compress(TEXT, "zstd", asbytes=True))
    else:
        table = pa.table({"a": np.zeros(50_000, np.int64), "b": np.ones(50_000, np.int64)})
        if kind == "parquet":
            parquet.write_table(table, path)
        else:
            feather.write_feather(table, path, compression="zstd")
    return path


KINDS = ["csv", "csv.gz", "csv.bz2", "csv.zst", "parquet", "feather"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_too_large_is_refused(tmp_path, kind):
    path = written(tmp_path, kind)
    with pytest.raises(SizeError, match=r"takes more than 100,000 bytes .* say max_bytes=None"):
        read_table(path, max_bytes=100_000)
    for enough in (10_000_000, None):
        assert read_table(path, max_bytes=enough).n_rows == 50_000


@pytest.mark.parametrize("compression", ["zstd", "lz4", "uncompressed"])
def test_a_feather_file_is_refused_before_anything_is_unpacked(tmp_path, compression, monkeypatch):
    """One batch that is a few kilobytes packed and eight megabytes unpacked."""
    path = tmp_path / "bomb.feather"
    table = pa.table({"a": np.zeros(10**6, np.int64), "b": pa.array(["x", "y"] * 500_000)})
    table = table.append_column("c", table["b"].dictionary_encode())
    feather.write_feather(table, path, compression=compression, chunksize=10**6)
    told = asked_for(pa.OSFile(str(path)), 10**9)
    held = pa.ipc.open_file(path).read_all().nbytes
    assert (told.n_rows, told.n_batches) == (10**6, 1)
    assert held <= told.n_bytes <= held + 10_000  # buffers are filled up to 64 bytes
    before = pa.total_allocated_bytes(), pa.default_memory_pool().max_memory()
    monkeypatch.setattr("unveil.table.io.size._batches", None)
    with pytest.raises(SizeError, match="takes more than 1,000,000 bytes"):
        read_table(path, max_bytes=1_000_000)
    assert pa.total_allocated_bytes() <= before[0] + path.stat().st_size + 4096


def test_headers_of_feather_that_lead_nowhere_are_no_reason_to_fail(tmp_path):
    path = written(tmp_path, "feather")
    whole = path.read_bytes()
    for at in range(8, 400, 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with contextlib.suppress(UnveilError):
            read_table(path, max_bytes=10_000_000)


def test_there_is_a_limit_by_default(tmp_path, monkeypatch):
    """A few kilobytes of Parquet that stand for more cells than any memory holds."""
    path = tmp_path / "bomb.parquet"
    about = parquet.ParquetFile(written(tmp_path, "parquet")).metadata
    path.write_bytes((tmp_path / "t.parquet").read_bytes())

    class Many:
        num_rows, num_columns, num_row_groups = 10**12, about.num_columns, 0

    monkeypatch.setattr(parquet.ParquetFile, "metadata", Many)
    with pytest.raises(SizeError, match="takes more than 4,294,967,296 bytes"):
        read_table(path)


def test_the_command_line_says_how_to_allow_more(tmp_path, capsys):
    path = written(tmp_path, "csv.gz")
    assert main(["info", str(path), "--max-bytes", "1000"]) == 1
    assert capsys.readouterr().err.endswith("If there is memory for it, say --max-bytes 0.\n")
    assert main(["info", str(path), "--max-bytes", "0"]) == 0


def test_limits_that_are_none(tmp_path):
    with pytest.raises(DataError, match="is zero bytes or more"):
        read_table(written(tmp_path, "csv"), max_bytes=-1)


@pytest.mark.parametrize("kind", ["csv.gz", "parquet", "feather"])
def test_damaged_files_are_left_to_the_reader(tmp_path, kind):
    path = written(tmp_path, kind)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UnveilError) as caught:
        read_table(path, max_bytes=10_000_000)
    assert not isinstance(caught.value, SizeError)
