"""Dask: a cluster of two processes gives what one process gives, even if one of them is killed."""

import os
import signal
import threading

import pytest

import unveil
from unveil import open_rows
from unveil.em import fit_em
from unveil.engines import Ceiling, PartedRows
from unveil.errors import DataError

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask and pandas have news of their own


@pytest.fixture
def frame(asia_rows):
    import dask.dataframe as dd

    rows = asia_rows.to_pandas().astype("str")
    return dd.from_pandas(rows, npartitions=5, sort=False)


@pytest.fixture
def remote(client, frame, monkeypatch):
    monkeypatch.setattr(Ceiling, "holds", lambda *_: False)
    return open_rows(frame)


def test_frames_without_a_cluster(frame, asia_rows):
    rows = open_rows(frame)
    assert rows.total_weight == asia_rows.n_rows
    assert set(rows.names) == set(asia_rows.names)


def test_learning_and_em_on_a_cluster(remote, asia, asia_rows, client):
    assert isinstance(remote, PartedRows)
    assert len(remote.parts) == 5
    ours = unveil.learn(remote, seed=1)
    sorted_states = unveil.Table.from_frame(asia_rows.to_pandas().astype("str"))
    assert ours.search.score == pytest.approx(unveil.learn(sorted_states, seed=1).search.score)
    seen = [n for n in remote.names if n != "lung"]
    how = {"hidden": {"lung": 2}, "seed": 1, "max_iterations": 8}
    one = fit_em(asia.dag, remote.select(seen), **how)
    local = PartedRows.of_tables([p.load() for p in remote.parts], 2)
    two = fit_em(asia.dag, local.select(seen), **how)
    assert one.network == two.network
    assert one.trace == two.trace
    assert remote.sample(100, seed=1) == local.sample(100, seed=1)


def test_partitions_without_rows(frame, monkeypatch):
    half = frame.map_partitions(lambda part: part[part.index >= 1500], meta=frame._meta)
    assert open_rows(half).total_weight == 1500
    with pytest.raises(DataError, match="the table has no rows"):
        open_rows(frame.map_partitions(lambda part: part[:0], meta=frame._meta))


def test_frames_that_cannot_be_read(folder):
    import dask
    import dask.dataframe as dd
    import pandas as pd

    with dask.config.set({"dataframe.convert-string": False}):
        numbers = pd.DataFrame({"x": ["a", "b"], "k": pd.Series([1, 2], dtype=object)})
        with pytest.raises(
            DataError, match=r"partition 1 of 1, column 'k': .*text and holds int64"
        ):
            open_rows(dd.from_pandas(numbers, npartitions=1))
    twice = pd.DataFrame([["a", "b"]], columns=["x", "x"])
    with pytest.raises(DataError, match="columns 1 and 2 are both called 'x'"):
        open_rows(dd.from_pandas(twice, npartitions=1))
    one = dd.from_pandas(numbers, npartitions=1)
    with pytest.raises(DataError, match="leave out table and query"):
        open_rows(one, table="x")


def test_the_engine_needs_a_client(folder):
    with pytest.raises(DataError, match=r"needs the client of a cluster.*distributed\.Client"):
        open_rows(folder, engine="dask")


def test_a_killed_worker_changes_nothing(remote, asia, cluster):
    seen = [n for n in remote.names if n != "lung"]
    how = {"hidden": {"lung": 2}, "seed": 1, "max_iterations": 25, "tolerance": 0.0}
    before = fit_em(asia.dag, remote.select(seen), **how)
    pid = next(iter(cluster.workers.values())).pid
    killer = threading.Timer(0.15, os.kill, [pid, signal.SIGKILL])
    killer.start()
    after = fit_em(asia.dag, remote.select(seen), **how)
    killer.join()
    assert after.trace == before.trace
    assert after.network == before.network


def test_parquet_read_by_the_workers(client, folder, asia_rows, monkeypatch):
    monkeypatch.setattr(Ceiling, "holds", lambda *_: False)
    rows = open_rows(folder, engine="dask")
    assert rows.total_weight == asia_rows.n_rows
    assert unveil.learn(rows, seed=1).dag == unveil.learn(asia_rows, seed=1).dag
    (folder / "part-1.parquet").write_bytes(b"PAR1 then nothing that can be read PAR1")
    with pytest.raises(DataError, match=r"part-1\.parquet"):
        open_rows(folder, engine="dask")


def test_a_partition_that_fails_is_named(client, frame):
    def broken(part):
        if len(part) and part.index[0] == 1200:
            raise ValueError("the disk of node 7 is gone")
        return part

    bad = frame.map_partitions(broken, meta=frame._meta)
    with pytest.raises(DataError, match=r"partition 3 of 5: .*node 7 is gone"):
        open_rows(bad)
    from dask.array import ones

    with pytest.raises(DataError, match="data frames can be read, not Series"):
        open_rows(frame["lung"])
    with pytest.raises(DataError, match="data frames can be read, not Array"):
        open_rows(ones((3, 3)))
