"""A part that cannot be read, a file that changes, a disk that is full: said, and nothing left."""

import errno
import os

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import unveil
from unveil import datasets, open_rows
from unveil.engines import store as stores
from unveil.errors import DataError, UnveilWarning
from unveil.infer import write_posteriors


def test_a_part_that_cannot_be_read_is_named(folder):
    bad = folder / "part-1.parquet"
    data = bytearray(bad.read_bytes())
    data[40:200] = bytes(160)
    bad.write_bytes(data)
    with pytest.raises(DataError, match=r"part-1\.parquet"):
        unveil.learn(folder)


def test_a_file_cut_short_is_named(folder):
    bad = folder / "part-2.parquet"
    bad.write_bytes(bad.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"part-2\.parquet|no Parquet that can be read"):
        unveil.learn(folder)


@pytest.mark.parametrize("way", ["changed", "removed"])
@pytest.mark.parametrize("engine", ["parquet", "duckdb"])
def test_a_file_that_changes_between_passes(folder, monkeypatch, way, engine):
    if engine == "duckdb":
        pytest.importorskip("duckdb")
    from unveil.engines import door

    file, before = folder / "part-2.parquet", door.coded_rows

    def meanwhile(*arguments):
        if way == "removed":
            file.unlink()
        else:
            os.utime(file, ns=(1, 1))
        return before(*arguments)

    monkeypatch.setattr(door, "coded_rows", meanwhile)
    words = "has changed while" if way == "changed" else "cannot be found any more"
    with pytest.raises(DataError, match=rf"part-2\.parquet: the file .*{words}"):
        open_rows(folder, engine=engine)


def test_columns_that_some_files_lack_are_told(tmp_path):
    parquet.write_table(pa.table({"x": ["a", "b"], "y": [1, 2]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": ["a", "c"], "z": [1, 2]}), tmp_path / "b.parquet")
    with pytest.warns(UnveilWarning) as told:
        rows = open_rows(tmp_path)
    assert rows.names == ("x", "y", "z")
    assert int(rows.missing("y").sum()) == int(rows.missing("z").sum()) == 2
    words = " ".join(str(w.message) for w in told)
    assert f"'y' is in {tmp_path / 'a.parquet'} and not in {tmp_path / 'b.parquet'}" in words
    assert "'z' is in" in words
    assert open_rows(tmp_path, drop=["y", "z"]).names == ("x",)  # and nothing is told


def test_text_in_one_file_and_numbers_in_another(tmp_path):
    parquet.write_table(pa.table({"x": ["a", "b"], "y": [1, 2]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": ["a", "b"], "y": ["1", "2"]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"'y' is string in .*b.parquet and int64 in .*a.parquet"):
        open_rows(tmp_path)
    with pytest.raises(DataError, match=r"'y' is string in .*b.parquet"):
        open_rows(tmp_path, engine="duckdb")
    assert open_rows(tmp_path, drop="y").names == ("x",)


def test_types_that_hold_one_another(tmp_path):
    small = pa.table({"x": pa.array([1, 2], pa.int8()), "y": pa.array(["a", "b"])})
    large = pa.table({"x": pa.array([1, 2000], pa.int64()), "y": small["y"].dictionary_encode()})
    parquet.write_table(small, tmp_path / "a.parquet")
    parquet.write_table(large, tmp_path / "b.parquet")
    rows = open_rows(tmp_path)
    assert rows.variable("x").states == (1, 2, 2000)
    assert rows.variable("y").states == ("a", "b")


def test_a_folder_without_parquet(tmp_path):
    (tmp_path / "table.csv").write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match=r"no Parquet file .* in this folder; give"):
        unveil.learn(tmp_path)


def test_a_full_disk_while_coding(folder, small_parts, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr(unveil.engines.Ceiling, "kept", 0)
    monkeypatch.setattr(stores.Store, "_room", full, raising=False)
    monkeypatch.setattr(stores, "open", lambda *_: full(), raising=False)
    with pytest.raises(DataError, match=r"do not fit into the folder for temporary files"):
        open_rows(folder, spool=spool)
    assert list(spool.rglob("part-*")) == []


def test_coded_rows_are_gone_when_nobody_needs_them(folder, small_parts, monkeypatch, tmp_path):
    monkeypatch.setattr(unveil.engines.Ceiling, "kept", 0)
    rows = open_rows(folder, spool=tmp_path)
    spooled = list(tmp_path.glob("unveil-rows-*"))
    assert len(spooled) == 1
    view = rows.select(["lung", "smoke"])
    del rows
    assert view.counts([(0, 1)])[0].sum() == 3000
    next(spooled[0].iterdir()).unlink()
    with pytest.raises(DataError, match="a temporary file with coded rows is gone"):
        view.counts([(0, 1)])
    del view
    assert not spooled[0].exists()


def test_predictions_are_written_whole_or_not_at_all(
    folder, asia, asia_rows, tmp_path, small_parts
):
    out = tmp_path / "lung.parquet"
    assert write_posteriors(asia, folder, out, ["lung"]) == (3000, ["lung"])
    ours = parquet.read_table(out)
    theirs = unveil.infer.with_posteriors(asia, asia_rows, ["lung"])
    assert ours.column_names == list(theirs.names)
    assert ours["P(lung=yes)"].to_numpy() == pytest.approx(theirs.column("P(lung=yes)"), rel=1e-12)
    assert ours["predicted lung"].to_pylist() == theirs.labels("predicted lung")
    before = out.read_bytes()
    (folder / "part-2.parquet").write_bytes(b"PAR1 is how it begins, and then nothing PAR1")
    with pytest.raises(DataError, match=r"part-2\.parquet"):
        write_posteriors(asia, folder, out, ["lung"])
    assert out.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir() if p.name != "lake"] == ["lung.parquet"]


def test_predictions_that_make_no_sense(folder, asia, tmp_path):
    with pytest.raises(DataError, match=r"call the file \.parquet"):
        write_posteriors(asia, folder, tmp_path / "out.csv")
    with pytest.raises(DataError, match="say which variable to predict"):
        write_posteriors(asia, folder, tmp_path / "out.parquet")
    other = datasets.network("alarm")
    with pytest.raises(DataError, match="none of the columns is a variable"):
        write_posteriors(other, folder, tmp_path / "out.parquet")


def test_a_full_disk_while_predicting(folder, asia, tmp_path, monkeypatch):
    class Full:
        schema = None

        def __init__(self, *_):
            self.schema = _[1]

        def write_table(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr("unveil.infer.parted_columns.parquet.ParquetWriter", Full)
    with pytest.raises(DataError, match="do not fit on the disk"):
        write_posteriors(asia, folder, tmp_path / "out.parquet", ["lung"])
    assert [p.name for p in tmp_path.iterdir()] == ["lake"]


@pytest.fixture
def tiny_files():
    """No file may have more than 500 bytes, as on a disk that is full after these."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_really_full(folder, asia, small_parts, monkeypatch, tmp_path, tiny_files):
    spool, target = tmp_path / "spool", tmp_path / "out.parquet"
    spool.mkdir()
    monkeypatch.setattr(unveil.engines.Ceiling, "kept", 0)
    open_rows(folder)
    write_posteriors(asia, folder, tmp_path / "before.parquet", ["lung"])  # kernels are there now
    tiny_files()
    with pytest.raises(DataError, match=r"do not fit into the folder for temporary files"):
        open_rows(folder, spool=spool)
    assert list(spool.rglob("part-*")) == []
    with pytest.raises(DataError, match=r"the rows do not fit on the disk"):
        write_posteriors(asia, folder, target, ["lung"])
    assert list(tmp_path.glob("*out*")) == list(tmp_path.glob(".*out*")) == []


def test_a_dataset_whose_files_clash(tmp_path):
    import pyarrow.dataset as ds

    parquet.write_table(pa.table({"x": ["a", "b"], "y": [1, 2]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": ["a", "b"], "y": ["1", "2"]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"'y' is string in .*b.parquet"):
        open_rows(ds.dataset(tmp_path))
    parquet.write_table(pa.table({"x": ["a", "b"]}), tmp_path / "b.parquet")
    with pytest.warns(UnveilWarning, match=r"'y' is in .*a.parquet and not in .*b.parquet"):
        assert open_rows(ds.dataset(tmp_path)).names == ("x", "y")


def test_a_database_where_a_table_is_read_in_memory(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS x")
    with pytest.raises(DataError, match=r"this is a DuckDB file; write the rows as Parquet first"):
        unveil.Table.read(tmp_path / "d.duckdb")


def test_a_dataset_with_a_filter(folder):
    import pyarrow.dataset as ds

    some = ds.dataset(folder).filter(ds.field("smoke") == "yes")
    with pytest.raises(DataError, match=r"with a filter.*duckdb\.from_arrow\(dataset\)"):
        open_rows(some)
    duckdb = pytest.importorskip("duckdb")
    want = some.count_rows()
    assert open_rows(duckdb.from_arrow(some)).total_weight == want
    with pytest.raises(DataError, match="leave out table and query"):
        open_rows(ds.dataset(folder), table="x")


def test_files_that_are_not_there_or_empty(folder, tmp_path):
    for engine in (None, "parquet", "duckdb", "dask"):
        with pytest.raises(DataError, match="there is no such file"):
            open_rows(folder / "part-9.parquet", engine=engine)
    (tmp_path / "empty.parquet").touch()
    with pytest.raises(DataError, match=r"empty\.parquet: the file is empty"):
        open_rows(tmp_path / "empty.parquet")
    (folder / "part-0.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"part-0\.parquet: this is no Parquet that can be read"):
        open_rows(folder)


def test_options_that_make_no_sense(folder, small_parts, monkeypatch, tmp_path):
    monkeypatch.setattr(unveil.engines.Ceiling, "kept", 0)
    with pytest.raises(DataError, match=r"nowhere: no folder for the coded rows can be made here"):
        open_rows(folder, spool=tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"memory is a size such as 2GiB or .*, not list"):
        open_rows(folder, memory=["2GiB"])
    with pytest.raises(DataError, match="n_jobs is how many cores to use, at least 1, not -1"):
        open_rows(folder, n_jobs=-1)
